package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
	"github.com/athir-radio/athir/internal/web/socket"
	"github.com/athir-radio/athir/internal/web/stream"
)

// control runs the control plane: sole writer of all state.
func control(ctx context.Context, cfg *config.Config, log *slog.Logger, version string) error {
	held, err := acquire(cfg.NodeDir(), "control")
	if err != nil {
		return err
	}
	defer held.release()
	db, err := store.Open(ctx, cfg.Database())
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the last commit is on disk whatever this says
	line, hangUp, err := openBus(cfg, log)
	if err != nil {
		return err
	}
	defer hangUp()

	lib, err := media.Open(ctx, db, media.Options{
		Root: cfg.MediaDir(), Log: alsoTo(log, cfg, contentLog, slog.LevelDebug), Rescan: time.Duration(cfg.Library.RescanMinutes) * time.Minute,
	})
	if err != nil {
		return err
	}
	desk, err := openMastering(ctx, db, log)
	if err != nil {
		return err
	}
	var air atomic.Pointer[scheduler.Scheduler]
	var rack *aircopy.Rack
	rack, err = openRack(ctx, cfg, log, db, lib, desk, func(abs string) bool {
		rel, ok := rack.Rel(abs)
		return ok && planned(air.Load().View(), rel)
	})
	if err != nil {
		return err
	}
	decks := newDeck(lib, rack)
	node, err := openLink(ctx, cfg, log, rack, line)
	if err != nil {
		return err
	}
	defer node.end()
	onair, owner, err := openScheduler(ctx, cfg, log, db, decks, node)
	if err != nil {
		return err
	}
	air.Store(onair)
	prod, err := openProduction(ctx, cfg, log, db, decks, onair, owner, node.player, version)
	if err != nil {
		return err
	}
	crowd, err := openAudience(ctx, cfg, log, db, onair, line)
	if err != nil {
		return err
	}
	out, err := openOutward(ctx, cfg, log, db, onair, version)
	if err != nil {
		return err
	}
	prod.told = out.bulletin
	watch, err := openGuard(ctx, cfg, log, db, onair, node, rack.Path, out.alerts(crowd.hub.Tell))
	if err != nil {
		return err
	}
	fan := newStream(cfg, log, onair)
	if fan.beside, err = openChannels(ctx, cfg, log, db, decks, rack, fan.main); err != nil {
		return err
	}
	count, err := openTelemetry(ctx, cfg, log, db, onair.View, fan, node.listening, crowd.hub.Tell, out.milestone)
	if err != nil {
		return err
	}
	surface := api.New(api.Options{
		Log: log, Version: version, Name: cfg.Name, Language: cfg.Language, Zone: cfg.Timezone.Location,
		Air: onair.View, Completed: settled(node.completed(onair.Completed), crowd.said.Votes), Library: decks.Snapshot, Mastering: decks.mastering,
		Node:  func(ctx context.Context) (api.Node, error) { return askNode(ctx, node.programs) },
		Count: count.Latest, Stream: fan, Channels: fan.beside, SyncToken: cfg.SyncToken,
		Files: api.Files{Media: cfg.MediaDir(), Playlist: cfg.Playlist(), Air: rack.Path}, Pages: pages.Handler(pages.Player, pages.Chat, pages.Studio),
		HLSPrefix: front.HLSPrefix, HLS: front.HLS(log, cfg.OnNode(cfg.Ports.HLS)),
		Policy: owner, Desk: onair, Votes: crowd.said.Votes, Reactions: crowd.said.Reactions, Vibes: crowd.said.Vibes, Chat: crowd.chat, Telemetry: count, Logs: logs(cfg), StationKey: cfg.StationKey,
		Limits: api.Limits(cfg.Limits), Origins: cfg.CORSOrigins,
		Jobs: prod.board, Content: prod.content, Producer: prod,
		DeadAir: watch.shown(),
		Push:    out.desk(), Webhooks: out.hooks,
		Metrics: metrics(cfg, func() socket.Stats { return crowd.edge.Stats() }, out.push, out.hooks),
	})
	served, err := crowd.handler(surface, version)
	if err != nil {
		return err
	}
	srv := newServer(cfg.Public(cfg.Ports.Control), served)

	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return named("broadcast node", node.run(ctx)) })
	g.Go(func() error { return named("media library", lib.Run(ctx)) })
	g.Go(func() error { return named("on-air copies", rack.Run(ctx)) })
	g.Go(func() error { return named("scheduler", onair.Run(ctx)) })
	g.Go(func() error {
		prod.run(ctx)
		return nil
	})
	g.Go(func() error {
		// Icecast does not survive every connection while it starts.
		_ = until(ctx, node.listening)
		return named("stream", fan.main.Run(ctx))
	})
	g.Go(func() error { return named("channels", fan.beside.Run(ctx)) })
	g.Go(func() error { return named("dead-air guard", watch.run(ctx)) })
	crowd.run(ctx, g, onair, surface)
	g.Go(func() error { return out.run(ctx) })
	g.Go(func() error { return named("telemetry", count.Run(ctx)) })
	g.Go(func() error { return named("control port", serve(ctx, srv)) })
	return g.Wait()
}

