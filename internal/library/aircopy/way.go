package aircopy

import "errors"

// errInterrupted ends the mastering of a file that airs meanwhile, in favour of one of
// which nothing does.
var errInterrupted = errors.New("made way for a file that nothing airs of")

const (
	// mostInterruptions is how often a file may have to make way: it must be done one day.
	mostInterruptions = 3
	// worthWaiting is how much more audio than the waiting file has must be left of a file
	// for it to make way: what is nearly done is not thrown away.
	worthWaiting = 4
)

// makeWay interrupts the longest of the files in work, if what comes next cannot air
// without its copy: a bulletin must not wait for the eight-hour recording of a festival
// that airs already.
func (w *runner) makeWay() {
	if len(w.queue) == 0 || len(w.inWork) < w.opt.Workers {
		return
	}
	next := &w.queue[0]
	if w.airsMeanwhile(next) || next.track.Category.Music() && w.songs > 0 {
		return
	}
	var longest *task
	var left float64
	for rel, t := range w.inWork {
		if !w.airsMeanwhile(&t.job) || w.interrupted[rel] >= mostInterruptions {
			continue
		}
		if l := t.track.Duration.Seconds() * (1 - float64(t.share.Load())/1000); l > left {
			longest, left = t, l
		}
	}
	if longest == nil || left < worthWaiting*next.track.Duration.Seconds() || longest.ctx.Err() != nil {
		return
	}
	w.interrupted[longest.track.Path]++
	longest.cancel(errInterrupted)
}
