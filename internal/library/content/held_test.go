package content

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// phases notes at which work somebody asks whether it may go on.
type phases struct {
	now   string
	asked []string
}

func (p *phases) hold(ctx context.Context) error {
	if !slices.Contains(p.asked, p.now) {
		p.asked = append(p.asked, p.now)
	}
	return ctx.Err()
}

// Do is mastering in two pieces.
func (p *phases) Do(ctx context.Context, job mastering.Job, progress func(float64)) (mastering.Record, error) {
	p.now = "mastering"
	if progress != nil {
		progress(0.5)
	}
	return stampMaster{}.Do(ctx, job, progress)
}

func (p *phases) Old(context.Context) ([]string, error) { return nil, nil }

// Make makes a piece of imaging.
func (p *phases) Make(ctx context.Context, hold func(context.Context) error, _ func(done, total int, detail string)) (int, []error, error) {
	p.now = "imaging"
	return 1, nil, hold(ctx)
}

// A scheduled refresh and the inbox make way for the air at each piece of work. What an
// operator orders does not, nor does a station that has little to air.
func TestOnlyWhatWasNotOrderedIsHeldUp(t *testing.T) {
	inbox, p := t.TempDir(), &phases{}
	r := newRig(t, func(o *Options) {
		o.Sources = []source.Source{&source.Inbox{Dir: inbox, Quiet: -1}}
		o.Master, o.Imaging, o.Hold = p, p, p.hold
	})
	r.hear = func(ctx context.Context, path string, longest time.Duration, hold wait) (heard, error) {
		p.now = "listening"
		if err := hold(ctx); err != nil {
			return heard{}, err
		}
		return quickEar(ctx, path, longest, hold)
	}
	refresh := func(trigger string) func() (Result, error) {
		return func() (Result, error) { return r.refresh(t.Context(), Request{}, trigger, nil) }
	}
	r.fill(station.English, shed.Enough-2)
	for i, c := range []struct {
		name string
		run  func() (Result, error)
		want string
	}{
		{"a station with little to air", refresh(bySchedule), "[]"},
		{"ordered", refresh(byHand), "[]"},
		{"scheduled", refresh(bySchedule), "[fetched listening mastering imaging]"},
		{"the inbox", func() (Result, error) { return r.Inbox(t.Context(), nil) }, "[fetched listening mastering]"},
	} {
		*p = phases{now: "fetched"}
		song := filepath.Join(inbox, string(station.ArabicHits), fmt.Sprint(i, ".mp3"))
		if err := os.MkdirAll(filepath.Dir(song), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(song, []byte(song), 0o600); err != nil {
			t.Fatal(err)
		}
		res, err := c.run()
		if err != nil || len(res.Problems) > 0 || res.Categories[station.ArabicHits].Added != 1 {
			t.Fatalf("%s: %+v, %v", c.name, res, err)
		}
		if got := fmt.Sprint(p.asked); got != c.want {
			t.Errorf("%s: held up at %s, want %s", c.name, got, c.want)
		}
		if i == 0 {
			r.fill(station.English, shed.Enough)
		}
	}
}

// Real listening asks between two pieces of audio, and ends where it may not go on.
func TestListeningMayBeHeldUp(t *testing.T) {
	song := filepath.Join(t.TempDir(), "song.wav")
	runs(t, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=d=30", song)
	asked := 0
	h, err := listen(t.Context(), song, time.Minute, func(ctx context.Context) error {
		asked++
		return ctx.Err()
	})
	if err != nil || h.length != 30*time.Second || asked < 2 {
		t.Errorf("asked %d times for %s: %v", asked, h.length, err)
	}
}

// On a machine that is always short a file is taken in all the same.
func TestAFileIsHeldUpForSoLongAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &run{result: Result{Trigger: byInbox}, c: &Content{opt: Options{
			Registry: &onAir{tracks: make([]station.Track, shed.Enough)},
			Hold: func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			},
		}}}
		hold, begin := r.hold(), time.Now()
		for range 10 {
			if err := hold(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(begin); took != shed.Most {
			t.Errorf("held up for %s", took)
		}
	})
}
