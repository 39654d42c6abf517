package client_test

import (
	"errors"
	"fmt"
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

// Whoever has many networks cannot make the limits remember them all, nor forget
// those who have spent their turns.
func TestLimitsRememberABoundedNumberOfClientsAndForgetThoseWhoHaveSpentLastOfAll(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l := client.NewLimits(3, time.Hour, func() time.Time { return now })
	spent := func(name string) bool {
		var limit *client.LimitError
		return errors.As(l.TakeIf(name, func() bool { return false }), &limit)
	}
	for i := range 100 {
		for range 3 {
			if err := l.Take("spender " + strconv.Itoa(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 25_000 {
		if err := l.Take(strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
		if n := l.Remembered(); n > 10_000 {
			t.Fatalf("%d clients are remembered", n)
		}
	}
	for i := range 100 {
		if !spent("spender " + strconv.Itoa(i)) {
			t.Fatalf("spender %d has its turns again", i)
		}
	}
	for range 2 {
		_ = l.Take("24999")
	}
	if !spent("24999") {
		t.Error("the newest is forgotten")
	}
	now = now.Add(90 * time.Minute) // all but the spenders have all turns again
	for i := range 9_900 {
		_ = l.Take("later " + strconv.Itoa(i))
	}
	for i := range 100 {
		for range 2 {
			_ = l.Take("spender " + strconv.Itoa(i))
		}
		if !spent("spender " + strconv.Itoa(i)) {
			t.Fatalf("spender %d is forgotten while others have all their turns", i)
		}
	}
}

// A site has 65,536 networks of the size that counts as one listener.
func TestAllNetworksOfOneSiteHaveTheTurnsOfEight(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l := client.NewLimits(5, 8*time.Second, func() time.Time { return now })
	taken, network := 0, 0
	take := func(site string, networks int) {
		for range networks {
			network++
			for range 5 {
				if l.Take(fmt.Sprintf("2001:db8:%s:%x::/64", site, network)) == nil {
					taken++
				}
			}
		}
	}
	if take("1", 100); taken != 40 {
		t.Errorf("one site has %d turns", taken)
	}
	if taken = 0; l.Take("2001:db8:2:1::/64") != nil {
		t.Error("another site has none")
	}
	now = now.Add(8 * time.Second)
	if take("1", 100); taken != 8 {
		t.Errorf("%d turns came back", taken)
	}
	var limit *client.LimitError
	if err := l.Take("2001:db8:1:ffff::/64"); !errors.As(err, &limit) || limit.Seconds() != 1 {
		t.Errorf("when to come back: %v", err)
	}
}
