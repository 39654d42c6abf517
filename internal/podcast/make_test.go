package podcast

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// What may pass is tried again, ever later; what does not is not, until somebody says so.
func TestAnOriginThatFails(t *testing.T) {
	r := newRig(t)
	r.show(t, own("a", Live))
	r.happens(Live, "1", 100)
	for kind, o := range r.opt.Origins {
		must(t, r.look(t.Context(), kind, o))
	}
	r.origins[Live].set(func() { r.origins[Live].err = fmt.Errorf("the node is away: %w", station.ErrUnavailable) })
	if err := r.look(t.Context(), Live, r.origins[Live]); err == nil {
		t.Error("it is not told")
	}
	tries := 0
	for r.origins[Live].fetched < mostTries {
		if !r.makeNext(t.Context()) {
			t.Fatalf("it was tried %d times", r.origins[Live].fetched)
		}
		if r.makeNext(t.Context()) {
			t.Fatal("it is tried again at once")
		}
		tries++
		e := r.episodeOf(t, "a", "1")
		if e.State != Failed || !strings.Contains(e.Problem, "the node is away") || strings.Contains(e.Problem, "unavailable") || e.ProblemAR == "" {
			t.Errorf("%+v", e)
		}
		r.open(t) // that is kept
		r.clock.pass(mostAgain)
	}
	if r.makeNext(t.Context()) {
		t.Error("it is tried for ever")
	}
	r.origins[Live].set(func() { r.origins[Live].err = nil })
	must(t, r.Retry(t.Context(), "a", r.episodeOf(t, "a", "1").ID))
	r.round(t)
	r.clock.pass(time.Second)
	equal(t, "heard", r.heard(t, "a"), []string{"1"})
	if e := r.episodeOf(t, "a", "1"); e.Problem != "" {
		t.Errorf("%+v", e)
	}
	r.happens(Live, "2", 100)
	r.origins[Live].set(func() { delete(r.origins[Live].sounds, "2") })
	r.happens(Live, "3", 100)
	r.origins[Live].set(func() { r.origins[Live].sounds["3"] = "noise" })
	r.happens(Live, "4", 100)
	r.origins[Live].set(func() { r.origins[Live].sounds["4"] = "0|" })
	r.round(t)
	r.clock.pass(100 * mostAgain)
	fetched := r.origins[Live].fetched
	r.round(t)
	for key, why := range map[string]string{"2": "gone", "3": "no sound", "4": "empty"} {
		if e := r.episodeOf(t, "a", key); e.State != Failed || !strings.Contains(e.Problem, why) || e.ProblemAR == "" {
			t.Errorf("%+v", e)
		}
	}
	if r.origins[Live].fetched != fetched {
		t.Error("what cannot be made is tried again")
	}
	equal(t, "files", r.files(t, "a"), []string{r.episodeOf(t, "a", "1").File})
}

func TestAShowWithoutItsOriginWaits(t *testing.T) {
	r := newRig(t)
	r.show(t, own("a", Live))
	r.happens(Live, "1", 100)
	must(t, r.look(t.Context(), Live, r.origins[Live]))
	delete(r.options.Origins, Live)
	r.open(t)
	r.round(t)
	if e := r.episodeOf(t, "a", "1"); e.State != Failed || !strings.Contains(e.Problem, "live") {
		t.Errorf("%+v", e)
	}
	_, err := r.Offers(t.Context(), "a")
	is(t, err, station.ErrUnavailable)
}

// hanging is what hangs until its context ends.
func hanging(ctx context.Context) error {
	<-ctx.Done()
	return errors.Join(errors.New("it is ended"), ctx.Err())
}

