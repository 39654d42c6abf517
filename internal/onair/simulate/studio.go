package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// studio is scheduler and playout engine in one, on a virtual clock:
//
//	an entry starts      marker → Advance → settle(Write)
//	every 60 s           settle(Watchdog)
//	the operator acts    see Trouble
//	an entry ends        the engine takes the next of the list in place
//
// A rebuild replaces the list at once; the engine drops what it has opened ahead, unless
// too little time is left.
type studio struct {
	opt   Options
	index *rotation.Index
	tally Result

	now   time.Time
	rot   rotation.Rotation
	state rotation.State
	rng   *rand.Rand // seeds of builds, as the scheduler draws them
	chaos *chaos
	crowd *audience

	pos     int    // the engine's position in its list
	engine  string // boot id
	seq     uint64
	onAir   *rotation.Entry // nil before the first entry and during a takeover
	started time.Time
	watch   time.Time // the next tick of the watchdog
	stray   *rotation.Entry
	forced  map[string]bool // heads of the rotation that an operator asked for
	skipped bool            // the entry on air ends now
}

const (
	watchdogEvery = time.Minute
	// reloadLead is how long before the end of an entry the engine has taken the
	// next one, even if the list is replaced then.
	reloadLead = 500 * time.Millisecond
)

func newStudio(o Options) *studio {
	s := &studio{
		opt: o, now: o.From, engine: "engine-1",
		rng:   rand.New(rand.NewPCG(o.Seed, 0x73747564696f)), //nolint:gosec // not for secrets
		watch: o.From.Add(watchdogEvery),
		tally: Result{
			From: o.From, To: o.End(), Started: o.Library, Events: map[Event]int{}, Rebuilds: map[string]int{},
		},
	}
	s.tally.Posts = o.Listeners.Posts
	s.chaos, s.crowd = newChaos(o), newAudience(o)
	s.shelve(o.Library)
	return s
}

// shelve makes the index of a library, and of all posts.
func (s *studio) shelve(library []station.Track) {
	s.index = rotation.NewIndex(slices.Concat(library, s.crowd.tracks()))
}

func (s *studio) run() (Result, error) {
	if err := s.settle(rotation.Restart); err != nil {
		return s.tally, err
	}
	for s.now.Before(s.tally.To) {
		if err := s.air(); err != nil {
			return s.tally, err
		}
		if len(s.tally.Log)%256 == 0 {
			if err := s.opt.Progress(s.opt.Done(s.now)); err != nil {
				return s.tally, err
			}
		}
	}
	s.tally.Asks = s.crowd.asks
	return s.tally, s.opt.Progress(1)
}

// take returns the entry that the engine plays next.
func (s *studio) take() (e rotation.Entry, stray bool) {
	if s.stray != nil {
		e, s.stray = *s.stray, nil
		return e, true
	}
	if s.pos >= len(s.rot.Entries) {
		s.pos = 0 // the engine repeats a list that was not renewed
	}
	e = s.rot.Entries[s.pos]
	s.pos++
	return e, false
}

// next returns the entry that would follow the one on air.
func (s *studio) next() *rotation.Entry {
	if s.stray != nil {
		return s.stray
	}
	return &s.rot.Entries[s.pos%len(s.rot.Entries)]
}

