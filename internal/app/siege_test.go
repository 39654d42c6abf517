package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/onedge"
	"github.com/athir-radio/athir/internal/app/onface"
	"github.com/athir-radio/athir/internal/app/onlive"
	"github.com/athir-radio/athir/internal/app/onmounts"
	"github.com/athir-radio/athir/internal/app/onnode"
	"github.com/athir-radio/athir/internal/app/ontelemetry"
	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/live/injection"
	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/onair/scheduler/schedulertest"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/edge"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/outward"
	"github.com/athir-radio/athir/internal/web/pages"
	"github.com/athir-radio/athir/internal/web/socket"
	transport "github.com/athir-radio/athir/internal/web/socket/engine"
	"github.com/athir-radio/athir/internal/web/streams"
)

// The station of these tests is the control plane in one process: its real
// surface over its real slices and a real database. What would run programs,
// dial out or make files answers at once, with nothing.

const besiegedKey, besiegedToken = "open-sesame", "sesame-token"

type besieged struct {
	http.Handler
	alarms   *alarms
	hooks    *webhooks.Hooks
	episodes []string // ids
	others   *streams.Beside
}

// besiegedAir is the air of the listeners' posts: none airs.
type besiegedAir struct{}

func (besiegedAir) Plays(context.Context) (map[string]social.Airing, error) { return nil, nil }
func (besiegedAir) InUse(string) bool                                       { return false }
func (besiegedAir) Subscribe() (<-chan struct{}, func())                    { return nil, func() {} }