// What fetches and brings nothing is ended, and what goes on, however slowly, is not; so is what
// takes too long, and what the disk has no room for.
func TestWhatHangsIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		full := false
		var mu sync.Mutex
		p := &Podcasts{opt: Options{Dir: dir}, space: func(string) (uint64, uint64, error) {
			mu.Lock()
			defer mu.Unlock()
			if full {
				return 100, 1 << 40, nil
			}
			return 1 << 40, 1 << 41, nil
		}}
		if err := p.watched(t.Context(), dir, stalledAfter, 0, hanging); !errors.Is(err, errStalled) {
			t.Error(err)
		}
		err := p.watched(t.Context(), dir, stalledAfter, 0, func(ctx context.Context) error {
			for i := range 100 {
				if err := os.WriteFile(filepath.Join(dir, "a"), make([]byte, i), 0o600); err != nil {
					return err
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(stalledAfter - 2*time.Second):
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("what is slow: %v", err)
		}
		if err := p.watched(t.Context(), dir, 0, time.Hour, hanging); !errors.Is(err, errSlow) {
			t.Error(err)
		}
		err = p.watched(t.Context(), dir, stalledAfter, 0, func(ctx context.Context) error {
			mu.Lock()
			full = true
			mu.Unlock()
			return hanging(ctx)
		})
		if err == nil || !strings.Contains(err.Error(), "no room") {
			t.Error(err)
		}
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(errStopped)
		if err := p.watched(ended, dir, stalledAfter, 0, hanging); !errors.Is(err, errStopped) {
			t.Error(err)
		}
	})
}

// A disk that is nearly full takes no episode, and tells which.
func TestALowDiskIsLeftAlone(t *testing.T) {
	r := newRig(t, func(o *Options) { o.ReserveBytes = 1 << 30 })
	r.show(t, own("a", Live))
	r.happens(Live, "1", 100)
	r.space = func(string) (uint64, uint64, error) { return 2 << 30, 1 << 40, nil }
	r.round(t)
	if e := r.episodeOf(t, "a", "1"); e.State != Failed || !strings.Contains(e.Problem, "free some space") || r.origins[Live].fetched != 0 {
		t.Errorf("%+v", e)
	}
	r.space = func(string) (uint64, uint64, error) { return 3 << 30, 1 << 40, nil }
	r.clock.pass(firstAgain)
	r.round(t)
	r.clock.pass(time.Second)
	equal(t, "heard", r.heard(t, "a"), []string{"1"})
}

// What was made for an hour is thrown away where nobody wants it any more, whenever that is said.
func TestAnEpisodeThatGoesWhileItIsMade(t *testing.T) {
	for name, goes := range map[string]func(r *rig, ctx context.Context, id string) error{
		"removed":      func(r *rig, ctx context.Context, id string) error { return r.RemoveEpisode(ctx, "a", id) },
		"show removed": func(r *rig, ctx context.Context, _ string) error { return r.Remove(ctx, "a") },
		"withdrawn": func(r *rig, ctx context.Context, _ string) error {
			r.origins[Posts].set(func() { r.origins[Posts].withdrawn["1"] = true })
			return r.withdraw(ctx, Posts, r.origins[Posts])
		},
		"withdrawn, and nobody has looked yet": func(r *rig, _ context.Context, _ string) error {
			r.origins[Posts].set(func() { r.origins[Posts].withdrawn["1"] = true; r.origins[Posts].offers = nil })
			return nil
		},
	} {
		for _, when := range []string{"fetched", "finished", "placed"} {
			t.Run(name+" "+when, func(t *testing.T) {
				r := newRig(t)
				r.show(t, own("a", Posts))
				r.happens(Posts, "1", 100)
				must(t, r.look(t.Context(), Posts, r.origins[Posts]))
				id := r.episodeOf(t, "a", "1").ID
				done := false
				r.step = func(what string) {
					if what == when && !done {
						done = true
						must(t, goes(r, t.Context(), id))
					}
				}
				r.makeNext(t.Context())
				if !done {
					t.Fatal("it was not made so far")
				}
				r.clock.pass(time.Second)
				if heard, err := r.Heard("a"); err == nil && len(heard) > 0 && when != "placed" {
					t.Error("it is heard all the same")
				}
				r.origins[Posts].set(func() { r.origins[Posts].offers = nil })
				r.step = func(string) {}
				must(t, r.withdraw(t.Context(), Posts, r.origins[Posts]))
				if files := r.files(t, "a"); len(files) != 0 {
					t.Errorf("%v", files)
				}
				if left := r.files(t, workDir); len(left) != 0 {
					t.Errorf("%v", left)
				}
				all, err := r.Episodes(t.Context(), "a")
				must(t, err)
				if gone := strings.HasPrefix(name, "withdrawn"); gone != (len(all) == 0) {
					t.Errorf("%+v", all)
				}
				if name == "show removed" {
					must(t, r.Restore(t.Context(), "a"))
					r.round(t)
					r.clock.pass(time.Second)
					equal(t, "brought back", r.heard(t, "a"), []string{"1"})
				}
				if name == "removed" {
					must(t, r.RestoreEpisode(t.Context(), "a", id))
					r.round(t)
					r.clock.pass(time.Second)
					equal(t, "brought back", r.heard(t, "a"), []string{"1"})
				}
			})
		}
	}
}

