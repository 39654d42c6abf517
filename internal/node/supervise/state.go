package supervise

import (
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
)

// State is where a supervised program stands.
//
//	Waiting   for the programs it comes after; nothing runs
//	Starting  it runs and is not ready yet
//	Running   it runs and its probe answered
//	Pausing   it ended; the next start follows the pause
//	Stopped   the station is going down; nothing runs and nothing will
//
// and between them:
//
//	Waiting  --launch--> Starting --ready--> Running
//	Starting, Running --exit--> Pausing --launch--> Starting
//	any --stop--> Stopped
type State int

// The states, in the order of a program's life.
const (
	Waiting State = iota
	Starting
	Running
	Pausing
	Stopped
)

func (s State) String() string {
	return [...]string{"waiting", "starting", "running", "backoff", "stopped"}[s]
}

// Event is what can happen to a supervised program.
type Event int

// The events.
const (
	Launch Event = iota
	Ready
	Exit
	Stop
)

// next is the table above. An event that means nothing in a state leaves it.
func next(s State, e Event) State {
	switch {
	case s == Stopped || e == Stop:
		return Stopped
	case e == Launch && (s == Waiting || s == Pausing):
		return Starting
	case e == Ready && s == Starting:
		return Running
	case e == Exit && (s == Starting || s == Running):
		return Pausing
	}
	return s
}

const (
	// healthyRun is how long a run must last for the crashes before it to be forgotten.
	healthyRun = 30 * time.Second
	firstPause = 250 * time.Millisecond
	maxPause   = 10 * time.Second
	// leastServed is how long a program must have been ready for that to count.
	leastServed = time.Second
)

// pauseAfter is the time from an exit to the next start. The first exit after a
// healthy run is followed at once; a crash loop backs off to ten seconds. One that was
// ready, and served, is away for a tenth of that time at most: it is of use between its
// crashes, and a station whose Icecast is killed every few seconds must not be silent for
// longer than the killing makes it. A program with a fixed delay keeps to it.
func pauseAfter(fixed time.Duration, crashes int, served time.Duration) time.Duration {
	if fixed > 0 {
		return fixed
	}
	if crashes <= 1 {
		return 0
	}
	pause := retry.Doubled(firstPause, maxPause, crashes-1)
	if served >= leastServed {
		pause = min(pause, served/10)
	}
	return pause
}
