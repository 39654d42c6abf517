package app

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/handover"
	"github.com/athir-radio/athir/internal/app/onalarm"
	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/app/onbus"
	"github.com/athir-radio/athir/internal/app/onface"
	"github.com/athir-radio/athir/internal/app/onlibrary"
	"github.com/athir-radio/athir/internal/app/onlive"
	"github.com/athir-radio/athir/internal/app/onmounts"
	"github.com/athir-radio/athir/internal/app/onnode"
	"github.com/athir-radio/athir/internal/app/onpodcast"
	"github.com/athir-radio/athir/internal/app/onrequest"
	"github.com/athir-radio/athir/internal/app/onsocial"
	"github.com/athir-radio/athir/internal/app/ontelemetry"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/audience/chat/words"
	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/crowd"
	"github.com/athir-radio/athir/internal/kit/lock"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/strain"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/library/deck"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/press"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
	"github.com/athir-radio/athir/internal/web/socket"
	"github.com/athir-radio/athir/internal/web/stream"
	"github.com/athir-radio/athir/internal/web/streams"
)

// Control runs the control plane, sole writer of all state, until ctx ends. While its
// database cannot be read it says so at its port, and starts again once that is restored.
func Control(ctx context.Context, r role.Role) error { return onbackup.KeepUp(ctx, r, control) }

func control(ctx context.Context, r role.Role) error {
	cfg, log := r.Config, r.Log
	if cfg.StationKey == "" {
		log.Warn("the station has no key: whoever reaches the control port steers it", "open", cfg.Open, "address", cfg.Public(cfg.Ports.Control))
	}
	p := &plane{role: r, cfg: cfg, log: log, version: r.Version, bound: doors.NewBound(cfg, log), shed: shed.New(log), linked: make(chan struct{}), pods: &onpodcast.Podcasts{}, holder: onnode.NewHolder(cfg, log), atlas: census.OpenAtlas(log, cfg.GeoIPFile)}
	defer p.streamMain(ctx)() // last, so that listeners wait for the next program as briefly as can be
	defer p.close()
	for _, open := range []func(context.Context) error{p.openStore, p.openLibrary, p.openAir, p.openOutward, p.openProduction, p.openAudience, p.openSocial, p.openStudio} {
		if err := open(ctx); err != nil {
			return err
		}
	}
	return r.Run(ctx, role.Work{Run: p.run, Well: role.Reached(cfg.Ports.Control, "/ping")})
}

// streamMain sends the main channel's stream from now on, before anything else is open, and
// returns what ends it: who listened to the program before this one hears it go on.
func (p *plane) streamMain(ctx context.Context) (end func()) {
	opt := streamOptions(p.cfg, p.log, p.holder, p.atlas)
	if p.role.Handover != nil {
		opt.Handover, opt.Counted = p.role.Handover, p.bound.Count
	}
	p.main = streams.Main(opt, p.playing)
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if !p.role.Handover.TakesOver() {
			// Icecast does not survive every connection while it starts.
			select {
			case <-p.linked:
				_ = retry.Until(own, p.node.listening)
			case <-own.Done():
			}
		}
		_ = p.main.Run(own) // fails only for a bad URL
	}()
	return func() {
		cancel()
		<-ended
	}
}

// playing is the track on air, as titles tell it; empty before the scheduler is open.
func (p *plane) playing() station.Track {
	if onair := p.air.Load(); onair != nil {
		return onair.View().OnAir.Track
	}
	return station.Track{}
}

