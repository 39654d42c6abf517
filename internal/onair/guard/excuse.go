package guard

import (
	"context"
	"sync"
	"time"
)

// What the recording on air holds itself is no fault of the station: a rest in
// the music, a drum machine. The guard asks for the recording and judges it by
// the same judge.

const (
	// longestRest is how long a rest of the recording may go on from now.
	longestRest = 6 * time.Second
	// behind is by how much, at most, the guard hears later than the engine plays.
	behind = 3 * time.Second
	// originalEvery is how long a judgement of the recording on air holds.
	originalEvery = 10 * time.Second
)

// excuse is what is known of the recording on air.
type excuse struct {
	mu     sync.Mutex
	asking bool
	at     time.Time // of the last answer
	loops  bool      // it repeats itself
	rests  time.Time // until when it is silent itself
}

// now returns what is known; asked is false when it is time to ask. looping is
// since when a loop is suspected, zero when none is.
func (x *excuse) now(at, looping time.Time) (loops, rests, asked bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	fresh := !x.at.IsZero() && at.Sub(x.at) < originalEvery
	// What was said before the loop began, of a rest or of the recording before,
	// says nothing of it.
	told := fresh && !x.at.Before(looping)
	// A loop can wait for its answer; silence cannot.
	return !told || x.loops, fresh && at.Before(x.rests), x.asking || fresh && (told || looping.IsZero())
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
			loops, rest = loopsAbout(pcm, now), rests(pcm, now, g.opt.Level)
		}
		g.log.Debug("dead-air guard: judged the recording on air", "repeats", loops, "rests", rest, "err", err)
		g.excuses.answer(at, loops, rest)
	})
}

// loopsAbout reports whether a recording repeats itself about now. A little of
// what is to come is judged as well: of a recording that begins with its loop
// there is hardly as much by now as it takes to find one.
func loopsAbout(pcm []int16, now int) bool {
	return repeats(pcm[:min(len(pcm), now+int(behind.Seconds()*Rate))])
}

// repeats reports whether a judge who heard the samples would have suspected a
// loop, if only for a moment: where in doubt it is the recording's own.
func repeats(pcm []int16) bool {
	j := NewJudge(silenceLevel)
	for ; len(pcm) >= blockSize; pcm = pcm[blockSize:] {
		j.Add(pcm[:blockSize])
		if j.loop.looks > 0 {
			return true
		}
	}
	return false
}

// rests is for how long from now a recording that is silent about now goes on to
// be, as the guard will hear it; 0 where it is not silent, or for longer than a
// rest. Where the recording ends, the next one begins.
func rests(pcm []int16, now int, level float64) time.Duration {
	j := NewJudge(level)
	blocks := func(d time.Duration) int { return int(d / block) }
	first := max(0, now-blocks(behind)*blockSize)
	quiet, loud := 0, 0
	for at := first; at+blockSize <= len(pcm); at += blockSize {
		j.Add(pcm[at : at+blockSize])
		sounds := j.level(1) >= level
		switch {
		case at < now && sounds:
			quiet = 0
		case at < now:
			quiet++
		case quiet < blocks(time.Second):
			return 0
		case sounds:
			loud++
		}
		if at >= now && (loud > 2 || at-now > blocks(longestRest)*blockSize) {
			if loud <= 2 {
				return 0
			}
			return time.Duration(at-now)*time.Second/Rate + behind
		}
	}
	if quiet < blocks(time.Second) {
		return 0
	}
	return time.Duration(max(0, len(pcm)-now))*time.Second/Rate + behind
}
