package scheduler_test

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// tells reads the time that a bulletin of these tests tells from its name.
func tells(rel string) time.Time {
	at, _ := time.Parse(time.RFC3339, strings.TrimSuffix(path.Base(rel), ".mp3"))
	return at
}

func bulletin(at time.Time) station.Track {
	return station.Track{
		Path: "news/" + at.UTC().Format(time.RFC3339) + ".mp3", Category: station.News, Duration: 35 * time.Second, Size: 1, ModTime: time.Now(),
	}
}

// newsroom is a station on air whose engine follows its list, with a virtual clock.
type newsroom struct {
	*rig
	seq uint64
	all []station.Track
}

func newNewsroom(t *testing.T, all []station.Track) *newsroom {
	r := newRigWith(t, &node{}, newShelf(all), func(o *scheduler.Options) { o.Tells, o.Zone = tells, time.UTC })
	n := &newsroom{rig: r, all: all}
	time.Sleep(9*time.Hour + 10*time.Minute) // no daypart begins for long
	synctest.Wait()
	if err := r.Rebuild(t.Context()); err != nil { // the engine starts only now
		t.Fatal(err)
	}
	n.next()
	return n
}

// next has the engine begin the next entry of its list, and returns it.
func (n *newsroom) next() station.Track {
	n.t.Helper()
	next := n.View().Left()[0]
	n.seq++
	if _, err := n.Completed(n.t.Context(), scheduler.Marker{
		Engine: "player", Seq: n.seq, File: root + next.Track.Path, Type: next.Annotation(), Kind: scheduler.Rotation,
	}); err != nil {
		n.t.Fatal(err)
	}
	n.decided()
	synctest.Wait()
	return next.Track
}

// ends waits until what is on air ends.
func (n *newsroom) ends() { time.Sleep(time.Until(n.View().NextStart())); synctest.Wait() }

// add puts a track into the library.
func (n *newsroom) add(t station.Track) station.Track {
	n.all = append(slices.Clone(n.all), t)
	n.shelf.set(n.all)
	synctest.Wait()
	return t
}

func (n *newsroom) first() string { return n.View().Left()[0].Track.Path }

// A bulletin was queued, the library grew ten seconds later, and the rotation built
// for that had it 45 minutes on, telling the time of its making.
func TestAQueuedBulletinSurvivesEveryRebuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(200))
		b := n.add(bulletin(n.View().NextStart()))
		if err := n.Queue(t.Context(), b.Path); err != nil {
			t.Fatal(err)
		}
		cfg := rotation.DefaultConfig()
		cfg.GenreSplit = map[station.Category]float64{station.English: 1}
		for _, rebuild := range []struct {
			by string
			do func() error
		}{
			{"order", func() error { return nil }},
			{"library that has grown", func() error {
				n.add(station.Track{Path: "sweepers/a.mp3", Category: station.Sweepers, Duration: 8 * time.Second, Size: 1})
				time.Sleep(11 * time.Second)
				return nil
			}},
			{"operator", func() error { return n.Rebuild(t.Context()) }},
			{"settings", func() error { _, err := n.Configure(t.Context(), cfg); return err }},
			{"deleted entry", func() error {
				gone := n.View().Left()[7].Track.Path
				n.all = slices.DeleteFunc(slices.Clone(n.all), func(t station.Track) bool { return t.Path == gone })
				n.shelf.set(n.all)
				time.Sleep(2 * time.Second)
				return nil
			}},
			{"restart", func() error { n.stop(); n.open(); time.Sleep(time.Second); return nil }},
		} {
			seed := n.View().Rotation.Seed
			if err := rebuild.do(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if n.first() != b.Path {
				t.Errorf("%s: next is %s, not the bulletin", rebuild.by, n.first())
			}
			if rebuild.by != "order" && n.View().Rotation.Seed == seed {
				t.Errorf("%s: the rotation was not rebuilt", rebuild.by)
			}
		}
		n.ends()
		if heard := n.next(); heard.Path != b.Path {
			t.Errorf("heard %s", heard.Path)
		}
		if err := n.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n.first() == b.Path || len(n.View().Queued) != 0 {
			t.Errorf("heard, and queued still: %v", n.View().Queued)
		}
		n.stop()
	})
}

// Registering the first bulletin, queueing it and archiving the one before it moved
// the list twice or three times.
func TestABulletinMakesOnePush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(200))
		for range 3 {
			time.Sleep(11 * time.Second) // longer than the pause of a library that grows
			before := n.node.counted()
			old := slices.IndexFunc(n.all, func(t station.Track) bool { return t.Category == station.News })
			b := n.add(bulletin(n.View().NextStart().Add(time.Duration(before) * time.Second)))
			time.Sleep(11 * time.Second)
			if err := n.Queue(t.Context(), b.Path); err != nil {
				t.Fatal(err)
			}
			if old >= 0 {
				n.all = slices.Delete(slices.Clone(n.all), old, old+1)
				n.shelf.set(n.all)
			}
			time.Sleep(11 * time.Second)
			synctest.Wait()
			if pushes := n.node.counted() - before; pushes != 1 || n.first() != b.Path {
				t.Errorf("%d pushes, next %s", pushes, n.first())
			}
		}
		n.stop()
	})
}

