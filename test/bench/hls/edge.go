package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/procs"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/node/relay"
)

const edgeAddress = "127.0.0.1:29352"

// measureEdge prints what an edge takes for the listeners that the relay had before.
func measureEdge(ctx context.Context, o options, ours figures) error {
	dir, err := os.MkdirTemp("", "athir-bench-edge-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f, err := measureOne(ctx, o, func(ctx context.Context) (server, error) {
		if _, err := startOurs(ctx, o, dir); err != nil {
			return server{}, err
		}
		self, err := os.Executable()
		if err != nil {
			return server{}, err
		}
		pid, done, err := program(ctx, self, "-role", "edge", "-dir", dir, "-clients", strconv.Itoa(o.clients))
		return server{pid, done, "http://" + edgeAddress + "/main/"}, err
	})
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "edge"))
	if err != nil {
		return err
	}
	var fetched, sent float64
	if _, err := fmt.Sscan(string(text), &fetched, &sent); err != nil {
		return err
	}
	fmt.Printf("an edge, beside the relay with as many listeners\n\n%-44s %12s %12s %8s\n", "", "edge", "relay", "ratio")
	row := func(name string, a, b float64) { fmt.Printf("%-44s %12.1f %12.1f %8.2f\n", name, a, b, a/b) }
	row("listeners one processor serves", f.listeners(o), ours.listeners(o))
	row("KB memory a listener", float64(f.memory)/float64(o.clients), float64(ours.memory)/float64(o.clients))
	row("kbit/s sent to a listener, bodies", kbits(f, o), kbits(ours, o))
	fmt.Printf("%-44s %12.1f\n%-44s %12.0f\n\n", "MB fetched from the relay", fetched/1e6, "bytes sent for each that was fetched", sent/max(fetched, 1))
	return nil
}

func kbits(f figures, o options) float64 {
	return float64(f.bytes) * 8 / 1000 / float64(o.seconds) / float64(o.clients)
}

// serveEdge is the HLS of an edge, in a process of its own; it leaves what it fetched and sent.
func serveEdge(ctx context.Context, o options) error {
	m := relay.NewMirror(relay.MirrorOptions{Relays: []string{hlsAddress}, Token: func() string { return "edge" }, SessionBurst: o.clients + 10, Log: slog.New(slog.DiscardHandler)})
	for m.Pull(ctx) != nil {
		if err := retry.Pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", edgeAddress)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: m.Handler(), ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	spare, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); procs.Spare(spare) }()
	go func() { _ = m.Run(ctx) }()
	err = srv.Serve(listener)
	end()
	<-ended
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, os.WriteFile(filepath.Join(o.dir, "edge"), fmt.Appendln(nil, m.Fetched(), m.Sent()), 0o600))
}