// A post that is taken back is gone whatever its episode's state, and can become one again.
func TestAPostThatIsWithdrawn(t *testing.T) {
	r := newRig(t)
	r.show(t, own("a", Posts))
	for i := range 4 {
		r.happens(Posts, fmt.Sprint(i), 100)
	}
	r.round(t)
	r.clock.pass(time.Second)
	id := func(key string) string { return r.episodeOf(t, "a", key).ID }
	first := id("0")
	_, err := r.Edit(t.Context(), "a", id("0"), Edit{Pinned: ptr(true)})
	must(t, err)
	_, err = r.Edit(t.Context(), "a", id("1"), Edit{State: ptr(Hidden)})
	must(t, err)
	must(t, r.RemoveEpisode(t.Context(), "a", id("2")))
	offers := r.origins[Posts].offers
	r.origins[Posts].set(func() {
		r.origins[Posts].withdrawn = map[string]bool{"0": true, "1": true, "2": true}
		r.origins[Posts].offers = offers[3:]
	})
	r.origins[Posts].set(func() { r.origins[Posts].err = station.ErrUnavailable })
	if err := r.withdraw(t.Context(), Posts, r.origins[Posts]); err == nil || len(r.files(t, "a")) != 4 {
		t.Errorf("what cannot be said takes nothing away: %v", err)
	}
	r.origins[Posts].set(func() { r.origins[Posts].err = nil })
	r.round(t)
	if all, _ := r.Episodes(t.Context(), "a"); len(all) != 1 || len(r.files(t, "a")) != 1 {
		t.Errorf("%+v, %v", all, r.files(t, "a"))
	}
	r.origins[Posts].set(func() { r.origins[Posts].withdrawn, r.origins[Posts].offers = nil, offers })
	r.round(t)
	r.clock.pass(time.Second)
	if now := r.episodeOf(t, "a", "0"); now.ID != first || now.Number != 5 || now.State != Published {
		t.Errorf("%+v", now)
	}
}

// A post that is before a moderator again is not heard meanwhile, whatever its episode's state, and
// is by itself once it is approved: the same episode, at its old place.
func TestAPostThatIsLookedAtOnceMore(t *testing.T) {
	r := newRig(t)
	r.show(t, own("a", Posts))
	posts := r.origins[Posts]
	for i := range 3 {
		r.happens(Posts, fmt.Sprint(i), 100)
	}
	r.round(t)
	r.clock.pass(time.Second)
	before, first := r.heard(t, "a"), r.episodeOf(t, "a", "1")
	_, err := r.Edit(t.Context(), "a", r.episodeOf(t, "a", "0").ID, Edit{State: ptr(Hidden)})
	must(t, err)
	show, _ := r.Show("a")
	posts.set(func() {
		posts.withheld = map[string]bool{"0": true, "1": true, "3": true}
	})
	r.happens(Posts, "3", 100) // it is put back before its episode is made
	must(t, r.look(t.Context(), Posts, posts))
	for range 3 {
		r.round(t)
	}
	r.open(t) // after a restart it is not heard either
	equal(t, "heard", r.heard(t, "a"), []string{"2"})
	_, _, err = r.Sound("a", first.ID)
	is(t, err, station.ErrNotFound)
	e := r.episodeOf(t, "a", "1")
	now, _ := r.Show("a")
	if e.State != Published || !e.Withheld || e.Problem == "" || e.ProblemAR == "" || len(r.files(t, "a")) != 3 || now.Episodes != 1 || now.Changed <= show.Changed {
		t.Errorf("%+v, %+v", e, now)
	}
	if _, err := r.Edit(t.Context(), "a", r.episodeOf(t, "a", "0").ID, Edit{State: ptr(Published)}); err != nil || len(r.heard(t, "a")) != 1 {
		t.Errorf("published by hand: %v, %v", err, r.heard(t, "a"))
	}
	if fetched := posts.fetched; fetched != 3 {
		t.Errorf("fetched %d times", fetched)
	}
	posts.set(func() { posts.withheld = nil })
	r.round(t)
	r.clock.pass(time.Second)
	equal(t, "heard again", r.heard(t, "a"), append([]string{"3"}, before...))
	if e := r.episodeOf(t, "a", "1"); e.Published != first.Published || e.Number != first.Number || e.Problem != "" {
		t.Errorf("%+v", e)
	}
}

