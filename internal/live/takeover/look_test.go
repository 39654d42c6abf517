package takeover_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live/takeover"
)

func (d *fakeDesk) level(peak float64) { d.mu.Lock(); d.peak = peak; d.mu.Unlock() }

func (d *fakeDesk) looked() int { d.mu.Lock(); defer d.mu.Unlock(); return d.looks }

// Levels change without a change of version: who looks gets those of now, all who look at
// once share one question, and a desk that does not answer is not waited for.
func TestALookShowsTheLevelsOfNow(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		id := r.add("a")
		r.desk.level(-40)
		r.live(id)
		r.after(time.Second)
		r.desk.level(-12)
		if got, _ := r.Report(); got.Sources[0].PeakDBFS != -40 {
			t.Fatalf("the rig tells levels as news: %+v", got.Sources)
		}
		before := r.desk.looked()
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				if got, known := r.Look(t.Context()); !known || got.Sources[0].PeakDBFS != -12 || strings.Contains(got.Sources[0].URL, "secret") || got.Sources[0].URL == "" {
					t.Errorf("%+v, known %v", got.Sources, known)
				}
			})
		}
		wait.Wait()
		r.desk.level(-6)
		r.after(249 * time.Millisecond)
		if got, _ := r.Look(t.Context()); got.Sources[0].PeakDBFS != -12 || r.desk.looked() != before+1 {
			t.Errorf("%d questions for 21 looks; level %g", r.desk.looked()-before, got.Sources[0].PeakDBFS)
		}
		r.after(time.Millisecond)
		if got, _ := r.Look(t.Context()); got.Sources[0].PeakDBFS != -6 || r.desk.looked() != before+2 {
			t.Errorf("a quarter of a second later: %g", got.Sources[0].PeakDBFS)
		}
		// What was told as news meanwhile is newer than a look.
		other := r.add("b")
		r.desk.feed(other)
		r.settled()
		if got, _ := r.Look(t.Context()); len(got.Sources) != 2 {
			t.Errorf("older than what is known: %+v", got.Sources)
		}
		// It hangs: the report that is known, after a second.
		r.desk.mu.Lock()
		r.desk.stuck = true
		r.desk.mu.Unlock()
		r.after(time.Second)
		began := time.Now()
		if got, known := r.Look(t.Context()); !known || got.Air != id || time.Since(began) != time.Second {
			t.Errorf("after %s: %+v", time.Since(began), got)
		}
		// Who gives up first does not wait.
		r.after(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began = time.Now()
		if got, _ := r.Look(ctx); got.Air != id || time.Since(began) != 100*time.Millisecond {
			t.Errorf("after %s: %+v", time.Since(began), got)
		}
		r.after(time.Second)
		// Nothing is heard of it: nothing is asked.
		r.desk.cut(errCut)
		r.after(10 * time.Second)
		before, began = r.desk.looked(), time.Now()
		if _, known := r.Look(t.Context()); known || time.Since(began) != 0 || r.desk.looked() != before {
			t.Errorf("a desk that is not heard of is asked, for %s", time.Since(began))
		}
		if r.Status().State != takeover.Unknown {
			t.Error(r.Status().State)
		}
	})
}

// A look that is under way does not outlive Run, whose end nobody who looks waits behind.
func TestALookEndsWithTheTakeover(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		id := r.add("a")
		r.live(id)
		r.desk.mu.Lock()
		r.desk.stuck = true
		r.desk.mu.Unlock()
		under := func() int { r.desk.mu.Lock(); defer r.desk.mu.Unlock(); return r.desk.held }
		var look sync.WaitGroup
		look.Go(func() {
			if got, _ := r.Look(t.Context()); got.Air != id {
				t.Errorf("%+v", got)
			}
		})
		r.settled()
		if under() != 1 {
			t.Fatalf("%d questions are under way", under())
		}
		began := time.Now()
		r.kill()
		if n := under(); n != 0 {
			t.Errorf("%d questions outlive the takeover", n)
		}
		look.Wait()
		for range 2 {
			time.Sleep(time.Hour)
			if got, _ := r.Look(t.Context()); got.Air != id {
				t.Errorf("%+v", got)
			}
		}
		if past := time.Since(began); past != 2*time.Hour {
			t.Errorf("those who look wait for %s", past-2*time.Hour)
		}
		r.start()
	})
}

// The clock of the node is an hour ahead: what is shown of its times is by ours, and a
// measurement that is another each time is not taken for news of the desk.
func TestTheDesksTimesAreShownByOurClock(t *testing.T) {
	const hour = int64(time.Hour / time.Millisecond)
	inBubble(t, func(t *testing.T, r *rig) {
		r.desk.mu.Lock()
		r.desk.ahead, r.desk.taping = hour, "a.mp3"
		r.desk.mu.Unlock()
		off := hour
		r.mu.Lock()
		r.here = func(ms int64) int64 { off = 2*hour + 1 - off; return ms - off } // an hour, and a millisecond more
		r.mu.Unlock()
		a, b := r.add("a"), r.add("b")
		began := time.Now().UnixMilli()
		near := func(what string, got, want int64) {
			t.Helper()
			if got < want-1 || got > want {
				t.Errorf("%s: %d ms from what it is by our clock", what, got-want)
			}
		}
		r.live(a)
		r.desk.feed(b)
		r.after(5 * time.Second)
		looked, _ := r.Look(t.Context())
		s := r.Status()
		near("on the air since", looked.AirSince, began)
		near("a look at a source", looked.Sources[0].Since, began)
		near("a source", s.Sources[0].Since, began)
		near("the recording", s.Recording.Since, began)
		p := r.Presence("", b)
		near("presence", p.Since, began)
		ended := time.Now().UnixMilli()
		r.desk.stop(a, "no audio came")
		r.settled()
		near("its end", r.Status().Ended.At, ended)
		r.after(time.Minute)
		r.expect(b, takeover.OnLive)
		if got := r.story(); got != "started a, failover b" {
			t.Error(got)
		}
	})
}
