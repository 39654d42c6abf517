package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
)

func TestListenersComeFromTheRelayElseTheStreamingServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relayUp := true
		bytes := uint64(0)
		p := New(slog.New(slog.DiscardHandler),
			Source{"athir", func(context.Context) (Reading, error) {
				bytes += 160_000
				if !relayUp {
					return Reading{}, errors.New("refused")
				}
				return Reading{Listeners: 7, BytesSent: bytes}, nil
			}},
			Source{"icecast", func(context.Context) (Reading, error) { return Reading{Listeners: 3}, nil }},
		)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = p.Run(ctx) }()
		step := func() { synctest.Wait(); sleepOnePeriod(ctx); synctest.Wait() }

		step()
		if c := p.Latest(); c.Listeners != 7 || c.Source != "athir" || c.BitsPerSecond != 160_000*8/Every.Seconds() {
			t.Errorf("from the relay: %+v", c)
		}
		relayUp = false
		step()
		if c := p.Latest(); c.Listeners != 3 || c.Source != "icecast" || c.BitsPerSecond != 0 {
			t.Errorf("fallback: %+v", c)
		}
		relayUp = true
		step()
		if c := p.Latest(); c.Source != "athir" || c.BitsPerSecond != 0 {
			t.Errorf("back at the relay, with no rate across the change: %+v", c)
		}
		cancel()
		<-done
	})
}

func sleepOnePeriod(ctx context.Context) {
	wait, cancel := context.WithTimeout(ctx, Every)
	defer cancel()
	<-wait.Done()
}