func besiege(t *testing.T) *besieged {
	t.Helper()
	cfg, _, err := config.Load(config.Source{DataDir: t.TempDir(), Env: []string{
		"STATION_KEY=" + besiegedKey, "SYNC_TOKEN=" + besiegedToken, "ATHIR_LIMITS_READING=0", "ATHIR_LIMITS_WRITING=0", "ATHIR_LIMITS_OPERATING=0", "ATHIR_LIMITS_HEAVY=0",
	}})
	must(t, err)
	b := &besieged{alarms: &alarms{}}
	log := slog.New(b.alarms)
	db, err := store.Open(t.Context(), cfg.Database())
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })

	tracks := manyTracks()
	var onair *scheduler.Scheduler
	owner, err := policy.Open(filepath.Join(cfg.DataDir, "station.json"), func(ctx context.Context, c rotation.Config) (bool, error) {
		return onair.Configure(ctx, c)
	})
	must(t, err)
	onair, err = scheduler.Open(t.Context(), scheduler.Options{
		Log: log, DB: db, Library: schedulertest.Library(tracks), Delivery: schedulertest.Node{}, Engine: obedient{}, Config: owner.Current().Config,
		Zone: cfg.Timezone.Location, Now: time.Now, Seed: func() uint64 { return 1 }, Airs: func(rel string) (string, float64) { return "/m/" + rel, 0 },
		Rel: func(abs string) (string, bool) { return strings.CutPrefix(abs, "/m/") },
	})
	must(t, err)
	a := &audience{cfg: cfg, log: log, hub: newHub(log)}
	a.here = edge.NewAttendance(a.hub.Tell)
	a.live = injection.New(injection.Options{
		Log: log, Desk: func() string { return "127.0.0.1:1" }, Password: cfg.Secret(config.SourcePassword), Now: time.Now, Failed: func(message string) { a.hub.Tell("stream_error", edge.StreamError{Message: message}) },
	})
	a.said, err = openFeedback(t.Context(), cfg, log, db, onair.View, a.hub.Tell)
	must(t, err)
	a.chat, err = openChat(t.Context(), cfg, log, db, a.hub.Tell, a.here.Members)
	must(t, err)
	all, err := channels.Open(t.Context(), channels.Options{
		Log: log, DB: db, Now: time.Now, Find: schedulertest.Library(tracks).Find, Airs: func(string) (string, float64) { return "", 0 },
	})
	must(t, err)
	fan := streams.New(streamOptions(cfg, log, onnode.NewHolder(cfg, log), nil), streams.Main(streamOptions(cfg, log, onnode.NewHolder(cfg, log), nil), func() station.Track { return onair.View().OnAir.Track }), all)
	others := fan.Beside
	b.others = others
	count, err := ontelemetry.Open(t.Context(), countingOptions(cfg, log, db, fan, onair.View, a.hub.Tell, a.here.HLS))
	must(t, err)
	board, err := jobs.Open(t.Context(), jobs.Options{DB: db, Log: log})
	must(t, err)
	push, err := webpush.Open(t.Context(), webpush.Options{
		Log: log, DB: db, Sender: offline{}, Station: cfg.Name, Lang: "ar", Zone: cfg.Timezone.Location, Artists: strings.Fields,
	})
	must(t, err)
	b.hooks, err = webhooks.Open(t.Context(), webhooks.Options{Log: log, DB: db, Sender: offline{}, Events: outward.Events(), Station: cfg.Name})
	must(t, err)

	must(t, os.MkdirAll(filepath.Join(cfg.MediaDir(), "music"), 0o700))
	must(t, os.WriteFile(filepath.Join(cfg.MediaDir(), "music", "a.mp3"), make([]byte, 5000), 0o600))
	must(t, os.WriteFile(cfg.Playlist(), []byte("#EXTM3U\n"), 0o600))
	lib := &media.Snapshot{Tracks: tracks, Decks: map[station.Category]media.Deck{}}
	node := &quietNode{}
	broadcasts, err := onlive.Open(t.Context(), onlive.Options{
		Config: cfg, Log: log, DB: db, Owner: owner, Inner: func(string, bool) http.RoundTripper { return node },
		Airs: func(rel string) string { return filepath.Join(cfg.MediaDir(), rel) }, Library: func() *media.Snapshot { return lib },
		View: onair.View, Listeners: func() int { return 0 },
	})
	must(t, err)
	posts, err := social.Open(t.Context(), social.Options{
		Log: log, DB: db, Now: time.Now, Dir: cfg.SocialDir(), Media: cfg.PostsRoot(), Air: besiegedAir{},
		Tell: a.hub.Tell, Rights: "x", Reports: 3, Keep: time.Hour, Limits: social.Limits{Bytes: 1 << 20},
	})
	must(t, err)
	staff, err := people.Open(t.Context(), people.Options{Log: log, DB: db, Cost: people.Cost{Passes: 1, Memory: 1 << 10}})
	must(t, err)
	worn, err := onface.Open(t.Context(), cfg, db)
	must(t, err)
	onDemand, makeEpisodes, episodes := besiegedPodcasts(t, log, db, cfg.PodcastsDir())
	b.episodes = episodes
	surface := api.New(api.Options{
		Podcasts:   onDemand,
		Face:       worn,
		Renditions: cfg.HLS.Renditions, Icecast: onmounts.Shown(cfg),
		People: staff, Shelf: besiegedShelf(t, log, db, lib, cfg.MediaDir(), onair.Explain, count.AiringsOf), Imports: besiegedImports(t, log),
		Social: &api.Social{
			Posts: posts, Uploads: http.NotFoundHandler(), Sync: func(context.Context) (bool, error) { return true, nil }, Every: func() int { return 3 },
			AdminKey: "open-posts", Limits: social.Limits{Bytes: 1 << 20},
		},
		Log: log, Version: "test", Name: cfg.Name, Language: cfg.Language, Zone: cfg.Timezone.Location,
		Air: onair.View, Completed: settled(onair.Completed, func(at time.Time) time.Time { return at }, a.said.Votes), Library: func() *media.Snapshot { return lib },
		Mastering: func() api.Mastering { return api.Mastering{} },
		Node:      func(context.Context) (api.Node, error) { return api.Node{Sounding: true}, nil },
		Count:     count.Latest, Stream: shortStream{}, Channels: others, SyncToken: cfg.Secret(config.SyncToken),
		Files: api.Files{Media: cfg.MediaDir(), Playlist: cfg.Playlist(), Air: func(string) (string, string, bool) { return "", "", false }},
		Pages: worn.Pages(onface.Sources{OnAir: onair.View, Library: func() *media.Snapshot { return lib }}, pages.Player, pages.Chat, pages.Studio), HLSPrefix: front.HLSPrefix, HLS: http.NotFoundHandler(),
		Policy: owner, Desk: onair, Queue: onair, Votes: a.said.Votes, Reactions: a.said.Reactions, Vibes: a.said.Vibes, Chat: a.chat, Telemetry: count,
		Logs: logs(cfg), StationKey: cfg.Secret(config.StationKey), Limits: api.Limits(cfg.Limits), Origins: []string{"https://radio.example"},
		Jobs: board, Content: idle{}, Producer: idle{board: board}, Push: push, Webhooks: b.hooks, Live: broadcasts.Surface(),
	})
	a.desk = a.station(surface)
	a.edge = edge.New(edge.Options{
		Log: log, Source: a.hub, Desk: a.desk, Staff: surface.Staff, Refused: api.Refused, Present: func(p edge.Presence) { a.here.Heard("control", p) },
		// What one client may send is bounded in a station; here it is not.
		Socket: socket.Options{Options: transport.Options{MaxPayload: onedge.MostEvent, Logger: log}},
	})
	mux := http.NewServeMux()
	mux.Handle(front.EventsPath, a.edge.Handler())
	mux.Handle("/", surface.Handler())
	b.Handler = front.Trusted(func(string) (ok, guest bool) { return false, false }, mux)

	ctx, cancel := context.WithCancel(context.Background())
	g, ctx := errgroup.WithContext(ctx)
	for _, run := range []func(context.Context) error{
		staff.Run, onair.Run, a.said.Run, a.chat.Run, a.live.Run, a.edge.Run, push.Run, b.hooks.Run, others.Run, broadcasts.Run, makeEpisodes,
	} {
		g.Go(func() error { return run(ctx) })
	}
	g.Go(func() error {
		board.Run(ctx)
		return nil
	})
	t.Cleanup(func() {
		cancel()
		must(t, g.Wait())
	})
	must(t, retry.Until(t.Context(), func(ctx context.Context) error { return onair.Rebuild(ctx) }))
	return b
}

