package simulate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Event is something that an operator does to the station, or that happens to it.
type Event string

// The events.
const (
	Skip    Event = "skip"    // forced rebuild; the next entry at once
	Play    Event = "play"    // a song of the operator's choice at once
	Live    Event = "live"    // a takeover of 5 to 90 minutes; what it cuts off does not come back
	Restart Event = "restart" // the control plane restarts; the engine goes on
	Boot    Event = "boot"    // the engine restarts at the head of a new list
	Purge   Event = "purge"   // a content refresh removes 1 % of the music, but nothing that airs soon
	Return  Event = "return"  // and brings it back
	Late    Event = "late"    // a new list is read so late that the engine airs what it had prepared
)

func events() []Event { return []Event{Skip, Play, Live, Restart, Boot, Purge, Return, Late} }

// Known reports whether e is one of the events.
func (e Event) Known() bool { return slices.Contains(events(), e) }

// Trouble is how often each event happens a day, on average.
type Trouble map[Event]float64

// protected is how many next entries of the rotation are never purged (specification:
// the playing track, the last, and the next 40).
const protected = 40

// chaos draws the events.
type chaos struct {
	rng     *rand.Rand
	trouble Trouble
	total   float64 // events a day
	at      time.Time
	away    []station.Track
}

func newChaos(o Options) *chaos {
	c := &chaos{rng: rand.New(rand.NewPCG(o.Seed, 0x63686173)), trouble: o.Trouble} //nolint:gosec // not for secrets
	for _, n := range o.Trouble {
		c.total += n
	}
	c.wait(o.From)
	return c
}

func (c *chaos) next() time.Time { return c.at }

// wait draws the time of the next event.
func (c *chaos) wait(now time.Time) {
	if c.total <= 0 {
		c.at = now.AddDate(1000, 0, 0)
		return
	}
	days := -math.Log(1-c.rng.Float64()) / c.total
	c.at = now.Add(time.Duration(days * float64(24*time.Hour))).Round(time.Millisecond)
}

// act carries out one event.
func (c *chaos) act(s *studio) error {
	at := c.rng.Float64() * c.total
	var happens Event
	for _, e := range events() {
		if at -= c.trouble[e]; at < 0 {
			happens = e
			break
		}
	}
	defer func() { c.wait(s.now) }()
	s.tally.Events[happens]++
	switch happens {
	case Skip:
		return s.skip(nil)
	case Play:
		return s.skip(c.wish(s))
	case Live:
		return s.live(5*time.Minute + time.Duration(c.rng.Int64N(int64(85*time.Minute))))
	case Restart:
		return s.settle(rotation.Restart)
	case Boot:
		return s.boot()
	case Purge:
		return c.purge(s)
	case Late:
		return s.late()
	case Return:
		if len(c.away) > 0 {
			s.shelve(s.opt.Library)
			c.away = nil
		}
	}
	return nil
}

// skip rebuilds and ends what is on air.
func (s *studio) skip(head []string) error {
	reason := rotation.Decide(rotation.Situation{Cause: rotation.Forced}).Reason
	if err := s.rebuild(reason, s.now, 0, head); err != nil {
		return err
	}
	s.stray, s.skipped = nil, true // the engine drops what it had taken
	return nil
}

// late rebuilds; on a slow disk the engine reads the new list only after what it had
// prepared has begun. A bulletin that is due may open both lists: its cadence leaves no
// other place. So may the next of a playlist, which has none either.
func (s *studio) late() error {
	if i := s.state.Consumed; s.onAir != nil && i < len(s.rot.Entries) && s.stray == nil && s.rot.Entries[i].Track.Category != station.News && s.rot.Entries[i].List == 0 {
		prepared := s.rot.Entries[i]
		defer func() { s.stray = &prepared }()
	}
	return s.settle(rotation.Restart)
}

// wish draws a song that an operator might want: any.
func (c *chaos) wish(s *studio) []string {
	for range 100 {
		t := s.opt.Library[c.rng.IntN(len(s.opt.Library))]
		if t.Category.Music() && !slices.ContainsFunc(c.away, func(a station.Track) bool { return a.Path == t.Path }) {
			return []string{t.Path}
		}
	}
	return nil
}

// live puts a takeover on air, while the watchdog goes on.
func (s *studio) live(length time.Duration) error {
	from, to := s.now, s.now.Add(length)
	s.onAir, s.stray, s.skipped = nil, nil, true
	for s.watch.Before(to) {
		s.now = s.watch
		s.watch = s.watch.Add(watchdogEvery)
		if err := s.settle(rotation.Watchdog); err != nil {
			return err
		}
	}
	s.now = to
	s.tally.Live = append(s.tally.Live, Span{from, to})
	return nil
}

// boot restarts the engine: a second of silence, then the head of a list that was made
// for it.
func (s *studio) boot() error {
	s.engine, s.seq = "engine-"+strconv.Itoa(s.tally.Events[Boot]+1), 0
	s.onAir, s.stray, s.skipped = nil, nil, true
	from := s.now
	if err := s.settle(rotation.Restart); err != nil {
		return err
	}
	s.now = s.now.Add(time.Second)
	s.tally.Live = append(s.tally.Live, Span{from, s.now})
	return nil
}

// purge removes songs, but none that airs soon, and rebuilds.
func (c *chaos) purge(s *studio) error {
	near := map[string]bool{s.state.LastTrackPlayed: true}
	left := s.rot.Entries[min(s.state.Consumed, len(s.rot.Entries)):]
	for _, e := range left[:min(len(left), protected)] {
		near[e.Track.Path] = true
	}
	if s.onAir != nil {
		near[s.onAir.Track.Path] = true
	}
	c.away = nil
	keep := slices.DeleteFunc(slices.Clone(s.opt.Library), func(t station.Track) bool {
		gone := t.Category.Music() && !near[t.Path] && c.rng.IntN(100) == 0
		if gone {
			c.away = append(c.away, t)
		}
		return gone
	})
	s.shelve(keep)
	return s.settle(rotation.Purged)
}
