package guard

import (
	"fmt"
	"time"
)

// Standing is what the guard shows of itself. Times are epoch milliseconds.
type Standing struct {
	State string  `json:"state" enum:"off,starting,watching,alarm,recovering,pausing,holding,proving" doc:"watching: all is well"`
	Kind  Kind    `json:"kind" enum:",gone,starved,silence,frozen,unreachable,playlist,emergency" doc:"What is wrong; empty while nothing is"`
	Since int64   `json:"since" doc:"Epoch milliseconds of the state"`
	Level float64 `json:"level" doc:"Of the last second of the station's output, dBFS"`
	Step  Step    `json:"step,omitempty" doc:"Taken last, in the alarm there is"`
	// What the node says of itself.
	Reachable bool `json:"reachable" doc:"Whether the broadcast node answers"`
	Arriving  bool `json:"arriving" doc:"Whether audio comes out of the streaming server"`
	Short     bool `json:"short" doc:"Whether the programs behind the sound lack processor time, memory or their disk"`
	DiskFull  bool `json:"diskFull" doc:"Whether the node's disk is full"`
	// LastAlarm is the current alarm, or the last one.
	LastAlarm *Alarm `json:"lastAlarm,omitempty"`
}

// Alarm is one fault, from its beginning to its end.
type Alarm struct {
	ID      int64  `json:"id,omitempty"`
	Kind    Kind   `json:"kind"`
	Cause   string `json:"cause,omitempty" doc:"What the guard found, in words"`
	Began   int64  `json:"began" doc:"Epoch milliseconds of the first moment of the fault"`
	Raised  int64  `json:"raised" doc:"When it was told"`
	Heard   int64  `json:"heard,omitempty" doc:"When the programme, or emergency audio by the guard's order, was heard again"`
	Cleared int64  `json:"cleared,omitempty" doc:"When that had lasted; 0 while the alarm is on"`
	Steps   []Step `json:"steps" doc:"What was done, in order"`
}

// Detected is from the fault's beginning to the alarm.
func (a Alarm) Detected() time.Duration { return time.Duration(a.Raised-a.Began) * time.Millisecond }

// Recovered is from the fault's beginning to sound.
func (a Alarm) Recovered() time.Duration { return time.Duration(a.Heard-a.Began) * time.Millisecond }

// Alert is the payload of the event "alert".
type Alert struct {
	Kind  Kind   `json:"kind" enum:",gone,starved,silence,frozen,unreachable,playlist,emergency" doc:"Empty where there has been none"`
	State string `json:"state" enum:"raised,cleared"`
	Text  string `json:"text" doc:"For people"`
	At    int64  `json:"at" doc:"Epoch milliseconds"`
	// Cause is what the guard found: addresses, paths and what programs said. The event
	// goes to every listener, so it is only for what goes to operators.
	Cause string `json:"-"`
}

// Full is the text with its cause, for operators.
func (a Alert) Full() string {
	if a.Cause == "" {
		return a.Text
	}
	return a.Text + ": " + a.Cause
}

// Event is the name of the event that carries an Alert.
const Event = "alert"

func (k Kind) words() string {
	switch k {
	case Gone:
		return "no audio of the station reaches its listeners"
	case Starved:
		return "the machine cannot keep up: the station's audio does not reach its listeners"
	case Unreachable:
		return "the broadcast node does not answer: what it sends is not known, its music may go on"
	case Silence:
		return "the station is silent"
	case Frozen:
		return "the station repeats one stretch of audio"
	case Playlist:
		return "the playlist file was changed from outside"
	case Emergency:
		return "nothing of the rotation can be played: the emergency audio is on air"
	case None:
	}
	return "all is well"
}

func clearedText(a Alarm) string {
	return fmt.Sprintf("all is well again after %.1f s (%s)", a.Recovered().Seconds(), a.Kind.words())
}

// Totals are counts since the process began.
type Totals struct {
	Alarms map[Kind]int
	Steps  map[Step]int
	// Dead is how long nothing was heard.
	Dead time.Duration
}
