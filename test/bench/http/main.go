// Command http measures the answers that every page asks for again and again,
// /api/status and /api/upnext, on a real station under many keep-alive clients:
// requests for each second of the control plane's processor time, and how long
// one takes. Beside it, in the same run, are a server of Go's net/http that does
// nothing but write the same bytes, the least that an answer can cost in Go, and
// nginx with one worker and the same bytes as a static file.
//
//	go run ./test/bench/http -clients 200 -seconds 5
//
// Station, bare server and clients are processes of their own. The servers take
// turns, so that each is measured while the other is idle.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

type options struct {
	clients, seconds, rounds int
	role, dir                string
}

func main() {
	var o options
	flag.IntVar(&o.clients, "clients", 200, "keep-alive clients, each of which asks again once it is answered")
	flag.IntVar(&o.seconds, "seconds", 5, "length of one measurement")
	flag.IntVar(&o.rounds, "rounds", 3, "measurements of each server")
	flag.StringVar(&o.role, "role", "", "for the processes this one starts")
	flag.StringVar(&o.dir, "dir", "", "for the processes this one starts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := measure
	if o.role == "bare" {
		run = bare
	}
	if err := run(ctx, o); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

// server is one that is measured: where it answers a route, and as what process.
type server struct {
	name, addr, path string
	pid              int
}

// measure runs the whole bench.
func measure(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "athir-bench-http-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the user Icecast runs as walks through it
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var all children
	defer func() { cancel(); all.wait() }()
	st, err := startStation(ctx, &all, dir)
	if err != nil {
		return err
	}
	plain, err := startBare(ctx, &all, dir, st)
	if err != nil {
		return err
	}
	files, err := startNginx(ctx, &all, dir)
	if err != nil {
		return err
	}
	fmt.Printf("%d keep-alive clients, %d × %d s each, %s\n\n", o.clients, o.rounds, o.seconds, machine())
	fmt.Printf("%-14s %-22s %7s %10s %12s %9s %9s\n", "route", "server", "bytes", "requests/s", "per CPU-s", "p50", "p99")
	for _, route := range routes {
		servers := []server{
			{"athir", st.addr, route, st.pid},
			{"athir, made each time", st.addr, route + "?each=1", st.pid},
			{"bare net/http", plain.addr, route, plain.pid},
			{"nginx, a static file", files.addr, route, files.pid},
		}
		sums := make([]figures, len(servers))
		for range o.rounds {
			for i, s := range servers {
				f, err := load(ctx, s, o.clients, time.Duration(o.seconds)*time.Second)
				if err != nil {
					return fmt.Errorf("%s %s: %w", s.name, s.path, err)
				}
				sums[i].add(f)
			}
		}
		for i, s := range servers {
			f := sums[i]
			slices.Sort(f.took)
			fmt.Printf("%-14s %-22s %7d %10.0f %12.0f %9s %9s\n", route, s.name, f.bytes, f.perSecond(), f.perCPU(), f.percentile(50), f.percentile(99))
		}
		for i, peer := range []string{"the bare server", "nginx"} {
			fmt.Printf("%-14s of %s's requests per CPU-second: %.2f kept, %.2f made each time\n", route, peer,
				sums[0].perCPU()/sums[2+i].perCPU(), sums[1].perCPU()/sums[2+i].perCPU())
		}
		fmt.Println()
	}
	return nil
}

// routes are those that are measured.
var routes = []string{"/api/status", "/api/upnext"}
