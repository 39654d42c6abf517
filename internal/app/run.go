package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/onlive"
	"github.com/athir-radio/athir/internal/app/onnode"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/app/upgrade"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/lock"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/library/demo"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/relay"
	"github.com/athir-radio/athir/internal/node/remote"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/delivery"
)

// Station runs control plane and node until ctx ends, and builds the demo library
// meanwhile if withDemo is set. It calls screen with the time it took to go on air,
// and again with 0 when the demo library is complete, because its progress has
// scrolled the first screen away. Before each call it waits up to pagePatience for
// the pages to answer.
func Station(ctx context.Context, r role.Role, withDemo bool, screen func(onAir time.Duration)) error {
	cfg := r.Config
	if cfg.Node.Remote {
		return errTogether
	}
	st, err := openStation(ctx, r, true)
	if err != nil {
		return err
	}
	defer st.close()
	show := func(ctx context.Context, onAir time.Duration) {
		wait, cancel := context.WithTimeout(ctx, pagePatience)
		defer cancel()
		_ = retry.Until(wait, hlsReady(cfg)) // the addresses hold either way
		screen(onAir)
	}
	grp, ctx := errgroup.WithContext(ctx)
	grp.Go(func() error { return r.Run(ctx, st.work()) })
	if withDemo {
		grp.Go(func() error {
			if st.buildDemo(ctx) > 0 {
				show(ctx, 0)
			}
			return nil
		})
	}
	grp.Go(func() error { return st.announce(ctx, show) })
	return grp.Wait()
}

// pagePatience is how long the first screen waits for its pages to answer.
const pagePatience = 15 * time.Second

// errTogether refuses athir run with a remote node.
var errTogether = errors.New("node.remote: athir run is for control plane and node on one machine: set it to false, or run athir control here and athir node on the other machine")

// buildDemo fills the library of the running station, whose folder watch registers
// each file as it appears. It returns how many files it made.
func (b *broadcast) buildDemo(ctx context.Context) int {
	report, err := demo.Build(ctx, demo.Options{Dir: b.cfg.MediaDir(), Log: b.log, BeforeImaging: b.songOnAir, Nice: 19})
	if err != nil && ctx.Err() == nil {
		// The station goes on with the files it has.
		b.log.Error("demo library is incomplete", "err", err)
		return 0
	}
	if err == nil {
		b.log.Info("demo library complete", "report", report.String())
	}
	return report.Made
}

// songPatience is how long the demo library's imaging waits for a song on the air: what
// is generated holds music, too, which may be what the air lacks.
const songPatience = 5 * time.Minute

// songOnAir waits until a song or a live show is heard, or for songPatience.
func (b *broadcast) songOnAir(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, songPatience)
	defer cancel()
	_ = retry.Until(wait, playout.Client{Socket: b.node.engineOptions().Socket()}.Music)
	return ctx.Err()
}

// broadcast is a station, or its node, ready to run.
type broadcast struct {
	cfg    *config.Config
	log    *slog.Logger
	node   *node
	super  *supervise.Supervisor
	door   *relay.Door // for encoders
	locked *lock.Lock
	begin  time.Time
	// before is the identity of the supervisor's program before this one, empty where there
	// was none: the programs were running already.
	before string
}

// openStation checks everything that can be checked before anything starts.
func openStation(ctx context.Context, r role.Role, withControl bool) (_ *broadcast, err error) {
	cfg, log := r.Config, r.Log
	locked, err := lock.Acquire(cfg.NodeDir(), "node")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			locked.Release()
		}
	}()
	before, left, takesOver := upgrade.Inherit(r.Handover)
	if os.Getuid() == 0 && !takesOver {
		log.Warn("running as root: give the station a user of its own, it needs no privileges")
	}
	if err := preflight(cfg, withControl, takesOver); err != nil {
		return nil, fmt.Errorf("the station cannot start:\n%w", err)
	}
	// The engine watches the playlist file from its first moment.
	if err := delivery.NewLocal(cfg.Playlist(), log).Prepare(ctx); err != nil {
		return nil, err
	}
	n, err := newNode(r)
	if err != nil {
		return nil, err
	}
	if takesOver {
		n.rtmp, n.mtxAPI, n.sources = before.RTMP, before.MediaMTXAPI, cmp.Or(before.Sources, n.sources)
		n.bridged.Store(&before.Bridged)
	}
	n.id = file.Place(locked.File()) // one process at a time holds the lock
	super, err := supervise.New(log, n.around(), n.programs(withControl)...)
	if err != nil {
		return nil, err
	}
	super.Keep(proc.Keeper{Thread: r.Thread, Leaving: r.Handover.Leaving}, left)
	return &broadcast{cfg: cfg, log: log, node: n, super: super, locked: locked, begin: time.Now(), before: before.Program, door: n.door()}, nil
}

