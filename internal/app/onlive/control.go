// Package onlive wires live broadcasting: the control plane's side of it, the two processes
// of the node, and what else the node needs to know of presenters.
package onlive

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/carts"
	"github.com/athir-radio/athir/internal/live/publisher"
	"github.com/athir-radio/athir/internal/live/registry"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// Live is the control plane's side of live broadcasting.
type Live struct {
	cfg        *config.Config
	airs       func(rel string) string
	publishers *publisher.Publishers
	streams    *registry.Registry
	takeover   *takeover.Takeover
	door       takeover.Door
	desk       wire.Desk
	phones     wire.Phones
	relay      wire.Relay
	recordings wire.Recordings
	figures    *takeover.Phones
	audience   *takeover.Audience
	carts      *carts.Carts
}

// Options of Live. All are required.
type Options struct {
	Config *config.Config
	Log    *slog.Logger
	DB     *store.DB
	Owner  *policy.Owner
	// Inner reaches a live process of the node. The most that one answer holds is in bytes;
	// 0: there is no bound. With news it is a way beside all others, for one who asks for news.
	Inner     func(part string, news bool) http.RoundTripper
	InnerMost int64
	NodeTime  func(time.Time) time.Time // converts a time of the node's clock to ours
	Airs      func(rel string) string   // the path of what airs for a track of the library
	Library   func() *media.Snapshot
	View      func() *scheduler.View
	Listeners func() int // the station's, now
	Told      func(takeover.Event)
}

// Open opens live broadcasting.
func Open(ctx context.Context, o Options) (*Live, error) {
	cfg, log, view, clock := o.Config, o.Log, o.View, &wire.Clock{Measured: o.NodeTime}
	l := &Live{
		cfg: cfg, desk: wire.Desk{RoundTripper: o.Inner(doors.Desk, false), News: o.Inner(doors.Desk, true), Pieces: o.InnerMost > 0, Clock: clock}, airs: o.Airs, phones: wire.Phones{RoundTripper: o.Inner(doors.WHIP, false), Clock: clock},
		relay: wire.Relay{RoundTripper: o.Inner(doors.Relay, false)}, recordings: wire.Recordings{RoundTripper: o.Inner(doors.Desk, false), Piece: o.InnerMost, Clock: clock},
	}
	var err error
	if l.publishers, err = publisher.Open(ctx, publisher.Options{Log: log, DB: o.DB, Zone: cfg.Timezone.Location, Now: time.Now}); err != nil {
		return nil, err
	}
	allowed, err := cfg.Live.NetworkList()
	if err != nil {
		return nil, err
	}
	l.streams, err = registry.Open(registry.Options{
		Log: log, Store: kept{o.Owner}, Changed: func() { l.takeover.Refresh() },
		Addresses: registry.Addresses{Pipes: cfg.PipeDir(), Elsewhere: cfg.Node.Remote, Own: []string{rtmpOwn(cfg)}, Public: permitted(allowed)},
	})
	if err != nil {
		return nil, err
	}
	l.takeover = takeover.New(takeover.Options{
		Log: log, Streams: l.streams, Record: l.streams, Desk: awayDesk{l.desk}, Presenter: l.publishers.Allowed, Aired: l.publishers.Touch,
		Probe:  func(ctx context.Context) (bool, error) { return l.phones.Feed(ctx) },
		Phones: func(ctx context.Context) ([]live.Session, error) { return l.phones.Sessions(ctx) },
		OnAir:  func() (string, time.Time) { a := view().OnAir; return string(a.Kind), a.StartedAt }, Told: o.Told, Here: clock.Here,
		Disconnect: l.disconnect, Sent: sent(cfg),
	})
	l.figures = takeover.NewPhones(l.phones, l.takeover.Busy)
	l.audience = takeover.NewAudience(takeover.AudienceOptions{
		Log: log, Takeover: l.takeover, Listeners: o.Listeners, Stream: l.streams.SetListeners, Recording: l.recordings.SetListeners,
	})
	l.door = takeover.Door{Takeover: l.takeover, Accounts: l.publishers, Air: func() takeover.Air { return heardNow(view(), o.Listeners()) }}
	if l.carts, err = carts.Open(ctx, carts.Options{
		Log: log, DB: o.DB, Desk: l.desk, Report: l.takeover.Report, Find: (&cartFiles{library: o.Library, airs: o.Airs, remote: cfg.Node.Remote}).find,
	}); err != nil {
		return nil, err
	}
	return l, nil
}

// Run runs live broadcasting until ctx ends.
func (l *Live) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return l.takeover.Run(ctx) })
	g.Go(func() error { return l.figures.Run(ctx) })
	g.Go(func() error { return l.audience.Run(ctx) })
	g.Go(func() error { return l.carts.Run(ctx) })
	return g.Wait()
}

// Announced reports whether listeners who asked for it are to be told of what has just gone
// live.
func (l *Live) Announced() bool { return l.takeover.Announced() }

// Recordings are those of the node.
func (l *Live) Recordings() wire.Recordings { return l.recordings }

