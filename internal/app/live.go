package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/greenroom"
	"github.com/athir-radio/athir/internal/live/publisher"
	"github.com/athir-radio/athir/internal/live/registry"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/web/api"
)

// onLive is the control plane's side of live broadcasting.
type onLive struct {
	cfg        *config.Config
	publishers *publisher.Publishers
	streams    *registry.Registry
	takeover   *takeover.Takeover
	room       *greenroom.Room
	desk       wire.Desk
	phones     wire.Phones
	recordings wire.Recordings
}

// openLive opens live broadcasting. listeners counts the station's.
func openLive(ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, owner *policy.Owner, node *link, view func() *scheduler.View, listeners func() int) (*onLive, error) {
	l := &onLive{
		cfg: cfg, desk: wire.Desk{RoundTripper: node.inner(deskPart)}, phones: wire.Phones{RoundTripper: node.inner(whipPart)},
		recordings: wire.Recordings{RoundTripper: node.inner(deskPart), Piece: node.innerMost},
	}
	var err error
	if l.publishers, err = publisher.Open(ctx, publisher.Options{Log: log, DB: db, Zone: cfg.Timezone.Location, Now: time.Now}); err != nil {
		return nil, err
	}
	allowed, err := cfg.Live.NetworkList()
	if err != nil {
		return nil, err
	}
	l.streams, err = registry.Open(registry.Options{
		Log: log, Store: kept{owner}, Changed: func() { l.takeover.Refresh() },
		Addresses: registry.Addresses{Pipes: cfg.PipeDir(), Own: []string{rtmpOwn(cfg)}, Public: permitted(allowed)},
	})
	if err != nil {
		return nil, err
	}
	whipInfo := &http.Client{Timeout: 3 * time.Second}
	l.takeover = takeover.New(takeover.Options{
		Log: log, Streams: l.streams, Record: l.streams, Desk: awayDesk{l.desk}, Presenter: l.publishers.Allowed,
		Probe: func(ctx context.Context) (bool, error) { return wire.Feed(ctx, whipInfo, whipURL(cfg)+"/whip-info") },
		OnAir: func() (string, time.Time) { a := view().OnAir; return string(a.Kind), a.StartedAt },
	})
	l.room = greenroom.New(greenroom.Options{
		Log: log, Publishers: doorkeeper{l.publishers}, Takeover: stage{l.takeover}, Now: time.Now,
		Air: func() greenroom.Air { return heardNow(view(), listeners()) },
	})
	return l, nil
}

// run runs live broadcasting until ctx ends.
func (l *onLive) run(ctx context.Context, g *errgroup.Group) {
	g.Go(func() error { return named("live takeover", l.takeover.Run(ctx)) })
	g.Go(func() error { return named("green room", l.room.Run(ctx)) })
}

// surface is what the API calls.
func (l *onLive) surface() *api.Live {
	return &api.Live{
		Takeover: liveDesk{l}, Registry: l.streams, Publishers: liveAccounts{l.publishers}, Phones: l.phones,
		Recordings: liveRecordings{l.recordings, l.cfg.InboxDir()}, Listen: l.desk.Listen, Door: l.room,
		Entrances: api.LiveEntrances{GoLive: goLive(l.cfg), WHIP: l.cfg.Ports.WHIP, Source: l.cfg.Ports.Live, RTMP: l.cfg.Ports.RTMP},
	}
}

func goLive(cfg *config.Config) string {
	if cfg.Live.Address == "" {
		return ""
	}
	return cfg.Live.Address + "/go-live"
}

// whipURL is where the control plane finds the WHIP server.
func whipURL(cfg *config.Config) string {
	scheme := "http://"
	if cfg.Live.TLSCert != "" {
		scheme = "https://"
	}
	return scheme + cfg.OnNode(cfg.Ports.WHIP)
}

// kept lets the registry keep its streams in the station configuration.
type kept struct{ *policy.Owner }

// permitted refuses addresses that no stream may have: those that are not public, and not
// in a network of the operator's.
func permitted(networks []netip.Prefix) func(netip.Addr) error {
	return func(a netip.Addr) error {
		for _, n := range networks {
			if n.Contains(a.Unmap()) {
				return nil
			}
		}
		return fetch.Public(a)
	}
}

// awayDesk tells a node without its live desk from one that is not heard of.
type awayDesk struct{ wire.Desk }

// Put implements takeover.Desk.
func (d awayDesk) Put(ctx context.Context, o live.Order) (live.Report, error) {
	r, err := d.Desk.Put(ctx, o)
	return r, away(err)
}

// Report implements takeover.Desk.
func (d awayDesk) Report(ctx context.Context, after uint64) (live.Report, error) {
	r, err := d.Desk.Report(ctx, after)
	return r, away(err)
}

// away marks the error of a node that answers for its desk: its socket is closed, or the
// node says over the bus that it cannot ask it.
func away(err error) error {
	var refused *bus.Refusal
	var dial *net.OpError
	if errors.As(err, &refused) || errors.As(err, &dial) && dial.Op == "dial" {
		return errors.Join(takeover.ErrAway, err)
	}
	return err
}

// doorkeeper adapts the accounts for the green room.
type doorkeeper struct{ *publisher.Publishers }