// plane is the control plane: its parts in the order of opening.
type plane struct {
	role    role.Role
	cfg     *config.Config
	log     *slog.Logger
	version string
	bound   *crowd.Bound // of the connections to the control port
	shed    *shed.Gate   // of the work that nobody waits for
	ends    []func()     // closes the parts, called in reverse order

	db    *store.DB
	line  *bus.Bus
	staff *people.People

	shelf *onlibrary.Library
	books *api.Shelf
	lib   *media.Library
	desk  *mastering.Master
	rack  *aircopy.Rack
	airs  *onsocial.Airing
	decks *deck.Deck

	node   *link
	holder *onnode.Holder // where node is
	onair  *scheduler.Scheduler
	owner  *policy.Owner
	prod   *production.Production

	crowd   *audience
	asked   *requests.Requests // nil if they are switched off
	posts   *onsocial.Platform
	pods    *onpodcast.Podcasts
	face    *onface.Face
	live    *onlive.Live
	out     *world
	backups *onbackup.Keeper
	rings   *onalarm.Alarms
	watch   *deadAir
	main    *stream.Fanout
	linked  chan struct{}                       // closed once node is set
	air     atomic.Pointer[scheduler.Scheduler] // onair, for the stream, which begins before it
	fan     *streams.Streams
	count   *telemetry.Telemetry
	atlas   *census.Atlas
}

func (p *plane) close() {
	for _, end := range slices.Backward(p.ends) {
		end()
	}
}

// openStore locks the data directory and opens the database and the bus.
func (p *plane) openStore(ctx context.Context) error {
	held, err := lock.Acquire(p.cfg.NodeDir(), "control")
	if err != nil {
		return err
	}
	p.ends = append(p.ends, held.Release)
	if p.db, err = store.Open(ctx, p.cfg.Database()); err != nil {
		return err
	}
	p.ends = append(p.ends, func() { _ = p.db.Close() }) // the last commit is already on disk
	p.tellBegan()
	if err := onbackup.CopyFirst(ctx, p.cfg, p.log, p.version, p.db); err != nil {
		return err
	}
	var hangUp func()
	if p.line, hangUp, err = onbus.Open(p.cfg, p.log); err != nil {
		return err
	}
	p.ends = append(p.ends, hangUp)
	if p.face, err = onface.Open(ctx, p.cfg, p.db); err != nil {
		return err
	}
	p.staff, err = people.Open(ctx, people.Options{Log: p.log, DB: p.db})
	return err
}

// openLibrary opens the media library, its on-air copies and the decks.
func (p *plane) openLibrary(ctx context.Context) (err error) {
	if p.shelf, err = onlibrary.Open(ctx, p.libraryOptions()); err != nil {
		return err
	}
	p.lib, p.desk, p.rack, p.decks = p.shelf.Files, p.shelf.Master, p.shelf.Rack, p.shelf.Decks
	p.airs = &onsocial.Airing{Rack: p.rack}
	return nil
}

func (p *plane) libraryOptions() onlibrary.Options {
	return onlibrary.Options{Config: p.cfg, Log: p.log, Version: p.version, Content: alsoTo(p.log, p.cfg, contentLog, slog.LevelDebug), DB: p.db, Hold: p.shed.Wait}
}

// openAir opens the link to the broadcast node, and the scheduler.
func (p *plane) openAir(ctx context.Context) (err error) {
	if p.node, err = openLink(ctx, p.cfg, p.log, p.airs, p.line, p.holder); err != nil {
		return err
	}
	close(p.linked)
	p.ends = append(p.ends, p.node.end)
	if p.onair, p.owner, err = openScheduler(ctx, p.cfg, p.log, p.db, p.decks, p.airs, p.node, p.overlay, p.shelf.Lists.Current); err != nil {
		return err
	}
	p.air.Store(p.onair)
	p.shelf.OnAir(p.onair.View)
	return nil
}

// overlay returns what listeners bring to the programme, for the planner.
func (p *plane) overlay() rotation.Overlay {
	out := rotation.Overlay{Requests: onrequest.Wanted(p.asked)}
	if p.posts.Posts != nil {
		out.Posts = p.posts.Posts.Overlay()
	}
	return out
}

