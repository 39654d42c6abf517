package feedback

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// window counts the newest vote of each voter for the length of span. Its methods
// must not be called concurrently.
type window struct {
	span   time.Duration
	votes  map[voter]cast
	order  []turn // oldest first; replaced votes are skipped
	counts map[string]int
	newest int64
}

// cast is a vote in the window; at is in epoch milliseconds.
type cast struct {
	vibe string
	at   int64
}

type turn struct {
	voter voter
	at    int64
}

// newWindow makes a window from stored votes.
func newWindow(span time.Duration, votes map[voter]cast) *window {
	w := &window{span: span, votes: map[voter]cast{}, counts: map[string]int{}}
	oldest := func(a, b voter) int { return cmp.Compare(votes[a].at, votes[b].at) }
	for _, v := range slices.SortedFunc(maps.Keys(votes), oldest) {
		w.cast(v, votes[v].vibe, votes[v].at)
	}
	return w
}

// cast replaces a voter's vote. A vote is never older than those before it, even if
// the clock was set back a little.
func (w *window) cast(v voter, vibe string, at int64) {
	w.setBack(at)
	w.newest = max(w.newest, at)
	w.forget(v)
	w.votes[v] = cast{vibe, w.newest}
	w.counts[vibe]++
	w.order = append(w.order, turn{v, w.newest})
	if len(w.order) > 2*len(w.votes)+1000 { // one voter who changes her mind all day
		w.order = slices.DeleteFunc(w.order, func(t turn) bool { return w.votes[t.voter].at != t.at })
	}
}

func (w *window) forget(v voter) {
	former, voted := w.votes[v]
	if !voted {
		return
	}
	delete(w.votes, v)
	if w.counts[former.vibe]--; w.counts[former.vibe] == 0 {
		delete(w.counts, former.vibe)
	}
}

// setBack treats all votes as cast now when the clock was set back by more than the
// window: otherwise they would count until the clock has caught up.
func (w *window) setBack(now int64) {
	if now >= w.newest-w.span.Milliseconds() {
		return
	}
	w.newest = now
	w.order = slices.DeleteFunc(w.order, func(t turn) bool { return w.votes[t.voter].at != t.at })
	for v, c := range w.votes {
		w.votes[v] = cast{c.vibe, now}
	}
	for i := range w.order {
		w.order[i].at = now
	}
}

// expire forgets the votes older than the window.
func (w *window) expire(now int64) {
	w.setBack(now)
	for len(w.order) > 0 && w.order[0].at <= now-w.span.Milliseconds() {
		if t := w.order[0]; w.votes[t.voter].at == t.at {
			w.forget(t.voter)
		}
		w.order = w.order[1:]
	}
}
