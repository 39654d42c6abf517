package relay

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
)

// Door stands where encoders connect (RTMP) and passes them on to nginx, which can bound
// neither the connections of one address nor how long one may do nothing. A connection
// waits until nginx tells it that it publishes, or plays; from then on it is settled. Who
// waits too long is let go. When all places are taken, the newcomer gets
// that of a waiting one: the oldest of the network that has the most. So a crowd that
// does nothing, of one address or of many, keeps no encoder out.
type Door struct {
	Address string // where encoders connect, "0.0.0.0:19350"
	Inner   string // nginx with the PROXY protocol, host:port; see RTMP.Address
	Log     *slog.Logger

	limits  doorLimits // the usual when zero
	settled atomic.Int64
}

// Settled counts the connections that publish or play.
func (d *Door) Settled() int { return int(d.settled.Load()) }

type doorLimits struct {
	places     int           // connections at once; nginx takes 512, with those to its hooks
	perAddress int           // of one address (client.Peer), wideFactor times as many of a client.Wider; this machine has no such limit
	begin      time.Duration // until it publishes
	idle       time.Duration // without a byte of the encoder, once settled
}

func usualDoor() doorLimits {
	return doorLimits{places: 200, perAddress: 20, begin: 30 * time.Second, idle: time.Minute}
}

// nginx's words to who publishes, and to who plays (Adobe's RTMP specification, 7.2.2).
var settling = [][]byte{[]byte("NetStream.Publish.Start"), []byte("NetStream.Play.Start")}

const (
	// longestWord is at least as long as each of them.
	longestWord = 32
	// handshake is how much nginx sends before it says anything: S0, S1 and S2 (5.2). In
	// them it may echo what the encoder sent, its words too.
	handshake = 1 + 2*1536
	// wideFactor is how many addresses a client.Wider counts for.
	wideFactor = 8
)

// doorLogEvery is the least time between two log lines about connections turned away.
const doorLogEvery = time.Minute

// doorPause is the pause after a connection that could not be taken.
const doorPause = 100 * time.Millisecond

// Run passes connections on until ctx ends.
func (d *Door) Run(ctx context.Context) error {
	if d.limits == (doorLimits{}) {
		d.limits = usualDoor()
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", d.Address)
	if err != nil {
		return fmt.Errorf("open the RTMP ingest: %w", err)
	}
	return d.serve(ctx, l)
}

func (d *Door) serve(ctx context.Context, l net.Listener) error {
	hall := &hall{limits: d.limits, log: d.Log, of: map[string]int{}, settled: &d.settled}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				_ = conn.Close()
			}
			return nil
		}
		if err != nil { // no file is free, say: that passes, and the station does not end with it
			hall.failed(err)
			select {
			case <-ctx.Done():
			case <-time.After(doorPause):
			}
			continue
		}
		v := &visit{outer: conn.(*net.TCPConn), address: client.Peer(conn.RemoteAddr()), hall: hall}
		if !hall.enter(v) {
			v.reset()
			continue
		}
		all.Go(func() {
			defer hall.leave(v)
			d.pass(ctx, v)
		})
	}
}

// pass connects a visit with nginx until one of the two ends it.
func (d *Door) pass(ctx context.Context, v *visit) {
	defer v.outer.Close() //nolint:errcheck // nothing is lost
	inner, err := (&net.Dialer{Timeout: d.limits.begin}).DialContext(ctx, "tcp", d.Inner)
	if err != nil {
		return // nginx is starting
	}
	defer inner.Close() //nolint:errcheck // nothing is lost
	stop := context.AfterFunc(ctx, func() {
		_ = v.outer.Close()
		_ = inner.Close()
	})
	defer stop()
	_ = v.outer.SetReadDeadline(time.Now().Add(d.limits.begin))
	if _, err := inner.Write(proxyHeader(v.outer.RemoteAddr(), v.outer.LocalAddr())); err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		v.down(inner)
		_ = v.outer.Close()
	})
	v.up(inner)
	_ = inner.Close()
	_ = v.outer.Close()
	back.Wait()
}

// proxyHeader tells nginx whose connection it is (PROXY protocol, version 1).
func proxyHeader(from, to net.Addr) []byte {
	src, _ := netip.ParseAddrPort(from.String())
	dst, _ := netip.ParseAddrPort(to.String())
	src, dst = netip.AddrPortFrom(src.Addr().Unmap().WithZone(""), src.Port()), netip.AddrPortFrom(dst.Addr().Unmap().WithZone(""), dst.Port())
	family := "TCP4"
	if src.Addr().Is6() {
		family = "TCP6"
	}
	return fmt.Appendf(nil, "PROXY %s %s %s %d %d\r\n", family, src.Addr(), dst.Addr(), src.Port(), dst.Port())
}

// visit is one connection at the door.
type visit struct {
	outer   *net.TCPConn
	address string // empty for this machine
	hall    *hall
	on      atomic.Bool // it publishes or plays
	settled bool        // the same, while it has a place; guarded by the hall
}

// network is where it comes from: of IPv6 the /48, for whoever has one has many addresses.
func (v *visit) network() string { return cmp.Or(client.Wider(v.address), v.address) }

