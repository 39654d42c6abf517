package onlive

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/onface"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/certificate"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/turn"
	"github.com/athir-radio/athir/internal/live/whip"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

// WHIP takes phones in until ctx ends: their page, their sound, and the relay for those
// behind narrow networks.
func WHIP(ctx context.Context, r role.Role) error {
	cfg, log := r.Config, r.Log
	sockets, err := doors.SocketDir(cfg)
	if err != nil {
		return err
	}
	desk := wire.Desk{RoundTripper: innerhttp.Transport(doors.PartSocket(sockets, doors.Desk))}
	worn := onface.Follow(ctx, cfg, log)
	var relay *turn.Server // nil where there is none
	phones, err := whip.New(whip.Options{
		Log: log, Pipe: cfg.WHIPPipe(), UDP: cfg.Public(cfg.Ports.Media), TCP: cfg.Public(cfg.Ports.Media), Public: publicIPs(cfg),
		Control: askControl(cfg), Pages: goLivePages(cfg, log, worn), Origins: cfg.CORSOrigins, Limits: whip.Limits{Sessions: cfg.Live.Sessions},
		Note: func(ctx context.Context, muted bool) error {
			return desk.Note(ctx, live.PipeScheme+cfg.WHIPPipe(), muted)
		},
		ICEServers: func(host string, known bool) ([]string, []whip.Turn) {
			return cfg.Live.STUN, turnServers(relay, cfg, host, known)
		},
	})
	if err != nil {
		return err
	}
	encrypted, err := encryption(cfg, log)
	if err != nil {
		return err
	}
	if relay, err = newTURN(cfg, log, phones, encrypted); err != nil {
		return err
	}
	srv := doors.NewServer(cfg.Public(cfg.Ports.WHIP), phones.Handler())
	srv.TLSConfig = encrypted
	return r.Run(ctx, role.Work{Well: role.PartReached(sockets, doors.WHIP), Busy: phonesConnected(phones), Run: func(ctx context.Context) error {
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return doors.Named("phones", phones.Run(ctx)) })
		g.Go(func() error { return doors.Named("the station's face", worn.Run(ctx)) })
		if relay != nil {
			g.Go(func() error { return doors.Named("TURN", relay.Run(ctx)) })
		}
		g.Go(func() error {
			return doors.Named("inner socket", innerhttp.Serve(ctx, doors.PartSocket(sockets, doors.WHIP), answering(withRelay(phones.Inner(), relay, len(cfg.Live.TURNServers) > 0), phones.Handler()), r.Handover))
		})
		g.Go(func() error {
			return doors.Named("whip port", doors.Serve(ctx, srv, doors.NewBound(cfg, log), r.Handover))
		})
		return g.Wait()
	}})
}

// encryption is that of 8089 and of TURN over TLS; nil where the settings want none.
func encryption(cfg *config.Config, log *slog.Logger) (*tls.Config, error) {
	if cfg.Live.TLSCert == "" {
		return nil, nil //nolint:nilnil // documented
	}
	pair, err := certificate.Open(cfg.Live.TLSCert, cfg.Live.TLSKey, log)
	if err != nil {
		return nil, fmt.Errorf("%w: correct live.tls_cert and live.tls_key, or leave them empty", err)
	}
	return pair.Config(), nil
}

// newTURN makes the relay for phones; nil where the settings want none.
func newTURN(cfg *config.Config, log *slog.Logger, phones *whip.Server, encrypted *tls.Config) (*turn.Server, error) {
	o := turn.Options{Log: log, Secret: cfg.Secret(config.TurnSecret), Address: cfg.Public(cfg.Ports.TURN)}
	switch {
	case len(cfg.Live.TURNServers) > 0:
		o.External = turn.External{URLs: cfg.Live.TURNServers, Secret: cfg.Secret(config.TurnSecret)}
	case !cfg.Live.TURN || cfg.TurnSecret == "":
		return nil, nil //nolint:nilnil // documented
	default:
		o.TLSAddress, o.TLS = cfg.Public(cfg.Ports.TURNS), encrypted
	}
	outside := publicIPs(cfg)
	for _, at := range phones.MediaUDP() {
		m := turn.Media{Public: at}
		if len(outside) > 0 {
			m.Public, m.Inner = netip.AddrPortFrom(outside[0], at.Port()), at
		}
		o.Media = append(o.Media, m)
	}
	return turn.New(o)
}

// turnServers are the TURN servers of a page that was opened at host, of a known publisher
// or of anybody.
func turnServers(relay *turn.Server, cfg *config.Config, host string, known bool) (out []whip.Turn) {
	if relay == nil {
		return nil
	}
	for _, s := range relay.Servers(time.Now(), host, known) {
		out = append(out, whip.Turn{URLs: s.URLs, Username: s.Username, Credential: s.Credential})
	}
	return out
}

// withRelay adds the figures of the TURN server, where it is ours.
func withRelay(h http.Handler, relay *turn.Server, elsewhere bool) http.Handler {
	if relay == nil || elsewhere {
		return h
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /turn", func(w http.ResponseWriter, _ *http.Request) {
		s := relay.Stats()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(live.RelayReport{ // the reader may be gone
			Allocations: s.Allocations, Connections: s.Connections, Allocated: s.Allocated, OverQuota: s.OverQuota, Ousted: s.Ousted, Refused: s.Refused,
			Limited: s.Limited, Forbidden: s.Forbidden, Dropped: s.Dropped, BytesUp: s.BytesUp, BytesDown: s.BytesDown,
		})
	})
	mux.Handle("/", h)
	return mux
}

// askControl is how the node's live processes ask the control plane.
func askControl(cfg *config.Config) wire.Control {
	return wire.Control{Base: "http://" + cfg.ControlAddress(), Token: cfg.Secret(config.SyncToken), HTTP: &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second}}
}

// goLivePages are the page of presenters, and the part of the API that it shows.
func goLivePages(cfg *config.Config, log *slog.Logger, worn onface.Front) http.Handler {
	return front.Handler(front.Options{Log: log, Made: worn.Pages("/go-live", pages.GoLive), Control: cfg.ControlAddress(), Token: cfg.EdgeToken, Only: []string{"GET /api/status", "GET /api/upnext"}})
}

// answering adds to an inner socket what its supervisor asks, and what the control plane
// probes: public is nil where there is nothing.
func answering(h, public http.Handler) http.Handler {
	mux := http.NewServeMux()
	if public != nil {
		mux.Handle("GET /whip-info", public)
	}
	mux.HandleFunc("GET "+front.LivePath, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.Handle("/", h)
	return mux
}

func publicIPs(cfg *config.Config) (out []netip.Addr) {
	for _, text := range cfg.Live.PublicIPs {
		if a, err := netip.ParseAddr(strings.TrimSpace(text)); err == nil { // validated
			out = append(out, a)
		}
	}
	return out
}
