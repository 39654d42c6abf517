// Package turn is the way to the WHIP server for phones behind networks that let no
// media through: a TURN server (RFC 8656) over UDP, TCP and TLS whose relay leads to
// the WHIP server's media and nowhere else, and the credentials for it, which are derived
// from a secret that changes every 12 hours (Credentials).
//
// Where the operator has a TURN server of their own, it only mints credentials for that.
//
// It refuses to relay TCP (RFC 6062), to keep ports for clients, and to believe in any
// address that is not the media's.
package turn

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pion/stun/v3"
	pion "github.com/pion/turn/v5"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/crowd"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/station"
)

// Options configures a Server.
type Options struct {
	Log *slog.Logger
	// Secret is TURN_SECRET; the credentials' secrets are derived from it.
	Secret *secret.Secret
	Realm  string // "athir" when empty

	Address string // host:port of UDP and TCP, ":3478"
	// TLSAddress is host:port of TLS, ":5349"; TLS has its certificate. Nil: no TLS.
	TLSAddress string
	TLS        *tls.Config

	// Media are the addresses of the WHIP server's media.
	Media []Media
	// PortMin and PortMax bound the ports of the relay, on loopback; 0: any free one.
	PortMin, PortMax uint16
	Quotas           Quotas

	// External is the operator's own TURN server; then nothing else but Log is read, and
	// nothing runs.
	External External

	Now func() time.Time // time.Now when nil
}

// External is a TURN server elsewhere, with TURN's REST credentials (coturn's
// use-auth-secret).
type External struct {
	URLs   []string       // "turn:turn.example.org:3478"
	Secret *secret.Secret // its static-auth-secret
}

// Turn is one entry of what a page gives to its RTCPeerConnection as iceServers.
type Turn struct {
	URLs       []string `json:"urls"`
	Username   string   `json:"username"`
	Credential string   `json:"credential"`
}

// Server is the TURN server. Make it with New, run it once with Run.
type Server struct {
	opts  Options
	log   *slog.Logger
	gate  gate
	book  *book
	turns *client.Limits
	bound *crowd.Bound
	slots chan struct{} // of connections
	count counters

	ready chan struct{}
	mu    sync.Mutex
	ports map[string]netip.AddrPort // by door
}

// sweepEvery is how often allocations that are too old or too quiet are looked for.
const sweepEvery = 10 * time.Second

// New checks the options. It binds nothing.
func New(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	setDefault(&o.Realm, "athir")
	o.Quotas = o.Quotas.withDefaults()
	s := &Server{
		opts: o, log: o.Log, book: newBook(o.Quotas, o.Now), ready: make(chan struct{}),
		turns: client.NewLimits(o.Quotas.Requests, o.Quotas.Every, o.Now),
		slots: make(chan struct{}, o.Quotas.Connections), ports: map[string]netip.AddrPort{},
		bound: crowd.New(crowd.Options{
			Most: 2 * o.Quotas.PerAddress, Wider: client.Wider, Log: o.Log,
			Key: func(a net.Addr) string { return addressKey(addrPort(a).Addr()) },
		}),
	}
	if len(o.External.URLs) > 0 {
		if !o.External.Secret.Set() {
			return nil, fmt.Errorf("TURN server of your own: %w: set turn_secret to its static-auth-secret", station.ErrInvalid)
		}
		return s, nil
	}
	switch {
	case !o.Secret.Set():
		return nil, fmt.Errorf("TURN server: %w: without turn_secret anybody could make credentials: set it", station.ErrInvalid)
	case o.Address == "":
		return nil, fmt.Errorf("TURN server: %w: no address: set ports.turn", station.ErrInvalid)
	case len(o.Media) == 0:
		return nil, fmt.Errorf("TURN server: %w: it relays to the WHIP server's media, and no address of that is known: set live.public_ips", station.ErrInvalid)
	case o.PortMin > o.PortMax || (o.PortMin == 0) != (o.PortMax == 0):
		return nil, fmt.Errorf("TURN server: %w: relay ports %d to %d are no range", station.ErrInvalid, o.PortMin, o.PortMax)
	}
	for _, m := range o.Media {
		if err := m.clean(); err != nil {
			return nil, err
		}
		s.gate = append(s.gate, m)
	}
	return s, nil
}

