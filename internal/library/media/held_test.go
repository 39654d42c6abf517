package media_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/media"
)

// While the machine is short a scan waits between two files: not the first one, which the
// air needs, and not when somebody waits for the registry.
func TestScansAreHeldUpUnlessSomebodyWaits(t *testing.T) {
	t.Parallel()
	asked, open := make(chan struct{}, 1), make(chan struct{})
	f := openHeld(t, func(ctx context.Context) error {
		select {
		case asked <- struct{}{}:
		default:
		}
		err := testkit.Held(ctx, open)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("held up to the end of its time, though somebody waits")
		}
		return err
	})
	var songs []string
	add := func(name string) {
		put(t, f.root, name, sound(t, "ogg"))
		songs = append(songs, name)
	}
	for i := range 12 {
		add(fmt.Sprintf("english/%02d.ogg", i))
	}
	run(t, f.Library)
	expect(t, "the first scan", f.Library, songs...)
	if len(asked) > 0 {
		t.Error("the first scan asks whether it may go on")
	}

	add("english/late.ogg")
	testkit.Receive(t, "a later scan is held up", asked)
	if n := len(f.Snapshot().Tracks); n != 12 {
		t.Errorf("%d tracks while scans are held up", n)
	}
	scan(t, f.Library)
	expect(t, "a scan that somebody waits for", f.Library, songs...)

	add("english/later.ogg")
	testkit.Receive(t, "the next scan is held up", asked)
	close(open)
	expect(t, "the rest once the machine has time", f.Library, songs...)
}

// openHeld opens a library whose scans may be held up.
func openHeld(t *testing.T, hold func(context.Context) error) fixture {
	t.Helper()
	return open(t, t.TempDir(), func(o *media.Options) { o.Hold, o.Workers = hold, 2 })
}
