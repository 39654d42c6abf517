package feedback

import (
	"context"
	"maps"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// The window counts what counting every vote ever cast would: each voter's
// newest, if it is younger than the span.
func TestWindowCountsTheNewestVoteOfEachVoterWhileItIsFresh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const span = 100 * time.Millisecond
		w, newest, now := newWindow(span, nil), map[voter]cast{}, int64(1000)
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			now += rapid.Int64Range(0, 20).Draw(t, "passes")
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0: // as after a restart
				w.expire(now)
				w = newWindow(span, maps.Clone(w.votes))
			case 1, 2:
			default:
				v := voter{byte(rapid.IntRange(0, 5).Draw(t, "voter"))}
				vibe := rapid.SampledFrom(VibeNames()).Draw(t, "vibe")
				w.cast(v, vibe, now)
				newest[v] = cast{vibe, now}
			}
			w.expire(now)
			want := map[string]int{}
			for _, c := range newest {
				if now-c.at < span.Milliseconds() {
					want[c.vibe]++
				}
			}
			if !maps.Equal(w.counts, want) {
				t.Fatalf("at %d: counts %v, want %v", now, w.counts, want)
			}
		}
	})
}

func TestWindowRemembersNoMoreThanItCounts(t *testing.T) {
	w := newWindow(time.Hour, nil)
	for i := range 100_000 {
		w.cast(voter{byte(i % 3)}, VibeNames()[i%6], int64(i))
	}
	if len(w.votes) != 3 || cap(w.order) > 5000 {
		t.Errorf("%d votes, room for %d", len(w.votes), cap(w.order))
	}
	// A clock that is set back ends no vote early and keeps none for ever.
	w.cast(voter{9}, "focus", 5)
	if w.expire(99_999); w.counts["focus"] == 0 {
		t.Error("a vote ended at once")
	}
	if w.expire(99_999 + time.Hour.Milliseconds()); len(w.votes) != 0 || len(w.order) != 0 {
		t.Errorf("%d votes stay", len(w.votes))
	}
}

func TestWindowForgetsVotesOfAClockThatWasFarAhead(t *testing.T) {
	const year, hour = 365 * 24 * 3_600_000, 3_600_000
	w := newWindow(time.Hour, nil)
	w.cast(voter{1}, "party", year)
	w.cast(voter{1}, "focus", year+1)
	w.cast(voter{2}, "chill", year+2)
	now := int64(1000) // the clock is right again
	w.cast(voter{3}, "tarab", now)
	if w.expire(now); len(w.votes) != 3 {
		t.Errorf("%d votes at once", len(w.votes))
	}
	w = newWindow(time.Hour, map[voter]cast{{1}: {"focus", year}, {3}: {"tarab", now}}) // as after a restart
	if w.expire(now); len(w.votes) != 2 {
		t.Errorf("%d votes after a restart", len(w.votes))
	}
	w.cast(voter{4}, "energy", now+hour/2)
	if w.expire(now + hour); len(w.votes) != 1 || w.counts["energy"] != 1 {
		t.Errorf("after an hour: %v", w.counts)
	}
	if w.expire(now + 2*hour); len(w.votes) != 0 || len(w.order) != 0 {
		t.Errorf("for ever: %v", w.counts)
	}
}

func TestPaceTellsAtMostFourTimesASecondAndNotLessThanEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace()
		ctx, cancel := context.WithCancel(t.Context())
		var made, told, tells atomic.Int64
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.run(ctx, func() { told.Store(made.Load()); tells.Add(1) })
		}()
		for range 1000 { // ten seconds
			made.Add(1)
			p.note()
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		if n := tells.Load(); n < 39 || n > 41 {
			t.Errorf("%d events in ten seconds", n)
		}
		time.Sleep(tellEvery)
		synctest.Wait()
		if told.Load() != made.Load() {
			t.Errorf("told %d of %d", told.Load(), made.Load())
		}
		made.Add(1)
		p.note()
		cancel()
		<-done
		if told.Load() != made.Load() {
			t.Errorf("told %d of %d before the end", told.Load(), made.Load())
		}
	})
}