// openOutward opens alarms, push notifications and webhooks.
func (p *plane) openOutward(ctx context.Context) (err error) {
	p.backups = &onbackup.Keeper{Config: p.cfg, Version: p.version, Log: p.log, Database: p.db, Hold: p.shed.Wait}
	p.rings = onalarm.Open(onalarm.Options{
		Config: p.cfg, Log: p.log, Version: p.version, Database: p.db.Present, Bus: p.line.Problem, Backup: func() string { return p.backups.Failing() }, OnSpare: p.holder.OnSpare, NoSpare: p.holder.Deserted, Guard: func() (guard.Standing, bool) { return p.watch.standing() },
		Node: func(ctx context.Context) ([]supervise.Status, string, error) {
			told, err := p.node.report(ctx)
			return told.Programs, told.DiskFull, err
		},
	})
	p.out, err = openOutward(ctx, p.cfg, p.log, p.db, p.onair, func() bool { return p.live.Announced() }, p.rings, p.version)
	return err
}

// openAudience opens events, streams and telemetry, and the dead-air guard.
func (p *plane) openAudience(ctx context.Context) (err error) {
	if p.crowd, err = openAudience(ctx, p.cfg, p.log, p.db, p.onair, p.line, p.holder); err != nil {
		return err
	}
	if p.watch, err = openGuard(ctx, p.cfg, p.log, p.db, p.onair, p.node, p.airs.Path, func() { p.shed.Pause("listeners hear nothing") }, p.out.Alerts(p.crowd.hub.Tell)); err != nil {
		return err
	}
	p.crowd.hub.Tell(guard.Event, p.watch.atStart(time.Now()))
	others, err := channels.Open(ctx, channels.Options{Log: p.log, DB: p.db, Now: time.Now, Find: p.decks.Find, Airs: p.airs.Airs})
	if err != nil {
		return err
	}
	p.fan = streams.New(streamOptions(p.cfg, p.log, p.holder, p.atlas), p.main, others)
	p.live, err = onlive.Open(ctx, onlive.Options{
		Config: p.cfg, Log: p.log, DB: p.db, Owner: p.owner, Inner: p.node.inner, InnerMost: p.node.innerMost, Airs: p.airs.Path, Library: p.decks.Snapshot,
		View: p.onair.View, Listeners: func() int { return p.count.Latest().Parts.Total }, Told: onpodcast.Both(p.out.Told, p.pods.Told), NodeTime: p.node.when,
	})
	if err != nil {
		return err
	}
	p.asked, err = onrequest.Open(ctx, onrequest.Options{
		Config: p.cfg, Log: p.log, DB: p.db, Library: p.decks, OnAir: p.onair, Tell: p.crowd.hub.Tell, Happened: p.out.Request, Blocked: p.crowd.chat.Blocked,
	})
	if err != nil {
		return err
	}
	p.count, err = ontelemetry.Open(ctx, ontelemetry.Options{
		Config: p.cfg, Log: p.log, DB: p.db, Atlas: p.atlas, Host: p.holder.Host, Paths: func() string { return p.holder.At(p.cfg.Ports.Paths) },
		Icecast: icecastOptions(p.cfg), Listening: p.node.listening, Streams: p.fan, AtEdges: p.crowd.here.HLS,
		View: p.onair.View, Find: p.decks.Find, Tell: p.crowd.hub.Tell, Reached: p.out.Milestone,
	})
	return err
}

// openSocial opens the platform of what listeners send, last: it needs the parts before.
func (p *plane) openSocial(ctx context.Context) (err error) {
	p.posts, err = onsocial.Open(ctx, onsocial.Options{
		Config: p.cfg, Log: p.log, DB: p.db, Version: p.version, Master: p.desk, Library: p.prod, Tracks: p.decks, OnAir: p.onair, Words: check.Words{Blocked: p.crowd.chat.Blocked, Linked: words.HasLink},
		Hold: p.shed.Wait, Tell: p.crowd.hub.Tell, Happened: onpodcast.Both(p.out.Post, p.pods.Post), Every: func() int { return p.owner.Current().Config.Rotation.PostEvery },
	})
	if err == nil && p.posts.Posts != nil {
		p.airs.Posts = p.posts.Posts
		p.decks.Include(p.posts.Posts)
	}
	return err
}

