package depot

import (
	"net"
	"testing"
	"time"
)

// What waits on a line is a quarter of a second of it, however slow it is; a quick one is
// not held up, and the pause before the next file counts for nothing.
func TestALineIsNotFilled(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close() //nolint:errcheck // at the end
	conn, err := dialLine(&net.Dialer{})(t.Context(), "tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // at the end
	l, ok := conn.(*line)
	if !ok || l.room != firstRoom {
		t.Fatalf("a connection of %T, with room for %+v", conn, l)
	}
	l.way = 10 * time.Millisecond
	at := time.Now()
	for _, c := range []struct {
		rate      int // bytes a second
		least, at int
	}{
		{150_000, 37_000, 40_000}, {20_000, leastRoom, leastRoom}, {2_000_000, 500_000, 540_000}, {100_000_000, mostRoom, mostRoom}, {150_000, 37_000, 40_000},
	} {
		at = at.Add(time.Minute)
		before := l.room
		if l.count(1, at); l.room != before {
			t.Errorf("after a pause: room for %d, and it was %d", l.room, before)
		}
		for range 20 {
			at = at.Add(50 * time.Millisecond)
			l.count(c.rate/20, at)
		}
		if l.room < c.least || l.room > c.at {
			t.Errorf("%d bytes a second: room for %d, want %d to %d", c.rate, l.room, c.least, c.at)
		}
	}
}