// Status is what is live now.
func (l *Live) Status() takeover.Status { return l.takeover.Status() }

// Surface is what the API calls.
func (l *Live) Surface() *api.Live {
	return &api.Live{
		Takeover: liveDesk{takeover.Studio{Takeover: l.takeover}, l}, Registry: l.streams, Publishers: liveAccounts{l.publishers}, Phones: l.phones,
		Recordings: liveRecordings{l.recordings, l.cfg.InboxDir()}, Carts: l.carts, Listen: l.listen, Door: l.door,
		Figures:   api.LiveFigures{Status: l.takeover.Status, Phones: l.figures.Figures, Streams: l.registered},
		Entrances: entrances(l.cfg),
	}
}

// disconnect ends a session at the part of the node that has it.
func (l *Live) disconnect(ctx context.Context, who live.Arrival, why string) error {
	switch who.Protocol {
	case live.Icecast:
		return l.desk.End(ctx, who.Session)
	case live.RTMP:
		name, id := rtmpConnection(who.Session)
		return l.relay.End(ctx, name, id)
	default:
		return l.phones.End(ctx, who.Session, why)
	}
}

// listen passes on what a stream sends, on the air or not.
func (l *Live) listen(ctx context.Context, id string) (*http.Response, error) {
	src, err := l.streams.Source(id)
	if err != nil {
		return nil, err
	}
	return l.desk.Listen(ctx, src)
}

// sent tells the addresses of the node's RTMP ingest. MediaMTX tells nobody who publishes: there
// they are fetched as any other.
func sent(cfg *config.Config) func(url string) bool {
	own, told := rtmpOwn(cfg), cfg.HLS.MediaMTX == ""
	return func(url string) bool { return told && strings.HasPrefix(url, own) }
}

// entrances are where live audio comes in, as far as the settings say.
func entrances(cfg *config.Config) api.LiveEntrances {
	e := api.LiveEntrances{WHIP: cfg.Ports.WHIP, Secure: cfg.Live.TLSCert != "", Source: cfg.Ports.Live, RTMP: cfg.Ports.RTMP}
	if cfg.Live.Address != "" {
		e.GoLive = cfg.Live.Address + "/go-live"
	}
	return e
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
	// A desk that has no time answers late: only a socket that nobody listens at says that
	// there is none.
	if errors.As(err, &refused) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
		return errors.Join(takeover.ErrAway, err)
	}
	return err
}

// nextShown is how much of what comes next a presenter sees.
const nextShown = 3

// heardNow is what a presenter sees of the air.
func heardNow(v *scheduler.View, listeners int) takeover.Air {
	a := takeover.Air{OnAir: live.FactsAir{Title: v.OnAir.Track.Title, Artist: v.OnAir.Track.Artist, Kind: string(v.OnAir.Kind)}, Listeners: listeners}
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
type liveDesk struct {
	takeover.Studio
	*Live
}

// View implements api.Takeover.
func (l liveDesk) View() api.LiveView {
	s := l.takeover.Status()
	out := api.LiveView{Next: s.Next, Show: s.Show, WrapUpAt: s.WrapUpAt, Encoders: s.Encoders}
	marks := l.streams.Marks()
	out.Registry = []api.LiveStream{}
	for _, stream := range l.takeover.Ranked() {
		one := api.LiveStream{Stream: stream.Stream, Available: stream.Available}
		if m, marked := marks[stream.ID]; marked {
			one.Blacklisted = &m
		}
		out.Registry = append(out.Registry, one)
	}
	if a := s.Active; a != nil {
		stream, err := l.streams.Find(a.ID)
		if err != nil { // removed meanwhile
			stream = live.Stream{ID: a.ID, Title: a.Title, Creator: a.Creator}
		}
		out.Active = &api.LiveActive{Stream: stream, Mode: a.Mode, Since: a.Since, OnAir: a.OnAir}
		if who, err := l.publishers.Find(a.Publisher); err == nil {
			out.Active.Publisher = who.Name
		}
	}
	return out
}

// Look implements api.Takeover.
func (l liveDesk) Look(ctx context.Context) (live.Report, bool) { return l.takeover.Look(ctx) }

// registered counts the streams, and those that are left out of the ranking.
func (l *Live) registered() (all, blacklisted int) {
	return len(l.streams.List()), len(l.streams.Marks())
}

// Start implements api.Takeover. Without a candidate the normal mix goes on, which is no
// error (mission: Live takeover): the stream is then empty.
func (l liveDesk) Start(ctx context.Context, id string, mode live.Mode) (live.Stream, error) {
	stream, err := l.Studio.Start(ctx, id, mode)
	if id == "" && errors.Is(err, station.ErrConflict) && l.takeover.Status().Next == "" {
		return live.Stream{}, nil
	}
	return stream, err
}

// Show implements api.Takeover.
func (l liveDesk) Show(ctx context.Context, title string, until time.Time, bed string) error {
	if bed != "" && !l.cfg.Node.Remote { // a node elsewhere pulls it by its path in the library
		bed = l.airs(bed)
	}
	return l.Studio.Show(ctx, title, until, bed)
}
