package edge

import (
	"context"
	"log/slog"
	"sync"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/kit/bus"
)

const (
	// asksAtOnce bounds the requests carried out for edges at the same time: most
	// of them wait for the same commit.
	asksAtOnce  = 256
	syncsAtOnce = 8
)

// Serve answers the requests of edges on other machines and sends them the events.
func Serve(ctx context.Context, b *bus.Bus, hub *events.Hub, desk Desk, records events.Records, log *slog.Logger) {
	var all sync.WaitGroup
	serve := func(subject string, workers int, fn func(context.Context, []byte) []byte) {
		all.Go(func() {
			if err := b.Serve(ctx, subject, workers, fn); err != nil {
				log.Error("the bus is not served", "subject", subject, "err", err)
			}
		})
	}
	serve(SubjectAsk, asksAtOnce, func(ctx context.Context, data []byte) []byte { return Answer(ctx, desk, data) })
	serve(events.SubjectSync, syncsAtOnce, func(ctx context.Context, data []byte) []byte { return hub.Sync(ctx, data, records) })
	all.Go(func() { hub.Publish(ctx, b) })
	all.Wait()
}
