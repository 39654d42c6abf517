package record

import (
	"context"
	"sync"
	"time"
)

// tick is how often what was written is made safe from a power cut, and old recordings go.
const tick = time.Second

// sidecarTicks is after how many ticks the sidecar of a recording under way is written anew.
const sidecarTicks = 10

// Run records until ctx ends, and returns when the file is whole. A recording under way is
// then interrupted, and may be gone on with by the next Recorder.
func (r *Recorder) Run(ctx context.Context) error {
	var now shared
	var keeper sync.WaitGroup
	over := make(chan struct{})
	keeper.Go(func() { r.keep(over, &now) })
	defer func() {
		close(over)
		keeper.Wait()
	}()

	for {
		it, ok := r.next(ctx)
		if !ok {
			break
		}
		r.handle(ctx, it, &now)
	}
	r.mu.Lock()
	r.over = true
	left := r.queue
	r.queue, r.queued, r.current = nil, 0, ""
	r.mu.Unlock()
	for _, it := range left {
		r.handle(ctx, it, &now)
	}
	if s := now.set(nil); s != nil {
		s.finish("the live desk ended", r.opt.Now(), true)
	}
	return nil
}

// shared is the session that the goroutines of Run share.
type shared struct {
	mu sync.Mutex
	s  *session
}

func (h *shared) get() *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.s
}

func (h *shared) set(s *session) (before *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, h.s = h.s, s
	return before
}

// next waits for what happens next; false when ctx has ended.
func (r *Recorder) next(ctx context.Context) (item, bool) {
	for {
		r.mu.Lock()
		if len(r.queue) > 0 && ctx.Err() == nil {
			it := r.queue[0]
			r.queue[0] = item{}
			r.queue = r.queue[1:]
			r.queued -= len(it.pcm)
			r.mu.Unlock()
			return it, true
		}
		r.mu.Unlock()
		select {
		case <-ctx.Done():
			return item{}, false
		case <-r.wake:
		}
	}
}

func (r *Recorder) handle(ctx context.Context, it item, now *shared) {
	s := now.get()
	if s != nil && it.lost > 0 {
		s.behind(it.lost)
	}
	switch {
	case it.begin != nil:
		s := &session{r: r, name: it.name, hurry: ctx.Done()}
		now.set(s)
		r.opt.Log.Info("recording", "recording", it.name, "stream", it.begin.Stream)
	case s == nil:
	case it.title != nil:
		s.titled(*it.title)
	case it.end:
		now.set(nil)
		s.finish(it.why, it.at, false)
	default:
		s.feed(it.pcm)
	}
}

// keep makes safe what is written, and keeps the bounds, until over is closed.
func (r *Recorder) keep(over <-chan struct{}, now *shared) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	begun := time.Now()
	var clock wallClock
	for n := 0; ; n++ {
		r.settled(r.opt.Now())
		r.retain(r.opt.Now(), clock.believed(time.Now(), time.Since(begun)))
		s := now.get()
		if s != nil {
			s.sync()
		}
		for _, name := range r.behind(n%sidecarTicks == 0) {
			r.save(name)
		}
		select {
		case <-over:
			return
		case <-ticker.C:
		}
	}
}

// settled ends the wait for streams that did not come back.
func (r *Recorder) settled(now time.Time) {
	for _, rec := range r.List() {
		if rec.Interrupted && now.Sub(time.UnixMilli(rec.Ended)).Abs() >= joinWithin {
			r.change(rec.Name, func(rec *Recording) {
				if rec.Ended != 0 { // nobody went on in it meanwhile
					rec.Interrupted = false
				}
			})
		}
	}
}

// behind are the recordings whose sidecar should be written: that of the one under way
// when it has none yet, and when all is true.
func (r *Recorder) behind(all bool) (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, e := range r.all {
		if e.changes != e.saved && (all || e.Ended != 0 || e.saved == 0) {
			names = append(names, name)
		}
	}
	return names
}
