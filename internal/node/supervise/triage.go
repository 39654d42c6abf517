package supervise

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/station"
)

// Condition is how a running program is.
type Condition string

// The conditions.
const (
	Unknown Condition = ""        // it does not run, or was not looked at yet
	Well    Condition = "well"    // it answers
	Full    Condition = "full"    // it answers that it has no more places: it does its work
	Starved Condition = "starved" // it is late because it waits for a processor, memory or a disk
	Wedged  Condition = "wedged"  // it could work, and does not
)

// Conditions lists all that a running program can be in.
func Conditions() []Condition { return []Condition{Well, Full, Starved, Wedged} }

// Flow is whether what a program is there for comes out of it.
type Flow int

// The flows.
const (
	FlowUnknown Flow = iota
	Flowing
	Dry
)

// look is what one look at a running program found.
type look struct {
	at     time.Time
	pid    int
	answer error       // of its probe: nil, station.ErrFull, or why there was none
	vitals proc.Vitals // as the probe ended; zero: could not be read
	flow   Flow
	mute   bool   // the answer is not its own: Watchdog.Mute
	short  string // what the whole machine is short of
}

// How long a program must be as it is before a kill can help it. A program that only waits
// for a processor is not helped: it would have to start as well.
const (
	// stoppedFor is for one that a signal stopped: nothing but a signal makes it go on.
	stoppedFor = 2 * time.Second
	// muteFor is for one that does not answer although it could.
	muteFor = 8 * time.Second
	// spinFor is for one that does not answer and uses a processor all the time.
	spinFor = time.Minute
	// waits is the share of time for which a program waits for a processor from which on it
	// may be late because of that, lacks the one from which on it surely is, and spins the
	// share that one in an endless loop uses.
	waits, lacks, spins = 0.2, 0.5, 0.5
)

// patient is what is known of a running program from earlier looks. The zero value is
// one that was not looked at.
type patient struct {
	last    look
	stopped time.Time // since when it is stopped; zero: it is not
	mute    time.Time // since when it does not answer
	spun    time.Time // since when it has used a processor all the time
	dry     time.Time // since when it answers and nothing comes out
	waited  time.Time // when it last waited for a processor, memory or a disk
	starved time.Time // when it was last surely late because of that
	why     string    // then
}

// keepsStarved is how long after it waited for a processor a program is given to catch up.
const keepsStarved = 10 * time.Second

// since returns from when on something has been so: now, if it was not before.
func since(before time.Time, now time.Time, is bool) time.Time {
	switch {
	case !is:
		return time.Time{}
	case before.IsZero():
		return now
	}
	return before
}

// next judges a program by one more look. dryAfter is how long it may answer without a
// flow; 0: for ever. The words say why.
func (p patient) next(l look, dryAfter time.Duration) (patient, Condition, string) {
	if l.pid != p.last.pid || l.vitals.Begun != p.last.vitals.Begun {
		p = patient{}
	}
	wall := l.at.Sub(p.last.at)
	ran, waited := l.vitals.CPU-p.last.vitals.CPU, l.vitals.Waited-p.last.vitals.Waited
	share := func(d time.Duration) float64 { return d.Seconds() / wall.Seconds() }
	answers := l.answer == nil || errors.Is(l.answer, station.ErrFull)
	second := !p.last.at.IsZero() && wall > 0 // a share needs two looks

	p.stopped = since(p.stopped, l.at, l.vitals.State == 'T')
	p.mute = since(p.mute, l.at, !answers)
	p.spun = since(p.spun, l.at, second && share(ran) >= spins)
	p.dry = since(p.dry, l.at, answers && l.flow == Dry)
	why, sure := "", true
	switch {
	case l.vitals.State == 'D':
		why = "it waits for a disk"
	case l.vitals.State == 't':
		why = "a debugger holds it"
	case l.short != "":
		why = l.short
	case second && l.vitals.Known && share(waited) >= waits:
		why = fmt.Sprintf("it waited for a processor in %.0f %% of the time", 100*min(1, share(waited)))
		sure = share(waited) >= lacks
	}
	if why != "" {
		p.waited = l.at
		if sure {
			p.starved, p.why = l.at, why
		}
	}
	recent := func(at time.Time) bool { return !at.IsZero() && l.at.Sub(at) < keepsStarved }
	p.last = l

	lasts := func(begin time.Time, d time.Duration) bool { return !begin.IsZero() && l.at.Sub(begin) >= d }
	switch {
	case (!answers || l.mute) && lasts(p.stopped, stoppedFor):
		return p, Wedged, "a signal stopped it"
	case errors.Is(l.answer, station.ErrFull):
		return p, Full, station.Reason(l.answer)
	case answers && recent(p.starved):
		return p, Starved, p.why
	case answers && dryAfter > 0 && lasts(p.dry, dryAfter) && !recent(p.waited):
		return p, Wedged, fmt.Sprintf("it answers, and nothing has come out of it for %s", l.at.Sub(p.dry).Round(time.Second))
	case answers:
		return p, Well, ""
	case l.flow == Flowing:
		return p, Well, "it does not answer, and its work goes on: " + l.answer.Error()
	case recent(p.waited):
		return p, Starved, cmp.Or(why, p.why, "it waited for a processor until just now")
	case lasts(p.mute, muteFor) && (p.spun.IsZero() || lasts(p.spun, spinFor)):
		return p, Wedged, fmt.Sprintf("it has not answered for %s: %v", l.at.Sub(p.mute).Round(time.Second), l.answer)
	}
	return p, Unknown, "it does not answer: " + l.answer.Error()
}

// A kill is a remedy of last resort, and one that did not help does not help again.
const (
	// killsApart is the least time between two kills of one program.
	killsApart = 5 * time.Minute
	// proven is how long a program must have been well for the kill before to have helped.
	// Its audio must not be missing meanwhile.
	proven = 30 * time.Second
)

// record is what a program's watchdog did, and whether it helped.
type record struct {
	kills  int
	last   time.Time // of the last kill
	well   time.Time // since when it is well; zero: it is not
	helped bool      // it was well for long enough since the last kill
}

// note takes note of a look. A program that is called well while nothing comes out of it is
// only given time: that proves nothing.
func (r record) note(at time.Time, c Condition, flow Flow) record {
	r.well = since(r.well, at, flow != Dry && (c == Well || c == Full))
	if !r.well.IsZero() && at.Sub(r.well) >= proven {
		r.helped = true
	}
	return r
}

// may returns why the program may not be killed now; empty when it may. The words stay the
// same while the reason does, because each new one is logged.
func (r record) may(at time.Time) string {
	switch {
	case r.kills == 0:
		return ""
	case at.Sub(r.last) < killsApart:
		return fmt.Sprintf("it was killed within the last %g minutes, and once is enough", killsApart.Minutes())
	case !r.helped:
		return "the last kill did not help"
	}
	return ""
}

func (r record) killed(at time.Time) record {
	return record{kills: r.kills + 1, last: at}
}
