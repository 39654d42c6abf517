// Command hls measures how many listeners of HLS one processor serves, ours beside
// MediaMTX's in the same run with the same clients.
//
//	go run ./test/bench/hls -clients 600 -seconds 30 -mediamtx /path/to/mediamtx
//
// Each client is a player without cookies: it begins at the master playlist, then
// every two seconds fetches the media playlist and the segment that is new, over one
// connection. Publisher and servers are processes of their own; the servers take
// turns. Without -mediamtx only ours is measured: its binary is in no Debian package.
//
// With -edge an edge is measured as well: a mirror before the relay, in a process of its
// own, and what it fetches for what it serves.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/procs"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/node/relay"
	"github.com/athir-radio/athir/test/bench/benchkit"
)

type options struct {
	role, dir         string
	clients, seconds  int
	mediamtx, profile string
	edge              bool
}

func main() {
	var o options
	flag.IntVar(&o.clients, "clients", 600, "listeners of each server")
	flag.IntVar(&o.seconds, "seconds", 30, "length of one measurement")
	flag.StringVar(&o.mediamtx, "mediamtx", "", "a MediaMTX program, v1.20")
	flag.StringVar(&o.profile, "profile", "", "file for a CPU profile of our server")
	flag.BoolVar(&o.edge, "edge", false, "measure an edge too")
	flag.StringVar(&o.role, "role", "", "for the processes this one starts")
	flag.StringVar(&o.dir, "dir", "", "for the processes this one starts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	run := measure
	switch o.role {
	case "relay":
		run = serve
	case "edge":
		run = serveEdge
	}
	err := run(ctx, o)
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "hls:", err)
		os.Exit(1)
	}
}

// figures are one server's.
type figures struct {
	idle    time.Duration // processor time of a measurement without listeners
	used    time.Duration // and with them
	answers int
	failed  int
	bytes   int
	memory  int // KB more than without listeners
}

// listeners is how many one processor could serve at this rate, what the server does
// without listeners aside.
func (f figures) listeners(o options) float64 {
	return float64(o.clients) * float64(o.seconds) / max(f.used-f.idle, time.Millisecond).Seconds()
}

func measure(ctx context.Context, o options) error {
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(o.clients) + 500, Max: uint64(o.clients) + 500}); err != nil && o.clients > 500 { //nolint:gosec // positive
		return fmt.Errorf("raise the limit of open files: %w", err)
	}
	dir, err := os.MkdirTemp("", "athir-bench-hls-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ours, err := measureOne(ctx, o, func(ctx context.Context) (server, error) { return startOurs(ctx, o, dir) })
	if err != nil {
		return fmt.Errorf("ours: %w", err)
	}
	var theirs figures
	if o.mediamtx != "" {
		if theirs, err = measureOne(ctx, o, func(ctx context.Context) (server, error) { return startMediaMTX(ctx, o, dir) }); err != nil {
			return fmt.Errorf("mediamtx: %w", err)
		}
	}
	if o.edge {
		if err := measureEdge(ctx, o, ours); err != nil {
			return fmt.Errorf("edge: %w", err)
		}
	}
	fmt.Printf("%d clients, %d s each\n\n%-44s %12s %12s %8s\n", o.clients, o.seconds, "", "athir", "MediaMTX", "ratio")
	row := func(name string, a, b, ratio float64) {
		if o.mediamtx == "" {
			fmt.Printf("%-44s %12.1f %12s %8s\n", name, a, "-", "-")
			return
		}
		fmt.Printf("%-44s %12.1f %12.1f %8.2f\n", name, a, b, ratio)
	}
	per := func(f figures) float64 { return (f.used - f.idle).Seconds() * 1e6 / float64(max(f.answers, 1)) }
	row("listeners one processor serves", ours.listeners(o), theirs.listeners(o), ours.listeners(o)/theirs.listeners(o))
	row("µs of processor an answer", per(ours), per(theirs), per(theirs)/per(ours))
	row("processor without listeners, % of one", percent(ours.idle, o), percent(theirs.idle, o), float64(theirs.idle)/float64(max(ours.idle, 1)))
	row("processor with them, % of one", percent(ours.used, o), percent(theirs.used, o), float64(theirs.used)/float64(ours.used))
	row("KB memory a listener", float64(ours.memory)/float64(o.clients), float64(theirs.memory)/float64(o.clients), float64(theirs.memory)/float64(max(ours.memory, 1)))
	row("answers a second", float64(ours.answers)/float64(o.seconds), float64(theirs.answers)/float64(o.seconds), float64(ours.answers)/float64(max(theirs.answers, 1)))
	row("MB delivered", float64(ours.bytes)/1e6, float64(theirs.bytes)/1e6, float64(ours.bytes)/float64(max(theirs.bytes, 1)))
	row("requests that failed", float64(ours.failed), float64(theirs.failed), 1)
	return nil
}

