package takeover

import "github.com/athir-radio/athir/internal/live"

// phase is the live state.
type phase int

const (
	mix      phase = iota
	starting       // Active is ordered and its audio has not come yet
	onAir
	handing // Active is on the air, and Target is being brought up to take over
)

func (p phase) String() string {
	return [...]string{NormalMix, Beginning, OnLive, HandOver}[p]
}

// state is all that a transition depends on.
type state struct {
	Phase  phase
	Active string // id; empty in the normal mix
	Target string // id; of handing alone
	Mode   live.Mode
	By     string
	Since  int64 // of Active, epoch milliseconds
	// TargetMode and TargetBy are Mode and By once Target is on the air.
	TargetMode live.Mode
	TargetBy   string
}

// what happened.
type what int

const (
	askStart  what = iota // the studio, or a publisher who may, wants ID on the air
	askStop               // the studio wants the normal mix
	audio                 // audio of ID has come to the desk
	noAudio               // none came in time, or it went before the first
	followed              // the desk reports that Active ended; ID follows, empty: nothing does
	gone                  // Active was removed, blocked, revoked or left; ID follows, or nothing
	forgotten             // the desk restarted and is back in time
	lost                  // the desk is away, or came back too late
)

func (w what) String() string {
	return [...]string{"start", "stop", "audio", "no audio", "followed", "gone", "forgotten", "lost"}[w]
}

type event struct {
	What what
	ID   string
	Mode live.Mode
	By   string
	Why  string
	At   int64 // epoch milliseconds
	// Failed: Active ended by itself.
	Failed bool
}

// deed is something to do because of a transition.
type deed int

const (
	order    deed = iota // send the desk what the state asks for
	deadline             // the first audio must come within patience
	started              // tell that ID has the air
	handed
	follows
	ended  // tell that ID has left it for the rotation
	failed // tell that ID brought no audio, and count it against it
	blame  // count it against ID
	accept // answer whoever asked to start ID
	refuse
)

func (d deed) String() string {
	return [...]string{"order", "deadline", "started", "handed", "follows", "ended", "failed", "blame", "accept", "refuse"}[d]
}

type effect struct {
	Do  deed
	ID  string
	Why string
}

// next is the live takeover. Its rows are the mission's table, in its order, then what the
// desk adds. A stream that was asked for is starting until its first audio has come, since
// the probe of most sources is the desk itself.
//
//	state        | event            | next state                       | also
//	-------------|------------------|----------------------------------|------------------------
//	normal mix   | start ID         | starting ID                      | order, deadline
//	starting     | its audio        | live ID                          | told, answered
//	starting     | no audio         | normal mix                       | order, counted, refused
//	starting     | followed by X    | live X                           | order, counted, answered
//	starting     | start the same   | the same                         | answered with the first
//	starting     | start another    | the same                         | refused
//	live         | stop             | normal mix                       | order
//	live         | followed by X    | live X                           | order, counted if it failed
//	live         | followed by none | normal mix                       | order, counted if it failed
//	live         | gone, X next     | starting X, or the mix where     | order
//	             |                  | none is                          |
//	live         | start the same   | live, in the mode that was asked | order if that is another
//	live         | start another    | handing over to it               | order, deadline
//	handing over | audio of the     | live target                      | order, told, answered
//	             | target           |                                  |
//	handing over | no audio         | live, as before                  | order, counted, refused
//	handing over | followed by X    | live X; starting the target if X | order; the target's
//	             |                  | is none or the target            | deadline goes on
//	handing over | gone             | starting the target              | order
//	handing over | stop             | normal mix                       | order, refused
//	any          | the desk was     | the same                         | order
//	             | restarted, and   |                                  |
//	             | is back in time  |                                  |
//	any          | the desk is away | normal mix                       | order, refused
//	             | for longer       |                                  |
//
// No candidate, an unknown id and a WHIP server without a feed are found out before an
// event comes of them. The restart of the server is the initial state.
func next(s state, e event) (state, []effect) {
	switch e.What {
	case askStart:
		return s.start(e)
	case audio:
		return s.heard(e)
	case noAudio:
		return s.unheard(e)
	case followed, gone:
		return s.over(e)
	case forgotten:
		return s, []effect{{order, "", e.Why}}
	case askStop, lost:
		return s.stop(e)
	}
	return s, nil
}

