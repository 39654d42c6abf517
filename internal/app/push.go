package app

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// outward tells the world outside what happens at the station: listeners by
// push, other programs by webhook. Its methods never wait.
type outward struct {
	log    *slog.Logger
	push   *webpush.Push // nil when it is switched off
	sender *fetch.Client // of push
	hooks  *webhooks.Hooks
	air    airwaves
}

// airwaves are what outward follows.
type airwaves interface {
	View() *scheduler.View
	Subscribe() (changed <-chan struct{}, cancel func())
}

func openOutward(ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, air airwaves, version string) (*outward, error) {
	o := &outward{log: log, air: air}
	var err error
	if o.hooks, err = openWebhooks(ctx, cfg, log, db, version); err != nil || !cfg.Push.Enabled {
		return o, err
	}
	// Any port may be a private push service's.
	fetching := fetch.Options{Version: version, Keep: connectionsKept, Allow: private(cfg.Push.AllowPrivate), Setting: "push.allow_private: true"}
	if cfg.Push.AllowPrivate {
		fetching.Ports = []fetch.PortRange{{From: 1, To: 65535}}
	}
	o.sender = fetch.New(fetching)
	o.push, err = webpush.Open(ctx, webpush.Options{
		Log: log, DB: db, Sender: o.sender, Station: cfg.Name, Lang: cfg.Language, Zone: cfg.Timezone.Location,
		Artists: rotation.ArtistKeys, Subject: cfg.Push.Subject, Services: cfg.Push.Services, Plain: cfg.Push.AllowPrivate, Icon: "/icon-192.png",
	})
	if err == nil && cfg.Push.Subject == "" {
		log.Info("push.subject is empty: Apple's browsers get no notifications")
	}
	return o, err
}

// desk is push for the API; nil when it is switched off.
func (o *outward) desk() api.Push {
	if o.push == nil {
		return nil
	}
	return o.push
}

// run sends until ctx ends.
func (o *outward) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return named("webhooks", o.hooks.Run(ctx)) })
	if o.push != nil {
		defer o.sender.Close()
		g.Go(func() error { return named("push", o.push.Run(ctx)) })
	}
	g.Go(func() error {
		o.follow(ctx)
		return nil
	})
	return g.Wait()
}

