package depot

import (
	"context"
	"net"
	"time"
)

// A sender fills a slow line with as much as the receiver has room for, seconds of it: what
// the node and the control plane say to each other waits behind that, the lease of the air
// among it. So each connection has room for what comes in the time that the way takes and a
// quarter of a second more; on a quick line that is much.
const (
	lineQueue = 250 * time.Millisecond // what may wait on the line
	lineLook  = 500 * time.Millisecond // between two measurements
	farthest  = 400 * time.Millisecond // of the way: what takes longer waits on the line already
	leastRoom = 16 << 10
	firstRoom = 32 << 10
	mostRoom  = 4 << 20
)

// line is a connection whose receive buffer follows its rate.
type line struct {
	*net.TCPConn
	way  time.Duration // there and back
	from time.Time     // of the measurement
	got  int           // bytes since
	room int
}

func dialLine(d *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		begun := time.Now()
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		tcp, ok := conn.(*net.TCPConn)
		if !ok {
			return conn, nil
		}
		l := &line{TCPConn: tcp, way: min(time.Since(begun), farthest)}
		l.give(firstRoom)
		return l, nil
	}
}

func (l *line) give(room int) {
	if room != l.room {
		l.room = room
		_ = l.SetReadBuffer(room) // as it was, where the kernel will not
	}
}

// Read implements net.Conn.
func (l *line) Read(p []byte) (int, error) {
	n, err := l.TCPConn.Read(p)
	l.count(n, time.Now())
	return n, err
}

// count follows the rate; a pause between two files is no part of it.
func (l *line) count(n int, now time.Time) {
	if now.Sub(l.from) > 2*lineLook {
		l.from, l.got = now, 0
		return
	}
	if l.got += n; now.Sub(l.from) < lineLook {
		return
	}
	rate := float64(l.got) / now.Sub(l.from).Seconds()
	l.give(min(max(int(rate*(l.way+lineQueue).Seconds()), leastRoom), mostRoom))
	l.from, l.got = now, 0
}
