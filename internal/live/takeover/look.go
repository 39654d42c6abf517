package takeover

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

const (
	// lookEvery is how old the answer to a look may be, lookWithin how long the desk has
	// for it.
	lookEvery  = 250 * time.Millisecond
	lookWithin = time.Second
)

// looks asks the desk for those who look at levels, which change all the time and are no
// news for Run. All who look share one question.
type looks struct {
	mu     sync.Mutex
	at     time.Time // when report was had, or could not be had
	report live.Report
	had    bool
	asking chan struct{} // closed with the answer to the question under way; nil: none is
	wanted chan struct{} // of capacity 1: a question is to be asked, by Run
}

// Look returns the desk's report of this moment, with levels, and whether the desk is
// heard of. Where it does not answer in time, or Run has ended, the report is that of
// Report. Sources have redacted addresses.
func (t *Takeover) Look(ctx context.Context) (r live.Report, known bool) {
	if r, known = t.Report(); !known { // it would only be waited for
		return r, false
	}
	l := &t.looks
	l.mu.Lock()
	if t.opt.Now().Sub(l.at) >= lookEvery || l.at.IsZero() {
		if l.asking == nil {
			// It is of all who look meanwhile, not of the one who is first.
			l.asking = make(chan struct{})
			l.wanted <- struct{}{} // there is room: none is under way
		}
		done := l.asking
		l.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
		case <-t.open:
		}
		l.mu.Lock()
	}
	fresh, had := l.report, l.had
	l.mu.Unlock()
	r, known = t.Report()
	// What Run was told meanwhile is newer.
	if !had || fresh.Epoch == r.Epoch && fresh.Version < r.Version {
		return r, known
	}
	fresh.Sources = slices.Clone(fresh.Sources)
	return fresh, known
}

// answerLooks asks for those who look until ctx ends.
func (t *Takeover) answerLooks(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.looks.wanted:
			t.ask(ctx)
		}
	}
}

func (t *Takeover) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	r, err := t.opt.Desk.Report(ctx, 0)
	r = r.Here(t.opt.Here)
	for i, s := range r.Sources {
		found, _ := t.opt.Streams.Find(s.ID) // one that was removed has no address to show
		r.Sources[i].URL = found.URL
	}
	l := &t.looks
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.asking)
	l.at, l.report, l.had, l.asking = t.opt.Now(), r, err == nil, nil
}
