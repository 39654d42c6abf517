package app

import (
	"context"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/crowd"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/socket"
)

// metrics are those of parts that the API does not know. push may be nil.
func metrics(cfg *config.Config, db *store.DB, events func() socket.Stats, push *webpush.Push, hooks *webhooks.Hooks, bound *crowd.Bound) []api.Metric {
	all := slices.Concat(diskMetrics(cfg), databaseMetrics(db), eventMetrics(events), hookMetrics(hooks), boundMetrics(bound))
	if push != nil {
		all = append(all, pushMetrics(push)...)
	}
	return all
}

// diskMetrics watch the disks of the station's own data and of the media.
func diskMetrics(cfg *config.Config) []api.Metric {
	folders := map[string]string{"data": cfg.DataDir, "media": cfg.MediaDir()}
	each := func(value func(free, size uint64) uint64) func(func(float64, string)) {
		return func(add func(float64, string)) {
			for name, dir := range folders {
				if free, size, err := file.Space(dir); err == nil { // a missing folder has no disk to show
					add(float64(value(free, size)), name)
				}
			}
		}
	}
	return []api.Metric{
		{Name: "disk_free_bytes", Help: "Bytes the station may still write on the disk of a folder.", Label: "folder", Read: each(func(free, _ uint64) uint64 { return free })},
		{Name: "disk_size_bytes", Help: "Size of the disk of a folder.", Label: "folder", Read: each(func(_, size uint64) uint64 { return size })},
	}
}

// eventMetrics cover the clients of this process; each edge has its own.
func eventMetrics(stats func() socket.Stats) []api.Metric {
	one := func(read func(socket.Stats) float64) func(func(float64, string)) {
		return func(add func(float64, string)) { add(read(stats()), "") }
	}
	return []api.Metric{
		{Name: "event_clients", Help: "Clients connected to the control plane's own /socket.io/.", Label: "transport", Read: func(add func(float64, string)) {
			s := stats()
			add(float64(s.WebSockets), "websocket")
			add(float64(s.Pollers), "polling")
		}},
		{Name: "event_clients_refused_total", Help: "Handshakes refused for a limit.", Counter: true, Read: one(func(s socket.Stats) float64 { return float64(s.Refused) })},
		{Name: "event_clients_recovered_total", Help: "Clients that took up where their connection broke.", Counter: true, Read: one(func(s socket.Stats) float64 { return float64(s.Recovered) })},
		{Name: "event_clients_away", Help: "Clients that are away and may take up where their connection broke.", Read: one(func(s socket.Stats) float64 { return float64(s.Kept) })},
		{Name: "events_received_total", Help: "Events and acknowledgements from clients.", Counter: true, Read: one(func(s socket.Stats) float64 { return float64(s.EventsIn) })},
		{Name: "events_delivered_total", Help: "Deliveries to clients: a broadcast to 100 counts 100.", Counter: true, Read: one(func(s socket.Stats) float64 { return float64(s.EventsOut) })},
	}
}

// scrapeTime bounds the database queries of a scrape.
const scrapeTime = 2 * time.Second

func pushMetrics(push *webpush.Push) []api.Metric {
	one := func(read func(webpush.Stats) float64) func(func(float64, string)) {
		return func(add func(float64, string)) {
			ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
			defer cancel()
			if s, err := push.Stats(ctx); err == nil {
				add(read(s), "")
			}
		}
	}
	return []api.Metric{
		{Name: "push_subscriptions", Help: "Browsers that take notifications.", Read: one(func(s webpush.Stats) float64 { return float64(s.Subscriptions) })},
		{Name: "push_sent_total", Help: "Notifications that a push service took.", Counter: true, Read: one(func(s webpush.Stats) float64 { return float64(s.Sent) })},
		{Name: "push_failed_total", Help: "Notifications it did not take, after all attempts.", Counter: true, Read: one(func(s webpush.Stats) float64 { return float64(s.Failed) })},
		{Name: "push_dropped_total", Help: "Notifications that were too late, or too many.", Counter: true, Read: one(func(s webpush.Stats) float64 { return float64(s.Dropped) })},
		{Name: "push_pruned_total", Help: "Subscriptions that ended.", Counter: true, Read: one(func(s webpush.Stats) float64 { return float64(s.Pruned) })},
	}
}

func hookMetrics(hooks *webhooks.Hooks) []api.Metric {
	each := func(read func(webhooks.Hook) float64) func(func(float64, string)) {
		return func(add func(float64, string)) {
			ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
			defer cancel()
			list, err := hooks.List(ctx)
			if err != nil {
				return
			}
			for _, h := range list {
				add(read(h), h.ID)
			}
		}
	}
	return []api.Metric{
		{Name: "webhook_waiting", Help: "Messages in a webhook's queue.", Label: "webhook", Read: each(func(h webhooks.Hook) float64 { return float64(h.Waiting) })},
		{Name: "webhook_failing_seconds", Help: "How long nothing has arrived at a webhook; 0 while all does, and for one disabled by order.", Label: "webhook", Read: each(func(h webhooks.Hook) float64 { return failing(h, time.Now()) })},
	}
}

// failing returns for how many seconds nothing has arrived at a webhook. One that an
// operator disabled is not failing: its alert would never end.
func failing(h webhooks.Hook, now time.Time) float64 {
	if h.FailingSince == 0 || !h.Enabled && h.Note == "" {
		return 0
	}
	return now.Sub(time.UnixMilli(h.FailingSince)).Seconds()
}

// boundMetrics cover the control plane's own port. Other ports belong to other
// processes, which log their own refusals.
func boundMetrics(b *crowd.Bound) []api.Metric {
	return []api.Metric{{
		Name: "connections_refused_total", Help: "Connections closed as they came, for their address had too many.", Counter: true,
		Read: func(add func(float64, string)) { add(float64(b.Refused()), "") },
	}}
}
