package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/web/edge"
)

// joinBus connects a role to the station's bus.
func joinBus(cfg *config.Config, log *slog.Logger, role string) (*bus.Bus, error) {
	return bus.Connect(bus.Options{Log: log, URL: cfg.BusURL(), Name: "athir " + role, Token: busToken(cfg)})
}

// busToken: a server of the operator's own says in its URL who may come.
func busToken(cfg *config.Config) string {
	if cfg.Bus.URL != "" && cfg.Bus.Foreign() {
		return ""
	}
	return cfg.BusToken()
}

// openBus is the control plane's end of the bus, with the bus itself where the
// operator has no other.
func openBus(cfg *config.Config, log *slog.Logger) (b *bus.Bus, end func(), err error) {
	end = func() {}
	if cfg.Bus.URL == "" {
		host, port := cfg.BusListen()
		inside, err := bus.Embed(bus.EmbedOptions{Log: log, Host: host, Port: port, Token: cfg.BusToken()})
		if err != nil {
			return nil, nil, err
		}
		end = inside.Close
	}
	if b, err = joinBus(cfg, log, "control"); err != nil {
		end()
		return nil, nil, err
	}
	inside := end
	return b, func() { b.Close(); inside() }, nil
}

const (
	// asksAtOnce bounds what is carried out for edges at the same time: most of
	// it waits for one commit.
	asksAtOnce  = 256
	syncsAtOnce = 8
)

// serveEdges answers the edges on other machines, and lets them follow.
func serveEdges(ctx context.Context, b *bus.Bus, hub *events.Hub, desk edge.Desk, records events.Records, log *slog.Logger) {
	var all sync.WaitGroup
	serve := func(subject string, workers int, fn func(context.Context, []byte) []byte) {
		all.Go(func() {
			if err := b.Serve(ctx, subject, workers, fn); err != nil {
				log.Error("the bus is not served", "subject", subject, "err", err)
			}
		})
	}
	serve(edge.SubjectAsk, asksAtOnce, func(ctx context.Context, data []byte) []byte { return edge.Answer(ctx, desk, data) })
	serve(events.SubjectSync, syncsAtOnce, func(ctx context.Context, data []byte) []byte { return hub.Sync(ctx, data, records) })
	all.Go(func() { hub.Publish(ctx, b) })
	all.Wait()
}

// presenceKept is how long an edge that says nothing counts.
const presenceKept = 15 * time.Second

// presence adds up who is here over all edges.
type presence struct {
	tell func(event string, payload any)

	mu    sync.Mutex
	edges map[string]presentAt
	last  string
}

type presentAt struct {
	edge.Presence
	at time.Time
}

// wirePresence is what an edge says over the bus.
type wirePresence struct {
	Edge string `json:"edge"`
	edge.Presence
}

func newPresence(tell func(string, any)) *presence {
	return &presence{tell: tell, edges: map[string]presentAt{}}
}

// heard takes the word of one edge.
func (p *presence) heard(name string, here edge.Presence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.edges[name] = presentAt{here, now}
	sum := edge.Presence{Rooms: map[string]int{}}
	for name, e := range p.edges {
		if now.Sub(e.at) > presenceKept {
			delete(p.edges, name)
			continue
		}
		sum.Clients += e.Clients
		for room, n := range e.Rooms {
			sum.Rooms[room] += n
		}
	}
	if data, err := json.Marshal(sum); err == nil && string(data) != p.last {
		p.last = string(data)
		p.tell("presence", sum)
	}
}

// members counts who is in a chat room, as far as its edges have said.
func (p *presence) members(room string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, e := range p.edges {
		n += e.Rooms[room]
	}
	return n
}

func (p *presence) overBus(data []byte) {
	var w wirePresence
	if json.Unmarshal(data, &w) == nil && w.Edge != "" {
		p.heard(w.Edge, w.Presence)
	}
}
