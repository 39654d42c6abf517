// Package outward announces what happens at the station: to listeners by push, to other
// programs by webhook, alarms to operators. It follows the air itself and gets other events by its methods.
// Packages webpush and webhooks send, and repeat.
package outward

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/station"
)

// The events that webhooks can subscribe to. docs/webhooks.md has their data.
const (
	eventTrack     = "track.change"
	eventLiveStart = "live.start"
	eventLiveStop  = "live.stop"
	eventDeadAir   = "dead_air.raised"
	eventAirBack   = "dead_air.cleared"
	eventBulletin  = "bulletin.made"
	eventMilestone = "listeners.milestone"
	eventRequest   = "request.new"
	eventRequested = "request.aired"
	eventPost      = "post.submitted"
	eventApproved  = "post.approved"
	eventPostAired = "post.aired"
)

// Events lists the events that webhooks can subscribe to.
func Events() []webhooks.Event {
	return []webhooks.Event{
		{Name: eventTrack, Doc: "Something else is on air"},
		{Name: eventLiveStart, Doc: "Somebody goes live"},
		{Name: eventLiveStop, Doc: "The live broadcast is over"},
		{Name: eventDeadAir, Doc: "Dead air, or what leads to it"},
		{Name: eventAirBack, Doc: "It sounds again"},
		{Name: eventBulletin, Doc: "A bulletin was made"},
		{Name: eventMilestone, Doc: "As many listeners as never before, or a round number of them"},
		{Name: eventRequest, Doc: "A listener asked for a song"},
		{Name: eventRequested, Doc: "A song that a listener asked for is on air"},
		{Name: eventPost, Doc: "A listener sent something of their own"},
		{Name: eventApproved, Doc: "A listener's post may air"},
		{Name: eventPostAired, Doc: "A listener's post is on air"},
	}
}

// Outward announces events. Its methods other than Run never wait.
type Outward struct {
	opt  Options
	told told
}

// Options are the channels of announcements, and the air to follow.
type Options struct {
	Log    *slog.Logger
	Push   Push // nil when it is switched off
	Hooks  Hooks
	Alarms Alarms // nil: operators have no receivers
	Air    Air
	// Announced reports whether listeners are to be told of what has just gone live; nil:
	// always.
	Announced func() bool
}

// New makes an Outward.
func New(o Options) *Outward {
	return &Outward{opt: o, told: told{news: make(chan struct{}, 1)}}
}

// Push is a *webpush.Push.
type Push interface{ Notify(n webpush.Notice) }

// Hooks is a *webhooks.Hooks.
type Hooks interface {
	// Queue returns nil once the message is on disk; Tell never waits.
	Queue(ctx context.Context, m webhooks.Message) error
	Tell(m webhooks.Message)
}

// Alarms is a *bell.Bell.
type Alarms interface {
	Raise(k alarm.Kind, cause string, since time.Time)
	Clear(k alarm.Kind)
}

// Air is the scheduler.
type Air interface {
	View() *scheduler.View
	Subscribe() (changed <-chan struct{}, cancel func())
}

// Run announces each track as it begins and each live takeover, until ctx ends.
func (o *Outward) Run(ctx context.Context) {
	changed, stop := o.opt.Air.Subscribe()
	defer stop()
	last := ""
	live := lives{out: o}
	wake := time.NewTimer(0)
	defer wake.Stop()
	for {
		air := o.opt.Air.View()
		for _, heard := range since(air, last) {
			last = heard.ID()
			o.track(ctx, heard)
		}
		now := time.Now()
		if again := live.step(live.on.step(air), now); !again.IsZero() {
			wake.Reset(again.Sub(now))
		}
		select {
		case <-changed:
		case <-o.told.news:
		case <-wake.C:
		case <-ctx.Done():
			return
		}
	}
}

// since returns the airings after that of an id, oldest first: one signal may stand for
// many changes. Without an id it returns only what is on air.
func since(v *scheduler.View, last string) (out []scheduler.OnAir) {
	for i, a := range append([]scheduler.OnAir{v.OnAir}, v.Past...) {
		if a.StartedAt.IsZero() || a.ID() == last || i > 0 && last == "" {
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

// track announces what is on air. Airings have keys, so a restart announces none twice.
func (o *Outward) track(ctx context.Context, now scheduler.OnAir) {
	t := now.Track
	err := o.opt.Hooks.Queue(ctx, webhooks.Message{Event: eventTrack, Key: now.ID(), At: now.StartedAt, Data: trackData{
		Title: t.Title, Artist: t.Artist, File: t.Path, Category: string(t.Category), Source: string(now.Kind),
		StartedAt: now.StartedAt.UnixMilli(), DurationMS: t.Duration.Milliseconds(),
	}})
	if err != nil {
		o.opt.Log.Error("webhook message lost", "event", eventTrack, "err", err)
	}
	if o.opt.Push == nil || now.Kind != scheduler.Rotation {
		return
	}
	switch {
	case t.Category == station.News: // by path: a bulletin that airs again is not announced again
		o.opt.Push.Notify(webpush.Notice{Topic: webpush.Bulletin, Key: t.Path, At: now.StartedAt})
	case t.Category.Music() && t.Artist != "":
		o.opt.Push.Notify(webpush.Notice{Topic: webpush.Artist, Key: now.ID(), At: now.StartedAt, Artist: t.Artist, Title: t.Title})
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

// Bulletin announces a new bulletin to webhooks. Listeners get it when it airs.
func (o *Outward) Bulletin(m production.BulletinMade) {
	data := bulletinData{File: m.File, DurationMS: m.DurationMS, Segments: []bulletinSegment{}}
	for _, s := range m.Segments {
		data.Segments = append(data.Segments, bulletinSegment{s.Kind, s.Text})
	}
	o.opt.Hooks.Tell(webhooks.Message{Event: eventBulletin, Key: m.File, At: time.UnixMilli(m.At), Data: data})
}

// Alerts returns a function that calls tell and also announces the dead-air guard's
// alerts to operators.
func (o *Outward) Alerts(tell func(event string, payload any)) func(event string, payload any) {
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

func (o *Outward) alarm(a guard.Alert) {
	m := alarmMessage(a)
	o.opt.Hooks.Tell(m)
	if o.opt.Alarms != nil {
		o.ring(a)
	}
	if o.opt.Push != nil {
		o.opt.Push.Notify(webpush.Notice{
			Topic: webpush.Alert, Key: m.Event + " " + m.Key, At: m.At, Problem: string(a.Kind), Cleared: m.Event == eventAirBack, URL: "/studio",
		})
	}
}

// ring hands an alert to the receivers of alarms. Their kinds have the guard's names.
func (o *Outward) ring(a guard.Alert) {
	if a.State == "cleared" {
		o.opt.Alarms.Clear(alarm.Kind(a.Kind))
		return
	}
	o.opt.Alarms.Raise(alarm.Kind(a.Kind), a.Cause, time.UnixMilli(a.At))
}

// alarmMessage is an alert for webhooks, which the operator has set up: with its cause.
func alarmMessage(a guard.Alert) webhooks.Message {
	event := eventDeadAir
	if a.State == "cleared" {
		event = eventAirBack
	}
	key := string(a.Kind) + " " + strconv.FormatInt(a.At, 10)
	return webhooks.Message{Event: event, Key: key, At: time.UnixMilli(a.At), Data: alarmData{string(a.Kind), a.Full()}}
}

// Milestone announces a number of listeners.
func (o *Outward) Milestone(m telemetry.Milestone) {
	o.opt.Hooks.Tell(webhooks.Message{Event: eventMilestone, At: time.UnixMilli(m.At), Data: m})
}