// For four hours nobody makes a new bulletin, or ought to and does not: no list holds one
// that would have to be taken out of it in time.
func TestAnOutdatedBulletinIsNeverHeard(t *testing.T) {
	for _, renewed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n := newNewsroom(t, songs(200))
			n.RenewNews(renewed)
			if err := n.Queue(t.Context(), n.add(bulletin(n.View().NextStart())).Path); err != nil {
				t.Fatal(err)
			}
			places := func() bool {
				return slices.ContainsFunc(n.View().Left()[1:], func(e rotation.Entry) bool { return e.AfterNews })
			}
			if places() != renewed {
				t.Errorf("renewed %t: places for news %t", renewed, places())
			}
			heard, begin := 0, time.Now()
			for time.Since(begin) < 4*time.Hour {
				n.ends()
				track := n.next()
				if at := tells(track.Path); !at.IsZero() {
					if heard++; !rotation.Timely(at, time.Now()) {
						t.Errorf("renewed %t: %s tells %s", renewed, time.Now().Format(time.TimeOnly), at.Format(time.TimeOnly))
					}
				}
			}
			if heard != 1 || places() != renewed {
				t.Errorf("renewed %t: %d bulletins heard, places for news %t", renewed, heard, places())
			}
			for _, line := range n.lines() {
				if strings.Contains(line, "outdated bulletin withdrawn") {
					t.Errorf("renewed %t: the list had held one: %s", renewed, line)
				}
			}
			n.stop()
		})
	}
}

// A takeover of unknown length holds everything up: the bulletin leaves in time.
func TestATakeoverOutlastsABulletin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(200))
		b := n.add(bulletin(n.View().NextStart()))
		if err := n.Queue(t.Context(), b.Path); err != nil {
			t.Fatal(err)
		}
		n.ends()
		n.turn(scheduler.Live)
		synctest.Wait()
		if n.first() != b.Path {
			t.Errorf("at once, next is %s", n.first())
		}
		time.Sleep(rotation.NewsLate + 2*time.Second)
		synctest.Wait()
		if n.first() == b.Path || len(n.View().Queued) != 0 {
			t.Errorf("after the takeover the engine would go on with %s; queued %v", n.first(), n.View().Queued)
		}
		n.stop()
	})
}

// One made for the end of the next song is not heard before this one.
func TestABulletinWaitsForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNewsroom(t, songs(200))
		v, pushes := n.View(), n.node.counted()
		b := n.add(bulletin(v.Upcoming()[1].ExpectedAt))
		if err := n.Queue(t.Context(), b.Path); err != nil {
			t.Fatal(err)
		}
		if n.first() == b.Path || n.node.counted() != pushes {
			t.Errorf("next is %s, %d pushes", n.first(), n.node.counted()-pushes)
		}
		if !slices.Contains(n.View().Protected(time.Now()), b.Path) {
			t.Error("what waits is not protected")
		}
		n.ends()
		if song := n.next(); song.Path != v.Left()[0].Track.Path || n.first() != b.Path {
			t.Errorf("after %s, which was planned as %s, comes %s", song.Path, v.Left()[0].Track.Path, n.first())
		}
		if pushes = n.node.counted() - pushes; pushes != 1 {
			t.Errorf("%d pushes", pushes)
		}
		n.stop()
	})
}

// Where songs are short, several would let it begin early.
func TestABulletinIsHeardAtTheNearestChance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short := songs(200)
		for i := range short {
			short[i].Duration = 50 * time.Second
		}
		n := newNewsroom(t, short)
		b := n.add(bulletin(n.View().Upcoming()[5].ExpectedAt))
		if err := n.Queue(t.Context(), b.Path); err != nil {
			t.Fatal(err)
		}
		pushes := n.node.counted()
		for range 10 {
			n.ends()
			if n.next().Path != b.Path {
				continue
			}
			if off := time.Since(tells(b.Path)); off.Abs() > time.Minute || n.node.counted() != pushes+1 {
				t.Errorf("heard %s off, with %d pushes", off, n.node.counted()-pushes)
			}
			n.stop()
			return
		}
		t.Error("it was not heard")
		n.stop()
	})
}

// Skip and Play are heard at once, so what tells a later time waits.
func TestASkipDoesNotBringABulletinForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &player{}
		n := newNewsroom(t, songs(200))
		n.stop()
		with := n.with
		n.with = func(o *scheduler.Options) { with(o); o.Engine = p }
		p.rig, p.seq = n.rig, n.seq
		n.open()
		time.Sleep(time.Second)
		synctest.Wait()
		b := n.add(bulletin(n.View().NextStart()))
		if err := n.Queue(t.Context(), b.Path); err != nil {
			t.Fatal(err)
		}
		if err := n.Skip(t.Context()); err != nil {
			t.Fatal(err)
		}
		n.decided()
		if air := n.View().OnAir.Track.Path; air == b.Path || n.first() != b.Path {
			t.Errorf("on air %s, next %s", air, n.first())
		}
		old := n.add(bulletin(time.Now().Add(-11 * time.Minute)))
		for _, wish := range []scheduler.Wish{{Path: old.Path}, {Category: station.News}} {
			if _, err := n.Play(t.Context(), wish); !errors.Is(err, station.ErrConflict) {
				t.Errorf("play %+v: %v", wish, err)
			}
		}
		if err := n.Queue(t.Context(), old.Path); !errors.Is(err, station.ErrConflict) {
			t.Errorf("queue an old one: %v", err)
		}
		n.stop()
	})
}
