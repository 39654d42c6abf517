package testkit

import (
	"context"
	"net"
	"sync"
	"time"
)

// Network is a listener in memory and the way to it. Its connections are
// net.Pipes, whose deadlines follow the virtual clock of testing/synctest: a
// server's time-outs are tested in no time, and cannot be missed. A write waits
// for its reader: there is no buffer between the two.
type Network struct {
	arrivals chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

// NewNetwork returns a network with nobody on it.
func NewNetwork() *Network {
	return &Network{arrivals: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to whoever accepts. Network and address are not looked at, so
// that it serves as http.Transport.DialContext.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case n.arrivals <- conn{server}:
		return conn{client}, nil
	case <-n.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.arrivals:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Connections live on.
func (n *Network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// Addr implements net.Listener.
func (n *Network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// conn is a pipe whose deadlines can be set once the other end has closed, as
// those of a socket can.
type conn struct{ net.Conn }

func (c conn) SetDeadline(t time.Time) error      { _ = c.Conn.SetDeadline(t); return nil }
func (c conn) SetReadDeadline(t time.Time) error  { _ = c.Conn.SetReadDeadline(t); return nil }
func (c conn) SetWriteDeadline(t time.Time) error { _ = c.Conn.SetWriteDeadline(t); return nil }
