package guard

import (
	"context"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/sound/deadair"
)

// Silence or a loop that is part of the recording on air, such as a rest or a drum
// machine, is no fault of the station. The guard asks for the recording and applies
// the same judge to it.

const (
	// originalEvery is how long a judgement of the recording is used.
	originalEvery = 10 * time.Second
)

// excuse is what is known of the recording on air.
type excuse struct {
	mu     sync.Mutex
	asking bool
	at     time.Time // of the last answer
	loops  bool      // the recording repeats itself
	rests  time.Time // until when the recording is silent
}

// now returns whether the recording excuses a loop and a silence; asked is false
// when it is time to ask again. looping is since when a loop is suspected, zero for
// none.
func (x *excuse) now(at, looping time.Time) (loops, rests, asked bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	fresh := !x.at.IsZero() && at.Sub(x.at) < originalEvery
	// An answer from before the loop began, about a rest or an earlier recording,
	// does not count.
	judged := fresh && !x.at.Before(looping)
	// A loop can wait for its answer; silence cannot.
	return !judged || x.loops, fresh && at.Before(x.rests), x.asking || fresh && (judged || looping.IsZero())
}

func (x *excuse) ask() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asking = true
}

func (x *excuse) answer(at time.Time, loops bool, rest time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asking, x.at, x.loops, x.rests = false, at, loops, at.Add(rest)
}

// ask judges the recording on air.
func (g *Guard) ask(ctx context.Context, wg *sync.WaitGroup) {
	g.excuses.ask()
	wg.Go(func() {
		ask, cancel := context.WithTimeout(ctx, takeWithin)
		defer cancel()
		at := time.Now()
		pcm, now, err := g.opt.Air.Original(ask)
		loops, rest := false, time.Duration(0)
		if err == nil {
			loops, rest = deadair.LoopsAbout(pcm, now), deadair.Rests(pcm, now, g.opt.Level)
		}
		g.log.Debug("dead-air guard: judged the recording on air", "repeats", loops, "rests", rest, "err", err)
		g.excuses.answer(at, loops, rest)
	})
}
