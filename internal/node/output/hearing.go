package output

import (
	"time"

	"github.com/athir-radio/athir/internal/sound/deadair"
)

// Hearing is what an Ear knows at one moment. It holds how long ago something was, not
// when: whoever asks may have another clock.
type Hearing struct {
	deadair.Verdict
	// Arrived is how long ago audio last arrived, by the positions of the stream's pages,
	// and Decoded how long ago some of it was last decoded; negative: never. A decoder
	// without a processor is behind what arrives.
	Arrived, Decoded time.Duration
	// Pace is how much audio arrived in the last ten seconds, as a share of them: about 1;
	// less from an engine that does not keep time.
	Pace float64
	// Standby is for how long only the server's standby audio has come; 0: it does not.
	// Cuts is how often that began.
	Standby time.Duration
	Cuts    int
	// Full: the server has no place for another listener, ourselves included.
	Full bool
	// Cause is why the last connection ended or failed.
	Cause string
}

const (
	// never is the age of what has not been.
	never = time.Duration(-1)
	// paceOver is what a Pace looks back on.
	paceOver = 10 * time.Second
	paceStep = 500 * time.Millisecond
)

// pace keeps how much audio had come, and when.
type pace struct {
	marks []mark // oldest first
}

type mark struct {
	at    time.Time
	audio time.Duration
}

func (p *pace) add(at time.Time, audio time.Duration) {
	if n := len(p.marks); n > 0 && at.Sub(p.marks[n-1].at) < paceStep {
		return
	}
	p.marks = append(p.marks, mark{at, audio})
	for len(p.marks) > 2 && at.Sub(p.marks[1].at) >= paceOver {
		p.marks = p.marks[1:]
	}
}

// share returns the audio since the oldest mark as a share of the time since then. What
// arrives at once as a listener connects is not counted.
func (p *pace) share(now time.Time, audio time.Duration) float64 {
	if len(p.marks) == 0 || now.Sub(p.marks[0].at) < paceOver/2 {
		return 1 // too soon to tell
	}
	first := p.marks[0]
	return min(1, float64(audio-first.audio)/float64(now.Sub(first.at)))
}
