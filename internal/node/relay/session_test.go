package relay

import (
	"testing"
	"time"
)

var limits = sessionLimits{idle: 45 * time.Second, back: 10 * time.Minute, most: 3}

func TestASessionGoesAwayComesBackAndEnds(t *testing.T) {
	table := newSessions(limits, []byte("key"), noon)
	token, ok := table.begin(noon)
	if !ok {
		t.Fatal("no session")
	}
	for _, c := range []struct {
		after     time.Duration
		listening int
	}{{44 * time.Second, 1}, {46 * time.Second, 0}} {
		if got := len(table.listening(noon.Add(c.after))); got != c.listening {
			t.Errorf("after %s %d listen, want %d", c.after, got, c.listening)
		}
	}
	back := noon.Add(9 * time.Minute)
	if !table.touch(token, back) || len(table.listening(back)) != 1 {
		t.Error("a paused listener did not come back")
	}
	if table.touch(token, back.Add(11*time.Minute)) {
		t.Error("an ended session was taken up")
	}
}

func TestOnlyATokenFromBeforeARestartIsTakenUpAndNotForEver(t *testing.T) {
	old := newSessions(limits, []byte("key"), noon)
	token, _ := old.begin(noon)
	restart := noon.Add(time.Minute)
	if !newSessions(limits, []byte("key"), restart).touch(token, restart.Add(time.Second)) {
		t.Error("a token from before the restart is refused")
	}
	if newSessions(limits, []byte("other"), restart).touch(token, restart.Add(time.Second)) {
		t.Error("a token signed with another key is taken")
	}
	if newSessions(limits, []byte("key"), restart).touch(token, restart.Add(11*time.Minute)) {
		t.Error("a token from long before is taken")
	}
	// Evicted from a full table: signed by this very process, and ended.
	table := newSessions(limits, []byte("key"), noon)
	evicted, _ := table.begin(noon.Add(time.Second))
	for range 3 {
		if _, ok := table.begin(noon.Add(time.Minute)); !ok {
			t.Fatal("no room")
		}
	}
	if table.touch(evicted, noon.Add(time.Minute)) {
		t.Error("an evicted session is taken up")
	}
}

func TestAFullTableDisplacesTheIdleAndNeverAListener(t *testing.T) {
	table := newSessions(limits, []byte("key"), noon)
	listener, _ := table.begin(noon)
	for i := range 100 { // a flood of sessions that are never used
		now := noon.Add(time.Duration(i) * 6 * time.Second)
		table.begin(now)
		if !table.touch(listener, now) {
			t.Fatalf("the listener was displaced after %d", i)
		}
	}
	now := noon.Add(time.Hour)
	for range 3 {
		table.begin(now)
	}
	if _, ok := table.begin(now.Add(time.Second)); ok {
		t.Error("a fourth listener fits into three places")
	}
}