// follow tells of each track, once it is heard, and of who goes live.
func (o *outward) follow(ctx context.Context) {
	changed, stop := o.air.Subscribe()
	defer stop()
	last := ""
	var lives takeovers
	for {
		air := o.air.View()
		for _, heard := range since(air, last) {
			last = airingID(heard)
			o.track(ctx, heard)
		}
		for _, b := range lives.step(air) {
			if b.ended.IsZero() {
				o.liveStarted(b)
			} else {
				o.liveStopped(b)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// since is what was heard after the airing of that id, oldest first: many changes
// may be one signal. Only what is on air when there is none.
func since(v *scheduler.View, last string) (out []scheduler.OnAir) {
	for i, a := range append([]scheduler.OnAir{v.OnAir}, v.Past...) {
		if a.StartedAt.IsZero() || airingID(a) == last || i > 0 && last == "" {
			break
		}
		if a.Kind != scheduler.Boot {
			out = append(out, a)
		}
	}
	slices.Reverse(out)
	return out
}

// trackData is the data of track.change.
type trackData struct {
	Title      string `json:"title"`
	Artist     string `json:"artist"`
	File       string `json:"file"`
	Category   string `json:"category"`
	Source     string `json:"source"` // rotation, live or emergency
	StartedAt  int64  `json:"startedAt"`
	DurationMS int64  `json:"durationMs"`
}

// track tells what is on air. A restart tells nothing twice: airings have keys.
func (o *outward) track(ctx context.Context, now scheduler.OnAir) {
	t := now.Track
	err := o.hooks.Queue(ctx, webhooks.Message{Event: eventTrack, Key: airingID(now), At: now.StartedAt, Data: trackData{
		Title: t.Title, Artist: t.Artist, File: t.Path, Category: string(t.Category), Source: string(now.Kind),
		StartedAt: now.StartedAt.UnixMilli(), DurationMS: t.Duration.Milliseconds(),
	}})
	if err != nil {
		o.log.Error("webhook message lost", "event", eventTrack, "err", err)
	}
	if o.push == nil || now.Kind != scheduler.Rotation {
		return
	}
	switch {
	case t.Category == station.News: // a file airs again and again; it is news once
		o.push.Notify(webpush.Notice{Topic: webpush.Bulletin, Key: t.Path, At: now.StartedAt})
	case t.Category.Music() && t.Artist != "":
		o.push.Notify(webpush.Notice{Topic: webpush.Artist, Key: airingID(now), At: now.StartedAt, Artist: t.Artist, Title: t.Title})
	}
}

// bulletinData is the data of bulletin.made.
type bulletinData struct {
	File       string            `json:"file"`
	DurationMS int64             `json:"durationMs"`
	Segments   []bulletinSegment `json:"segments"`
}

type bulletinSegment struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// bulletin tells of a bulletin that was made. Listeners are told once it is heard.
func (o *outward) bulletin(m production.BulletinMade) {
	data := bulletinData{File: m.File, DurationMS: m.DurationMS, Segments: []bulletinSegment{}}
	for _, s := range m.Segments {
		data.Segments = append(data.Segments, bulletinSegment{s.Kind, s.Text})
	}
	o.hooks.Tell(webhooks.Message{Event: eventBulletin, Key: m.File, At: time.UnixMilli(m.At), Data: data})
}

// liveData is the data of live.start and live.stop.
type liveData struct {
	ID   string `json:"id"` // of the broadcast: the same in both
	Name string `json:"name"`
}

// liveStarted tells that somebody is live.
func (o *outward) liveStarted(b takeover) {
	o.hooks.Tell(webhooks.Message{Event: eventLiveStart, Key: b.key, At: b.began, Data: liveData{b.key, b.name}})
	if o.push != nil {
		o.push.Notify(webpush.Notice{Topic: webpush.Live, Key: b.key, At: b.began, Title: b.name})
	}
}

// liveStopped tells that a live broadcast is over.
func (o *outward) liveStopped(b takeover) {
	o.hooks.Tell(webhooks.Message{Event: eventLiveStop, Key: b.key, At: b.ended, Data: liveData{b.key, b.name}})
}

// alerts is tell, after which operators are told as well what the dead-air guard
// has to say.
func (o *outward) alerts(tell func(event string, payload any)) func(event string, payload any) {
	return func(event string, payload any) {
		tell(event, payload)
		if a, ok := payload.(guard.Alert); ok {
			o.alarm(a)
		}
	}
}

// alarmData is the data of dead_air.raised and dead_air.cleared.
type alarmData struct {
	Kind string `json:"kind"`
	Text string `json:"text"` // for people
}

func (o *outward) alarm(a guard.Alert) {
	event, cleared, at := eventDeadAir, a.State == "cleared", time.UnixMilli(a.At)
	if cleared {
		event = eventAirBack
	}
	key := string(a.Kind) + " " + strconv.FormatInt(a.At, 10)
	o.hooks.Tell(webhooks.Message{Event: event, Key: key, At: at, Data: alarmData{string(a.Kind), a.Text}})
	if o.push != nil {
		o.push.Notify(webpush.Notice{Topic: webpush.Alert, Key: event + " " + key, At: at, Problem: string(a.Kind), Cleared: cleared, URL: "/studio"})
	}
}

// milestone tells that so many listen.
func (o *outward) milestone(m telemetry.Milestone) {
	o.hooks.Tell(webhooks.Message{Event: eventMilestone, At: time.UnixMilli(m.At), Data: m})
}
