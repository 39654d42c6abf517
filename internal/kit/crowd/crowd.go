// Package crowd bounds the open connections of one address at a listener. One
// too many is closed as it is accepted, before anything is read of it and before
// it costs a goroutine. It does not look at requests.
package crowd

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the settings of a Bound.
type Options struct {
	Most int // connections of one key that may be open at once; 0 is no limit
	// Key is the client of a connection, by its remote address. Connections with
	// an empty key are not counted. A nil Key disables counting.
	Key func(net.Addr) string
	// Wider is the network that a key lies in, empty for none. All keys of one
	// have eight times Most together. A nil Wider gives no key a network.
	Wider func(key string) string
	Log   *slog.Logger // nil: nothing is logged
}

// widerFactor is how many keys a wider network counts for.
const widerFactor = 8

// logEvery is the least time between two log lines, so that a flood does not fill the log.
const logEvery = time.Minute

// Bound counts the connections of every key, at all its listeners together.
type Bound struct {
	opt     Options
	refused atomic.Uint64

	mu       sync.Mutex
	open     map[string]int
	logged   time.Time
	unlogged int // refused since then
}

// New makes a Bound.
func New(opt Options) *Bound {
	if opt.Key == nil {
		opt.Key = func(net.Addr) string { return "" }
	}
	if opt.Wider == nil {
		opt.Wider = func(string) string { return "" }
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Bound{opt: opt, open: map[string]int{}}
}

// Refused is how many connections were closed for being one too many.
func (b *Bound) Refused() uint64 { return b.refused.Load() }

// Listener is l within the bound. Only TCP connections are counted; they keep
// all that a *net.TCPConn can do.
func (b *Bound) Listener(l net.Listener) net.Listener {
	if b == nil || b.opt.Most <= 0 {
		return l
	}
	return &listener{l, b}
}

// Count counts a connection that was let in before, whatever the limit, until leave is
// called; leave is nil where it is not to be counted.
func (b *Bound) Count(remote net.Addr) (leave func()) {
	if b == nil || b.opt.Most <= 0 {
		return nil
	}
	key := b.opt.Key(remote)
	if key == "" {
		return nil
	}
	p := &place{bound: b, key: key, wider: b.opt.Wider(key)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.change(p, 1)
	return p.leave
}

type listener struct {
	net.Listener
	bound *Bound
}

// Accept returns the next connection that there is a place for.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := c.(*net.TCPConn)
		if !ok {
			return c, nil
		}
		key := l.bound.opt.Key(tcp.RemoteAddr())
		if key == "" {
			return c, nil
		}
		p := &place{bound: l.bound, key: key, wider: l.bound.opt.Wider(key)}
		if l.bound.enter(p) {
			return &conn{tcp, p}, nil
		}
		// A reset, so that the kernel keeps no state of it either.
		_ = tcp.SetLinger(0)
		_ = tcp.Close()
	}
}

// enter counts a connection; false where its key or network is at its limit.
func (b *Bound) enter(c *place) bool {
	b.mu.Lock()
	if b.open[c.key] < b.opt.Most && (c.wider == "" || b.open[c.wider] < widerFactor*b.opt.Most) {
		b.change(c, 1)
		b.mu.Unlock()
		return true
	}
	b.refused.Add(1)
	b.unlogged++
	closed, now := 0, time.Now()
	if now.Sub(b.logged) >= logEvery {
		closed, b.unlogged, b.logged = b.unlogged, 0, now
	}
	b.mu.Unlock()
	if closed > 0 {
		b.opt.Log.Warn("connections beyond the limit of one address closed", "address", c.key, "limit", b.opt.Most, "closed", closed)
	}
	return false
}

// change counts a connection in or out; the caller holds mu.
func (b *Bound) change(c *place, by int) {
	for _, name := range [...]string{c.key, c.wider} {
		if name == "" {
			continue
		}
		if b.open[name] += by; b.open[name] == 0 {
			delete(b.open, name)
		}
	}
}

// conn is a connection that has a place.
type conn struct {
	*net.TCPConn
	*place
}

// place is what a connection is counted for. It does not refer to the connection.
type place struct {
	bound      *Bound
	key, wider string
	left       atomic.Bool
}

// Close gives the place back, however often it is called.
func (c *conn) Close() error {
	err := c.TCPConn.Close()
	c.leave()
	return err
}

// Detach closes the connection for one who has a copy of its socket, and keeps its
// place until leave is called.
func (c *conn) Detach() (leave func()) {
	_ = c.TCPConn.Close()
	return c.place.leave
}

func (c *place) leave() {
	if c.left.Swap(true) {
		return
	}
	c.bound.mu.Lock()
	defer c.bound.mu.Unlock()
	c.bound.change(c, -1)
}

type connKey struct{}

// Context is an http.Server's ConnContext, so that Release finds the connection.
func Context(ctx context.Context, c net.Conn) context.Context {
	if counted, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, counted)
	}
	return ctx
}

// Release takes the connection of a request out of the count, once it is known to
// carry many clients.
func Release(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.leave()
	}
}