func (b *broadcast) close() { b.locked.Release() }

// work is what a supervisor does, as a role.
func (b *broadcast) work() role.Work {
	return role.Work{
		Run: func(ctx context.Context) error {
			err := b.run(ctx)
			e := upgrade.Estate{RTMP: b.node.rtmp, MediaMTXAPI: b.node.mtxAPI, Sources: b.node.sources}
			if at := b.node.bridged.Load(); at != nil {
				e.Bridged = *at
			}
			return errors.Join(err, b.node.mounts.Leave(b.node.role.Handover), upgrade.Bequeath(b.node.role.Handover, b.super, e))
		},
		Well:  b.sounds,
		Renew: b.node.secrets().Renew,
		Reload: func(ctx context.Context) error {
			return upgrade.Again(ctx, b.log, b.node.sockets, b.node.role)
		},
		Busy: func() string {
			if n := b.door.Settled(); n > 0 {
				return fmt.Sprintf("%d encoders publish over RTMP", n)
			}
			return ""
		},
	}
}

// sounds returns nil while the programs that the station is heard through run.
func (b *broadcast) sounds(context.Context) error {
	for _, p := range b.super.Programs() {
		if (p.Name == icecast.Program || p.Name == playout.Program) && p.State != supervise.Running.String() {
			return fmt.Errorf("%s is %s", p.Name, p.State)
		}
	}
	return nil
}

// run supervises until ctx ends; it returns when no child is left.
func (b *broadcast) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return doors.Named("supervisor", b.super.Run(ctx)) })
	g.Go(func() error {
		return b.super.Serve(ctx, filepath.Join(b.node.sockets, nodeSocket), func() any { return b.node.report(b.super) }, b.node.role.Handover)
	})
	g.Go(func() error { return doors.Named("output", b.node.watch(ctx)) })
	g.Go(func() error { return doors.Named("standby audio", b.node.standby(ctx)) })
	g.Go(func() error { return doors.Named("mounts", b.node.mounts.Run(ctx)) })
	g.Go(func() error { return b.node.secrets().Answer(ctx) })
	if b.before != "" {
		g.Go(func() error { return b.node.secrets().Adopt(ctx) })
		g.Go(func() error { return upgrade.Behind(ctx, b.log, b.node.role.Handover, b.node.sockets, b.before) })
	}
	if b.cfg.Node.Remote {
		g.Go(func() error { return doors.Named("orders over the bus", b.obey(ctx)) })
	}
	if b.node.mtxAPI == "" {
		g.Go(func() error { return b.door.Run(ctx) })
	} else {
		g.Go(func() error {
			return doors.Named("path list", relay.PathsProxy(ctx, net.JoinHostPort(b.cfg.Inner(), strconv.Itoa(b.cfg.Ports.Paths)), b.node.mtxAPI))
		})
	}
	return g.Wait()
}

// announce logs `on air` once the master mount carries audio, then calls then with
// the time since the start.
func (b *broadcast) announce(ctx context.Context, then func(context.Context, time.Duration)) error {
	err := retry.Until(ctx, func(ctx context.Context) error {
		return icecast.OnAir(ctx, b.node.http, icecastOptions(b.cfg))
	})
	if err != nil {
		return nil //nolint:nilerr // ctx ended first
	}
	if b.before != "" {
		return nil // it was before
	}
	after := time.Since(b.begin)
	b.log.Info("on air", "stream", fmt.Sprintf("http://%s/main", config.Local(b.cfg.Ports.Icecast)), "after", after.Round(time.Millisecond))
	then(ctx, after)
	return nil
}

// obey carries out a remote control plane's orders until ctx ends.
func (b *broadcast) obey(ctx context.Context) error {
	line, err := role.JoinBus(b.cfg, b.log, config.BusNode)
	if err != nil {
		return err
	}
	defer line.Close()
	return onnode.Obey(ctx, b.cfg, b.node.engineOptions(), filepath.Join(b.node.sockets, hookSocket), &b.node.part, remote.Orders{
		Log: b.log, Line: line, Engine: playout.Client{Socket: b.node.engineOptions().Socket()}, Programs: b.super, Report: func() any { return b.node.report(b.super) }, Inner: onlive.Parts(b.node.sockets),
		Playlist: b.cfg.Playlist(), Cache: b.cfg.Node.Cache, MaxBytes: b.cfg.Node.CacheBytes(),
		Control: "http://" + b.cfg.ControlAddress(), Token: b.cfg.Secret(config.SyncToken), ID: b.node.id, Name: b.node.shownName(ctx),
	})
}
