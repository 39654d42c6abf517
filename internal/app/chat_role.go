package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/edge"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

// Edge runs an edge until ctx ends: the chat server, of which there may be many.
func Edge(ctx context.Context, cfg *config.Config, log *slog.Logger) error {
	b, err := joinBus(cfg, log, "chat")
	if err != nil {
		return err
	}
	defer b.Close()
	mirror := events.NewFollower(log, b)
	name, desk := rand.Text(), edge.Remote{Bus: b, Refused: api.Refused}
	e := edge.New(edge.Options{
		Log: log, Source: mirror, Desk: desk, Refused: api.Refused,
		Staff: func(key, address string) (bool, error) { return askOperator(ctx, desk, key, address) },
		Present: func(p edge.Presence) {
			if data, err := json.Marshal(wirePresence{name, p}); err == nil {
				_ = b.Publish(edge.SubjectPresent, data) // the next one tells as much
			}
		},
		Socket: socketOptions(cfg, log),
	})
	relay := config.Local(cfg.Ports.HLS)
	if cfg.Bus.Control != "" && !cfg.Node.Remote {
		relay = "" // it is where the control plane is
	}
	srv := newServer(cfg.Public(cfg.Ports.Chat), front.Handler(front.Options{
		Log: log, Pages: pages.Handler(pages.Player, pages.Chat), Control: cfg.ControlAddress(),
		Relay: relay, Events: e.Handler(), Token: cfg.BusToken(),
	}))
	grp, ctx := errgroup.WithContext(ctx)
	grp.Go(func() error { return named("events from the station", mirror.Run(ctx)) })
	grp.Go(func() error { return named("events", e.Run(ctx)) })
	grp.Go(func() error { return named("chat port", serve(ctx, srv, newBound(cfg, log))) })
	return grp.Wait()
}

// operatorEvent asks whether a key is the station's. It is in no table: clients
// cannot send it.
const operatorEvent = "operator"

type operatorAsk struct {
	Key string `json:"key"`
}

type operatorAnswer struct {
	Staff bool `json:"staff"`
}

// operatorWait bounds how long a client with a key waits to be let in.
const operatorWait = 5 * time.Second

// askOperator: the edge does not know the key, which is the control plane's.
func askOperator(ctx context.Context, desk edge.Desk, key, address string) (bool, error) {
	body, err := json.Marshal(operatorAsk{key})
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, operatorWait)
	defer cancel()
	var got struct {
		operatorAnswer
		OK    bool `json:"ok"`
		Error struct {
			Detail string `json:"detail"`
		} `json:"error"`
	}
	answer := desk.Do(ctx, edge.Ask{Event: operatorEvent, From: edge.Client{Address: address}, Body: body})
	if err := json.Unmarshal(answer, &got); err != nil || !got.OK {
		return false, errors.New(cmp.Or(got.Error.Detail, "the station does not answer"))
	}
	return got.Staff, nil
}
