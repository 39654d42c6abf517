package relay

import (
	"testing"
	"time"
)

var limits = sessionLimits{fresh: 15 * time.Second, idle: 45 * time.Second, back: 10 * time.Minute, most: 3}

func TestASessionGoesAwayComesBackAndEnds(t *testing.T) {
	table := newSessions(limits, []byte("key"), noon)
	token, ok := table.begin(noon, nil)
	if !ok {
		t.Fatal("no session")
	}
	table.hear(token, noon)
	for _, c := range []struct {
		after     time.Duration
		listening int
	}{{44 * time.Second, 1}, {46 * time.Second, 0}} {
		if got := count(table.listening(noon.Add(c.after))); got != c.listening {
			t.Errorf("after %s %d listen, want %d", c.after, got, c.listening)
		}
	}
	back := noon.Add(9 * time.Minute)
	if !table.touch(token, back, nil) || count(table.listening(back)) != 1 {
		t.Error("a paused listener did not come back")
	}
	if table.touch(token, back.Add(11*time.Minute), nil) {
		t.Error("an ended session was taken up")
	}
}

func TestOnlyATokenFromBeforeARestartIsTakenUpAndNotForEver(t *testing.T) {
	old := newSessions(limits, []byte("key"), noon)
	token, _ := old.begin(noon, nil)
	restart := noon.Add(time.Minute)
	if !newSessions(limits, []byte("key"), restart).touch(token, restart.Add(time.Second), nil) {
		t.Error("a token from before the restart is refused")
	}
	if newSessions(limits, []byte("other"), restart).touch(token, restart.Add(time.Second), nil) {
		t.Error("a token signed with another key is taken")
	}
	if newSessions(limits, []byte("key"), restart).touch(token, restart.Add(11*time.Minute), nil) {
		t.Error("a token from long before is taken")
	}
	// Evicted from a full table: signed by this very process, and ended.
	table := newSessions(limits, []byte("key"), noon)
	evicted, _ := table.begin(noon.Add(time.Second), nil)
	for range 3 {
		if _, ok := table.begin(noon.Add(time.Minute), nil); !ok {
			t.Fatal("no room")
		}
	}
	if table.touch(evicted, noon.Add(time.Minute), nil) {
		t.Error("an evicted session is taken up")
	}
}

// A session costs whoever wants it one request: it must not count before it is
// used.
func TestASessionWithoutASegmentIsNoListenerAndEndsSoon(t *testing.T) {
	table := newSessions(limits, []byte("key"), noon)
	at := noon.Add(time.Second) // a token from before the start would be taken up again
	token, _ := table.begin(at, nil)
	for range 5 { // playlists keep it alive, and prove nothing
		at = at.Add(14 * time.Second)
		if !table.touch(token, at, nil) {
			t.Fatal("a player that is still loading was cut off")
		}
		if n, _ := table.counts(at); n != 0 {
			t.Fatalf("%d listeners before a segment", n)
		}
	}
	if table.touch(token, at.Add(16*time.Second), nil) {
		t.Error("a session that never listened was kept")
	}
	token, _ = table.begin(at, nil)
	table.hear(token, at)
	if n, _ := table.counts(at.Add(16 * time.Second)); n != 1 {
		t.Errorf("%d listeners after a segment, want 1", n)
	}
}

func TestAFullTableDisplacesTheIdleAndNeverAListener(t *testing.T) {
	table := newSessions(limits, []byte("key"), noon)
	listener, _ := table.begin(noon, nil)
	table.hear(listener, noon)
	for i := range 100 { // a flood of sessions that are never used
		now := noon.Add(time.Duration(i) * time.Millisecond)
		if _, ok := table.begin(now, nil); !ok {
			t.Fatalf("a newcomer was refused after %d", i)
		}
	}
	// Not even while it pauses.
	if !table.touch(listener, noon.Add(time.Minute), nil) {
		t.Fatal("the listener was displaced")
	}
	now := noon.Add(time.Hour)
	var tokens []string
	for range 3 {
		token, _ := table.begin(now, nil)
		table.hear(token, now)
		tokens = append(tokens, token)
	}
	if _, ok := table.begin(now.Add(time.Second), nil); ok {
		t.Error("a fourth listener fits into three places")
	}
	later := now.Add(inUse)
	if _, ok := table.begin(later, nil); !ok || table.touch(tokens[0], later, nil) || !table.touch(tokens[2], later, nil) {
		t.Error("the listener away longest did not give way")
	}
}
