package engine

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/rush"
)

// Each session counts towards a rush, after which memory is given back.
func TestMemoryIsGivenBackAfterARushOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{}, func(*Session, *http.Request) Receiver { return nobody{} })
		var freed atomic.Int64
		s.rush = rush.New(func() { freed.Add(1) })
		s.running = true
		for range rush.Many {
			session, fault := s.admit(httptest.NewRequest(http.MethodGet, "/", nil), false)
			if fault != nil {
				t.Fatal(fault)
			}
			session.timer.Stop()
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if freed.Load() != 1 {
			t.Errorf("memory was given back %d times after a rush", freed.Load())
		}
	})
}