// manyTracks is a library of a thousand songs, and some of everything else.
func manyTracks() (out []station.Track) {
	for _, c := range station.Categories() {
		n, d := 20, 10*time.Second
		if c.Music() {
			n, d = 250, 4*time.Minute
		}
		for i := range n {
			out = append(out, station.Track{
				Path: fmt.Sprintf("%s/%d.mp3", c, i), Category: c, Title: fmt.Sprintf("أغنية %s %d", c, i), Artist: fmt.Sprintf("فنان %d", i%40), Duration: d, Size: 5000,
			})
		}
	}
	return out
}

// alarms keeps what a station logs as an error: on the day of a siege too that
// is only what is its own fault.
type alarms struct {
	mu    sync.Mutex
	lines []string
}

func (a *alarms) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }
func (a *alarms) WithAttrs([]slog.Attr) slog.Handler               { return a }
func (a *alarms) WithGroup(string) slog.Handler                    { return a }
func (a *alarms) Handle(_ context.Context, r slog.Record) error {
	var line strings.Builder
	_ = slog.NewTextHandler(&line, nil).Handle(context.Background(), r)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.lines) < 20 {
		a.lines = append(a.lines, line.String())
	}
	return nil
}

func (a *alarms) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.lines...)
}

// obedient is an engine that has done what it is told.
type obedient struct{}

func (obedient) Look(context.Context) (scheduler.Sight, error) { return scheduler.Sight{}, nil }
func (obedient) Next(context.Context, scheduler.Cue) error     { return nil }

// offline is a network on which nobody answers.
type offline struct{}

func (offline) Check(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err == nil && (u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		err = errors.New("no web address")
	}
	return u, err
}

func (offline) Send(context.Context, fetch.Sending) (fetch.Answer, error) {
	return fetch.Answer{}, errors.New("nobody answers")
}

// shortStream has a channel of few bytes.
type shortStream struct{}

func (shortStream) Handler(id string) (http.Handler, bool) {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/ogg")
		_, _ = io.WriteString(w, "OggS")
	}), id == station.MainChannel
}
func (shortStream) Listeners() int   { return 0 }
func (shortStream) BytesOut() uint64 { return 0 }

// idle makes nothing, at once.
type idle struct{ board *jobs.Board }

func (idle) Refresh(_ context.Context, req content.Request, _ func(content.Progress)) (content.Result, error) {
	return content.Result{Request: req, Categories: map[station.Category]*content.Count{}, Problems: []content.Problem{}}, nil
}

func (idle) Plan(context.Context, content.Request, func(content.Progress)) (content.Plan, error) {
	return content.Plan{}, nil
}

func (idle) Fetch(context.Context, content.FetchRequest, func(content.Progress)) (content.Result, error) {
	return content.Result{Categories: map[station.Category]*content.Count{}, Problems: []content.Problem{}}, nil
}

func (idle) Restore(context.Context, content.RestoreRequest, func(content.Progress)) (content.Restored, error) {
	return content.Restored{Restored: map[station.Category]int{}}, nil
}

func (idle) Scrub(context.Context, content.ScrubRequest, func(content.Progress)) (content.Scrubbed, error) {
	return content.Scrubbed{Reasons: map[string]int{}}, nil
}

func (idle) Status(context.Context) (content.Status, error) {
	return content.Status{Categories: map[station.Category]content.Holding{}, Sources: []content.Health{}}, nil
}

func (idle) Imaging(context.Context, production.ImagingOrder, func(jobs.Progress)) (production.ImagingMade, error) {
	return production.ImagingMade{Made: []production.ImagingAsset{}, Failed: []production.ImagingFailure{}}, nil
}

func (idle) Bulletin(context.Context, func(jobs.Progress)) (production.BulletinMade, error) {
	return production.BulletinMade{Segments: []production.BulletinSegment{}}, nil
}

func (idle) Headlines() (bulletin.Kept, error) { return bulletin.Kept{}, nil }

func (idle) SetHeadlines([]string, string) error { return nil }

func (idle) Script(lines []string) (production.BulletinScript, error) {
	read, err := bulletin.Read(lines)
	return production.BulletinScript{Sentences: []production.BulletinSentence{}, Spares: []production.BulletinSentence{}, Missing: []production.BulletinSegment{}, Waiting: len(lines) - len(read)}, err
}

func (i idle) Rehearse(lines []string) (jobs.Job, error) {
	if _, err := bulletin.Read(lines); err != nil {
		return jobs.Job{}, err
	}
	return i.board.Start("rehearsal", "rehearsal", func(context.Context, *jobs.Task) (any, error) {
		return production.BulletinRehearsed{Sentences: []production.BulletinSentence{}, Missing: []production.BulletinSegment{}}, nil
	})
}

func (idle) Rehearsed(string) (string, time.Time, error) { return "", time.Time{}, station.ErrNotFound }

func (idle) BulletinStatus() production.BulletinStatus {
	return production.BulletinStatus{Headlines: []string{}, Segments: []production.BulletinSegment{}}
}
