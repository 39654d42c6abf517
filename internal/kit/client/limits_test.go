package client_test

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
)

func TestLimitsGiveEachClientItsOwnTurnsAndSayWhenToComeBack(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l := client.NewLimits(3, 10*time.Second, func() time.Time { return now })
	for i := range 3 {
		if err := l.Take("a"); err != nil {
			t.Fatalf("turn %d: %v", i, err)
		}
	}
	var limit *client.LimitError
	if err := l.Take("a"); !errors.As(err, &limit) || limit.Seconds() != 10 {
		t.Fatalf("a fourth turn: %v", err)
	}
	if err := l.Take("b"); err != nil {
		t.Errorf("another client: %v", err)
	}
	now = now.Add(4 * time.Second)
	if err := l.Take("a"); !errors.As(err, &limit) || limit.Seconds() != 6 {
		t.Errorf("after 4 s: %v", err)
	}
	now = now.Add(6 * time.Second)
	if err := l.TakeIf("a", func() bool { return false }); err != nil {
		t.Errorf("what costs nothing: %v", err)
	}
	if err := l.Take("a"); err != nil {
		t.Errorf("the turn it left: %v", err)
	}
	if err := l.TakeIf("a", func() bool { t.Error("tried without a turn"); return false }); !errors.As(err, &limit) {
		t.Errorf("without a turn: %v", err)
	}
	for range 100 {
		if err := l.Take(""); err != nil {
			t.Fatalf("this machine: %v", err)
		}
	}
}

func TestManyRequestsAtOnceGetNoMoreTurns(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l := client.NewLimits(5, time.Hour, func() time.Time { return now })
	var tries atomic.Int32
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			_ = l.TakeIf("a", func() bool { tries.Add(1); return true })
		})
	}
	all.Wait()
	if tries.Load() != 5 {
		t.Errorf("%d tries", tries.Load())
	}
}

// Whoever has many networks cannot make the limits remember them all, nor is
// someone who has no turns left forgotten while there is room.
func TestLimitsRememberABoundedNumberOfClients(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l := client.NewLimits(1, time.Hour, func() time.Time { return now })
	for i := range 25_000 {
		if err := l.Take(strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
		if n := l.Remembered(); n > 10_000 {
			t.Fatalf("%d clients are remembered", n)
		}
	}
	if err := l.Take("24999"); err == nil {
		t.Error("the newest is forgotten")
	}
	now = now.Add(time.Hour)
	for i := l.Remembered(); i <= 10_000; i++ {
		_ = l.Take("later " + strconv.Itoa(i))
	}
	if n := l.Remembered(); n > 5_000 {
		t.Errorf("%d clients are remembered after most have their turns again", n)
	}
}