// openStudio opens what only the studio asks for.
func (p *plane) openStudio(ctx context.Context) (err error) {
	if err := p.shelf.OpenIntake(ctx, p.libraryOptions(), p.prod); err != nil {
		return err
	}
	if p.books, err = p.shelf.Shelf(ctx, p.cfg, p.db, p.onair, p.count, p.prod.Content()); err != nil {
		return err
	}
	return p.pods.Open(ctx, onpodcast.Options{
		Config: p.cfg, Log: p.log, DB: p.db, Recordings: p.live.Recordings(), OnAir: p.live.Status, Posts: p.posts.Posts,
		Library: p.lib.Snapshot, Cover: p.shelf.CoverOf, Name: p.face.Name, Logo: p.face.Logo, LogoStamp: p.face.LogoStamp, Hold: p.shed.Wait,
	})
}

// surface returns the HTTP API of all parts.
func (p *plane) surface() (surface *api.Server) {
	named := func(ctx context.Context, id string) (title, artist string, err error) { return surface.Named(ctx, id) }
	surface = api.New(api.Options{
		Log: p.log, Version: p.version, Name: p.cfg.Name, Language: p.cfg.Language, Zone: p.cfg.Timezone.Location, Renditions: p.cfg.HLS.Served(), Icecast: onmounts.Shown(p.cfg),
		Air: p.onair.View, Completed: settled(p.onair.Completed, p.node.when, p.crowd.said.Votes), Library: p.decks.Snapshot, Mastering: func() api.Mastering { return api.MasteringOf(p.rack.Snapshot()) }, Quieter: func() []aircopy.Quieter { return p.rack.Snapshot().Quieter },
		Node:  func(ctx context.Context) (api.Node, error) { return askNode(ctx, p.node.report) },
		Count: p.count.Latest, Stream: p.fan, Channels: p.fan.Beside, SyncToken: p.cfg.Secret(config.SyncToken),
		Shelf: p.books, Art: p.shelf.Art, Imports: p.shelf.Imports,
		Files: api.Files{Media: p.cfg.MediaDir(), Playlist: p.cfg.Playlist(), Air: p.aired}, Pages: p.pages(named), Face: p.face,
		HLSPrefix: front.HLSPrefix, HLS: p.holder.HLS(p.log),
		Policy: p.owner, Desk: p.onair, Queue: p.onair, Votes: p.crowd.said.Votes, Reactions: p.crowd.said.Reactions, Vibes: p.crowd.said.Vibes, Chat: p.crowd.chat, Requests: p.asked, Social: p.posts.Surface(), Telemetry: p.count, Countries: p.atlas.State, Logs: logs(p.cfg), StationKey: p.cfg.Secret(config.StationKey), People: p.staff, Look: p.cfg.People.Look,
		Limits: api.Limits(p.cfg.Limits), Origins: p.cfg.CORSOrigins,
		Jobs: p.prod.Board(), Content: p.prod.Content(), Producer: p.prod,
		DeadAir: p.watch.shown(),
		Live:    p.live.Surface(), Podcasts: p.pods.Surface(),
		Push: p.out.desk(), Webhooks: p.out.hooks, Alarms: p.rings, Backup: p.backups.Status,
		Metrics: slices.Concat(metrics(p.cfg, p.db, func() socket.Stats { return p.crowd.edge.Stats() }, p.out.push, p.out.hooks, p.bound), onrequest.Metrics(p.asked), p.backups.Metrics(), p.holder.Metrics()), Groups: slices.Concat(p.posts.Metrics(), p.shelf.Metrics()),
		Faults: p.faults, Admit: p.node.admit, Standing: p.holder.Standing(),
	})
	return surface
}

// pages are those of the control plane's port, with the station's face.
func (p *plane) pages(named onface.Named) http.Handler {
	return p.face.Pages(onface.Sources{
		OnAir: p.onair.View, Library: p.decks.Snapshot, Covers: p.shelf.Covers, Cover: p.shelf.CoverOf, Named: named, Shows: p.pods, LiveItem: p.pods.LiveItem,
		Describe: map[pages.Page]func(*http.Request) *pages.Description{pages.Social: p.posts.Describe(p.face.Name)},
	}, pages.Player, pages.Chat, pages.Social, pages.History, pages.Podcasts, pages.Embed, pages.Studio)
}

