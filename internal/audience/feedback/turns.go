package feedback

import "sync"

// turns lets callers that come together share one commit: one of them has the
// turn and takes along everyone who waits. The disk is the scheduler's as well.
type turns[T any] struct {
	mu      sync.Mutex
	waiting []*waiter[T]

	turn sync.Mutex // held by the one that commits
}

// waiter is one caller that waits for its commit.
type waiter[T any] struct {
	want T
	done bool
	err  error // of this one; commit sets it
}

// share returns once want is committed, with its error. What commit returns is
// the error of all of the batch that have none of their own.
func (t *turns[T]) share(want T, commit func([]*waiter[T]) error) error {
	mine := &waiter[T]{want: want}
	t.mu.Lock()
	t.waiting = append(t.waiting, mine)
	t.mu.Unlock()

	t.turn.Lock()
	defer t.turn.Unlock()
	if !mine.done { // else whoever had the turn before took it along
		t.mu.Lock()
		batch := t.waiting
		t.waiting = nil
		t.mu.Unlock()
		err := commit(batch)
		for _, w := range batch {
			if w.done = true; w.err == nil {
				w.err = err
			}
		}
	}
	return mine.err
}

// alone has the turn without waiting for anyone's wish.
func (t *turns[T]) alone(commit func() error) error {
	t.turn.Lock()
	defer t.turn.Unlock()
	return commit()
}
