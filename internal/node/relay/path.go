package relay

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"
)

// path turns the frames of the current publisher into timed segments in the
// window.
type path struct {
	window *window
	target time.Duration
	log    *slog.Logger

	mu        sync.Mutex
	publisher *publisher // nil when there is none
	config    mpeg4audio.AudioSpecificConfig
	timeline  timeline
	segmenter *segmenter
	pts       time.Duration // presentation time of the next run
	pending   bool          // a break lies before the next segment
	lastData  time.Time
}

// newPath starts presentation time from the time of day: it goes on upward
// when the relay restarts, and its low 33 bits are what MPEG-TS carries.
func newPath(w *window, target time.Duration, now time.Time, log *slog.Logger) *path {
	pts := time.Duration(max(now.Unix()-sequenceEpoch, 10)) * time.Second
	return &path{window: w, target: target, log: log, pts: pts}
}

// take makes p the current publisher and returns the one it replaces.
func (a *path) take(p *publisher, config mpeg4audio.AudioSpecificConfig, now time.Time) *publisher {
	a.mu.Lock()
	defer a.mu.Unlock()
	former := a.publisher
	a.endRun(a.timeline.settle(), now)
	a.publisher, a.config = p, config
	a.timeline.restart(config.SampleRate)
	return former
}

// goesOn reports whether p is the current publisher already and sends what it sent: the
// program before this one took it.
func (a *path) goesOn(p *publisher, config mpeg4audio.AudioSpecificConfig) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.publisher == p && a.config == config
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
func (a *path) frames(p *publisher, arrived time.Time, pts time.Duration, frames [][]byte) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.publisher != p {
		return false, nil
	}
	a.lastData = arrived
	for _, piece := range a.timeline.push(arrived, pts, frames) {
		if err := a.relay(piece, arrived); err != nil {
			return true, err
		}
	}
	return true, nil
}

func (a *path) relay(p piece, now time.Time) error {
	if p.fresh {
		a.endRun(nil, now)
	}
	if a.segmenter == nil {
		s, err := newSegmenter(a.config, a.target, a.pts)
		if err != nil {
			return err
		}
		a.segmenter, a.pending = s, true
	}
	cuts, err := a.segmenter.write(p.at, p.frames)
	a.publish(cuts, now)
	return err
}

// endRun relays the last pieces and closes the run of segments.
func (a *path) endRun(rest []piece, now time.Time) {
	for _, p := range rest {
		if err := a.relay(p, now); err != nil {
			a.log.Warn("cannot relay the last audio of a run", "err", err)
		}
	}
	if a.segmenter == nil {
		return
	}
	cuts, err := a.segmenter.close()
	if err != nil {
		a.log.Warn("last segment of a run lost", "err", err)
	}
	a.publish(cuts, now)
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
	config   mpeg4audio.AudioSpecificConfig
	lastData time.Time
}

func (a *path) state() pathState {
	a.mu.Lock()
	defer a.mu.Unlock()
	return pathState{source: a.publisher, config: a.config, lastData: a.lastData}
}

func (p *publisher) String() string { return fmt.Sprintf("%s (%s)", p.id, p.from) }
