package turns_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/kit/turns"
)

func TestEveryWishIsCommittedOnceAndAnsweredWithItsOwnError(t *testing.T) {
	var of turns.Turns[int]
	var commits, committed atomic.Int64
	odd := errors.New("odd")
	var all sync.WaitGroup
	for i := range 500 {
		all.Go(func() {
			err := of.Share(i, func(batch []*turns.Waiter[int]) error {
				commits.Add(1)
				for _, w := range batch {
					committed.Add(1)
					if w.Want%2 == 1 {
						w.Err = odd
					}
				}
				return nil
			})
			if (i%2 == 1) != errors.Is(err, odd) {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	all.Wait()
	if committed.Load() != 500 || commits.Load() > 500 {
		t.Errorf("%d committed in %d commits", committed.Load(), commits.Load())
	}
}

// Whoever waits for a commit that another's wish has ended is not told that all
// is well.
func TestNobodyIsAnsweredWellAfterACommitThatPanicked(t *testing.T) {
	var of turns.Turns[string]
	begun, end := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		err := of.Share("first", func([]*turns.Waiter[string]) error {
			close(begun)
			<-end
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-begun
	var well, panicked atomic.Int32
	for range 3 {
		all.Go(func() {
			defer func() {
				if recover() != nil {
					panicked.Add(1)
				}
			}()
			if of.Share("x", func([]*turns.Waiter[string]) error { panic("a bug in one of them") }) == nil {
				well.Add(1)
			}
		})
	}
	testkit.Eventually(t, "three that wait", func() bool { return of.Waiting() == 3 })
	close(end)
	all.Wait()
	if well.Load() != 0 || panicked.Load() != 1 {
		t.Errorf("%d answered well, %d panicked", well.Load(), panicked.Load())
	}
	if err := of.Share("next", func([]*turns.Waiter[string]) error { return nil }); err != nil {
		t.Errorf("after it: %v", err)
	}
}