// air plays one entry to its end, or until something cuts it off.
func (s *studio) air() error {
	e, stray := s.take()
	s.onAir, s.started, s.skipped = &e, s.now, false
	if err := s.marker(e, stray); err != nil {
		return err
	}
	for !s.skipped {
		end := s.ends()
		due := minTime(s.watch, s.chaos.next(), s.crowd.next(), end)
		s.now = maxTime(s.now, due)
		var err error
		switch {
		case !s.watch.After(due):
			s.watch = s.watch.Add(watchdogEvery)
			err = s.settle(rotation.Watchdog)
		case !s.chaos.next().After(due):
			err = s.chaos.act(s)
		case !s.crowd.next().After(due):
			err = s.crowd.ask(s)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ends returns when the next entry starts.
func (s *studio) ends() time.Time {
	if s.onAir == nil {
		return s.now
	}
	return s.started.Add(Airtime(s.onAir.Track.Duration, s.onAir.Cross, s.next().Cross))
}

// marker logs the start of an entry and advances the cursor.
func (s *studio) marker(e rotation.Entry, stray bool) error {
	s.seq++
	state, out := rotation.Advance(s.rot, s.state, rotation.Marker{
		Engine: s.engine, Seq: s.seq, Path: e.Track.Path, Artist: e.Track.Artist, Category: e.Track.Category, At: s.now,
		Submitter: e.Track.Submitter,
	})
	if !stray && (out.Kind != rotation.Advanced || out.Index != s.pos-1) {
		return fmt.Errorf("cursor at %s (%s) after the engine played entry %d of %d at %s",
			out.Kind, e.Track.Path, s.pos-1, len(s.rot.Entries), s.now.Format(time.DateTime))
	}
	s.state = state
	s.crowd.heard(e.Track, s.now)
	line := Aired{
		At: s.now, Track: e.Track, Relaxed: e.Relaxed, Due: e.Due, Slack: e.Tolerance, Stray: stray, Forced: !stray && s.forced[e.Track.Path],
		Guest: e.Guest, List: e.List,
	}
	if s.opt.Explain {
		line.Why = e.Why
	}
	s.tally.Log = append(s.tally.Log, line)
	if out.Kind == rotation.Unknown && s.comes(e.Track.Path) {
		return s.renew("heard early")
	}
	return s.settle(rotation.Write)
}

// comes reports that a listener's entry, or one of a playlist, is still to come.
func (s *studio) comes(path string) bool {
	left := s.rot.Entries[min(s.state.Consumed, len(s.rot.Entries)):]
	return slices.ContainsFunc(left, func(e rotation.Entry) bool { return (e.Guest != "" || e.List != 0) && e.Track.Path == path })
}

// settle does what the scheduler does: decide, then rebuild.
func (s *studio) settle(cause rotation.Cause) error {
	d := rotation.Decide(rotation.Situation{
		Cause: cause, Length: len(s.rot.Entries), Consumed: s.state.Consumed,
		RefreshFraction: s.opt.Config.Rotation.RefreshFraction,
		StampedDaypart:  s.rot.Daypart, LiveDaypart: rotation.DaypartKey(s.opt.Config, s.now),
		StampedLists: s.rot.ListKey, LiveLists: rotation.ListKey(s.opt.Config, s.opt.Lists, s.now),
		OffTime: s.offTime(),
	})
	if !d.Rebuild {
		return nil
	}
	return s.renew(d.Reason)
}

// renew builds what follows the entry on air.
func (s *studio) renew(reason string) error {
	if s.onAir == nil {
		return s.rebuild(reason, s.now, 0, nil)
	}
	ends := s.started.Add(Airtime(s.onAir.Track.Duration, s.onAir.Cross, s.onAir.Cross))
	return s.rebuild(reason, ends, s.onAir.Cross, nil)
}

// offTime returns how far the next timed event has moved from its time.
func (s *studio) offTime() time.Duration {
	if s.onAir == nil {
		return 0
	}
	return rotation.OffTime(s.rot, s.state.Consumed, s.ends())
}

// rebuild commits a new rotation whose first entry starts at starts.
func (s *studio) rebuild(reason string, starts time.Time, cross time.Duration, head []string) error {
	var taken *rotation.Entry
	req := rotation.Request{
		Index: s.index, Config: s.opt.Config, State: s.state, Now: s.now, Starts: starts, Cross: cross, Seed: s.rng.Uint64(), Head: head,
		Overlay: s.crowd.overlay(s.now), Lists: s.opt.Lists,
	}
	airs := false // whether the entry that the engine had opened ahead airs
	if i := s.state.Consumed; i < len(s.rot.Entries) && s.onAir != nil {
		taken = &s.rot.Entries[i]
		if s.stray != nil { // it airs before anything of the list that is replaced now
			taken = s.stray
		}
		req.Prepared = []station.Track{taken.Track}
		if taken.List != 0 {
			req.Listed = map[string]rotation.ListPlace{taken.Track.Path: taken.Place}
		}
		if left := starts.Sub(s.now); left > 0 && left <= reloadLead || s.stray != nil {
			airs = true
			req.InFlight, req.Prepared = req.Prepared, nil
			req.Starts, req.Cross = starts.Add(max(taken.Track.Duration-taken.Cross, 0)), taken.Cross
		}
	}
	began := s.clock()
	rot := rotation.Build(req)
	if s.opt.Clock != nil {
		s.tally.Builds = append(s.tally.Builds, s.clock().Sub(began))
	}
	if len(rot.Entries) == 0 {
		return fmt.Errorf("rebuild (%s) at %s: %w", reason, s.now.Format(time.DateTime), ErrNothing)
	}
	s.tally.Rebuilds[reason]++
	s.rot, s.state, s.pos = rot, s.state.Fresh(), 0
	s.forced = map[string]bool{}
	for _, path := range head {
		s.forced[path] = true
	}
	if airs {
		s.stray = taken
	}
	return nil
}

func (s *studio) clock() time.Time {
	if s.opt.Clock == nil {
		return time.Time{}
	}
	return s.opt.Clock()
}

func minTime(t time.Time, others ...time.Time) time.Time {
	for _, o := range others {
		if o.Before(t) {
			t = o
		}
	}
	return t
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
