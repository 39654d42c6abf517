package app

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/outward"
)

const (
	webhookTimeout  = 10 * time.Second
	connectionsKept = 90 * time.Second
)

// world sends push notifications and webhooks.
type world struct {
	*outward.Outward
	push   *webpush.Push // nil when it is switched off
	sender *fetch.Client // of push
	hooks  *webhooks.Hooks
}

func openOutward(ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, air outward.Air, announced func() bool, alarms outward.Alarms, version string) (*world, error) {
	hooks, err := openWebhooks(ctx, cfg, log, db, version)
	if err != nil {
		return nil, err
	}
	o := &world{hooks: hooks}
	if cfg.Push.Enabled {
		if err := o.openPush(ctx, cfg, log, db, version); err != nil {
			return nil, err
		}
	}
	opt := outward.Options{Log: log, Hooks: hooks, Alarms: alarms, Air: air, Announced: announced}
	if o.push != nil {
		opt.Push = o.push
	}
	o.Outward = outward.New(opt)
	return o, nil
}

func (o *world) openPush(ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, version string) (err error) {
	// A private push service may use any port.
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
		log.Info("push.subject is empty, Apple's browsers get no notifications: set it to a mailto: or https: address")
	}
	return err
}

// desk returns push for the API; nil if it is switched off.
func (o *world) desk() api.Push {
	if o.push == nil {
		return nil
	}
	return o.push
}

// run sends until ctx ends.
func (o *world) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return doors.Named("webhooks", o.hooks.Run(ctx)) })
	if o.push != nil {
		defer o.sender.Close()
		g.Go(func() error { return doors.Named("push", o.push.Run(ctx)) })
	}
	g.Go(func() error {
		o.Run(ctx)
		return nil
	})
	return g.Wait()
}

func openWebhooks(ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, version string) (*webhooks.Hooks, error) {
	return webhooks.Open(ctx, webhooks.Options{
		Log: log, DB: db, Events: outward.Events(), Station: cfg.Name, Timeout: webhookTimeout,
		// Operators name receivers: web ports, and any above the system's services.
		Sender: fetch.New(fetch.Options{
			Version: version, Allow: private(cfg.Webhooks.AllowPrivate), Setting: "webhooks.allow_private: true",
			Ports: []fetch.PortRange{{From: 80, To: 80}, {From: 443, To: 443}, {From: 1024, To: 65535}},
		}),
	})
}

// private returns all addresses if the operator allows private ones, else none.
func private(allowed bool) []netip.Prefix {
	if !allowed {
		return nil
	}
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
}
