package relay

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// path turns the frames of the current publisher into timed segments in the
// window.
type path struct {
	window *window
	target time.Duration
	log    *slog.Logger

	mu        sync.Mutex
	publisher *publisher // nil when there is none
	form      form
	timeline  timeline
	segmenter *segmenter
	pts       time.Duration // presentation time of the next run
	pending   bool          // a break lies before the next segment
	lastData  time.Time
}

// form is what a publisher sends: in how many renditions, and of which sound.
type form struct {
	Sound      sound
	Renditions int
}

// newPath starts presentation time from the time of day: it goes on upward
// when the relay restarts.
func newPath(w *window, target time.Duration, now time.Time, log *slog.Logger) *path {
	pts := time.Duration(max(now.Unix()-sequenceEpoch, 10)) * time.Second
	return &path{window: w, target: target, log: log, pts: pts}
}

// take makes p the current publisher and returns the one it replaces.
func (a *path) take(p *publisher, f form, now time.Time) *publisher {
	a.mu.Lock()
	defer a.mu.Unlock()
	former := a.publisher
	a.endRun(a.timeline.settle(), now)
	a.publisher, a.form = p, f
	a.timeline.restart(f.Sound.Rate)
	return former
}

// goesOn reports whether p is the current publisher already and sends what it sent: the
// program before this one took it.
func (a *path) goesOn(p *publisher, f form) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.publisher == p && a.form == f
}

// leave ends the publisher's run, if it is still the current one. What it had
// sent of an unfinished segment is published at once.
func (a *path) leave(p *publisher, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.publisher != p {
		return
	}
	a.endRun(a.timeline.settle(), now)
	a.publisher = nil
}

// frames takes audio from p; false when another publisher has taken over.
func (a *path) frames(p *publisher, arrived time.Time, pts time.Duration, frames []set) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.publisher != p {
		return false
	}
	a.lastData = arrived
	for _, piece := range a.timeline.push(arrived, pts, frames) {
		a.relay(piece, arrived)
	}
	return true
}

func (a *path) relay(p piece, now time.Time) {
	if p.fresh {
		a.endRun(nil, now)
	}
	if a.segmenter == nil {
		a.segmenter, a.pending = newSegmenter(a.form.Sound, a.target, a.pts), true
	}
	a.publish(a.segmenter.write(p.at, p.frames), now)
}

// endRun relays the last pieces and closes the run of segments.
func (a *path) endRun(rest []piece, now time.Time) {
	for _, p := range rest {
		a.relay(p, now)
	}
	if a.segmenter == nil {
		return
	}
	a.publish(a.segmenter.close(), now)
	a.pts = a.segmenter.end()
	a.segmenter = nil
}

func (a *path) publish(cuts []cut, now time.Time) {
	for _, c := range cuts {
		a.window.add(c, a.pending, now)
		a.pending = false
	}
}

// pathState is what the path list shows of a path.
type pathState struct {
	source   *publisher
	form     form
	lastData time.Time
}

func (a *path) state() pathState {
	a.mu.Lock()
	defer a.mu.Unlock()
	return pathState{source: a.publisher, form: a.form, lastData: a.lastData}
}

func (p *publisher) String() string { return fmt.Sprintf("%s (%s)", p.id, p.from) }
