// Package simulate airs days of radio in seconds: the real planner and cursor of package
// rotation run on a virtual clock. A judge that shares no rule code with them checks the
// air log against the specification and measures how fair it is. test/bench/rotation
// compares it with alternatives.
//
// It uses no disk, network or goroutine and reads no clock: the same options give the
// same log, byte for byte.
package simulate

import (
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Athir is the name of the real planner among the policies that reports compare.
const Athir = "athir"

// Options of a Run. Zone is required; the zero value of the rest is usable.
type Options struct {
	Library []station.Track // must not change afterwards
	Config  rotation.Config
	Policy  string // name of the policy in reports; Run always uses Athir
	Days    int    // calendar days in Zone; 0 means 1
	Seed    uint64
	Zone    *time.Location
	// From is the first instant on air; zero means FirstDay, midnight in Zone.
	From time.Time
	// Trouble is what operators do to the station meanwhile; zero means nothing.
	Trouble Trouble
	// Listeners is what listeners bring meanwhile; zero means nothing.
	Listeners Listeners
	// Lists are the operator's playlists.
	Lists []rotation.List
	// Clock measures builds; with nil, all of Result.Builds are zero.
	Clock func() time.Time
	// Explain keeps the reason of every entry.
	Explain bool
	// Progress is called now and then with the share that is done; its error ends
	// the run.
	Progress func(done float64) error
}

// FirstDay is where a run begins by default: a Monday. Four weeks from it contain the
// spring change of Cairo's clocks.
const FirstDay = "2026-04-06"

// Aired is one line of an air log: what was on air, with data of its entry.
type Aired struct {
	At      time.Time // in the station's zone
	Track   station.Track
	Relaxed []rotation.Rule
	Due     time.Time     // when a timed event was due; zero for all others
	Slack   time.Duration // how far from Due it may start
	Forced  bool          // an operator's choice: rules do not bind it
	// Stray: the entry is of a replaced rotation, from which the engine had already
	// taken it.
	Stray bool
	Guest rotation.Guest // what listeners brought; empty for the station's own
	List  int64          // the playlist that it is of; 0 for none
	Why   rotation.Why   // with Options.Explain
}

// Span is a time in which something other than the rotation was on air.
type Span struct{ From, To time.Time }

// Result is what was on air.
type Result struct {
	From, To time.Time
	Log      []Aired // oldest first
	Live     []Span  // takeovers
	Events   map[Event]int
	Rebuilds map[string]int // by reason
	Builds   []time.Duration
	Started  []station.Track // the library at From, without posts
	Posts    []Post
	Asks     []Ask // in the order in which they were granted
}

// ErrNothing means that a library has nothing that can air.
var ErrNothing = errors.New("nothing to play")

// Run airs the days and returns the log.
func Run(o Options) (Result, error) {
	o, err := o.WithDefaults()
	if err != nil {
		return Result{}, err
	}
	return newStudio(o).run()
}

// WithDefaults fills in defaults; its error names a required option that is missing.
func (o Options) WithDefaults() (Options, error) {
	o.Days = max(o.Days, 1)
	if o.Zone == nil {
		return o, fmt.Errorf("zone: must be set: %w", station.ErrInvalid)
	}
	if len(o.Listeners.Posts) > 0 && o.Listeners.Order == nil {
		return o, fmt.Errorf("listeners' posts: their order must be set: %w", station.ErrInvalid)
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

// Done returns the share of the run before a time.
func (o Options) Done(at time.Time) float64 {
	return min(float64(at.Sub(o.From))/float64(o.End().Sub(o.From)), 1)
}

// shortestAir lets the clock advance past an entry that is all crossfade.
const shortestAir = 10 * time.Millisecond

// Airtime returns how long an entry is on air before the next one starts: the engine
// overlaps two neighbours by the shorter of their crosses, and never by more than the
// entry's length (docs/playout.md).
func Airtime(length, cross, nextCross time.Duration) time.Duration {
	return max(length-min(cross, nextCross), shortestAir)
}

// CrossOf returns the specification's crossfade of each kind of item.
func CrossOf(c station.Category) time.Duration {
	switch c {
	case station.SFX, station.Shorts:
		return 200 * time.Millisecond
	case station.Jingles, station.Sweepers, station.Ads, station.News:
		return 500 * time.Millisecond
	}
	return 2 * time.Second
}
