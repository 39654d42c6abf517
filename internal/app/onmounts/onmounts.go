// Package onmounts wires the mounts of Icecast beside the main one: their encoders among the
// node's programs, what feeds them, and the title that they show.
package onmounts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/node/bridge"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/mounts"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// Program begins the name of an encoder among the node's programs; its codec follows.
const Program = "mount-"

const (
	lookEvery = 10 * time.Second
	// patience is how long an encoder may produce nothing while the main mount is fed.
	patience = 20 * time.Second
)

// Beside are the mounts as the streaming server has them.
func Beside(cfg *config.Config) (all []icecast.Beside) {
	list, _ := cfg.Icecast.Beside() // the settings were validated
	for _, m := range list {
		all = append(all, icecast.Beside{Format: m.Codec, Kbps: m.Kbps})
	}
	return all
}

// mainKbps is the bitrate of the main mount (node/playout).
const mainKbps = 192

// Shown are the mounts as the API tells of them.
func Shown(cfg *config.Config) api.Icecast {
	out := api.Icecast{Port: cfg.Ports.Icecast, Mounts: []api.Mount{{Path: "/" + station.MainChannel, Type: "application/ogg", Kbps: mainKbps}}}
	list, _ := cfg.Icecast.Beside() // the settings were validated
	for _, m := range list {
		out.Mounts = append(out.Mounts, api.Mount{Path: "/" + Name(m), Type: m.Type(), Kbps: m.Kbps})
	}
	return out
}

// Name is that of a mount: "main.mp3".
func Name(m mounts.Mount) string { return station.MainChannel + "." + m.Codec }

// Node are the mounts of a broadcast node; its zero value has none. Make it with Open.
type Node struct {
	main  string // address of the main mount
	onAir func(context.Context) error
	all   []*mount
}

// mount is one of them: its encoder is a program of the node, and the feed a part of its
// supervisor.
type mount struct {
	mounts.Mount
	feed  *mounts.Feed
	began atomic.Pointer[time.Time] // when the encoder was last started, or taken over
}

// Open takes what the program before left. OnAir returns nil while the main mount is fed.
func Open(cfg *config.Config, log *slog.Logger, left mounts.Handover, onAir func(context.Context) error) Node {
	n := Node{main: "http://" + config.Local(cfg.Ports.Icecast) + "/" + station.MainChannel, onAir: onAir}
	list, _ := cfg.Icecast.Beside() // the settings were validated
	for _, m := range list {
		one := &mount{Mount: m, feed: mounts.New(mounts.Options{
			Log: log, Mount: m, Name: Name(m), Port: cfg.Ports.Icecast, Password: cfg.Secret(config.SourcePassword).Current, Station: cfg.Name,
		})}
		one.feed.Inherit(left)
		one.began.Store(new(time.Now()))
		n.all = append(n.all, one)
	}
	return n
}

// Programs are the encoders.
func (n Node) Programs() (out []supervise.Program) {
	for _, m := range n.all {
		out = append(out, n.encoder(m))
	}
	return out
}

func (n Node) encoder(m *mount) supervise.Program {
	spec := mounts.Encoder(m.Mount, n.main, Name(m.Mount), m.feed)
	return supervise.Program{
		Name: Program + m.Codec, After: []string{icecast.Program, playout.Program},
		Prepare: func(ctx context.Context) (proc.Spec, error) {
			// Without a source it would only exit and be restarted.
			if err := retry.Until(ctx, n.onAir); err != nil {
				return proc.Spec{}, err
			}
			m.feed.Begin()
			m.began.Store(new(time.Now()))
			return spec, nil
		},
		Adopt: func() proc.Spec { return spec },
		Renew: func(_ context.Context, pid int) string { return bridge.Renew(pid, spec) },
		Watchdog: &supervise.Watchdog{
			Every: lookEvery, Mute: true,
			Find: func() []int { return proc.Find(spec.Path, mounts.Source(n.main, Name(m.Mount))) },
			Healthy: func(ctx context.Context) error {
				came := m.feed.Arrived()
				if bridge.Wedged(time.Now(), *m.began.Load(), came, came, n.onAir(ctx) == nil, patience) {
					return fmt.Errorf("no audio for %s", patience)
				}
				return nil
			},
		},
	}
}

// Run feeds the mounts until ctx ends.
func (n Node) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, m := range n.all {
		g.Go(func() error { return m.feed.Run(ctx) })
	}
	return g.Wait()
}

// Leave leaves them to the next program, or closes them, once nothing runs any more.
func (n Node) Leave(to mounts.Handover) (wrong error) {
	for _, m := range n.all {
		wrong = errors.Join(wrong, m.feed.Leave(to))
	}
	return wrong
}

// Air is what is on the air, for titles.
type Air interface {
	Subscribe() (changed <-chan struct{}, cancel func())
}

// Titles keeps what plays on the mounts of the streaming server until ctx ends.
func Titles(ctx context.Context, log *slog.Logger, server func() icecast.Options, air Air, playing func() station.Track) error {
	changed, cancel := air.Subscribe()
	defer cancel()
	t := &icecast.Titles{
		Log: log, Client: &http.Client{Timeout: 2 * time.Second}, Options: server, Changed: changed,
		Title: func() string {
			t := playing()
			if t.Artist != "" {
				return t.Artist + " - " + t.Title
			}
			return t.Title
		},
	}
	return t.Run(ctx)
}
