package guard

import (
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
)

// State is where the guard stands.
//
//	Starting    nothing was heard yet since this watch began
//	Watching    all is well
//	Alarmed     a fault was reported; the guard looks for the program to blame
//	Recovering  a step was taken; the guard waits for audio
//	Pausing     no step helped; the next round comes after a pause
//	Holding     the guard put the emergency audio on air
//	Proving     the programme is heard again, and must stay heard
//
// and between them, where "fault" is a fault that has lasted as long as its
// kind must:
//
//	Starting   --heard--> Watching
//	Starting   --fault, for the start's patience--> Alarmed           raise, look
//	Watching   --fault--> Alarmed                                     raise, look
//	Alarmed    --sighted, a step is left--> Recovering                take it
//	Alarmed    --sighted, none is left--> Pausing
//	Alarmed, Recovering, Pausing --heard--> Proving; Holding where the emergency audio is ours
//	Recovering --failed, or fault past the step's patience--> Alarmed look
//	Pausing    --fault past the pause--> Alarmed                      look: a new round, from the top
//	Pausing    --another kind of fault--> Alarmed                     look: what was not tried yet
//	Proving    --heard for the proof--> Watching                      clear
//	Proving    --fault--> Alarmed                                     look: the round goes on
//	Holding    --past the hold--> Proving                             release the emergency audio
//	Holding    --fault--> Alarmed                                     look: a new round
//
// In Proving after a release a fault also begins a new round: the programme was
// given another chance and failed.
type State int

// The states.
const (
	Starting State = iota
	Watching
	Alarmed
	Recovering
	Pausing
	Holding
	Proving
)

func (s State) String() string {
	return [...]string{"starting", "watching", "alarm", "recovering", "pausing", "holding", "proving"}[s]
}

// States lists all of them.
func States() []State {
	return []State{Starting, Watching, Alarmed, Recovering, Pausing, Holding, Proving}
}

// happening is what can happen to the ladder.
type happening int

const (
	heard   happening = iota // the programme is heard
	fault                    // there is a fault of a kind
	unsure                   // neither is certain: nothing is done
	sighted                  // the requested look is done
	failed                   // the step could not be carried out
)

type event struct {
	at    time.Time
	what  happening
	kind  Kind      // of a fault
	began time.Time // of a fault
	sight Sight
	step  Step // that failed
}

// action is what follows from an event.
type action struct {
	raise, clear, look, release bool
	take                        Step // empty: none
}

// timing is how long everything may take.
type timing struct {
	start    time.Duration // a station that starts may be this long without sound
	proof    time.Duration // sound must last this long
	patience map[Step]time.Duration
	pause    time.Duration // before the second round against what listeners do not notice; each is twice as long as the one before
	hold     time.Duration // of the first emergency audio; likewise
	longest  time.Duration // of pause and hold; and the pause after a fruitless round against dead air
}

// times returns the times in force. A step gets what it needs to be heard on a slow
// machine and no more: all of them share ten seconds from fault to sound. Only the cut of a
// live source, which was silent for long, has the time until the ear hears what follows.
// Steps that did not help against dead air are not repeated for five minutes: what they cut
// off might be heard, if the guard is wrong.
func times() timing {
	return timing{
		start: time.Minute, proof: 3 * time.Second, pause: 5 * time.Second, hold: 30 * time.Second, longest: 5 * time.Minute,
		patience: map[Step]time.Duration{
			Wait: 10 * time.Second, Shed: 10 * time.Second, DropLive: 4 * time.Second, Skip: 2 * time.Second, Repush: 3 * time.Second,
			Rewrite: 5 * time.Second, AirEmergency: 2 * time.Second,
		},
	}
}

// ladder is where the guard stands with one fault, or with none.
type ladder struct {
	state  State
	since  time.Time // of the state
	until  time.Time // of patience or hold
	first  Kind      // for which the alarm was raised
	kind   Kind      // of the fault now
	began  time.Time // of the fault
	round  int       // rounds that failed
	tried  []Step    // in this round
	resume time.Time // when the next round may begin; zero: this one goes on
	taken  []Step    // in all of the alarm
	held   bool      // the guard put the emergency audio on air
	freed  bool      // it was held until just now
}

// next is the table above.
func next(l ladder, e event, t timing) (ladder, action) {
	switch e.what {
	case heard:
		return l.onHeard(e, t)
	case fault:
		return l.onFault(e, t)
	case sighted:
		return l.onSighted(e, t)
	case failed:
		if l.state == Recovering && l.taken[len(l.taken)-1] == e.step {
			if e.step == AirEmergency {
				l.held = false
			}
			return l.to(Alarmed, e.at), action{look: true}
		}
	case unsure:
	}
	return l, action{}
}

func (l ladder) to(s State, at time.Time) ladder {
	l.state, l.since = s, at
	return l
}

func (l ladder) onHeard(e event, t timing) (ladder, action) {
	switch l.state {
	case Starting:
		return l.to(Watching, e.at), action{}
	case Alarmed, Recovering, Pausing:
		if l.held {
			l.until = e.at.Add(retry.Doubled(t.hold, t.longest, l.round+1))
			return l.to(Holding, e.at), action{}
		}
		return l.to(Proving, e.at), action{}
	case Holding:
		if !e.at.Before(l.until) {
			l.held, l.freed = false, true
			return l.to(Proving, e.at), action{release: true}
		}
	case Proving:
		if e.at.Sub(l.since) >= t.proof {
			return ladder{state: Watching, since: e.at, first: l.first, began: l.began, taken: l.taken}, action{clear: true}
		}
	case Watching:
	}
	return l, action{}
}

func (l ladder) onFault(e event, t timing) (ladder, action) {
	switch l.state {
	case Starting, Watching:
		if l.state == Starting && e.at.Sub(l.since) < t.start {
			return l, action{}
		}
		return ladder{state: Alarmed, since: e.at, first: e.kind, kind: e.kind, began: e.began}, action{raise: true, look: true}
	case Recovering:
		if e.at.Before(l.until) {
			return l, action{}
		}
	case Pausing:
		switch {
		case !e.at.Before(l.resume):
			l = l.again()
		case e.kind == l.kind:
			return l, action{}
		}
	case Holding:
		l = l.again()
	case Proving:
		if l.freed {
			l = l.again()
		}
	case Alarmed: // being looked at
		return l, action{}
	}
	l.kind = e.kind // the fault may have changed: a silence because the engine is gone
	return l.to(Alarmed, e.at), action{look: true}
}

// again begins a new round.
func (l ladder) again() ladder {
	l.round, l.tried, l.freed, l.resume = l.round+1, nil, false, time.Time{}
	return l
}

func (l ladder) onSighted(e event, t timing) (ladder, action) {
	if l.state != Alarmed {
		return l, action{}
	}
	step, ok := choose(l.kind, e.sight, l.tried)
	if !ok {
		pause := t.longest
		if !l.kind.Dead() {
			pause = retry.Doubled(t.pause, t.longest, l.round+1)
		}
		if l.resume.IsZero() {
			l.resume = e.at.Add(pause)
		}
		return l.to(Pausing, e.at), action{}
	}
	l.tried, l.taken = append(slices.Clone(l.tried), step), append(slices.Clone(l.taken), step)
	l.until = e.at.Add(t.patience[step])
	switch step {
	case AirEmergency:
		l.held = true
	case Repush:
		l.held = false
	default:
	}
	return l.to(Recovering, e.at), action{take: step}
}