// A clock that was set back keeps nothing from being tried again.
func TestATryAgainOutlivesAClockThatIsSetBack(t *testing.T) {
	r := newRig(t)
	r.show(t, own("a", Live))
	r.happens(Live, "1", 100)
	live := r.origins[Live]
	live.set(func() {
		live.during = func(context.Context, string) error { return station.ErrUnavailable }
	})
	r.round(t)
	live.set(func() { live.during = nil })
	r.clock.pass(-365 * 24 * time.Hour)
	r.round(t)
	if e := r.episodeOf(t, "a", "1"); e.State != Published {
		t.Errorf("%+v", e)
	}
}

// One post of which nothing can be said keeps none that is withdrawn in its show.
func TestADamagedPostKeepsNoOther(t *testing.T) {
	r := newRig(t)
	r.show(t, own("a", Posts))
	for _, key := range []string{"1", "damaged", "2", "3"} {
		r.happens(Posts, key, 100)
	}
	must(t, r.look(t.Context(), Posts, r.origins[Posts]))
	for r.makeNext(t.Context()) {
		r.clock.pass(time.Second)
	}
	r.origins[Posts].set(func() { r.origins[Posts].withdrawn = map[string]bool{"1": true, "2": true, "3": true} })
	if err := r.withdraw(t.Context(), Posts, r.origins[Posts]); err == nil || len(r.heard(t, "a")) != 0 {
		t.Errorf("%v, %v", err, r.heard(t, "a"))
	}
	if all, _ := r.Episodes(t.Context(), "a"); len(all) != 1 {
		t.Errorf("%+v", all)
	}
}

// Run does it all, and ends when it is told to, in the midst of making too; the next goes on.
func TestRunMakesEpisodesAndEnds(t *testing.T) {
	r := newRig(t)
	r.show(t, own("a", Live))
	committed := make(chan struct{}, 1)
	r.step = func(string) { nudge(committed) }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	r.happens(Live, "1", 100)
	r.Wake()
	for r.clock.pass(time.Second); len(r.heard(t, "a")) == 0; r.clock.pass(time.Second) {
		<-committed
	}
	r.Count("a", r.episodeOf(t, "a", "1").ID)
	begun := make(chan struct{})
	r.origins[Live].set(func() {
		r.origins[Live].during = func(ctx context.Context, _ string) error { close(begun); return hanging(ctx) }
	})
	r.happens(Live, "2", 100)
	r.Wake()
	<-begun
	cancel()
	must(t, <-ended)
	if e := r.episodeOf(t, "a", "1"); e.Downloads != 1 {
		t.Errorf("%+v", e)
	}
	r.origins[Live].set(func() { r.origins[Live].during = nil })
	r.open(t)
	if e := r.episodeOf(t, "a", "2"); e.State != Making {
		t.Errorf("%+v", e)
	}
	r.round(t)
	r.clock.pass(time.Second)
	equal(t, "heard", r.heard(t, "a"), []string{"2", "1"})
}
