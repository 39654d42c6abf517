package media

import (
	"strings"
	"sync"
)

// queue holds the files still to open. It never blocks the walk, and hands out
// one folder's files after another's in turn, so that a first scan finds
// material for every deck early and the station can go on air before its end.
type queue struct {
	mu     sync.Mutex
	ready  sync.Cond
	decks  map[string]*[]job
	order  []string
	next   int
	closed bool
}

func newQueue() *queue {
	q := &queue{decks: map[string]*[]job{}}
	q.ready.L = &q.mu
	return q
}

func (q *queue) push(j job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	key := deckKey(j.rel)
	deck, ok := q.decks[key]
	if !ok {
		deck = new([]job)
		q.decks[key] = deck
		q.order = append(q.order, key)
	}
	*deck = append(*deck, j)
	q.ready.Signal()
}

// deckKey is the first two folders: <category>, music/<category>, artist/album.
func deckKey(rel string) string {
	if i := strings.IndexByte(rel, '/'); i >= 0 {
		if k := strings.IndexByte(rel[i+1:], '/'); k >= 0 {
			return rel[:i+1+k]
		}
		return rel[:i]
	}
	return ""
}

// pop waits for a job; it answers false when the queue is closed and, unless
// abandoned, empty.
func (q *queue) pop() (job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.order) == 0 && !q.closed {
		q.ready.Wait()
	}
	if len(q.order) == 0 {
		return job{}, false
	}
	q.next %= len(q.order)
	key := q.order[q.next]
	deck := q.decks[key]
	j := (*deck)[0]
	(*deck)[0] = job{}
	*deck = (*deck)[1:]
	if len(*deck) == 0 {
		delete(q.decks, key)
		q.order = append(q.order[:q.next], q.order[q.next+1:]...)
	} else {
		q.next++
	}
	return j, true
}

// close lets pop answer false once the queue is empty.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.ready.Broadcast()
}

// abandon empties the queue and closes it.
func (q *queue) abandon() {
	q.mu.Lock()
	q.decks, q.order = map[string]*[]job{}, nil
	q.mu.Unlock()
	q.close()
}