func named(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

const (
	bodyTime   = 15 * time.Second
	answerTime = time.Minute // not for streams, which set their own deadlines
)

// newServer makes a server that no client can hold by doing nothing.
func newServer(address string, h http.Handler) *http.Server {
	return &http.Server{
		Addr: address, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		Handler: deadline.Handler(h, bodyTime, answerTime),
	}
}

// serve listens until ctx ends, then gives open requests two seconds.
func serve(ctx context.Context, srv *http.Server) error {
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if srv.Shutdown(grace) != nil {
			_ = srv.Close()
		}
	})
	err := srv.ListenAndServe()
	if !stop() {
		<-stopped
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// openScheduler opens the on-air scheduler and, in front of it, the owner of
// the station configuration (DIR/station.json).
func openScheduler(
	ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, d *deck, node *link,
) (*scheduler.Scheduler, *policy.Owner, error) {
	var onair *scheduler.Scheduler
	owner, err := policy.Open(filepath.Join(cfg.DataDir, "station.json"), func(ctx context.Context, c rotation.Config) (bool, error) {
		return onair.Configure(ctx, c)
	})
	if err != nil {
		return nil, nil, err
	}
	onair, err = scheduler.Open(ctx, scheduler.Options{
		Log: log, DB: db, Library: d, Delivery: node.delivery,
		Engine: &engine{node.player},
		Config: owner.Current().Config, Zone: cfg.Timezone.Location, Now: time.Now, Seed: rand.Uint64,
		NodePath: d.rack.Path, Rel: node.rel,
	})
	return onair, owner, err
}

// channelStream is /stream: that of the main channel and, where there are any,
// of those beside it.
type channelStream struct {
	main   *stream.Fanout
	beside *beside // nil: none
}

// Handler returns a channel's audio; false for an unknown one.
func (c *channelStream) Handler(id string) (http.Handler, bool) {
	if c.beside != nil {
		return c.beside.Handler(id)
	}
	return c.main, id == station.MainChannel
}

func (c *channelStream) Listeners() int   { return c.stats().Listeners }
func (c *channelStream) BytesOut() uint64 { return c.stats().BytesOut }

// stats are the counters of all channels together.
func (c *channelStream) stats() (sum stream.Stats) {
	all := []*stream.Fanout{c.main}
	if c.beside != nil {
		all = c.beside.all()
	}
	for _, f := range all {
		s := f.Stats()
		sum.Listeners += s.Listeners
		sum.Served += s.Served
		sum.BytesOut += s.BytesOut
	}
	return sum
}

// streamBytesPerSecond is about what the master stream's Vorbis takes.
const streamBytesPerSecond = 24_000

func newStream(cfg *config.Config, log *slog.Logger, onair *scheduler.Scheduler) *channelStream {
	f := stream.New(streamOptions(cfg, log, &titles{track: func() station.Track { return onair.View().OnAir.Track }}))
	return &channelStream{main: f}
}

// streamOptions are those of every channel; the upstream is the main one's.
func streamOptions(cfg *config.Config, log *slog.Logger, t *titles) stream.Options {
	return stream.Options{
		URL: "http://" + cfg.OnNode(cfg.Ports.Icecast) + "/main", Log: log, Title: t.now,
		Info:         stream.Info{Name: cfg.Name},
		MaxListeners: cfg.Stream.MaxListeners, MaxPerClient: cfg.Stream.MaxPerAddress, ClientKey: client.Address,
		AllowOrigin: "*",
		Burst:       max(1, int(cfg.Stream.BurstSeconds*streamBytesPerSecond)),
	}
}

// titles gives each change of title a number.
type titles struct {
	track func() station.Track
	last  atomic.Pointer[numbered]
}

type numbered struct {
	text   string
	change uint64
}

func (t *titles) now() (string, uint64) {
	track := t.track()
	text := track.Title
	if track.Artist != "" {
		text = track.Artist + " - " + track.Title
	}
	for {
		last := t.last.Load()
		if last != nil && last.text == text {
			return text, last.change
		}
		next := &numbered{text: text}
		if last != nil {
			next.change = last.change + 1
		}
		if t.last.CompareAndSwap(last, next) {
			return text, next.change
		}
	}
}

// askNode asks the broadcast node how it is. It sounds while engine and
// streaming server run.
func askNode(ctx context.Context, client supervisor) (api.Node, error) {
	programs, err := client.Programs(ctx)
	if err != nil {
		return api.Node{}, err
	}
	out := api.Node{Programs: make([]api.Process, len(programs))}
	running := map[string]bool{}
	for i, p := range programs {
		running[p.Name] = p.State == supervise.Running.String()
		out.Programs[i] = api.Process{
			Name: p.Name, State: p.State, PID: p.PID, Restarts: p.Restarts,
			Since: p.Since.UnixMilli(), LastExit: p.LastExit,
		}
	}
	out.Sounding = running[programEngine] && running[programIcecast]
	return out, nil
}
