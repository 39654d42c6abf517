package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// slowEvery: one client of so many takes nothing any more, as a phone in a tunnel.
const slowEvery = 20

// slow are the figures of one server with clients that take nothing.
type slow struct {
	phase           // of the others
	memory  float64 // KB more for each slow client
	cut, of int     // slow clients, and those of them that were disconnected
	lost    int     // events, by the others
	closed  int     // of the others, disconnected
}

// measureSlow sends n clients 40 large events a second, 5 % of whom read nothing.
func measureSlow(ctx context.Context, o options, n int, args []string) (s slow, err error) {
	server, err := start(ctx, o, args)
	if err != nil {
		return s, err
	}
	defer server.stop()
	pid := server.command.Process.Pid
	crowd, err := connect(ctx, server.addr, n)
	if err != nil {
		return s, err
	}
	defer crowd.close()
	var stuck []*visitor
	for fd, v := range crowd.clients {
		if len(stuck) >= n/slowEvery {
			break
		}
		// What the kernel takes for it is little, so that the server has to decide.
		if err := unix.SetsockoptInt(v.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4096); err != nil {
			return s, err
		}
		if err := unix.EpollCtl(crowd.epoll, unix.EPOLL_CTL_DEL, v.fd, nil); err != nil {
			return s, err
		}
		delete(crowd.clients, fd)
		stuck = append(stuck, v)
	}
	s.of = len(stuck)
	before := int(proc.RSS(pid) >> 10)
	// Long enough to send each more than what a session may have waiting.
	s.phase, err = crowd.run(server, pid, 1, 25*time.Millisecond, max(time.Duration(o.seconds)*time.Second, 20*time.Second))
	if err != nil {
		return s, err
	}
	s.lost, s.closed, s.memory = crowd.lost, crowd.closed, float64(int(proc.RSS(pid)>>10)-before)/float64(s.of)
	buffer := make([]byte, 64<<10)
	for _, v := range stuck {
		if ends(v.fd, buffer) {
			s.cut++
		}
		_ = v.file.Close()
	}
	return s, nil
}

// ends reads what waits for a client, and reports whether the server has closed behind
// it: what the kernel holds comes first.
func ends(fd int, buffer []byte) bool {
	// A window as small as before would fill by the kernel's timers only.
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1<<20)
	for {
		got, err := unix.Read(fd, buffer)
		switch {
		case errors.Is(err, unix.EINTR) || got > 0:
		case !errors.Is(err, unix.EAGAIN):
			return true
		default:
			wait := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // a descriptor
			if n, err := unix.Poll(wait, 5000); n == 0 && err == nil {
				return false
			}
		}
	}
}

// more measures what the crowd does not: clients that poll, and slow ones.
func more(ctx context.Context, o options, servers []peer) error {
	polls, slows := map[string]polling{}, map[string]slow{}
	few, fewer := max(o.sockets/5, 10), max(o.sockets/50, 5*slowEvery)
	for _, s := range servers {
		if o.only != "" && o.only != s.name {
			continue
		}
		fmt.Fprintf(os.Stderr, "polling and slow clients: %s\n", s.name)
		var err error
		if polls[s.name], err = measurePolling(ctx, o, few, s.command(o.size)); err != nil {
			return fmt.Errorf("%s, polling: %w", s.name, err)
		}
		if slows[s.name], err = measureSlow(ctx, o, fewer, s.command(largeEvent)); err != nil {
			return fmt.Errorf("%s, slow clients: %w", s.name, err)
		}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	row := func(name, format string, less bool, value func(string) float64) {
		line := name
		for _, s := range servers {
			if o.only != "" && o.only != s.name {
				line += "\t-"
				continue
			}
			line += fmt.Sprintf("\t"+format, value(s.name))
		}
		if a, b := value("ours"), value("npm"); a > 0 && b > 0 {
			if less {
				a, b = b, a
			}
			line += fmt.Sprintf("\t%.2f ×", a/b)
		}
		_, _ = fmt.Fprintln(out, line)
	}
	_, _ = fmt.Fprintf(out, "\n%d clients that only poll, an event a second\tours\tnpm socket.io\tours is better by\n", few)
	row("KB memory a client", "%.1f", true, func(n string) float64 { return polls[n].memory })
	row("µs CPU a delivery", "%.1f", true, func(n string) float64 { return polls[n].cpu })
	row("ms late, p50", "%.1f", true, func(n string) float64 { return polls[n].p50 })
	row("ms late, p99", "%.1f", true, func(n string) float64 { return polls[n].p99 })
	row("events lost", "%.0f", true, func(n string) float64 { return float64(polls[n].lost) })
	row("polls that broke", "%.0f", true, func(n string) float64 { return float64(polls[n].broken) })
	_, _ = fmt.Fprintf(out, "\n%d clients, 5 %% of whom take nothing, 40 events of %d bytes a second\tours\tnpm socket.io\tours is better by\n", fewer, largeEvent)
	row("the others: ms late, p50", "%.1f", true, func(n string) float64 { return slows[n].p50 })
	row("the others: ms late, p99", "%.1f", true, func(n string) float64 { return slows[n].p99 })
	row("the others: events lost", "%.0f", true, func(n string) float64 { return float64(slows[n].lost) })
	row("the others: disconnected", "%.0f", true, func(n string) float64 { return float64(slows[n].closed) })
	row("µs CPU a delivery", "%.1f", true, func(n string) float64 { return slows[n].cpu })
	row("KB memory grown for each slow client", "%.0f", true, func(n string) float64 { return slows[n].memory })
	row("slow clients disconnected, %", "%.0f", false, func(n string) float64 { return 100 * float64(slows[n].cut) / float64(max(slows[n].of, 1)) })
	return out.Flush()
}

// largeEvent is the size of the events that slow clients do not take, in bytes.
const largeEvent = 16384
