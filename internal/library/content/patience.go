package content

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/library/content/source"
)

// Sources are servers of others and may be slow. Three bounds keep a slow one from
// delaying the rest: a call without progress is given up, a host with two such calls
// is left out for the run, and each source has a time limit in all. The inbox is on
// the operator's own disk and is not bounded.

// mostSlow is how many calls of one place may be given up before it is left out for
// the rest of the run.
const mostSlow = 2

// patience is the time that sources have cost a run so far.
type patience struct {
	mu    sync.Mutex
	spent map[string]time.Duration // by source
	slow  map[string]int           // calls given up, by place
}

// place names whom a call waits for: a source, and the host of the candidate.
func place(src source.Source, cand source.Candidate) string {
	if u, err := url.Parse(cand.URL); err == nil && u.Hostname() != "" {
		return src.Name() + " (" + u.Hostname() + ")"
	}
	return src.Name()
}

// slowError says that a call was given up, and why.
type slowError struct{ why string }

func (e *slowError) Error() string { return "given up: " + e.why }

// Timeout is true, as net.Error has it.
func (e *slowError) Timeout() bool { return true }

// left says why a place is left out for the rest of this run; empty if it is not.
func (r *run) left(src source.Source, where string) string {
	p := &r.patience
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.slow[where] >= mostSlow:
		return fmt.Sprintf("%s was given up %d times in this run", where, p.slow[where])
	case p.spent[src.Name()] >= r.c.opt.SourceTime && src.Name() != source.NameInbox:
		return r.over(src)
	}
	return ""
}

func (r *run) over(src source.Source) string {
	return fmt.Sprintf("%s has had its %s of this run", src.Name(), span(r.c.opt.SourceTime))
}

// ask calls a source, for at most limit and within its time of the run.
func (r *run) ask(src source.Source, where string, limit time.Duration, do func(context.Context) error) error {
	p := &r.patience
	p.mu.Lock()
	rest := r.c.opt.SourceTime - p.spent[src.Name()]
	p.mu.Unlock()
	why := "not done within " + span(limit)
	if src.Name() != source.NameInbox && rest < limit {
		limit, why = max(0, rest), r.over(src)
	}
	ctx, cancel := context.WithTimeoutCause(r.fetching, limit, &slowError{why})
	defer cancel()
	began := time.Now()
	err := do(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spent == nil {
		p.spent, p.slow = map[string]time.Duration{}, map[string]int{}
	}
	p.spent[src.Name()] += time.Since(began)
	if r.fetching.Err() == nil && slow(err) {
		p.slow[where]++
	}
	return err
}

// slow reports that a call failed for its time. Of a search that was answered in
// part it is said only where that is why it ended.
func slow(err error) bool {
	var parts interface{ Unwrap() []error }
	var late interface{ Timeout() bool }
	if errors.As(err, &parts) {
		return errors.As(err, new(*slowError))
	}
	return errors.As(err, &late) && late.Timeout()
}

// span is a length of time for people.
func span(d time.Duration) string {
	if d > time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return seconds(d)
}

// brisk ends a fetch that stalls: in every window it must reach the slowest rate, in
// bytes a second, or finish.
func brisk(ctx context.Context, window time.Duration, slowest int64, fetch func(ctx context.Context, progress func(done, total int64)) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var have atomic.Int64
	var watch sync.WaitGroup
	done := make(chan struct{})
	watch.Go(func() {
		tick := time.NewTicker(window)
		defer tick.Stop()
		for before := int64(0); ; {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			now := have.Load()
			came := now - before
			if came < 0 { // it began anew
				came = now
			}
			switch {
			case came == 0:
				cancel(&slowError{"nothing came for " + span(window)})
			case came < int64(float64(slowest)*window.Seconds()):
				cancel(&slowError{fmt.Sprintf("%d bytes came in %s, the least is %d kB a second", came, span(window), slowest>>10)})
			}
			before = now
		}
	})
	err := fetch(ctx, func(done, _ int64) { have.Store(done) })
	close(done)
	watch.Wait()
	return err
}

// nextOffer chooses the next offer to fetch: slow places come last, and idle places
// before busy ones, so that slow ones do not hold all the workers. A slow place gets
// one fetch at a time; the result is -1 when only such offers are left.
func (r *run) nextOffer(list []offer, waitedFor map[string]int) int {
	r.patience.mu.Lock()
	defer r.patience.mu.Unlock()
	best, least := -1, mostSlow*2
	for i, o := range list {
		where := place(o.src, o.cand)
		slow, waited := r.patience.slow[where], waitedFor[where]
		if rank := 2*slow + min(1, waited); rank < least && (slow == 0 || waited == 0) {
			best, least = i, rank
		}
	}
	return best
}

// drop removes the offers of places that are left out for this run, and counts them
// by reason.
func (r *run) drop(list []offer, why map[string]int) []offer {
	return slices.DeleteFunc(list, func(o offer) bool {
		left := r.left(o.src, place(o.src, o.cand))
		if left != "" {
			why[left]++
		}
		return left != ""
	})
}
