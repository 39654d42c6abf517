package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gobwas/ws"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// crowd is the clients: as little of a client as counts events, so that the
// processor is the server's. One goroutine reads all of them.
type crowd struct {
	epoll   int
	clients map[int32]*visitor
	buffer  []byte

	sent     []time.Time // by number, from first on
	first    int
	late     histogram
	received int
	lost     int // events, by those who are still there
	closed   int // connections, by the server
}

type visitor struct {
	fd   int
	file *os.File // keeps fd open
	rest []byte   // of a frame that has not come whole
}

// perAddress is how many connections go out from one loopback address: there
// are some 28,000 ports for each.
const perAddress = 20_000

func connect(ctx context.Context, addr string, n int) (*crowd, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	c := &crowd{epoll: epoll, clients: map[int32]*visitor{}, buffer: make([]byte, 1<<20)}
	for from := 0; from < n; from += atOnce {
		if err := c.enter(ctx, addr, from, min(from+atOnce, n)); err != nil {
			return c, err
		}
		// Those who are in answer their heartbeats while the others come.
		for range len(c.clients)/512 + 1 {
			if err := c.read(0); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// atOnce is how many clients enter before heartbeats are answered.
const atOnce = 1000

// enter connects the clients from one number to another.
func (c *crowd) enter(ctx context.Context, addr string, from, to int) error {
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(32)
	for i := from; i < to; i++ {
		group.Go(func() error {
			v, err := enter(ctx, addr, fmt.Sprintf("127.0.0.%d", 2+i/perAddress))
			if err != nil {
				return fmt.Errorf("client %d: %w", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			c.clients[int32(v.fd)] = v
			return unix.EpollCtl(c.epoll, unix.EPOLL_CTL_ADD, v.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(v.fd)})
		})
	}
	return group.Wait()
}

// enter connects one client and takes it into the main namespace.
func enter(ctx context.Context, addr, from string) (*visitor, error) {
	dialer := ws.Dialer{NetDial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, KeepAlive: -1}).DialContext(ctx, network, addr)
	}}
	conn, early, _, err := dialer.Dial(ctx, "ws://"+addr+"/socket.io/?EIO=4&transport=websocket")
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write(masked("40")); err != nil {
		return nil, err
	}
	// Wait for both greetings.
	seen := ""
	if early != nil {
		b, _ := early.Peek(early.Buffered())
		seen = string(b)
	}
	for buffer := make([]byte, 1024); !strings.Contains(seen, `40{"sid"`); {
		n, err := conn.Read(buffer)
		if err != nil {
			return nil, err
		}
		seen += string(buffer[:n])
	}
	file, err := conn.(*net.TCPConn).File()
	if err != nil {
		return nil, err
	}
	fd := int(file.Fd())
	return &visitor{fd: fd, file: file}, unix.SetNonblock(fd, true)
}

func masked(text string) []byte {
	return ws.MustCompileFrame(ws.MaskFrame(ws.NewTextFrame([]byte(text))))
}

func (c *crowd) close() {
	for _, v := range c.clients {
		_ = v.file.Close()
	}
	_ = unix.Close(c.epoll)
}

// phase is one measurement.
type phase struct {
	rate     float64 // deliveries a second
	cpu      float64 // µs of the server's processor a delivery
	p50, p99 float64 // ms from the order to the arrival
}

// run orders n events at a time, every interval or, at 0, as soon as all have
// arrived, and reads what arrives.
func (c *crowd) run(server *child, pid, n int, interval, span time.Duration) (phase, error) {
	c.late, c.received, c.sent, c.first = histogram{}, 0, nil, server.next
	used, began := proc.CPU(pid), time.Now()
	next := began
	for time.Since(began) < span {
		due := time.Now().After(next)
		if interval == 0 {
			due = c.received >= len(c.sent)*len(c.clients)
		}
		if due {
			if _, err := fmt.Fprintf(server.orders, "%d %d\n", n, server.next); err != nil {
				return phase{}, err
			}
			for range n {
				c.sent = append(c.sent, time.Now())
			}
			server.next += n
			next = next.Add(interval)
		}
		if err := c.read(5 * time.Millisecond); err != nil {
			return phase{}, err
		}
	}
	for patience := time.Now().Add(10 * time.Second); c.received < len(c.sent)*len(c.clients) && time.Now().Before(patience); {
		if err := c.read(10 * time.Millisecond); err != nil {
			return phase{}, err
		}
	}
	took := time.Since(began).Seconds()
	c.lost += max(0, len(c.sent)*len(c.clients)-c.received)
	return phase{
		rate: float64(c.received) / took,
		cpu:  (proc.CPU(pid) - used).Seconds() * 1e6 / float64(max(c.received, 1)),
		p50:  c.late.quantile(0.5), p99: c.late.quantile(0.99),
	}, nil
}

// read takes in what has arrived, and waits for something at most that long.
func (c *crowd) read(wait time.Duration) error {
	var events [512]unix.EpollEvent
	n, err := unix.EpollWait(c.epoll, events[:], int(wait.Milliseconds()))
	if err != nil && !errors.Is(err, unix.EINTR) {
		return err
	}
	for i := range max(n, 0) {
		v := c.clients[events[i].Fd]
		got, err := unix.Read(v.fd, c.buffer)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || got == 0 { // the server has closed it
			delete(c.clients, events[i].Fd)
			_ = v.file.Close()
			c.closed++
			continue
		}
		if err := c.take(v, c.buffer[:got], time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// take counts the frames in data.
func (c *crowd) take(v *visitor, data []byte, now time.Time) error {
	if len(v.rest) > 0 {
		data = append(v.rest, data...)
		v.rest = nil
	}
	for len(data) >= 2 {
		header, size := 2, int(data[1])
		if size == 126 {
			if len(data) < 4 {
				break
			}
			header, size = 4, int(data[2])<<8|int(data[3])
		}
		if len(data) < header+size {
			break
		}
		if err := c.frame(v, data[header:header+size], now); err != nil {
			return err
		}
		data = data[header+size:]
	}
	if len(data) > 0 {
		v.rest = append([]byte{}, data...)
	}
	return nil
}

func (c *crowd) frame(v *visitor, payload []byte, now time.Time) error {
	const begin = `42["tick",`
	switch {
	case len(payload) > len(begin)+7 && string(payload[:len(begin)]) == begin:
		number, err := strconv.Atoi(string(payload[len(begin) : len(begin)+7]))
		if err != nil {
			return err
		}
		if i := number - c.first; i >= 0 && i < len(c.sent) {
			c.received++
			c.late.add(now.Sub(c.sent[i]))
		}
	case string(payload) == "2":
		_, err := unix.Write(v.fd, masked("3"))
		return err
	}
	return nil
}

// histogram counts times in steps of 50 µs up to 10 s.
type histogram struct {
	counts [200_000]uint32
	n      int
}

func (h *histogram) add(d time.Duration) {
	h.counts[min(int(d/(50*time.Microsecond)), len(h.counts)-1)]++
	h.n++
}

// quantile is in milliseconds.
func (h *histogram) quantile(q float64) float64 {
	left := int(q * float64(h.n))
	for i, count := range h.counts {
		if left -= int(count); left < 0 {
			return float64(i) * 0.05
		}
	}
	return 0
}

// pinSelf keeps this process off the server's processor.
func pinSelf() error {
	var set unix.CPUSet
	for i := 1; i < runtime.NumCPU(); i++ {
		set.Set(i)
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, task := range tasks {
		id, _ := strconv.Atoi(task.Name())
		if err := unix.SchedSetaffinity(id, &set); err != nil {
			return err
		}
	}
	return nil
}
