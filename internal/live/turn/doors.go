package turn

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/crowd"
)

const (
	// longestMessage bounds one STUN message or channel data, in bytes. The server's own
	// buffer has 1,600.
	longestMessage = 1500
	// settle is how long a connection may take to get an allocation, its TLS handshake
	// included; idle is how long it may be silent with one: it has to refresh that.
	settle = 30 * time.Second
	idle   = 11 * time.Minute
	// writeWait bounds a write to a client that does not read.
	writeWait = 10 * time.Second
	// acceptPause is the pause after a connection that could not be taken.
	acceptPause = 100 * time.Millisecond
)

// datagrams is the UDP door: what the screen lets through of a socket.
type datagrams struct {
	*net.UDPConn
	screen *screen
}

// ReadFrom implements net.PacketConn. Only a closed socket is an error: the server gives
// up its door at the first.
func (d *datagrams) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		n, from, err := d.ReadFromUDPAddrPort(p)
		if errors.Is(err, net.ErrClosed) {
			return 0, nil, err
		}
		if err != nil || n > longestMessage {
			d.screen.count.dropped.Add(1)
			continue
		}
		v := d.screen.look(p[:n], from)
		if v.on {
			return n, net.UDPAddrFromAddrPort(from), nil
		}
		if v.answer != nil {
			_, _ = d.WriteToUDPAddrPort(v.answer, from)
		}
	}
}

// streams is the TCP or the TLS door: a listener of connections that are within the
// bounds and, for TLS, greeted. The server would wait for a handshake as long as the client
// likes, keep the socket of one that failed, and close no connection when it ends.
type streams struct {
	net.Listener
	screen *screen
	tls    *tls.Config // nil: TCP
	slots  chan struct{}
	log    *slog.Logger

	ready chan net.Conn
	done  chan struct{} // closed with the listener
	once  sync.Once
	all   sync.WaitGroup // connections
}

func newStreams(l net.Listener, s *screen, config *tls.Config, slots chan struct{}, bound *crowd.Bound, log *slog.Logger) *streams {
	return &streams{
		Listener: bound.Listener(l), screen: s, tls: config, slots: slots, log: log,
		ready: make(chan net.Conn), done: make(chan struct{}),
	}
}

// run takes connections until the listener is closed, and returns when all have ended.
func (d *streams) run(ctx context.Context) {
	defer d.all.Wait()
	for {
		conn, err := d.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no file is free, say: that passes
			d.log.Warn("cannot take a TURN connection, trying again", "err", err)
			select {
			case <-d.done:
			case <-time.After(acceptPause):
			}
			continue
		}
		select {
		case d.slots <- struct{}{}:
			d.all.Go(func() {
				defer func() { <-d.slots }()
				d.serve(ctx, conn)
			})
		default:
			d.screen.count.limited.Add(1)
			_ = conn.Close()
		}
	}
}

// serve greets a client and hands it to the server, until either ends the connection.
func (d *streams) serve(ctx context.Context, conn net.Conn) {
	s := &stream{Conn: conn, door: d, since: time.Now(), closed: make(chan struct{})}
	defer s.Close() //nolint:errcheck // nothing is lost
	if d.tls != nil {
		greeting, cancel := context.WithTimeout(ctx, settle)
		defer cancel()
		secure := tls.Server(conn, d.tls)
		if err := secure.HandshakeContext(greeting); err != nil {
			d.screen.count.handshakes.Add(1)
			d.log.Debug("TURN client gave up its TLS handshake", "from", conn.RemoteAddr().String(), "err", err)
			return
		}
		s.Conn = secure
	}
	select {
	case d.ready <- s:
	case <-d.done:
		return
	}
	select {
	case <-s.closed:
	case <-d.done:
	}
}

// Accept implements net.Listener, for the server.
func (d *streams) Accept() (net.Conn, error) {
	select {
	case conn := <-d.ready:
		return conn, nil
	case <-d.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener; it ends the connections too.
func (d *streams) Close() error {
	var err error
	d.once.Do(func() {
		close(d.done)
		err = d.Listener.Close()
	})
	return err
}

// stream is one connection. Each Read returns one whole message that the screen lets
// through: the server's own division of a stream never ends on a message whose stated
// length wraps to nothing.
type stream struct {
	net.Conn
	door   *streams
	since  time.Time
	closed chan struct{}
	once   sync.Once
}

var errMessage = errors.New("neither a STUN message nor channel data, or one too long")

// Read implements net.Conn, for the one goroutine of the server that reads it.
func (s *stream) Read(p []byte) (int, error) {
	for {
		if err := s.door.screen.book.patience(seatOf(s.door.screen.door, s.RemoteAddr()), s.Conn, s.since); err != nil {
			return 0, err
		}
		n, err := readMessage(s.Conn, p)
		if err != nil {
			return 0, err
		}
		v := s.door.screen.look(p[:n], addrPort(s.RemoteAddr()))
		if v.on {
			return n, nil
		}
		if v.answer != nil {
			if _, err := s.Write(v.answer); err != nil {
				return 0, err
			}
		}
	}
}

// readMessage reads one message of a stream into p (RFC 8489, 6.2.2; RFC 8656, 12.5).
func readMessage(r io.Reader, p []byte) (int, error) {
	const head = 4
	if len(p) < longestMessage {
		return 0, io.ErrShortBuffer
	}
	if _, err := io.ReadFull(r, p[:head]); err != nil {
		return 0, err
	}
	length := int(binary.BigEndian.Uint16(p[2:]))
	whole := 0
	switch {
	case p[0]>>6 == 1:
		whole = head + (length+3)&^3 // channel data is padded on a stream
	case p[0]>>6 == 0 && length%4 == 0:
		whole = 20 + length
	}
	if whole == 0 || whole > longestMessage {
		return 0, errMessage
	}
	_, err := io.ReadFull(r, p[head:whole])
	return whole, err
}

// Write implements net.Conn. A client that does not read is let go.
func (s *stream) Write(p []byte) (int, error) {
	_ = s.SetWriteDeadline(time.Now().Add(writeWait))
	n, err := s.Conn.Write(p)
	if err != nil {
		_ = s.Close()
	}
	return n, err
}

// Close implements net.Conn; it may be called often.
func (s *stream) Close() error {
	var err error
	s.once.Do(func() {
		close(s.closed)
		err = s.Conn.Close()
	})
	return err
}
