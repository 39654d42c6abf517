package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/web/stream"
)

// serverReport is what only the fan-out itself can tell.
type serverReport struct {
	Goroutines int
	LiveHeap   uint64 // bytes, at the last collection
	Stats      stream.Stats
}

// serve is the fan-out as the station runs it.
func serve(ctx context.Context, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	f := stream.New(stream.Options{URL: o.upstream, Batch: o.batch, Log: log, Wait: 20 * time.Second})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /stream", f)
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return f.Run(ctx) })
	group.Go(func() error {
		if err := s.Serve(l); err != http.ErrServerClosed {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return s.Close()
	})
	fmt.Println(l.Addr())
	err = answer(func() any {
		heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(heap)
		return serverReport{runtime.NumGoroutine(), heap[0].Value.Uint64(), f.Stats()}
	})
	cancel()
	if err != nil {
		return err
	}
	return group.Wait()
}
