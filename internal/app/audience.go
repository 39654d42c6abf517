package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/live/injection"
	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/edge"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/socket"
	transport "github.com/athir-radio/athir/internal/web/socket/engine"
)

// audience is everything that listeners say and are told, as the control plane
// has it: it is the only one that writes.
type audience struct {
	cfg  *config.Config
	log  *slog.Logger
	hub  *events.Hub
	said *feedback.Feedback
	chat *chat.Chat
	here *presence
	live *injection.Desk
	bus  *bus.Bus

	edge *edge.Edge
	desk *asks
}

func openAudience(ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, onair *scheduler.Scheduler, line *bus.Bus) (*audience, error) {
	a := &audience{cfg: cfg, log: log, hub: newHub(log), bus: line}
	a.here = newPresence(a.hub.Tell)
	a.live = injection.New(injection.Options{
		Log: log, Harbor: cfg.OnNode(cfg.Ports.Harbor), Password: cfg.SourcePassword, Now: time.Now,
		Failed: func(message string) { a.hub.Tell("stream_error", streamError{message}) },
	})
	var err error
	if a.said, err = openFeedback(ctx, cfg, log, db, onair.View, a.hub.Tell); err != nil {
		return nil, err
	}
	if a.chat, err = openChat(ctx, cfg, log, db, a.hub.Tell, a.here.members); err != nil {
		return nil, err
	}
	// Who was there when the last control plane died may not have been told.
	for _, r := range a.chat.Rooms() {
		a.hub.Tell("chat_state", r.State)
	}
	a.hub.Tell("chat_state", a.chat.CommentsState())
	return a, nil
}

// streamError is the payload of the event stream_error.
type streamError struct {
	Message string `json:"message"`
}

// handler serves events beside the rest of the surface.
func (a *audience) handler(surface *api.Server, version string) (http.Handler, error) {
	doc, err := asyncAPI(version)
	if err != nil {
		return nil, err
	}
	a.desk = newAsks(a.hub, a.said, a.chat, a.live, surface.Operator)
	a.edge = edge.New(edge.Options{
		Log: a.log, Source: a.hub, Desk: a.desk, Staff: surface.Operator, Refused: api.Refused,
		Present: func(p edge.Presence) { a.here.heard("control", p) },
		Socket:  socketOptions(a.cfg, a.log),
	})
	mux := http.NewServeMux()
	mux.Handle(front.EventsPath, a.edge.Handler())
	mux.Handle(asyncAPIPath, serveAsyncAPI(doc))
	mux.Handle("/", surface.Handler())
	return front.Trusted(a.cfg.BusToken(), mux), nil
}

const (
	// mostEvent is the longest message of a client, in bytes: a voice note as a
	// data URL.
	mostEvent = 4 << 20
	// eventRate bounds what one client sends; live audio takes ten a second.
	eventRate = 50
	// mostPerAddress is how many connections one address may have: many share
	// that of a mobile network.
	mostPerAddress = 500
)

// socketOptions bound what clients of events may take.
func socketOptions(cfg *config.Config, log *slog.Logger) socket.Options {
	return socket.Options{Options: transport.Options{
		MaxPayload: mostEvent, MaxSessions: cfg.Stream.MaxListeners, MaxPerClient: mostPerAddress, PacketRate: eventRate,
		ClientKey: client.Address, Wider: client.Wider, AllowOrigin: api.OriginNamed(cfg.CORSOrigins), Logger: log,
	}}
}

// run serves events until ctx ends.
func (a *audience) run(ctx context.Context, g *errgroup.Group, onair *scheduler.Scheduler, beside *channels.Channels, surface *api.Server) {
	g.Go(func() error { return named("feedback", a.said.Run(ctx)) })
	g.Go(func() error { return named("chat", a.chat.Run(ctx)) })
	g.Go(func() error { return named("live audio", a.live.Run(ctx)) })
	g.Go(func() error { return named("events", a.edge.Run(ctx)) })
	g.Go(func() error {
		cancel, err := a.bus.Subscribe(edge.SubjectPresent, a.here.overBus)
		if err != nil {
			return named("bus", err)
		}
		defer cancel()
		serveEdges(ctx, a.bus, a.hub, a.desk, a.desk, a.log)
		return nil
	})
	g.Go(func() error {
		a.tellAir(ctx, onair, beside, surface)
		return nil
	})
}

// airEvery is how often the way to the listeners is looked at: that the engine
// is gone shows in no view of the rotation.
const airEvery = time.Second

// tellAir tells of every change of what is on air, here and on the channels
// beside, and what comes next.
func (a *audience) tellAir(ctx context.Context, onair *scheduler.Scheduler, beside *channels.Channels, surface *api.Server) {
	changed, cancel := onair.Subscribe()
	defer cancel()
	others, leave := beside.Subscribe()
	defer leave()
	look := time.NewTicker(airEvery)
	defer look.Stop()
	var status, queue onChange
	told := channelsTold{}
	for {
		bounded, done := context.WithTimeout(ctx, airEvery)
		now := surface.OnAirNow(bounded)
		done()
		status.tell(a.hub, "status", now)
		told.tell(a.hub, beside.List(), now)
		queue.tell(a.hub, "timeline_update", surface.Timeline())
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-others:
		case <-look.C:
		}
	}
}

// onChange tells only what is new.
type onChange struct{ last string }

func (o *onChange) tell(hub *events.Hub, event string, payload any) {
	data, err := events.Encode(payload)
	if err != nil || string(data) == o.last {
		return
	}
	o.last = string(data)
	hub.Tell(event, json.RawMessage(data))
}