// Ready is closed once every address is bound.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// Addr is where a door is bound, udp, tcp or tls; the zero value before Ready.
func (s *Server) Addr(door string) netip.AddrPort {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ports[door]
}

// Servers are the TURN servers for a page that a phone has opened at a host, with a
// credential of its own that is good from now. Publisher says that the page has shown the
// key of one: some places are for those alone. A server of our own that is not bound yet
// is not among them.
func (s *Server) Servers(now time.Time, host string, publisher bool) []Turn {
	name := rand.Text()[:12]
	if publisher {
		name = publisherMark + name
	}
	if e := s.opts.External; len(e.URLs) > 0 {
		username := strconv.FormatInt(now.Add(Lifetime).Unix(), 10) + ":" + name
		return []Turn{{e.URLs, username, sign([]byte(e.Secret.Current()), username)}}
	}
	at := func(scheme, door, transport string) string {
		return fmt.Sprintf("%s:%s?transport=%s", scheme, net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(int(s.Addr(door).Port()))), transport)
	}
	var urls []string
	if s.Addr("udp").IsValid() {
		urls = append(urls, at("turn", "udp", "udp"), at("turn", "tcp", "tcp"))
	}
	if s.Addr("tls").IsValid() {
		urls = append(urls, at("turns", "tls", "tcp"))
	}
	if urls == nil {
		return nil
	}
	username, password := Issue(s.opts.Secret.Current(), name, now)
	return []Turn{{urls, username, password}}
}

// Run serves until ctx ends or an address cannot be bound. It returns when all it started
// has stopped; a requested end is not an error.
func (s *Server) Run(ctx context.Context) error {
	if len(s.opts.External.URLs) > 0 {
		close(s.ready)
		<-ctx.Done()
		return nil
	}
	udp, doors, err := s.listen(ctx)
	if err != nil {
		return fmt.Errorf("start TURN server: %w", err)
	}
	var all sync.WaitGroup
	var servers []*pion.Server
	defer func() {
		_ = udp.Close()
		for _, d := range doors {
			_ = d.Close()
		}
		for _, server := range servers {
			_ = server.Close()
		}
		all.Wait()
		<-s.book.drained()
	}()
	for _, d := range doors {
		all.Go(func() { d.run(ctx) })
		server, err := pion.NewServer(s.config(d.screen.door, pion.ServerConfig{
			ListenerConfigs: []pion.ListenerConfig{{Listener: d, RelayAddressGenerator: s.generator(), PermissionHandler: s.permit}},
		}))
		if err != nil {
			return fmt.Errorf("start TURN server: %w", err)
		}
		servers = append(servers, server)
	}
	server, err := pion.NewServer(s.config("udp", pion.ServerConfig{
		PacketConnConfigs: []pion.PacketConnConfig{{PacketConn: udp, RelayAddressGenerator: s.generator(), PermissionHandler: s.permit}},
	}))
	if err != nil {
		return fmt.Errorf("start TURN server: %w", err)
	}
	servers = append(servers, server)
	close(s.ready)

	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			s.book.sweep()
		}
	}
}

