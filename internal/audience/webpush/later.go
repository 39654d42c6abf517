package webpush

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// lane is a queue of notices with workers of its own: it never waits for another lane.
type lane struct {
	notices chan *Notice
	letters chan *letter // to the workers
	later   *later
	workers int
}

func newLane(workers int) *lane {
	return &lane{notices: make(chan *Notice, mostNotices), letters: make(chan *letter), later: newLater(), workers: workers}
}

// mostLater is how many letters may wait for another attempt in a lane.
const mostLater = 20_000

// later holds the letters that wait for another attempt, and the push services that
// asked for a pause.
type later struct {
	wake chan struct{}

	mu      sync.Mutex
	waiting letters
	held    map[string]time.Time // end of the pause by origin
}

func newLater() *later { return &later{wake: make(chan struct{}, 1), held: map[string]time.Time{}} }

// letters is a heap by due time.
type letters []*letter

func (l letters) Len() int           { return len(l) }
func (l letters) Less(i, j int) bool { return l[i].due.Before(l[j].due) }
func (l letters) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *letters) Push(x any)        { *l = append(*l, x.(*letter)) } //nolint:forcetypeassert // ours alone
func (l *letters) Pop() any {
	old := *l
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*l = old[:len(old)-1]
	return last
}

// add takes a letter; false when there are too many.
func (w *later) add(l *letter) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) >= mostLater {
		return false
	}
	heap.Push(&w.waiting, l)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return true
}

// next takes the first letter that is due, or returns when the next one is; zero when
// none waits.
func (w *later) next(now time.Time) (*letter, time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		return nil, time.Time{}
	}
	if first := w.waiting[0]; first.due.After(now) {
		return nil, first.due
	}
	return heap.Pop(&w.waiting).(*letter), time.Time{} //nolint:forcetypeassert // ours alone
}

// hold sends nothing to a service until a time.
func (w *later) hold(endpoint string, until time.Time) {
	origin := originText(endpoint)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.held) >= mostOrigins {
		clear(w.held)
	}
	if until.After(w.held[origin]) {
		w.held[origin] = until
	}
}

// freeAt returns when a service may be sent to again; not after now if it may already.
func (w *later) freeAt(endpoint string, now time.Time) time.Time {
	origin := originText(endpoint)
	w.mu.Lock()
	defer w.mu.Unlock()
	until, held := w.held[origin]
	if held && !until.After(now) {
		delete(w.held, origin)
	}
	return until
}

// resend gives the workers the letters whose time has come.
func (w *lane) resend(ctx context.Context, clock func() time.Time) {
	for {
		now := clock()
		l, at := w.later.next(now)
		if l != nil {
			select {
			case w.letters <- l:
				continue
			case <-ctx.Done():
				return
			}
		}
		pause := time.Hour
		if !at.IsZero() {
			pause = at.Sub(now)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-w.later.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}
