package app

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/handover"
	"github.com/athir-radio/athir/internal/app/onedge"
	"github.com/athir-radio/athir/internal/app/onnode"
	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/live/injection"
	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/edge"
	"github.com/athir-radio/athir/internal/web/front"
)

// audience is what listeners send and receive: events, feedback, chat and live
// audio. The control plane holds it, as the only writer.
type audience struct {
	cfg  *config.Config
	log  *slog.Logger
	hub  *events.Hub
	said *feedback.Feedback
	chat *chat.Chat
	here *edge.Attendance
	live *injection.Desk
	bus  *bus.Bus

	edge    *edge.Edge
	desk    *edge.Station
	sockets []byte // the last control plane's, for the edge
}

func openAudience(ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, onair *scheduler.Scheduler, line *bus.Bus, holder *onnode.Holder) (*audience, error) {
	a := &audience{cfg: cfg, log: log, hub: newHub(log), bus: line}
	a.here = edge.NewAttendance(a.hub.Tell)
	a.live = injection.New(injection.Options{
		Log: log, Desk: func() string { return holder.At(cfg.Ports.Live) }, Password: cfg.Secret(config.SourcePassword), Name: cfg.Name, Now: time.Now,
		Failed: func(message string) { a.hub.Tell("stream_error", edge.StreamError{Message: message}) },
	})
	var err error
	if a.chat, err = openChat(ctx, cfg, log, db, a.hub.Tell, a.here.Members); err != nil {
		return nil, err
	}
	if a.sockets, err = handover.Return(ctx, log, handover.Path(cfg.DataDir), a.hub, a.chat, time.Now()); err != nil { // before anything is told
		return nil, err
	}
	if a.said, err = openFeedback(ctx, cfg, log, db, onair.View, a.hub.Tell); err != nil {
		return nil, err
	}
	// Clients may have missed changes when the last control plane died.
	for _, r := range a.chat.Rooms() {
		a.hub.TellChange("chat_state", r.State)
	}
	a.hub.TellChange("chat_state", a.chat.CommentsState())
	return a, nil
}

// station carries out the requests of event clients.
func (a *audience) station(surface *api.Server) *edge.Station {
	return edge.NewStation(edge.StationOptions{
		Hub: a.hub, Feedback: a.said, Chat: a.chat, Live: a.live, Operator: surface.Staff, People: surface.People(), Refused: api.Refused,
	})
}

// handler serves events, and the rest of the HTTP surface.
func (a *audience) handler(surface *api.Server, version string) (http.Handler, error) {
	doc, err := edge.AsyncAPI(version, api.EventTypes())
	if err != nil {
		return nil, err
	}
	a.desk = a.station(surface)
	a.edge = edge.New(edge.Options{
		Log: a.log, Source: a.hub, Desk: a.desk, Staff: surface.Staff, Refused: api.Refused,
		Present: func(p edge.Presence) { a.here.Heard("control", p) },
		Socket:  onedge.SocketOptions(a.cfg, a.log), Saved: a.sockets,
	})
	a.sockets = nil
	mux := http.NewServeMux()
	mux.Handle(front.EventsPath, a.edge.Handler())
	mux.Handle(edge.AsyncAPIPath, edge.ServeAsyncAPI(doc))
	mux.Handle("/", surface.Handler())
	return front.Trusted(a.cfg.Vouches, mux), nil
}

// run serves events until ctx ends.
func (a *audience) run(ctx context.Context, g *errgroup.Group, onair *scheduler.Scheduler, beside *channels.Channels, surface *api.Server) {
	g.Go(func() error { return doors.Named("feedback", a.said.Run(ctx)) })
	g.Go(func() error { return doors.Named("chat", a.chat.Run(ctx)) })
	g.Go(func() error { return doors.Named("live audio", a.live.Run(ctx)) })
	g.Go(func() error { return doors.Named("events", a.edge.Run(ctx)) })
	edges := edge.Server{Log: a.log, Bus: a.bus, Hub: a.hub, Desk: a.desk, Records: a.desk, Present: a.here, Refused: api.Refused}
	g.Go(func() error { return doors.Named("bus", edges.Run(ctx)) })
	g.Go(func() error {
		surface.Tell(ctx, a.hub, onair, beside, beside.List)
		return nil
	})
}
