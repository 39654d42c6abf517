package guard

import "slices"

// Kind is what is wrong.
type Kind string

// The kinds, the worst first. In the first four listeners do not hear the programme; of
// the fifth that is not known; in the last two they hear something, but the station is
// not in order.
const (
	None        Kind = ""
	Gone        Kind = "gone"        // no audio comes: refused, no source, stalled, or only the server's standby audio
	Starved     Kind = "starved"     // the same, because the machine is short of processor time, memory or its disk
	Silence     Kind = "silence"     // the audio is silent
	Frozen      Kind = "frozen"      // the same stretch of audio comes again and again
	Unreachable Kind = "unreachable" // the broadcast node does not answer: what it sends is not known
	Playlist    Kind = "playlist"    // the playlist file was changed by another program
	Emergency   Kind = "emergency"   // the engine plays its emergency audio: no entry can be played
)

// Kinds lists all of them.
func Kinds() []Kind {
	return []Kind{Gone, Starved, Silence, Frozen, Unreachable, Playlist, Emergency}
}

// Dead reports a kind in which the programme is not heard.
func (k Kind) Dead() bool { return k == Gone || k == Starved || k == Silence || k == Frozen }

// Source is what the playout engine says it plays.
type Source string

// What the engine plays.
const (
	Nothing         Source = "" // not known
	Rotation        Source = "rotation"
	Live            Source = "live"
	EmergencySource Source = "emergency"
)

// Sight is what a look found.
type Sight struct {
	// OnAir is what the engine plays, if it answers.
	OnAir Source
	// DiskFull: nothing can be written.
	DiskFull bool
}

// Step is one measure against a fault.
type Step string

// The steps that the guard takes. It acts on the programme alone.
const (
	Wait         Step = "wait"      // the node sees to its programs
	Shed         Step = "shed"      // pause the work that nobody waits for
	DropLive     Step = "drop_live" // cut the live source off
	Skip         Step = "skip"      // go on with the next entry
	Repush       Step = "repush"    // a new playlist, and on with its head, also from the emergency audio
	Rewrite      Step = "rewrite"   // a new playlist; what is on air ends by itself
	AirEmergency Step = "emergency" // emergency audio, by order
)

// The steps that the node takes by itself, as its report tells: a program that did not
// work any more was killed, and is started again.
const (
	RestartEngine Step = "restart_engine"
	RestartServer Step = "restart_server"
)

// Steps lists all of them.
func Steps() []Step {
	return []Step{Wait, Shed, DropLive, Skip, Repush, Rewrite, RestartEngine, RestartServer, AirEmergency}
}

// course returns the steps that can help against a fault, the mildest first. None kills a
// program: whether one is wedged only the node can tell.
func course(k Kind, s Sight) []Step {
	switch {
	case k == Unreachable:
		return nil
	case k == Gone:
		return []Step{Wait}
	case k == Starved:
		return []Step{Shed}
	case k == Playlist || k == Emergency:
		if s.DiskFull {
			return nil
		}
		return []Step{Rewrite}
	case s.OnAir == Live:
		return []Step{DropLive, Skip, Repush, AirEmergency}
	case s.OnAir == EmergencySource:
		return []Step{Repush}
	}
	return []Step{Skip, Repush, AirEmergency}
}

// choose returns the first untried step of the course; false when all were tried.
func choose(k Kind, s Sight, tried []Step) (Step, bool) {
	for _, step := range course(k, s) {
		if !slices.Contains(tried, step) {
			return step, true
		}
	}
	return "", false
}
