package aircopy

import (
	"errors"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// errInterrupted ends the mastering of a file that airs meanwhile, or is held up, in favour
// of one of which nothing airs.
var errInterrupted = errors.New("made way for a file that nothing airs of")

const (
	// mostInterruptions is how often a file may have to make way: it must be done one day.
	mostInterruptions = 3
	// worthWaiting is how much more audio than the waiting file has must be left of a file
	// for it to make way: what is nearly done is not thrown away.
	worthWaiting = 4
)

// makeWay interrupts the longest of the files in work, if what comes next cannot air
// without its copy, or somebody waits for it: a bulletin must not wait for the eight-hour recording of a festival
// that airs already. Nor must it wait for what is held up, while the machine is short.
func (w *runner) makeWay() {
	if len(w.queue) == 0 || len(w.inWork) < w.opt.Workers {
		return
	}
	next := &w.queue[0]
	if !w.urgent(next) {
		return
	}
	for _, t := range w.inWork {
		if t.ctx.Err() != nil { // it makes way already
			return
		}
	}
	t := w.longest(worthWaiting*next.track.Duration.Seconds(), next.soon > 0)
	if t == nil && next.track.Category == station.News {
		t = w.heldUp()
	}
	if t != nil {
		w.interrupted[t.track.Path]++
		t.cancel(errInterrupted)
	}
}

// longest returns of the files in work that air meanwhile, or of all that nobody waits for,
// the one with the most left, in seconds of audio; nil where none has so much.
func (w *runner) longest(least float64, all bool) (longest *task) {
	for rel, t := range w.inWork {
		if !w.airsMeanwhile(&t.job) && (!all || t.soon > 0 || t.track.Category == station.News) || w.interrupted[rel] >= mostInterruptions {
			continue
		}
		if left := t.track.Duration.Seconds() * (1 - float64(t.share.Load())/1000); left > 0 && left >= least {
			longest, least = t, left
		}
	}
	return longest
}

// heldUp returns of the files in work that are held up the one of which the least is done;
// nil where none is. A hold that ends at once is none.
func (w *runner) heldUp() (least *task) {
	for rel, t := range w.inWork {
		if since := t.held.Load(); since == nil || time.Since(*since) < w.beat || w.interrupted[rel] >= mostInterruptions {
			continue
		}
		if least == nil || t.share.Load() < least.share.Load() {
			least = t
		}
	}
	return least
}
