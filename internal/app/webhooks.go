package app

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/webhooks"
)

// The events of the station that webhooks can ask for. docs/webhooks.md has
// their data.
const (
	eventTrack      = "track.change"
	eventLiveStart  = "live.start"
	eventLiveStop   = "live.stop"
	eventDeadAir    = "dead_air.raised"
	eventAirBack    = "dead_air.cleared"
	eventBulletin   = "bulletin.made"
	eventMilestone  = "listeners.milestone"
	webhookTimeout  = 10 * time.Second
	connectionsKept = 90 * time.Second
)

func webhookEvents() []webhooks.Event {
	return []webhooks.Event{
		{Name: eventTrack, Doc: "Something else is on air"},
		{Name: eventLiveStart, Doc: "Somebody goes live"},
		{Name: eventLiveStop, Doc: "The live broadcast is over"},
		{Name: eventDeadAir, Doc: "Dead air, or what leads to it"},
		{Name: eventAirBack, Doc: "It sounds again"},
		{Name: eventBulletin, Doc: "A bulletin was made"},
		{Name: eventMilestone, Doc: "As many listeners as never before, or a round number of them"},
	}
}

func openWebhooks(ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, version string) (*webhooks.Hooks, error) {
	return webhooks.Open(ctx, webhooks.Options{
		Log: log, DB: db, Events: webhookEvents(), Station: cfg.Name, Timeout: webhookTimeout,
		// Operators name receivers: any port above those of the system's services.
		Sender: fetch.New(fetch.Options{
			Version: version, Allow: private(cfg.Webhooks.AllowPrivate), Setting: "webhooks.allow_private: true",
			Ports: []fetch.PortRange{{From: 80, To: 80}, {From: 443, To: 443}, {From: 1024, To: 65535}},
		}),
	})
}

// private are all addresses where an operator allows those that are not public.
func private(allowed bool) []netip.Prefix {
	if !allowed {
		return nil
	}
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
}
