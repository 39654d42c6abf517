// Package simulate airs days of radio in seconds: the real planner and cursor
// of package rotation run on a virtual clock, and a judge that shares no rule
// code with them holds the air log against the specification and measures how
// fair it is. What one would take instead airs beside it in test/bench/rotation.
//
// It touches no disk, network or goroutine and reads no clock: the same options
// give the same log, byte for byte.
package simulate

import (
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Athir is the real planner, among the policies that reports compare.
const Athir = "athir"

// Options of a Run. Zone is required; the zero value of the rest is usable.
type Options struct {
	Library []station.Track // must not change after
	Config  rotation.Config
	Policy  string // who chose, as reports name it; Run is Athir whatever it says
	Days    int    // calendar days in Zone; 0 is 1
	Seed    uint64
	Zone    *time.Location
	// From is the first instant on air; zero is FirstDay, midnight in Zone.
	From time.Time
	// Trouble is what operators do to the station meanwhile; zero is nothing.
	Trouble Trouble
	// Clock measures builds; nil leaves Result.Builds zero long.
	Clock func() time.Time
	// Explain keeps the reason of every entry.
	Explain bool
	// Progress is told the share that is done, now and then; an error ends the
	// run with it.
	Progress func(done float64) error
}

// FirstDay is where a run begins unless told otherwise: a Monday. Four weeks
// from it cross the spring change of Cairo's clocks.
const FirstDay = "2026-04-06"

// Aired is one line of an air log: what was heard, and what its entry said.
type Aired struct {
	At      time.Time // in the station's zone
	Track   station.Track
	Relaxed []rotation.Rule
	Due     time.Time     // of a timed event; zero for all else
	Slack   time.Duration // how far from Due it may start
	Forced  bool          // an operator's choice: rules do not bind it
	// Stray says that it is of a rotation that had been replaced: the engine
	// had taken it before.
	Stray bool
	Why   rotation.Why // with Options.Explain
}

// Span is a time in which something else than the rotation was on air.
type Span struct{ From, To time.Time }

// Result is what was heard.
type Result struct {
	From, To time.Time
	Log      []Aired // oldest first
	Live     []Span  // takeovers
	Events   map[Event]int
	Rebuilds map[string]int // by reason
	Builds   []time.Duration
	Started  []station.Track // the library at From
}

// ErrNothing says that a library holds nothing that can be aired.
var ErrNothing = errors.New("nothing to play")

// Run airs the days and returns the log.
func Run(o Options) (Result, error) {
	o, err := o.WithDefaults()
	if err != nil {
		return Result{}, err
	}
	return newStudio(o).run()
}

// WithDefaults fills in what was left open; the error names what must not be.
func (o Options) WithDefaults() (Options, error) {
	o.Days = max(o.Days, 1)
	if o.Zone == nil {
		return o, fmt.Errorf("zone: must be set: %w", station.ErrInvalid)
	}
	if o.From.IsZero() {
		from, err := time.ParseInLocation(time.DateOnly, FirstDay, o.Zone)
		if err != nil {
			return o, err
		}
		o.From = from
	}
	o.From = o.From.In(o.Zone)
	if o.Progress == nil {
		o.Progress = func(float64) error { return nil }
	}
	return o, nil
}

// End is the first instant after the last day.
func (o Options) End() time.Time { return o.From.AddDate(0, 0, o.Days) }

// Done is the share of the run that lies before a time.
func (o Options) Done(at time.Time) float64 {
	return min(float64(at.Sub(o.From))/float64(o.End().Sub(o.From)), 1)
}

// shortestAir keeps the clock going past an entry that is all crossfade.
const shortestAir = 10 * time.Millisecond

// Airtime is how long an entry is heard before the next one starts: the engine
// overlaps two neighbours by the shorter of their crosses, and never by more
// than there is (docs/playout.md).
func Airtime(length, cross, nextCross time.Duration) time.Duration {
	return max(length-min(cross, nextCross), shortestAir)
}

// CrossOf is the specification's crossfade of each kind of item.
func CrossOf(c station.Category) time.Duration {
	switch c {
	case station.SFX, station.Shorts:
		return 200 * time.Millisecond
	case station.Jingles, station.Sweepers, station.Ads, station.News:
		return 500 * time.Millisecond
	}
	return 2 * time.Second
}