// run runs all parts side by side until ctx ends.
func (p *plane) run(ctx context.Context) error {
	surface := p.surface()
	served, err := p.crowd.handler(surface, p.version)
	if err != nil {
		return err
	}
	srv := doors.NewServer(p.cfg.Public(p.cfg.Ports.Control), served)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return doors.Named("broadcast node", p.node.run(ctx)) })
	g.Go(func() error { return doors.Named("spare node", p.holder.Run(ctx, p.onair)) })
	gauge := strain.New()
	g.Go(func() error { return gauge.Run(ctx) })
	g.Go(func() error {
		return p.shed.Watch(ctx, func(ctx context.Context) string { return p.short(ctx, gauge) })
	})
	g.Go(func() error {
		return doors.Named("media library", p.shelf.Run(ctx, onlibrary.OnTheAir{InUse: p.inUse, Near: p.near, Subscribe: p.onair.Subscribe}))
	})
	g.Go(func() error { return doors.Named("scheduler", p.onair.Run(ctx)) })
	g.Go(func() error { return doors.Named("station configuration", p.owner.Run(ctx)) })
	g.Go(func() error { return p.shelf.RunLists(ctx, p.onair.ListsChanged) })
	g.Go(func() error {
		p.prod.Run(ctx)
		return nil
	})
	g.Go(func() error { return doors.Named("channels", p.fan.Beside.Run(ctx)) })
	g.Go(func() error { return doors.Named("dead-air guard", p.watch.run(ctx)) })
	g.Go(func() error { return doors.Named("live takeover", p.live.Run(ctx)) })
	p.crowd.run(ctx, g, p.onair, p.fan.Beside.Channels, surface)
	g.Go(func() error { return p.out.run(ctx) })
	g.Go(func() error { return p.rings.Run(ctx) })
	g.Go(func() error { return doors.Named("listeners' posts", p.posts.Run(ctx)) })
	if p.asked != nil {
		g.Go(func() error { return doors.Named("requests", p.asked.Run(ctx)) })
	}
	g.Go(func() error { return doors.Named("telemetry", p.count.Run(ctx)) })
	g.Go(func() error {
		return doors.Named("titles of mounts", onmounts.Titles(ctx, p.log, func() icecast.Options {
			o := icecastOptions(p.cfg)
			o.Host = p.holder.Host()
			return o
		}, p.onair, p.playing))
	})
	g.Go(func() error { return doors.Named("countries", p.atlas.Run(ctx)) })
	g.Go(func() error { return doors.Named("backups", p.backups.Run(ctx, p.prod.Board())) })
	g.Go(func() error { return doors.Named("people", p.staff.Run(ctx)) })
	g.Go(func() error { return doors.Named("podcasts", p.pods.Run(ctx)) })
	g.Go(func() error { return doors.Named("database watch", p.watchDatabase(ctx)) })
	g.Go(func() error { return doors.Named("control port", doors.Serve(ctx, srv, p.bound, p.role.Handover)) })
	if err := g.Wait(); err != nil {
		return err
	}
	handover.Leave(p.log, handover.Path(p.cfg.DataDir), p.crowd.hub, p.crowd.edge, time.Now())
	return nil
}

// aired returns the folder, and the name in it, of the file that airs for a registered
// track.
func (p *plane) aired(rel string) (folder, name string, ok bool) {
	if p.posts.Posts != nil && p.posts.Posts.Of(rel) != nil {
		return p.cfg.PostsRoot(), rel, true
	}
	if _, ok := p.lib.Snapshot().Find(rel); !ok {
		return "", "", false
	}
	if name, copied := strings.CutPrefix(p.rack.Path(rel), p.cfg.MasteredDir()+"/"); copied {
		return p.cfg.MasteredDir(), name, true
	}
	return p.cfg.MediaDir(), rel, true
}

