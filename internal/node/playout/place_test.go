package playout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/test/aircheck"
)

// order is what an engine was heard to play, without the blip of emergency audio.
func (o *offline) order(ids ...int) []int {
	return aircheck.Report{Segments: o.heard(ids...).Segments}.Order()
}

// An engine that starts while the control plane is away goes on in its list: from the
// head, it would repeat what was heard. A list that came meanwhile begins at its head.
func TestAStartedEngineGoesOnInItsList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	entries := []entry{music(0, 5*second), music(2, 5*second), {4, "sweepers", "0.5", 3 * second, 0, ""}, music(6, 5*second), music(8, 5*second), {4, "sweepers", "0.5", 3 * second, 0, ""}, music(10, 5*second)}
	list := r.list(entries...)
	r.push(list)
	begun := func(o *offline, n, place int) {
		t.Helper()
		o.playUntil(fmt.Sprint("entry ", n), entered(n))
		testkit.Eventually(t, "the place on disk", func() bool {
			kept, err := os.ReadFile(r.o.PlaceFile())
			return err == nil && strings.HasSuffix(string(kept), fmt.Sprint(" ", place))
		})
	}

	first := r.offline()
	begun(first, 3, 2)
	first.play(second)
	if got := first.order(0, 2, 4, 6); !slices.Equal(got, []int{0, 2, 4}) {
		t.Fatalf("heard %v at first", got)
	}
	second := r.offline()
	begun(second, 4, 6)
	second.play(4 * time.Second)
	if got := second.order(0, 2, 4, 6, 8, 10); len(got) < 4 || !slices.Equal(got[:4], []int{6, 8, 4, 10}) {
		t.Errorf("the second engine goes on with %v", got)
	}
	r.push(r.list(slices.Concat(entries[1:], entries[:1])...))
	third := r.offline()
	begun(third, 1, 0)
	third.play(2 * time.Second)
	if got := third.order(0, 2, 4, 6, 8, 10); len(got) == 0 || got[0] != 2 {
		t.Errorf("of a new list the third engine plays %v", got)
	}
}

// A list that is read from its head again, or was left by a control plane that is away,
// holds the bulletin of an hour ago.
func TestTheEnginePassesOverAnOutdatedBulletin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := os.Mkdir(filepath.Join(r.dir, "news"), 0o755); err != nil { //nolint:gosec // a test
		t.Fatal(err)
	}
	bulletin := func(id int, age time.Duration) string {
		file := filepath.Join(r.dir, "news", fmt.Sprintf("NEWS_%d.mp3", (offlineStart-int64(age.Seconds()))*1000))
		if err := aircheck.WriteMP3(t.Context(), file, aircheck.Track{ID: id, Duration: 3 * second}); err != nil {
			t.Fatal(err)
		}
		return "annotate:type=news,liq_cross_duration=0.5:" + file + "\n"
	}
	songs := []entry{music(0, 5*second), music(2, 5*second)}
	r.list(songs...)
	r.push(pad("#EXTM3U\n" + bulletin(20, time.Hour) + songs[0].line(r.dir) + "\n" + bulletin(22, 5*time.Minute) + bulletin(24, 11*time.Minute) + songs[1].line(r.dir) + "\n"))
	o := r.offline()
	o.playUntil("the last song", entered(3))
	o.play(2 * second)
	if got := o.order(0, 2, 20, 22, 24); !slices.Equal(got, []int{0, 22, 2}) {
		t.Errorf("heard %v, want the song, the bulletin of five minutes ago, the other song", got)
	}
}