func (s state) start(e event) (state, []effect) {
	switch {
	case s.Phase == mix:
		return state{Phase: starting, Active: e.ID, Mode: e.Mode, By: e.By, Since: e.At}, []effect{{order, "", e.Why}, {Do: deadline}}
	case s.Phase == starting && s.Active == e.ID, s.Phase == handing && s.Target == e.ID:
		return s, nil // whoever asks waits with the first
	case s.Phase == starting, s.Phase == handing:
		return s, []effect{{refuse, e.ID, "another start is under way: wait for it, or stop it"}}
	case s.Active == e.ID && s.Mode == e.Mode:
		return s, []effect{{Do: accept, ID: e.ID}}
	case s.Active == e.ID:
		s.Mode, s.By = e.Mode, e.By
		return s, []effect{{order, "", e.Why}, {Do: accept, ID: e.ID}}
	}
	s.Phase, s.Target, s.TargetMode, s.TargetBy = handing, e.ID, e.Mode, e.By
	return s, []effect{{order, "", e.Why}, {Do: deadline}}
}

func (s state) heard(e event) (state, []effect) {
	switch {
	case s.Phase == starting && s.Active == e.ID:
		s.Phase, s.Since = onAir, e.At
		return s, []effect{{started, e.ID, ""}, {Do: accept, ID: e.ID}}
	case s.Phase == handing && s.Target == e.ID:
		next := state{Phase: onAir, Active: s.Target, Mode: s.TargetMode, By: s.TargetBy, Since: e.At}
		return next, []effect{{order, "", "handed over"}, {handed, e.ID, ""}, {Do: accept, ID: e.ID}}
	}
	return s, nil
}

func (s state) unheard(e event) (state, []effect) {
	switch {
	case s.Phase == starting && s.Active == e.ID:
		return state{}, []effect{{order, "", e.Why}, {failed, e.ID, e.Why}, {refuse, e.ID, e.Why}}
	case s.Phase == handing && s.Target == e.ID:
		return s.alone(), []effect{{order, "", e.Why}, {failed, e.ID, e.Why}, {refuse, e.ID, e.Why}}
	}
	return s, nil
}

// alone is s without a target.
func (s state) alone() state {
	s.Phase, s.Target, s.TargetMode, s.TargetBy = onAir, "", "", ""
	return s
}

// over is the end of Active other than by an order to stop.
func (s state) over(e event) (state, []effect) {
	if s.Phase == mix || e.ID == s.Active {
		return s, nil
	}
	var out []effect
	if e.Failed {
		out = append(out, effect{blame, s.Active, e.Why})
	}
	was := s.Active
	switch {
	case s.Phase == handing && (e.What == gone || e.ID == "" || e.ID == s.Target):
		// The target was asked for: it goes on alone, and is waited for as before.
		s = state{Phase: starting, Active: s.Target, Mode: s.TargetMode, By: s.TargetBy, Since: e.At}
		return s, append(out, effect{order, "", e.Why}, effect{ended, was, e.Why})
	case e.ID == "":
		refused := effect{refuse, was, e.Why}
		return state{}, append(out, effect{order, "", e.Why}, effect{ended, was, e.Why}, refused)
	case e.What == gone: // by our own order, so its audio is still to be seen
		s.Phase, s.Active, s.Since = starting, e.ID, e.At
		return s, append(out, effect{order, "", e.Why}, effect{ended, was, e.Why}, effect{refuse, was, e.Why}, effect{Do: deadline})
	}
	target := s.Target
	s = s.alone()
	s.Active, s.Since = e.ID, e.At
	out = append(out, effect{order, "", e.Why}, effect{follows, e.ID, e.Why}, effect{Do: accept, ID: was})
	if target != "" {
		out = append(out, effect{refuse, target, "the stream on the air ended and another followed it: start again"})
	}
	return s, out
}

func (s state) stop(e event) (state, []effect) {
	if s.Phase == mix {
		return s, []effect{{order, "", e.Why}}
	}
	out := []effect{{order, "", e.Why}}
	if s.Phase != starting {
		out = append(out, effect{ended, s.Active, e.Why})
	}
	waits := s.Active
	if s.Phase == handing {
		waits = s.Target
	}
	return state{}, append(out, effect{refuse, waits, e.Why})
}
