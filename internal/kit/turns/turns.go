// Package turns lets concurrent callers share one commit: one of them commits for
// everyone who waits. Each must be on disk before it is answered, and the disk
// takes one commit at a time.
//
// It knows no database: its user passes the commit.
package turns

import (
	"errors"
	"sync"
)

// errUnfinished is the error of callers whose commit panicked elsewhere.
var errUnfinished = errors.New("the commit panicked")

// Turns are the turns of callers that want a T. The zero value is ready.
type Turns[T any] struct {
	mu      sync.Mutex
	waiting []*Waiter[T]

	turn sync.Mutex // held by the one that commits
}

// Waiter is one caller that waits for its commit.
type Waiter[T any] struct {
	Want T
	Err  error // of this one; commit may set it
	done bool
}

// Share returns once want is committed, with its error. What commit returns is
// the error of all of the batch that have none of their own. A commit that
// panics is an error to all but the caller it panics in.
func (t *Turns[T]) Share(want T, commit func([]*Waiter[T]) error) error {
	mine := &Waiter[T]{Want: want}
	t.mu.Lock()
	t.waiting = append(t.waiting, mine)
	t.mu.Unlock()

	t.turn.Lock()
	defer t.turn.Unlock()
	if !mine.done { // else whoever had the turn before took it along
		t.take(commit)
	}
	return mine.Err
}

// take commits for everyone who waits. The caller has the turn.
func (t *Turns[T]) take(commit func([]*Waiter[T]) error) {
	t.mu.Lock()
	batch := t.waiting
	t.waiting = nil
	t.mu.Unlock()
	err := errUnfinished
	defer func() {
		for _, w := range batch {
			if w.done = true; w.Err == nil {
				w.Err = err
			}
		}
	}()
	err = commit(batch)
}

// Alone runs commit exclusively.
func (t *Turns[T]) Alone(commit func() error) error {
	t.turn.Lock()
	defer t.turn.Unlock()
	return commit()
}
