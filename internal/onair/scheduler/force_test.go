package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// player is a playout engine in memory: told to go on, it starts the head and
// says so by a marker, as the real one does, before it answers.
type player struct {
	mu   sync.Mutex
	seq  uint64
	cues []scheduler.Cue
	look error // returned by Look
	next error // returned by Next, which then does nothing
	rig  *rig
}

func (p *player) Look(context.Context) (scheduler.Sight, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return scheduler.Sight{Engine: "player", Seq: p.seq}, p.look
}

func (p *player) Next(ctx context.Context, c scheduler.Cue) error {
	p.mu.Lock()
	p.cues = append(p.cues, c)
	p.seq++
	m := scheduler.Marker{Engine: "player", Seq: p.seq, File: c.Head, Kind: scheduler.Rotation, At: time.Now()}
	err := p.next
	p.mu.Unlock()
	if err != nil {
		return err
	}
	// A real one's marker comes another way: it does not end with the patience for the answer.
	_, err = p.rig.Completed(context.WithoutCancel(ctx), m)
	return err
}

func (p *player) set(look, next error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.look, p.next = look, next
}

// last is the newest cue, and how many there were.
func (p *player) last() (scheduler.Cue, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.cues) == 0 {
		return scheduler.Cue{}, 0
	}
	return p.cues[len(p.cues)-1], len(p.cues)
}

// everything is songs, and some of each other category.
func everything(n int) []station.Track {
	all := songs(n)
	for _, c := range station.Categories() {
		if c == station.ArabicHits || c == station.English {
			continue
		}
		for i := range 4 {
			t := station.Track{Path: string(c) + "/" + string(rune('a'+i)) + ".mp3", Category: c, Duration: 10 * time.Second, Size: 1}
			if c.Music() {
				t.Duration, t.Artist = 3*time.Minute, t.Path
			}
			t.ModTime = time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
			all = append(all, t)
		}
	}
	return all
}

func newDesk(t *testing.T, s *shelf, with func(*scheduler.Options)) (*rig, *player) {
	p := &player{}
	r := newRigWith(t, &node{}, s, func(o *scheduler.Options) {
		o.Engine = p
		if with != nil {
			with(o)
		}
	})
	p.rig = r
	r.built()
	return r, p
}

// An engine that goes on sends a marker, which the scheduler must be free to
// take while it waits for the engine.
func TestSkipAndPlayAreHeardAtOnce(t *testing.T) {
	r, p := newDesk(t, newShelf(songs(200)), nil)
	for range 5 {
		before := r.View()
		if err := r.Skip(t.Context()); err != nil {
			t.Fatal(err)
		}
		v := r.View()
		if v.OnAir.Track.Path != v.Rotation.Entries[0].Track.Path || v.Consumed != 1 || v.Rotation.Seed == before.Rotation.Seed {
			t.Errorf("on air %s, %d consumed", v.OnAir.Track.Path, v.Consumed)
		}
		if v.OnAir.Track.Path == before.OnAir.Track.Path {
			t.Errorf("a skip went on with what just played: %s", v.OnAir.Track.Path)
		}
		if v.Rotation.Starts != v.Rotation.BuiltAt {
			t.Errorf("planned for %s, built at %s: a skip is heard at once", v.Rotation.Starts, v.Rotation.BuiltAt)
		}
		if cue, _ := p.last(); cue.Head != root+v.OnAir.Track.Path || cue.Same || cue.Must {
			t.Errorf("cue %+v", cue)
		}
	}
	// What just played, and what is on air, may be asked for.
	wish := r.View().OnAir.Track.Path
	for range 2 {
		got, err := r.Play(t.Context(), scheduler.Wish{Path: wish})
		if err != nil || got.Path != wish || r.View().OnAir.Track.Path != wish {
			t.Fatalf("asked for %s: %s, %v; on air %s", wish, got.Path, err, r.View().OnAir.Track.Path)
		}
		if cue, _ := p.last(); !cue.Must {
			t.Errorf("cue %+v: nothing else will do", cue)
		}
	}
	if why := r.View().Rotation.Entries[0].Why.Reason; why != "chosen by the operator" {
		t.Errorf("why: %q", why)
	}
}

