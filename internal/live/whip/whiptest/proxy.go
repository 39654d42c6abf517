package whiptest

import (
	"math/rand"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// Weather is what a network does to packets, in each direction.
type Weather struct {
	Loss   float64 // the share of packets that are lost
	Burst  int     // how many in a row
	Delay  time.Duration
	Jitter time.Duration // added at random, up to this
	// Rate is how much passes, in bits a second; 0: all. What would wait longer than longestQueue
	// is lost.
	Rate int
}

// longestQueue is what the slowest router on a narrow way keeps.
const longestQueue = time.Second

// Proxy passes UDP packets on to a target through a network, on loopback.
type Proxy struct {
	Addr netip.AddrPort

	target  netip.AddrPort
	front   *net.UDPConn
	mu      sync.Mutex
	rng     *rand.Rand
	weather Weather
	left    [2]int
	free    [2]time.Time // when a narrow way has sent what it keeps
	came    [2]int       // bytes, those included that are lost
	backs   map[netip.AddrPort]*net.UDPConn
	closed  bool
	wg      sync.WaitGroup
}

// NewProxy starts a proxy in good weather, which ends with the test.
func NewProxy(t testing.TB, target netip.AddrPort) *Proxy {
	t.Helper()
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: front.LocalAddr().(*net.UDPAddr).AddrPort(), target: target, front: front, //nolint:forcetypeassert // it is UDP
		rng: rand.New(rand.NewSource(1)), backs: map[netip.AddrPort]*net.UDPConn{}}
	p.wg.Go(p.forward)
	t.Cleanup(p.close)
	return p
}

// Set changes the weather. A loss of 1 cuts the network.
func (p *Proxy) Set(w Weather) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.weather = w
}

// Sent is how many bytes of UDP payloads clients have sent, and the target, whatever became
// of them.
func (p *Proxy) Sent() (up, down int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.came[0], p.came[1]
}

func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	_ = p.front.Close()
	for _, b := range p.backs {
		_ = b.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

func (p *Proxy) forward() {
	buf := make([]byte, 2048)
	for {
		n, from, err := p.front.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if back := p.back(from); back != nil {
			p.later(0, buf[:n], func(b []byte) { _, _ = back.Write(b) })
		}
	}
}

// back is the socket by which the target sees one client.
func (p *Proxy) back(from netip.AddrPort) *net.UDPConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if back := p.backs[from]; back != nil || p.closed {
		return back
	}
	back, err := net.DialUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, net.UDPAddrFromAddrPort(p.target))
	if err != nil {
		return nil
	}
	p.backs[from] = back
	p.wg.Go(func() {
		buf := make([]byte, 2048)
		for {
			n, err := back.Read(buf)
			if err != nil {
				return
			}
			p.later(1, buf[:n], func(b []byte) { _, _ = p.front.WriteToUDPAddrPort(b, from) })
		}
	})
	return back
}

// later sends a packet when the network has carried it, unless it loses it.
func (p *Proxy) later(direction int, packet []byte, send func([]byte)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.came[direction] += len(packet)
	w := p.weather
	if p.closed || w.Loss >= 1 {
		return
	}
	if p.left[direction] > 0 {
		p.left[direction]--
		return
	}
	if w.Loss > 0 && p.rng.Float64() < w.Loss/(float64(w.Burst)*(1-w.Loss)) {
		p.left[direction] = w.Burst - 1
		return
	}
	packet = append([]byte(nil), packet...)
	delay := w.Delay + time.Duration(p.rng.Float64()*float64(w.Jitter))
	if w.Rate > 0 {
		const headers = 28 // of IP and UDP
		now := time.Now()
		wait := max(0, p.free[direction].Sub(now))
		if wait > longestQueue {
			return
		}
		wait += time.Duration(len(packet)+headers) * 8 * time.Second / time.Duration(w.Rate)
		p.free[direction] = now.Add(wait)
		delay += wait
	}
	if delay == 0 {
		send(packet)
		return
	}
	p.wg.Add(1)
	time.AfterFunc(delay, func() {
		defer p.wg.Done()
		send(packet)
	})
}