// listen binds every address, or none.
func (s *Server) listen(ctx context.Context) (udp *datagrams, doors []*streams, err error) {
	var config net.ListenConfig
	tcp, err := config.Listen(ctx, "tcp", s.opts.Address)
	if err != nil {
		return nil, nil, fmt.Errorf("bind the TCP address: %w", err)
	}
	packets, err := config.ListenPacket(ctx, "udp", s.opts.Address)
	if err != nil {
		_ = tcp.Close()
		return nil, nil, fmt.Errorf("bind the UDP address: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opts.TLS != nil {
		l, err := config.Listen(ctx, "tcp", s.opts.TLSAddress)
		if err != nil {
			_, _ = tcp.Close(), packets.Close()
			return nil, nil, fmt.Errorf("bind the TLS address: %w", err)
		}
		doors = append(doors, newStreams(l, s.screen("tls"), s.opts.TLS, s.slots, s.bound, s.log))
		s.ports["tls"] = addrPort(l.Addr())
	}
	doors = append(doors, newStreams(tcp, s.screen("tcp"), nil, s.slots, s.bound, s.log))
	s.ports["tcp"], s.ports["udp"] = addrPort(tcp.Addr()), addrPort(packets.LocalAddr())
	conn, ok := packets.(*net.UDPConn)
	if !ok {
		return nil, nil, errors.New("the UDP address is no UDP socket")
	}
	return &datagrams{conn, s.screen("udp")}, doors, nil
}

func (s *Server) screen(door string) *screen {
	return &screen{door: door, gate: s.gate, book: s.book, turns: s.turns, count: &s.count}
}

func (s *Server) generator() *generator {
	return &generator{gate: s.gate, min: s.opts.PortMin, max: s.opts.PortMax, book: s.book, count: &s.count}
}

// config is the library's configuration for a door.
func (s *Server) config(door string, c pion.ServerConfig) pion.ServerConfig {
	c.Realm, c.LoggerFactory = s.opts.Realm, quiet{s.log}
	c.AuthHandler = func(r *pion.RequestAttributes) (string, []byte, bool) { return s.authenticate(door, r) }
	c.QuotaHandler = func(name, _ string, from net.Addr) bool {
		ok := s.book.reserve(seatOf(door, from), name)
		if !ok {
			s.count.overQuota.Add(1)
		}
		return ok
	}
	c.EventHandler = pion.EventHandler{
		OnAuth: func(_, _ net.Addr, _, _, _, _ string, ok bool) {
			if !ok {
				s.count.refused.Add(1)
			}
		},
		OnAllocationCreated: func(from, _ net.Addr, _, _, _ string, relay net.Addr, _ int) {
			s.count.allocated.Add(1)
			s.book.made(seatOf(door, from), addrPort(relay))
		},
		OnAllocationDeleted: func(from, _ net.Addr, _, _, _ string) { s.book.ended(seatOf(door, from)) },
		OnAllocationError:   func(from, _ net.Addr, _, _ string) { s.book.failed(seatOf(door, from)) },
	}
	// Phones ask for no family; theirs may be another than the media's.
	_, four := s.gate.family(false)
	c.StrictAddressFamily = four
	return c
}

// authenticate gives the library the key of a user name (RFC 8489, 9.2.2). It asks at each
// request, so whoever has an allocation keeps it for Grace after the credential's expiry.
func (s *Server) authenticate(door string, r *pion.RequestAttributes) (name string, key []byte, ok bool) {
	u, err := parseUser(r.Username)
	now := s.opts.Now()
	switch {
	case err != nil:
	case mayOpen(u.expires, now):
		ok = true
	case r.Method != stun.MethodAllocate && mayKeep(u.expires, now) && s.book.holds(seatOf(door, r.SrcAddr), u.name):
		s.count.kept.Add(1)
		ok = true
	}
	if !ok {
		s.count.refused.Add(1)
		return "", nil, false
	}
	text := secretOf(s.opts.Secret.Valid(), u.name)
	password := sign(epochKey([]byte(text), epochOf(u.expires)), r.Username)
	return u.name, pion.GenerateAuthKey(r.Username, s.opts.Realm, password), true
}

// permit answers which addresses a client may have permissions for.
func (s *Server) permit(_ net.Addr, peer net.IP) bool {
	ip, ok := netip.AddrFromSlice(peer)
	if ok && s.gate.permits(ip) {
		return true
	}
	s.count.forbidden.Add(1)
	return false
}
