// Command stream measures the fan-out of /stream with many listeners, and
// Icecast with the same listeners on the same stream in the same run: memory
// per listener, processor time for what was delivered, and how much later a
// page arrives through the fan-out.
//
//	go run ./test/bench/stream -listeners 2000 -seconds 20
//
// Icecast, its source, the fan-out and the listeners are processes of their
// own; the listeners are one process that reads and throws away. The two
// servers take turns, so that each is measured while the other is idle.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/node/icecast"
)

type options struct {
	role      string
	listeners int
	seconds   int
	rounds    int
	batch     time.Duration
	addr      string // of the server under test, for the listeners
	upstream  string // for the fan-out
}

func main() {
	var o options
	flag.IntVar(&o.listeners, "listeners", 2000, "listeners on each server")
	flag.IntVar(&o.seconds, "seconds", 20, "length of one measurement")
	flag.IntVar(&o.rounds, "rounds", 2, "measurements of each server")
	flag.DurationVar(&o.batch, "batch", 0, "least time between two writes to one listener (0: the default)")
	flag.StringVar(&o.role, "role", "", "for the processes this one starts")
	flag.StringVar(&o.addr, "addr", "", "for the processes this one starts")
	flag.StringVar(&o.upstream, "upstream", "", "for the processes this one starts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := measure
	switch o.role {
	case "server":
		run = serve
	case "listeners":
		run = listen
	}
	if err := run(ctx, o); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

const mount = "main"

// measure runs the whole bench.
func measure(ctx context.Context, o options) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	var all running
	defer func() { cancel(); all.wait() }()
	if err := allowFiles(o.listeners + 200); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "athir-bench-stream-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the user Icecast runs as walks through it
		return err
	}
	spec, err := icecast.Prepare(ctx, icecast.Options{
		Dir: filepath.Join(dir, "icecast"), Bind: "127.0.0.1", Port: port, Password: "bench", Mount: mount,
		MaxClients: o.listeners + 100,
	})
	if err != nil {
		return err
	}
	// It may lie outside dir, where that user can read it.
	defer func() { err = errors.Join(err, os.RemoveAll(filepath.Dir(spec.Args[1]))) }()
	theirs, err := all.start(ctx, spec)
	if err != nil {
		return err
	}
	theirAddr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if err := listening(ctx, port); err != nil {
		return err
	}
	if _, err := all.start(ctx, encoder(theirAddr)); err != nil {
		return err
	}
	ours, err := all.startSelf(ctx, "server", "-upstream", "http://"+theirAddr+"/"+mount, "-batch", o.batch.String())
	if err != nil {
		return err
	}
	ourAddr, err := ours.line()
	if err != nil {
		return err
	}
	return compare(ctx, o, &all,
		server{name: "athir", pid: ours.pid, addr: ourAddr, path: "/stream", child: ours},
		server{name: "icecast", pid: theirs.pid, addr: theirAddr, path: "/" + mount})
}

// encoder is a source of Ogg Vorbis of about 160 kbit/s, in real time.
func encoder(addr string) proc.Spec {
	return proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Stderr: os.Stderr, Args: []string{
		"-v", "error", "-re", "-f", "lavfi", "-i", "anoisesrc=color=pink:amplitude=0.5:sample_rate=44100",
		"-ac", "2", "-c:a", "libvorbis", "-b:a", "160k", "-minrate", "160k", "-maxrate", "160k",
		"-page_duration", "200000", "-content_type", "application/ogg", "-f", "ogg",
		"icecast://source:bench@" + addr + "/" + mount,
	}}
}

// allowFiles raises the number of open files for this process and, because it
// was asked for, for those it starts.
func allowFiles(n int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = max(limit.Cur, uint64(n)) //nolint:gosec // positive
	limit.Max = max(limit.Max, limit.Cur)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("allow %d open files (see ulimit -n): %w", n, err)
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// listening waits until a port is open, without connecting to it: Icecast 2.4.4
// crashes now and then on a connection in its very first moment.
func listening(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		table, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			return err
		}
		if bytes.Contains(table, fmt.Appendf(nil, "0100007F:%04X 00000000:0000 0A", port)) {
			return nil
		}
		if err := retry.Pause(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("nothing listens on port %d: %w", port, err)
		}
	}
}