// up copies what the encoder sends until either side ends.
func (v *visit) up(inner net.Conn) {
	buf := make([]byte, 16<<10)
	for {
		n, err := v.outer.Read(buf)
		if n > 0 {
			_ = inner.SetWriteDeadline(time.Now().Add(v.hall.limits.begin))
			if _, werr := inner.Write(buf[:n]); werr != nil {
				return
			}
			if v.on.Load() {
				_ = v.outer.SetReadDeadline(time.Now().Add(v.hall.limits.idle))
			}
		}
		if err != nil {
			return
		}
	}
}

// down copies what nginx answers until either side ends, and settles the visit once it
// says that it publishes or plays.
func (v *visit) down(inner net.Conn) {
	buf := make([]byte, longestWord+16<<10)
	kept := 0         // bytes before those just read, for a word that comes in two
	skip := handshake // bytes that are no words
	for {
		n, err := inner.Read(buf[kept:])
		if n > 0 {
			_ = v.outer.SetWriteDeadline(time.Now().Add(v.hall.limits.begin))
			if _, werr := v.outer.Write(buf[kept : kept+n]); werr != nil {
				return
			}
			if !v.on.Load() {
				echo := min(skip, n) // while there is any, nothing is kept
				skip -= echo
				said := buf[echo : kept+n]
				if slices.ContainsFunc(settling, func(word []byte) bool { return bytes.Contains(said, word) }) {
					v.on.Store(true)
					v.hall.settle(v)
					_ = v.outer.SetReadDeadline(time.Now().Add(v.hall.limits.idle))
					said = nil
				}
				kept = copy(buf, said[max(0, len(said)-longestWord):])
			}
		}
		if err != nil {
			return
		}
	}
}

// reset ends the connection so that the kernel keeps nothing of it.
func (v *visit) reset() {
	_ = v.outer.SetLinger(0)
	_ = v.outer.Close()
}

// hall holds the places.
type hall struct {
	limits doorLimits
	log    *slog.Logger

	settled *atomic.Int64 // Door.Settled

	mu       sync.Mutex
	of       map[string]int // connections by address, and by client.Wider
	all      int
	waiting  []*visit // the oldest first
	logged   time.Time
	unlogged int
	refused  time.Time // when it was last logged that a connection could not be taken
}

// enter gives a visit a place, if need be that of a waiting one; false where its address
// has too many, or all are settled.
func (h *hall) enter(v *visit) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	wide := client.Wider(v.address)
	if v.address != "" && h.of[v.address] >= h.limits.perAddress || wide != "" && h.of[wide] >= wideFactor*h.limits.perAddress {
		h.turned(v.address)
		return false
	}
	if h.all >= h.limits.places {
		out := h.oldest()
		if out == nil {
			h.turned(v.address)
			return false
		}
		h.turned(out.address)
		h.remove(out)
		out.reset() // its goroutines end; leave finds it gone
	}
	h.count(v, 1)
	h.waiting = append(h.waiting, v)
	return true
}

// oldest is the oldest waiting visit of the network that has the most of them; nil
// where none waits.
func (h *hall) oldest() (out *visit) {
	count := map[string]int{}
	for _, w := range h.waiting {
		count[w.network()]++
	}
	for _, w := range h.waiting {
		if out == nil || count[w.network()] > count[out.network()] {
			out = w
		}
	}
	return out
}

// count counts a visit in or out. The caller holds mu.
func (h *hall) count(v *visit, by int) {
	h.all += by
	for _, name := range [...]string{v.address, client.Wider(v.address)} {
		if name == "" {
			continue
		}
		if h.of[name] += by; h.of[name] == 0 {
			delete(h.of, name)
		}
	}
}

// settle takes a visit out of the waiting ones.
func (h *hall) settle(v *visit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unwait(v) {
		v.settled = true
		h.settled.Add(1)
	}
}

func (h *hall) leave(v *visit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(v)
}

// remove gives a place back, once. The caller holds mu.
func (h *hall) remove(v *visit) {
	if !h.unwait(v) && !v.settled {
		return // its place was another's already
	}
	if v.settled {
		h.settled.Add(-1)
	}
	v.settled = false
	h.count(v, -1)
}

func (h *hall) unwait(v *visit) bool {
	for i, w := range h.waiting {
		if w == v {
			h.waiting = append(h.waiting[:i], h.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// failed logs, now and then, that a connection could not be taken.
func (h *hall) failed(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); now.Sub(h.refused) >= doorLogEvery {
		h.log.Warn("cannot take an RTMP connection, trying again", "err", err)
		h.refused = now
	}
}

// turned counts a connection that was closed for others, and logs that now and then.
func (h *hall) turned(address string) {
	h.unlogged++
	if now := time.Now(); now.Sub(h.logged) >= doorLogEvery {
		if address == "" {
			address = "this machine"
		}
		h.log.Warn("RTMP connections closed: too many of one address, or too many that send nothing", "address", address, "closed", h.unlogged)
		h.unlogged, h.logged = 0, now
	}
}
