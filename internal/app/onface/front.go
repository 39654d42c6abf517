package onface

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/onsocial"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/face"
	"github.com/athir-radio/athir/internal/web/cards"
	"github.com/athir-radio/athir/internal/web/pages"
)

// firstPull bounds how long a front waits for the control plane before it serves listeners.
const firstPull = 3 * time.Second

// Front is the face in a process that serves pages and keeps nothing of the station.
type Front struct {
	*pages.Follower
	feeds *feeds
}

// Run follows it until ctx ends, and which shows there are.
func (f Front) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return f.Follower.Run(ctx) })
	g.Go(func() error { return f.feeds.Run(ctx) })
	return g.Wait()
}

// Follow follows the face of the control plane; Run must be called.
func Follow(ctx context.Context, cfg *config.Config, log *slog.Logger) Front {
	f := newFront(log, cfg.ControlAddress(), &http.Transport{
		DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, DisableCompression: true,
	}, defaults(cfg))
	ctx, cancel := context.WithTimeout(ctx, firstPull)
	defer cancel()
	_ = f.Pull(ctx) // Run says what is wrong
	return f
}

func newFront(log *slog.Logger, control string, by http.RoundTripper, first face.Defaults) Front {
	return Front{pages.NewFollower(log, control, by, first), &feeds{base: control, ask: by}}
}

func (f Front) name() string { return f.Now().Name() }

// Pages makes the pages of a front, which asks the control plane for what it describes. home is
// where a page that is not there leads.
func (f Front) Pages(home string, list ...pages.Page) func(control http.Handler) http.Handler {
	return func(control http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle(cards.Prefix, cards.NewPassed(control, func() string { return f.Now().Icon() }))
		mux.Handle("/", pages.New(pages.Options{
			Dress: f.Now, Home: home, Feeds: f.feeds.Now,
			Describe: map[pages.Page]func(*http.Request) *pages.Description{
				pages.Social:   onsocial.OnFront(control, f.name),
				pages.History:  ofTrackOnFront(control, f.name),
				pages.Podcasts: ofShowOnFront(control, f.name),
			},
		}, list...))
		return mux
	}
}