func TestPlayOfACategoryTakesThePlannersBest(t *testing.T) {
	r, _ := newDesk(t, newShelf(everything(90)), nil)
	heard := map[string]bool{}
	for _, c := range slices.Concat(station.Categories(), station.Categories()) {
		got, err := r.Play(t.Context(), scheduler.Wish{Category: c})
		if err != nil || got.Category != c || r.View().OnAir.Track.Path != got.Path {
			t.Errorf("%s: %s, %v", c, got.Path, err)
		}
		switch {
		case c == station.News && got.Path != "news/d.mp3":
			t.Errorf("a bulletin that is not the newest: %s", got.Path)
		case c != station.News && heard[got.Path]:
			t.Errorf("%s again, and there are others of %s", got.Path, c)
		}
		heard[got.Path] = true
	}
	// The only one of its kind, again and again.
	one := songs(60)
	one[0].Category, one[0].Path = station.Mashups, "only.mp3"
	r, _ = newDesk(t, newShelf(one), nil)
	for range 3 {
		if got, err := r.Play(t.Context(), scheduler.Wish{Category: station.Mashups}); err != nil || got.Path != "only.mp3" {
			t.Errorf("%s, %v", got.Path, err)
		}
	}
}

func TestOrdersThatCannotBeFollowedChangeNothing(t *testing.T) {
	away := errors.New("socket: " + station.ErrUnavailable.Error())
	for _, c := range []struct {
		name  string
		setup func(r *rig, p *player)
		order func(r *rig) error
		want  error
	}{
		{"unknown path", nil, func(r *rig) error { _, err := r.Play(t.Context(), scheduler.Wish{Path: "no.mp3"}); return err }, station.ErrNotFound},
		{"a path of another category", nil, func(r *rig) error {
			_, err := r.Play(t.Context(), scheduler.Wish{Path: songs(9)[3].Path, Category: station.ArabicHits})
			return err
		}, station.ErrNotFound},
		{"a category without tracks", nil, func(r *rig) error {
			_, err := r.Play(t.Context(), scheduler.Wish{Category: station.News})
			return err
		}, station.ErrNotFound},
		{"no category at all", nil, func(r *rig) error { _, err := r.Play(t.Context(), scheduler.Wish{}); return err }, station.ErrNotFound},
		{"live on air", func(r *rig, _ *player) { r.turn(scheduler.Live) }, func(r *rig) error { return r.Skip(t.Context()) }, station.ErrConflict},
		{"emergency on air", func(r *rig, _ *player) { r.turn(scheduler.Emergency) }, func(r *rig) error {
			_, err := r.Play(t.Context(), scheduler.Wish{Category: station.English})
			return err
		}, station.ErrConflict},
		{"engine away", func(_ *rig, p *player) { p.set(away, nil) }, func(r *rig) error { return r.Skip(t.Context()) }, away},
		{"the file is not in place", func(r *rig, _ *player) {
			r.node.set(func(n *node) { n.gone = map[string]bool{root + songs(9)[5].Path: true} })
		}, func(r *rig) error { _, err := r.Play(t.Context(), scheduler.Wish{Path: songs(9)[5].Path}); return err }, station.ErrConflict},
		{"no file of the category is in place", func(r *rig, _ *player) {
			r.node.set(func(n *node) {
				n.gone = map[string]bool{}
				for _, s := range songs(90) {
					n.gone[root+s.Path] = s.Category == station.English
				}
			})
		}, func(r *rig) error {
			_, err := r.Play(t.Context(), scheduler.Wish{Category: station.English})
			return err
		}, station.ErrConflict},
		{"given up before", nil, func(r *rig) error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return r.Skip(ctx)
		}, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, p := newDesk(t, newShelf(songs(90)), nil)
			if c.setup != nil {
				c.setup(r, p)
			}
			before, pushes := r.View(), r.node.counted()
			if err := c.order(r); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			v := r.View()
			if v.Rotation.Seed != before.Rotation.Seed || v.Problem != "" || r.node.counted() != pushes {
				t.Errorf("rotation %d became %d, %d pushes, problem %q", before.Rotation.Seed, v.Rotation.Seed, r.node.counted()-pushes, v.Problem)
			}
			if _, n := p.last(); n != 0 {
				t.Error("the engine was told to go on")
			}
		})
	}
}

