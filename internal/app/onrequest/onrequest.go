// Package onrequest wires listeners' requests to the parts of the control plane that
// they ask, and that ask them. It decides nothing.
package onrequest

import (
	"context"
	"log/slog"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat/words"
	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// OnAir is the scheduler.
type OnAir interface {
	View() *scheduler.View
	Subscribe() (changed <-chan struct{}, cancel func())
	Rebuild(ctx context.Context) error
}

// Options of Open.
type Options struct {
	Config   *config.Config
	Log      *slog.Logger
	DB       *store.DB
	Library  requests.Library
	OnAir    OnAir
	Tell     func(event string, payload any)
	Happened func(requests.Event, requests.Request)
	Blocked  func(text string) bool
}

// Open opens the queue; nil if requests are switched off.
func Open(ctx context.Context, o Options) (*requests.Requests, error) {
	set, zone := o.Config.Requests, o.Config.Timezone.Location
	if !set.Enabled {
		return nil, nil //nolint:nilnil // switched off
	}
	minutes := func(n float64) time.Duration { return time.Duration(n * float64(time.Minute)) }
	return requests.Open(ctx, requests.Options{
		Log: o.Log, DB: o.DB, Library: o.Library, Zone: zone, Now: time.Now,
		Limits: requests.Limits{
			Categories: set.CategoryList(), Every: minutes(set.EveryMinutes), PerDay: set.PerDay, Queue: set.Waiting,
			Rest: minutes(set.RestMinutes), Expire: minutes(60 * set.ExpireHours),
		},
		Air: func() requests.Air { return airOf(o.OnAir.View(), zone) }, Changed: o.OnAir.Subscribe,
		Tell: o.Tell, Happened: o.Happened, Renew: o.OnAir.Rebuild, Blocked: o.Blocked, Linked: words.HasLink,
	})
}

// airOf converts a View for requests.
func airOf(v *scheduler.View, zone *time.Location) requests.Air {
	k := v.Config.Rotation
	a := requests.Air{
		Built: v.Rotation.BuiltAt, Rest: max(k.MusicFresh, k.CooldownPeriod, k.MinRest).Duration(), ArtistGap: k.ArtistGap.Duration(),
		Shortest: k.MusicMin.Duration(), Aired: func(path string) time.Time { last, _ := v.Aired(path); return last }, Starts: v.Starts,
		Plays: func(c station.Category, at time.Time) bool { return v.Config.Airs(c, at.In(zone)) },
	}
	for _, h := range append([]scheduler.OnAir{v.OnAir}, v.Past...) {
		if !h.StartedAt.IsZero() && h.Kind == scheduler.Rotation {
			a.Heard = append(a.Heard, requests.Airing{ID: h.ID(), Path: h.Track.Path, Artist: h.Track.Artist, At: h.StartedAt})
		}
	}
	for _, e := range v.Upcoming() {
		a.Next = append(a.Next, requests.Coming{Path: e.Track.Path, At: e.ExpectedAt})
	}
	return a
}

// Wanted is what listeners asked for, in the order in which it should air. r may be nil.
func Wanted(r *requests.Requests) []string {
	if r == nil {
		return nil
	}
	return r.Wanted()
}

// Metrics cover the queue; none if r is nil.
func Metrics(r *requests.Requests) []api.Metric {
	if r == nil {
		return nil
	}
	one := func(read func(requests.Stats) float64) func(func(float64, string)) {
		return func(add func(float64, string)) { add(read(r.Stats()), "") }
	}
	return []api.Metric{
		{Name: "requests_granted_total", Help: "Songs that listeners asked for and were granted.", Counter: true, Read: one(func(s requests.Stats) float64 { return float64(s.Granted) })},
		{Name: "requests_refused_total", Help: "Those that were not, by the rule that stood against them.", Label: "rule", Counter: true, Read: func(add func(float64, string)) {
			refused := r.Stats().Refused
			for _, code := range requests.Codes() {
				add(float64(refused[code]), string(code))
			}
		}},
		{Name: "requests_waiting", Help: "Requests that have not aired.", Read: one(func(s requests.Stats) float64 { return float64(s.Waiting) })},
		{Name: "requests_oldest_seconds", Help: "Age of the one that waits longest; 0 without any.", Read: one(func(s requests.Stats) float64 { return s.Oldest.Seconds() })},
	}
}