// Admit implements greenroom.Publishers.
func (d doorkeeper) Admit(_ context.Context, who live.Credentials) (live.Admission, error) {
	return d.Publishers.Admit(who), nil
}

// stage adapts the takeover for the green room.
type stage struct{ *takeover.Takeover }

// Take implements greenroom.Takeover.
func (s stage) Take(ctx context.Context, id, by string) error {
	_, err := s.Start(ctx, id, live.Replace, by)
	return err
}

// Presence implements greenroom.Takeover.
func (s stage) Presence(stream string) greenroom.Presence {
	p, now := s.Takeover.Presence(stream), s.Status()
	out := greenroom.Presence{State: p.State, Since: p.Since, TakenBy: p.TakenBy}
	if now.Active != nil && now.Active.ID == stream {
		out.WrapUpAt = now.WrapUpAt
	}
	return out
}

// nextShown is how much of what comes next a presenter sees.
const nextShown = 3

// heardNow is what a presenter sees of the air.
func heardNow(v *scheduler.View, listeners int) greenroom.Air {
	a := greenroom.Air{Now: live.FactsAir{Title: v.OnAir.Track.Title, Artist: v.OnAir.Track.Artist, Kind: string(v.OnAir.Kind)}, Listeners: listeners}
	for _, item := range v.Items()[min(v.Consumed, len(v.Rotation.Entries)):] {
		if len(a.Next) == nextShown {
			break
		}
		if item.Track.Category.Music() {
			a.Next = append(a.Next, live.FactsTrack{Title: item.Track.Title, Artist: item.Track.Artist})
		}
	}
	return a
}

// liveDesk adapts the takeover for the API.
type liveDesk struct{ *onLive }

// View implements api.Takeover.
func (l liveDesk) View() api.LiveView {
	s := l.takeover.Status()
	report, known := l.takeover.Report()
	out := api.LiveView{Next: s.Next, Show: s.Show, WrapUpAt: s.WrapUpAt, Report: report, Reachable: known}
	marks := l.streams.Marks()
	on := map[string]bool{}
	for _, src := range s.Sources {
		on[src.ID] = src.State != live.Gone && src.State != live.Connecting
	}
	for _, w := range s.Waiting {
		on[w.ID] = true
	}
	ranked := l.streams.Candidates(on)
	place := map[string]int{}
	for i, stream := range ranked {
		place[stream.ID] = i
	}
	all := l.streams.List()
	out.Registry = make([]api.LiveStream, 0, len(all))
	for _, stream := range ranked {
		if shown, err := l.streams.Find(stream.ID); err == nil {
			out.Registry = append(out.Registry, api.LiveStream{Stream: shown})
		}
	}
	for _, stream := range all {
		if _, ok := place[stream.ID]; !ok {
			mark := marks[stream.ID]
			out.Registry = append(out.Registry, api.LiveStream{Stream: stream, Blacklisted: &mark})
		}
	}
	if a := s.Active; a != nil {
		stream, err := l.streams.Find(a.ID)
		if err != nil { // removed meanwhile
			stream = live.Stream{ID: a.ID, Title: a.Title, Creator: a.Creator}
		}
		out.Active = &api.LiveActive{Stream: stream, Mode: a.Mode, Since: a.Since}
		if who, err := l.publishers.Find(a.Publisher); err == nil {
			out.Active.Publisher = who.Name
		}
	}
	return out
}

// byStudio is who gives the orders of the API.
const byStudio = "the studio"

// Start implements api.Takeover.
func (l liveDesk) Start(ctx context.Context, id string, mode live.Mode) (live.Stream, error) {
	s, err := l.takeover.Start(ctx, id, mode, byStudio)
	return l.about(s, id), err
}

// about is the stream that an order was about.
func (l liveDesk) about(s takeover.Status, id string) live.Stream {
	if id == "" && s.Active != nil {
		id = s.Active.ID
	}
	stream, _ := l.streams.Find(id) // none: there was no candidate
	return stream
}

// Stop implements api.Takeover.
func (l liveDesk) Stop(ctx context.Context) (bool, error) {
	was := l.takeover.Status().Active != nil
	_, err := l.takeover.Stop(ctx, "stopped by the studio")
	return was, err
}

// Hand implements api.Takeover.
func (l liveDesk) Hand(ctx context.Context, id string) (live.Stream, error) {
	s, err := l.takeover.Hand(ctx, id)
	return l.about(s, id), err
}

// WrapUp implements api.Takeover.
func (l liveDesk) WrapUp(ctx context.Context, in time.Duration) error {
	_, err := l.takeover.WrapUp(ctx, int(in/time.Second))
	return err
}

// Show implements api.Takeover.
func (l liveDesk) Show(ctx context.Context, title string, until time.Time, bed string) error {
	if bed != "" {
		bed = filepath.Join(l.cfg.MediaDir(), filepath.FromSlash(bed)) // a file of the library
	}
	_, err := l.takeover.Begin(ctx, title, until, bed)
	return err
}

// EndShow implements api.Takeover.
func (l liveDesk) EndShow(ctx context.Context) error {
	_, err := l.takeover.End(ctx)
	return err
}
