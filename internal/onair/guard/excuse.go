package guard

import (
	"context"
	"errors"
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
	// mostUnanswered is how often in a row a recording is asked for in vain before a loop
	// counts as the station's: a busy machine decodes no song in time, and a skip would
	// cut off one that is well.
	mostUnanswered = 3
	// askAgain is the least time from a question without an answer to the next one.
	askAgain = 3 * time.Second
)

// ErrUnanswered says that a recording could not be judged now, which says nothing of it.
var ErrUnanswered = errors.New("the recording on air cannot be judged now")

// excuse is what is known of the recording on air.
type excuse struct {
	mu     sync.Mutex
	asking bool
	at     time.Time // of the last answer
	loops  bool      // the recording repeats itself
	rests  time.Time // until when the recording is silent
	// unanswered counts the questions in a row that had no answer, the last at lateAt.
	unanswered int
	lateAt     time.Time
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
	if loops = x.loops; !judged {
		loops = !x.gaveUp(looping)
	}
	rests = fresh && at.Before(x.rests)
	again := askAgain
	if x.gaveUp(looping) {
		again = originalEvery
	}
	asked = x.asking || fresh && (judged || looping.IsZero()) || x.unanswered > 0 && at.Sub(x.lateAt) < again
	return loops, rests, asked
}

// gaveUp reports that the recording was asked for in vain too often since a time.
func (x *excuse) gaveUp(since time.Time) bool {
	return x.unanswered >= mostUnanswered && !x.lateAt.Before(since)
}

// ask notes that the recording is asked for, because of a loop since looping.
func (x *excuse) ask(looping time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asking = true
	if looping.After(x.lateAt) { // another suspicion
		x.unanswered = 0
	}
}

// noAnswer notes that the question had no answer by a time.
func (x *excuse) noAnswer(at time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asking, x.unanswered, x.lateAt = false, x.unanswered+1, at
}

func (x *excuse) answer(at time.Time, loops bool, rest time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asking, x.at, x.loops, x.rests, x.unanswered = false, at, loops, at.Add(rest), 0
}

// ask judges the recording on air.
func (g *Guard) ask(ctx context.Context, wg *sync.WaitGroup) {
	g.excuses.ask(g.looping)
	wg.Go(func() {
		ask, cancel := context.WithTimeout(ctx, takeWithin)
		defer cancel()
		at := time.Now()
		pcm, now, err := g.opt.Air.Original(ask)
		if errors.Is(err, ErrUnanswered) || err != nil && ask.Err() != nil {
			g.log.Debug("dead-air guard: cannot judge the recording on air now", "err", err)
			g.excuses.noAnswer(time.Now())
			return
		}
		loops, rest := false, time.Duration(0)
		if err == nil {
			loops, rest = deadair.LoopsAbout(pcm, now), deadair.Rests(pcm, now, g.opt.Level)
		}
		g.log.Debug("dead-air guard: judged the recording on air", "repeats", loops, "rests", rest, "err", err)
		g.excuses.answer(at, loops, rest)
	})
}