// turn tells that something else than the rotation is on air.
func (r *rig) turn(k scheduler.Kind) {
	r.t.Helper()
	if _, err := r.Completed(r.t.Context(), scheduler.Marker{Engine: "player", Seq: 1000, Kind: k, Title: "x", At: time.Now()}); err != nil {
		r.t.Fatal(err)
	}
}

// The new rotation is in place, then the engine goes away: the answer says so,
// and what is committed is what the engine will play.
func TestEngineThatFailsAfterTheCommitIsToldAndNothingIsLost(t *testing.T) {
	r, p := newDesk(t, newShelf(songs(90)), nil)
	p.set(nil, station.ErrUnavailable)
	wish := songs(9)[7].Path
	_, err := r.Play(t.Context(), scheduler.Wish{Path: wish})
	if !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	v := r.View()
	list, _ := r.node.InPlace(t.Context())
	if v.Rotation.Entries[0].Track.Path != wish || list[0].Path != root+wish || v.Problem != "" {
		t.Errorf("committed %s, in place %s, problem %q", v.Rotation.Entries[0].Track.Path, list[0].Path, v.Problem)
	}
	if got := r.hear("player", 50, wish); got != "advanced" || r.View().Consumed != 1 {
		t.Errorf("when it is heard after all: %s", got)
	}
}

func TestCrashBetweenPlaysCommitAndTheEnginesSkip(t *testing.T) {
	r, p := newDesk(t, newShelf(songs(200)), nil)
	first := r.View().Rotation.Entries
	r.hear("player", 1, first[0].Track.Path)
	wish := first[40].Track.Path
	p.set(nil, errors.New("died here"))
	if _, err := r.Play(t.Context(), scheduler.Wish{Path: wish}); err == nil {
		t.Fatal("the engine did not fail")
	}
	r.stop()
	r.node.set(func(n *node) { n.fail = errors.New("node is away") }) // so that no rebuild hides it
	r.open()
	v := r.View()
	list, _ := r.node.InPlace(t.Context())
	if v.OnAir.Track.Path != first[0].Track.Path || v.OnAir.Index != -1 || v.Consumed != 0 {
		t.Errorf("on air %s at %d, %d consumed", v.OnAir.Track.Path, v.OnAir.Index, v.Consumed)
	}
	for i, e := range v.Rotation.Entries {
		if root+e.Track.Path != list[i].Path {
			t.Fatalf("entry %d is taken for %q, but the engine has %q", i, e.Track.Path, list[i].Path)
		}
	}
	if v.Rotation.Entries[0].Track.Path != wish {
		t.Errorf("the wish is not at the head, but %s", v.Rotation.Entries[0].Track.Path)
	}
	// The engine, which outlived us, now comes to it by itself.
	if got := r.hear("player", 2, wish); got != "advanced" {
		t.Errorf("its marker: %s", got)
	}
}

// Orders of every kind at once: for the race detector, and so that none waits
// for another forever.
func TestSkipsPlaysMarkersAndSettingsAtOnce(t *testing.T) {
	r, _ := newDesk(t, newShelf(songs(120)), nil)
	var wg sync.WaitGroup
	run := func(order func(i int) error) {
		wg.Go(func() {
			for i := range 8 {
				if err := order(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	run(func(int) error { return r.Skip(t.Context()) })
	run(func(int) error { return r.Skip(t.Context()) })
	run(func(i int) error {
		_, err := r.Play(t.Context(), scheduler.Wish{Path: songs(20)[i+2].Path})
		return err
	})
	run(func(i int) error {
		cfg := rotation.DefaultConfig()
		cfg.MashupChance = float64(i) / 100
		_, err := r.Configure(t.Context(), cfg)
		return err
	})
	run(func(i int) error {
		v := r.View()
		_, err := r.Completed(t.Context(), scheduler.Marker{
			Engine: "player", Seq: uint64(2000 + i), Kind: scheduler.Rotation, File: root + v.Rotation.Entries[i].Track.Path, At: time.Now(),
		})
		return err
	})
	wg.Wait()
	r.stop()
	if err := r.Skip(context.Background()); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("an order after the end: %v", err)
	}
}