func percent(d time.Duration, o options) float64 { return 100 * d.Seconds() / float64(o.seconds) }

// server is a started server that is being published to.
type server struct {
	pid  int
	done chan struct{} // closed once it has ended
	base string        // address of the folder of main's playlists
}

// measureOne starts a server, its publisher and its listeners.
func measureOne(ctx context.Context, o options, begin func(context.Context) (server, error)) (f figures, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := begin(ctx)
	if err != nil {
		return f, err
	}
	if err := published(ctx, s.base); err != nil {
		return f, err
	}
	span := time.Duration(o.seconds) * time.Second
	before, memory := proc.CPU(s.pid), int(proc.RSS(s.pid)>>10)
	if err := retry.Pause(ctx, span); err != nil {
		return f, err
	}
	f.idle = proc.CPU(s.pid) - before
	crowd, err := enter(ctx, s.base, o.clients)
	if err != nil {
		return f, err
	}
	if err := retry.Pause(ctx, 5*time.Second); err != nil { // entering is not part of it
		return f, err
	}
	answers, failed, bytes := crowd.totals()
	before = proc.CPU(s.pid)
	if err := retry.Pause(ctx, span); err != nil {
		return f, err
	}
	f.used, f.memory = proc.CPU(s.pid)-before, int(proc.RSS(s.pid)>>10)-memory
	a, x, b := crowd.totals()
	f.answers, f.failed, f.bytes = a-answers, x-failed, b-bytes
	cancel()
	crowd.work.Wait()
	<-s.done
	return f, nil
}

// program starts a program that ends with ctx and with this process.
func program(ctx context.Context, name string, args ...string) (pid int, done chan struct{}, err error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 5 * time.Second
	if err := c.Start(); err != nil {
		return 0, nil, err
	}
	done = make(chan struct{})
	go func() { defer close(done); _ = c.Wait() }()
	return c.Process.Pid, done, nil
}

// The ports of a measurement.
const (
	hlsAddress  = "127.0.0.1:29351"
	rtmpAddress = "127.0.0.1:29350"
	apiAddress  = "127.0.0.1:29353"
)

// publish sends 128 kbit/s of AAC in real time.
func publish(ctx context.Context, format, to string) error {
	_, _, err := program(ctx, "ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "anoisesrc=color=pink:amplitude=0.5:sample_rate=44100",
		"-ac", "2", "-c:a", "aac", "-b:a", "128k", "-f", format, to)
	return err
}

func startOurs(ctx context.Context, o options, dir string) (server, error) {
	self, err := os.Executable()
	if err != nil {
		return server{}, err
	}
	pid, done, err := program(ctx, self, "-role", "relay", "-dir", dir, "-profile", o.profile, "-clients", strconv.Itoa(o.clients))
	if err != nil {
		return server{}, err
	}
	socket := filepath.Join(dir, "publish.sock")
	for {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		if err := retry.Pause(ctx, 20*time.Millisecond); err != nil {
			return server{}, err
		}
	}
	return server{pid, done, "http://" + hlsAddress + "/main/"}, publish(ctx, "mpegts", "unix:"+socket)
}

// serve is the relay as the station runs it, in a process of its own.
func serve(ctx context.Context, o options) error {
	stop, err := benchkit.Profile(o.profile)
	if err != nil {
		return err
	}
	defer func() { _ = stop() }()
	s, err := relay.New(relay.Options{
		HLSAddress: hlsAddress, PathsAddress: apiAddress, PublishAddress: "unix:" + filepath.Join(o.dir, "publish.sock"), StateDir: o.dir,
		SessionBurst: o.clients + 10, Edge: func(string) bool { return true },
	})
	if err != nil {
		return err
	}
	spare, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); procs.Spare(spare) }()
	err = s.Run(ctx)
	end()
	<-ended
	return err
}

func startMediaMTX(ctx context.Context, o options, dir string) (server, error) {
	m := relay.MediaMTX{
		Binary: o.mediamtx, Dir: filepath.Join(dir, "mediamtx"), HLSAddress: hlsAddress, RTMPAddress: rtmpAddress, APIAddress: apiAddress,
		SourcePassword: "benchbench", SampleRate: 44100,
	}
	spec, err := m.Prepare()
	if err != nil {
		return server{}, err
	}
	pid, done, err := program(ctx, spec.Path, spec.Args...)
	if err != nil {
		return server{}, err
	}
	if err := retry.Pause(ctx, 2*time.Second); err != nil {
		return server{}, err
	}
	return server{pid, done, "http://" + hlsAddress + "/main/"},
		publish(ctx, "flv", "rtmp://"+rtmpAddress+"/main?user="+relay.SourceUser+"&pass="+m.SourcePassword)
}
