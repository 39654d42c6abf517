package guard

import "slices"

// Kind is what is wrong.
type Kind string

// The kinds, the worst first. In the first three listeners do not hear the
// programme; in the last two they hear something, but the station is not in order.
const (
	None      Kind = ""
	Gone      Kind = "gone"      // no audio comes: refused, no source, stalled, or only the server's standby audio
	Silence   Kind = "silence"   // the audio is silent
	Frozen    Kind = "frozen"    // the same stretch of audio comes again and again
	Playlist  Kind = "playlist"  // the playlist file was changed by another program
	Emergency Kind = "emergency" // the engine plays its emergency audio: no entry can be played
)

// Kinds lists all of them.
func Kinds() []Kind { return []Kind{Gone, Silence, Frozen, Playlist, Emergency} }

// Dead reports a kind in which the programme is not heard.
func (k Kind) Dead() bool { return k == Gone || k == Silence || k == Frozen }

// Health is how a program answers.
type Health int

// How a program answers.
const (
	Well   Health = iota // it answers
	Wedged               // it runs and does not answer
	Away                 // it does not run, or is only starting
)

func (h Health) String() string { return [...]string{"well", "wedged", "away"}[h] }

// Source is what the playout engine says it plays.
type Source string

// What the engine plays.
const (
	Nothing         Source = "" // not known
	Rotation        Source = "rotation"
	Live            Source = "live"
	EmergencySource Source = "emergency"
)

// Sight is which programs are well, and what the engine plays.
type Sight struct {
	Engine Health // the playout engine
	Server Health // the streaming server
	// Feed: the server has the engine's stream.
	Feed bool
	// OnAir is what the engine plays, if it answers.
	OnAir Source
}

// Step is one measure against a fault.
type Step string

// The steps.
const (
	Wait          Step = "wait"           // a program that is away is being started again already
	WaitFeed      Step = "wait_feed"      // the engine is about to connect to the server again
	DropLive      Step = "drop_live"      // cut the live source off
	Skip          Step = "skip"           // go on with the next entry
	Repush        Step = "repush"         // a new playlist, and on with its head, also from the emergency audio
	Rewrite       Step = "rewrite"        // a new playlist; what is on air ends by itself
	RestartEngine Step = "restart_engine" // kill the engine; it is started again at once
	RestartServer Step = "restart_server" // the same with the streaming server
	AirEmergency  Step = "emergency"      // emergency audio, by order
)

// Steps lists all of them.
func Steps() []Step {
	return []Step{Wait, WaitFeed, DropLive, Skip, Repush, Rewrite, RestartEngine, RestartServer, AirEmergency}
}

// course returns the steps that can help against a fault, the mildest first. They
// depend on the cause: a program that does not answer follows no order, and one
// that does not run cannot be restarted.
func course(k Kind, s Sight) []Step {
	switch {
	case k == Playlist || k == Emergency:
		return []Step{Rewrite}
	case k == Gone && s.Server == Wedged:
		return []Step{RestartServer, RestartEngine}
	case s.Engine == Wedged:
		return []Step{RestartEngine, RestartServer}
	case k == Gone && s.Server == Away:
		return []Step{Wait, RestartServer, RestartEngine}
	case s.Engine == Away:
		return []Step{Wait, RestartEngine, RestartServer}
	case k == Gone: // both are well and audio does not get from one to the other
		return []Step{WaitFeed, RestartEngine, RestartServer}
	case s.OnAir == Live:
		return []Step{DropLive, Skip, Repush, RestartEngine, AirEmergency}
	case s.OnAir == EmergencySource:
		return []Step{Repush, RestartEngine}
	}
	return []Step{Skip, Repush, RestartEngine, AirEmergency}
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