// short returns what this machine, or a broadcast node on it, lacks; empty: nothing. A node
// elsewhere gains nothing by what is held up here.
func (p *plane) short(ctx context.Context, gauge *strain.Gauge) string {
	if why := gauge.Read().Short(); why != "" || p.cfg.Node.Remote {
		return why
	}
	told, err := p.node.report(ctx)
	if err != nil {
		return ""
	}
	return told.lacking()
}

// inUse reports that the file at path is on air, was on air last, or is to come.
func (p *plane) inUse(path string) bool {
	rel, ok := p.airs.Rel(path)
	return ok && p.onair.View().Planned(rel)
}

// near are the paths of what is on the air, comes, or was.
func (p *plane) near() []string { return p.onair.View().Near() }

// openScheduler opens the on-air scheduler and, in front of it, the owner of
// the station configuration (DIR/station.json).
func openScheduler(
	ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, d *deck.Deck, airs *onsocial.Airing, node *link, overlay func() rotation.Overlay, lists func() []rotation.List,
) (*scheduler.Scheduler, *policy.Owner, error) {
	stored, err := onbackup.OpenConfiguration(cfg, log)
	if err != nil {
		return nil, nil, err
	}
	onair, err := scheduler.Open(ctx, scheduler.Options{
		Log: log, DB: db, Library: d, Delivery: node.delivery,
		Engine: &press.Engine{Player: onnode.Presses{Engine: node.player}},
		Config: stored.Current().Config, Zone: cfg.Timezone.Location, Now: time.Now, Seed: rand.Uint64,
		Airs: airs.Airs, Rel: node.rel, Tells: bulletin.Tells, Overlay: overlay, Lists: lists,
	})
	if err != nil {
		return nil, nil, err
	}
	owner := stored.With(onair.Configure)
	if cfg.KeepEdits {
		owner.Keep(policy.Keeping{Log: log, Again: saveAgain})
	}
	return onair, owner, nil
}

// saveAgain is after how long edits that could not be saved are tried again.
const saveAgain = 30 * time.Second

// streamBytesPerSecond is about what the master stream's Vorbis takes.
const streamBytesPerSecond = 24_000

// streamOptions are the options of every channel; the upstream is the main mount.
func streamOptions(cfg *config.Config, log *slog.Logger, holder *onnode.Holder, atlas *census.Atlas) stream.Options {
	at := func() string { return "http://" + holder.At(cfg.Ports.Icecast) + "/main" }
	return stream.Options{
		URL: at(), At: at, Moved: holder.Moved, Log: log,
		Info:         stream.Info{Name: cfg.Name},
		MaxListeners: cfg.Stream.MaxListeners, MaxPerClient: cfg.Stream.MaxPerAddress, ClientKey: client.Address, Wider: client.Wider,
		Who:         atlas.Who,
		AllowOrigin: "*",
		Burst:       max(1, int(cfg.Stream.BurstSeconds*streamBytesPerSecond)),
	}
}

// askNode asks the broadcast node for its programs. Sounding is true while engine
// and streaming server run.
func askNode(ctx context.Context, report func(ctx context.Context) (nodeReport, error)) (api.Node, error) {
	told, err := report(ctx)
	if err != nil {
		return api.Node{}, err
	}
	out := api.Node{Programs: make([]api.Process, len(told.Programs)), DiskFull: told.DiskFull != "", Versions: told.Versions, Restart: config.WithRole(told.Restart)}
	running := map[string]bool{}
	for i, p := range told.Programs {
		running[p.Name] = p.State == supervise.Running.String()
		out.Programs[i] = api.Process{
			Name: p.Name, State: p.State, PID: p.PID, Restarts: p.Restarts,
			Since: p.Since.UnixMilli(), LastExit: p.LastExit, Condition: string(p.Condition), Why: p.Why, Kills: p.Kills, Spared: p.Spared,
		}
	}
	out.Sounding = running[playout.Program] && running[icecast.Program]
	return out, nil
}
