package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/web/socket"
	"github.com/athir-radio/athir/internal/web/socket/engine"
	"github.com/athir-radio/athir/test/bench/benchkit"
)

// serve is our server as it is in use: with limits, rates and an application
// that asks who connects. It emits as the lines of its standard input order.
func serve(ctx context.Context, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop, err := benchkit.Profile(o.profile)
	if err != nil {
		return err
	}
	defer func() { _ = stop() }()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := socket.New(socket.Options{Options: engine.Options{
		MaxSessions: o.sockets + 10, MaxPerClient: o.sockets, PacketRate: 20,
		ClientKey: func(r *http.Request) string { host, _, _ := net.SplitHostPort(r.RemoteAddr); return host },
	}})
	room := server.Of("/")
	room.OnConnect(func(s *socket.Socket) error {
		s.Join("main")
		return nil
	})
	web := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return server.Run(ctx) })
	group.Go(func() error {
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return web.Close()
	})
	fmt.Println(listener.Addr())
	padding := strings.Repeat("x", o.size-len(`42["tick",1000000,""]`))
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		var n, first int
		if _, err := fmt.Sscan(orders.Text(), &n, &first); err != nil {
			return err
		}
		for i := range n {
			if err := room.To("main").Emit("tick", first+i, padding); err != nil {
				return err
			}
		}
	}
	cancel()
	return group.Wait()
}
