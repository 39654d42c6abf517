package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// listenersReport is what the listeners got, since they began.
type listenersReport struct {
	Bytes  uint64
	Least  uint64 // bytes of the one that got the least
	Closed int    // listeners the server has disconnected
}

// crowd is many listeners in one goroutine.
type crowd struct {
	poll   int
	events [256]unix.EpollEvent
	buf    [64 << 10]byte

	mu      sync.Mutex
	got     map[int32]uint64 // bytes by descriptor; 0 until the answer has begun
	waiting int              // those with 0
	closed  int
}

// Icecast answers when its source has sent the next page, so many requests have
// to be under way at once; but its listen queue holds 5, and a full one costs
// the next listener a second.
const (
	unanswered = 100
	spacing    = 2 * time.Millisecond
)

// listen connects the crowd, says so in a line, and reads until there are no
// more questions.
func listen(_ context.Context, o options) error {
	if err := allowFiles(o.listeners + 50); err != nil {
		return err
	}
	addr, err := netip.ParseAddrPort(o.addr)
	if err != nil {
		return err
	}
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	c := &crowd{poll: poll, got: make(map[int32]uint64, o.listeners)}
	for range o.listeners {
		if err := c.connect(addr, o.upstream); err != nil {
			return fmt.Errorf("listener %d: %w", len(c.got), err)
		}
		time.Sleep(spacing)
		if err := c.read(0); err != nil {
			return err
		}
		for c.waiting >= unanswered {
			if err := c.read(1000); err != nil {
				return err
			}
		}
	}
	for c.waiting > 0 {
		if err := c.read(1000); err != nil {
			return err
		}
	}
	fmt.Println("connected")
	go func() {
		for c.read(100) == nil {
		}
	}()
	return answer(func() any { return c.report() })
}

func (c *crowd) connect(addr netip.AddrPort, path string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}); err != nil {
		return err
	}
	if _, err := unix.Write(fd, []byte("GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	c.got[int32(fd)] = 0 //nolint:gosec // descriptors are small
	c.waiting++
	return unix.EpollCtl(c.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}) //nolint:gosec // as above
}

// read takes what has come.
func (c *crowd) read(wait int) error {
	n, err := unix.EpollWait(c.poll, c.events[:], wait)
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.events[:n] {
		n, err := unix.Read(int(e.Fd), c.buf[:])
		if errors.Is(err, unix.EAGAIN) {
			continue
		}
		if err != nil || n == 0 {
			if c.got[e.Fd] == 0 {
				return errors.New("server hangs up without an answer")
			}
			c.closed++
			_ = unix.Close(int(e.Fd))
			continue
		}
		if c.got[e.Fd] == 0 {
			c.waiting--
			if line, _, _ := bytes.Cut(c.buf[:n], []byte("\r\n")); !bytes.Contains(line, []byte(" 200 ")) {
				return fmt.Errorf("server answers %s", line)
			}
		}
		c.got[e.Fd] += uint64(n)
	}
	return nil
}

func (c *crowd) report() listenersReport {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := listenersReport{Closed: c.closed}
	var each []uint64
	for _, n := range c.got {
		r.Bytes += n
		each = append(each, n)
	}
	r.Least = slices.Min(each)
	return r
}
