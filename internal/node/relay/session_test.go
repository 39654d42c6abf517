package relay

import (
	"testing"
	"time"
)

var limits = sessionLimits{fresh: 15 * time.Second, idle: 45 * time.Second, back: 10 * time.Minute, most: 3}

func TestASessionGoesAwayComesBackAndEnds(t *testing.T) {
	table := newSessions(limits, []byte("key"), noon)
	token, ok := table.begin(noon)
	if !ok {
		t.Fatal("no session")
	}
	table.hear(token, noon)
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

// A session costs whoever wants it one request: it must not count before it is
// used.
func TestASessionWithoutASegmentIsNoListenerAndEndsSoon(t *testing.T) {
	table := newSessions(limits, []byte("key"), noon)
	at := noon.Add(time.Second) // a token from before the start would be taken up again
	token, _ := table.begin(at)
	for range 5 { // playlists keep it alive, and prove nothing
		at = at.Add(14 * time.Second)
		if !table.touch(token, at) {
			t.Fatal("a player that is still loading was cut off")
		}
		if n, _ := table.counts(at); n != 0 {
			t.Fatalf("%d listeners before a segment", n)
		}
	}
	if table.touch(token, at.Add(16*time.Second)) {
		t.Error("a session that never listened was kept")
	}
	token, _ = table.begin(at)
	table.hear(token, at)
	if n, _ := table.counts(at.Add(16 * time.Second)); n != 1 {
		t.Errorf("%d listeners after a segment, want 1", n)
	}
}

func TestAFullTableDisplacesTheIdleAndNeverAListener(t *testing.T) {
	table := newSessions(limits, []byte("key"), noon)
	listener, _ := table.begin(noon)
	table.hear(listener, noon)
	for i := range 100 { // a flood of sessions that are never used
		now := noon.Add(time.Duration(i) * time.Millisecond)
		if _, ok := table.begin(now); !ok {
			t.Fatalf("a newcomer was refused after %d", i)
		}
	}
	// Not even while it pauses.
	if !table.touch(listener, noon.Add(time.Minute)) {
		t.Fatal("the listener was displaced")
	}
	now := noon.Add(time.Hour)
	var tokens []string
	for range 3 {
		token, _ := table.begin(now)
		table.hear(token, now)
		tokens = append(tokens, token)
	}
	if _, ok := table.begin(now.Add(time.Second)); ok {
		t.Error("a fourth listener fits into three places")
	}
	later := now.Add(inUse)
	if _, ok := table.begin(later); !ok || table.touch(tokens[0], later) || !table.touch(tokens[2], later) {
		t.Error("the listener away longest did not give way")
	}
}
