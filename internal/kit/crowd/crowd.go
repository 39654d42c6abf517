// Package crowd bounds the open connections of one address at a listener. One
// too many is closed as it is accepted, before anything is read of it and before
// it costs a goroutine. What is asked over the others is not its business.
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
	// Key names whose connection it is, by its remote address. Those without a
	// name are not counted. Nil: nobody is.
	Key func(net.Addr) string
	// Wider names the network that a key lies in, empty for none. All keys of one
	// have eight times Most together. Nil: there are none.
	Wider func(key string) string
	Log   *slog.Logger // nil: nothing is logged
}

// widerFactor is how many keys a wider network counts for.
const widerFactor = 8

// logEvery is how often a flood is told of: it must not fill the log as well.
const logEvery = time.Minute

// Bound counts the connections of every key, at all its listeners together.
type Bound struct {
	opt     Options
	refused atomic.Uint64

	mu     sync.Mutex
	open   map[string]int
	told   time.Time
	unsaid int // refused since then
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
		place := &conn{TCPConn: tcp, bound: l.bound, key: key, wider: l.bound.opt.Wider(key)}
		if l.bound.enter(place) {
			return place, nil
		}
		// Reset rather than ended: the kernel, too, shall remember nothing of it.
		_ = tcp.SetLinger(0)
		_ = tcp.Close()
	}
}

// enter gives a connection its place; false where its key has had all.
func (b *Bound) enter(c *conn) bool {
	b.mu.Lock()
	if b.open[c.key] < b.opt.Most && (c.wider == "" || b.open[c.wider] < widerFactor*b.opt.Most) {
		b.change(c, 1)
		b.mu.Unlock()
		return true
	}
	b.refused.Add(1)
	b.unsaid++
	tell, now := 0, time.Now()
	if now.Sub(b.told) >= logEvery {
		tell, b.unsaid, b.told = b.unsaid, 0, now
	}
	b.mu.Unlock()
	if tell > 0 {
		b.opt.Log.Warn("connections beyond the limit of one address closed", "address", c.key, "limit", b.opt.Most, "closed", tell)
	}
	return false
}

// change counts a connection in or out; the caller holds mu.
func (b *Bound) change(c *conn, by int) {
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

func (c *conn) leave() {
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

// Release takes the connection of a request out of the count: it has shown that
// it speaks for many.
func Release(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.leave()
	}
}
