package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pion/logging"
	pion "github.com/pion/turn/v5"

	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/certificate"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/live/turn"
)

func (o Options) networkChecks(now alive) []check {
	cfg := o.Config
	host := publicHost(cfg)
	return []check{
		{"name", usual, func(ctx context.Context) Result {
			switch {
			case host == "":
				return skipped("no public name is set: live.address is empty")
			case o.Offline:
				return skipped("--offline")
			}
			found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
			return judgeName(host, found, own(cfg), err)
		}},
		{"certificate file", usual, func(context.Context) Result {
			if cfg.Live.TLSCert == "" {
				return skipped("live.tls_cert is empty")
			}
			_, pair := tls.LoadX509KeyPair(cfg.Live.TLSCert, cfg.Live.TLSKey)
			leaf, err := certificate.Leaf(cfg.Live.TLSCert)
			return judgeCertificate(leaf, host, time.Now(), errors.Join(err, pair))
		}},
		{"certificate outside", usual, func(ctx context.Context) Result {
			u, err := url.Parse(cfg.Live.Address)
			switch {
			case cfg.Live.Address == "" || err != nil || u.Scheme != "https":
				return skipped("live.address names no https address")
			case o.Offline:
				return skipped("--offline")
			}
			leaf, err := served(ctx, u)
			return judgeServed(leaf, u.Host, time.Now(), err)
		}},
		{"turn", usual, func(ctx context.Context) Result { return o.turn(ctx, now) }},
		{"bus", usual, func(ctx context.Context) Result {
			if cfg.Bus.URL == "" && now.control == 0 {
				return skipped(notRunning)
			}
			return judgeBus(bus.Probe(ctx, role.BusOptions(cfg, slog.New(slog.DiscardHandler), config.BusChat)))
		}},
	}
}

// publicHost is the name by which presenters find the station; empty: none is set.
func publicHost(cfg *config.Config) string {
	for _, address := range []string{cfg.Live.Address, cfg.Alarms.Studio} {
		if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
			return u.Hostname()
		}
	}
	return ""
}

// own are the addresses of this machine, and those that the settings give it.
func own(cfg *config.Config) (out []netip.Addr) {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p.Addr().Unmap())
		}
	}
	for _, text := range cfg.Live.PublicIPs {
		if a, err := netip.ParseAddr(strings.TrimSpace(text)); err == nil {
			out = append(out, a.Unmap())
		}
	}
	return out
}

func judgeName(host string, found, own []netip.Addr, err error) Result {
	if err != nil || len(found) == 0 {
		return wrong("add an A or AAAA record for it where the domain is kept", "%s has no address: %v", host, err)
	}
	var strange []string
	for _, a := range found {
		if !slices.Contains(own, a.Unmap()) {
			strange = append(strange, a.Unmap().String())
		}
	}
	if len(strange) == len(found) {
		return warning("behind a router or proxy that is meant: set live.public_ips to the router's address; else correct the record",
			"%s leads to %s, which no interface of this machine has", host, strings.Join(strange, ", "))
	}
	if len(strange) > 0 {
		return warning("remove the record that leads elsewhere", "%s leads here, and also to %s", host, strings.Join(strange, ", "))
	}
	return well("%s leads to this machine", host)
}

func judgeCertificate(leaf *x509.Certificate, host string, now time.Time, err error) Result {
	switch {
	case err != nil:
		return wrong("correct live.tls_cert and live.tls_key", "%s", oneLine(err.Error()))
	case now.After(leaf.NotAfter):
		return wrong("renew it; it is read anew by itself", "it is not valid since %s", leaf.NotAfter.UTC().Format(time.DateOnly))
	case now.Before(leaf.NotBefore):
		return wrong("correct the clock, or wait", "it is valid from %s on only", leaf.NotBefore.UTC().Format(time.DateOnly))
	case host != "" && leaf.VerifyHostname(host) != nil:
		return wrong("get one for that name", "it is for %s and not for %s", strings.Join(leaf.DNSNames, ", "), host)
	case leaf.NotAfter.Sub(now) < certificate.RenewAhead:
		return warning("renew it; it is read anew by itself", "it is valid until %s", leaf.NotAfter.UTC().Format(time.DateOnly))
	}
	return well("for %s, valid until %s", strings.Join(leaf.DNSNames, ", "), leaf.NotAfter.UTC().Format(time.DateOnly))
}

// served is the certificate that an address shows to a browser, whatever it is worth; the
// error says that a browser does not trust it.
func served(ctx context.Context, u *url.URL) (*x509.Certificate, error) {
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), "443")
	}
	conn, err := (&tls.Dialer{Config: &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close() //nolint:errcheck // only looked at
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

func judgeServed(leaf *x509.Certificate, host string, now time.Time, err error) Result {
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	var broken *tls.CertificateVerificationError
	switch {
	case errors.As(err, &invalid), errors.As(err, &name), errors.As(err, &authority), errors.As(err, &broken):
		return wrong("browsers refuse it: renew it, with the whole chain in the file", "%s: %s", host, oneLine(err.Error()))
	case err != nil:
		return warning("see that the proxy runs and its port is open; some routers do not let a machine reach itself by its public name", "%s cannot be reached from here: %s", host, oneLine(err.Error()))
	}
	return judgeCertificate(leaf, "", now, nil)
}

// turn opens an allocation at the TURN server that phones are told of.
func (o Options) turn(ctx context.Context, now alive) Result {
	cfg := o.Config
	settings := turn.Options{Secret: cfg.Secret(config.TurnSecret)}
	address, user, password := config.Local(cfg.Ports.TURN), "", ""
	switch external := len(cfg.Live.TURNServers) > 0; {
	case external && o.Offline:
		return skipped("--offline")
	case external:
		settings.External = turn.External{URLs: cfg.Live.TURNServers, Secret: cfg.Secret(config.TurnSecret)}
		server, err := turn.New(settings)
		if err != nil {
			return wrong("correct live.turn_servers", "%s", oneLine(err.Error()))
		}
		s := server.Servers(time.Now(), "", false)[0]
		address, user, password = plainTURN(cfg.Live.TURNServers), s.Username, s.Credential
		if address == "" {
			return skipped("live.turn_servers has none that is asked over UDP")
		}
	case !cfg.Live.TURN || cfg.TurnSecret == "":
		return skipped("live.turn is false, or turn_secret empty: phones in narrow networks cannot go live")
	case now.node == 0:
		return skipped(notRunning)
	default:
		user, password = turn.Issue(settings.Secret.Current(), "doctor", time.Now())
	}
	relayed, err := allocate(ctx, address, user, password)
	return judgeTURN(address, relayed, len(cfg.Live.TURNServers) > 0, len(cfg.Live.PublicIPs) > 0, err)
}

// plainTURN is the first server that is asked over UDP, host:port.
func plainTURN(urls []string) string {
	for _, text := range urls {
		rest, ok := strings.CutPrefix(text, "turn:")
		if address, query, _ := strings.Cut(rest, "?"); ok && !strings.Contains(query, "transport=tcp") {
			if _, _, err := net.SplitHostPort(address); err != nil {
				address = net.JoinHostPort(strings.Trim(address, "[]"), "3478")
			}
			return address
		}
	}
	return ""
}

// allocate asks a TURN server for a relayed address, and gives it back.
func allocate(ctx context.Context, address, user, password string) (netip.AddrPort, error) {
	family := "udp4" // of the relayed address, too
	if host, _, _ := net.SplitHostPort(address); strings.Contains(host, ":") {
		family = "udp6"
	}
	conn, err := net.ListenPacket(family, ":0") //nolint:noctx // it waits for nobody
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer conn.Close() //nolint:errcheck // nothing is sent any more
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	quiet := logging.NewDefaultLoggerFactory()
	quiet.DefaultLogLevel = logging.LogLevelDisabled
	client, err := pion.NewClient(&pion.ClientConfig{STUNServerAddr: address, TURNServerAddr: address, Conn: conn, Username: user, Password: password, LoggerFactory: quiet})
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer client.Close()
	if err := client.Listen(); err != nil {
		return netip.AddrPort{}, err
	}
	relay, err := client.Allocate()
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer relay.Close() //nolint:errcheck // the allocation ends by itself
	return relay.LocalAddr().(*net.UDPAddr).AddrPort(), nil
}

func judgeTURN(address string, relayed netip.AddrPort, external, told bool, err error) Result {
	switch {
	case err != nil && external:
		return wrong("see that it runs, and that its static-auth-secret is turn_secret", "%s relays nothing: %s", address, oneLine(err.Error()))
	case err != nil:
		return wrong("see in the log why whip does not serve ports.turn", "%s relays nothing: %s", address, oneLine(err.Error()))
	case external && fetch.Public(relayed.Addr()) != nil:
		return warning("set its public address (coturn: external-ip)", "%s relays at %s, which is no public address", address, relayed)
	case external:
		return well("%s relays at %s", address, relayed)
	}
	// The station's own relay leads to its media on this machine: what phones need is its
	// door, and the address of the media.
	seen := fmt.Sprintf("%s relays, for phones to the station's media", address)
	if !told && !publicMachine() {
		return warning("where phones come from the internet set live.public_ips, and let ports.turn and ports.media through (UDP)", "%s; no interface of this machine has a public address", seen)
	}
	return well("%s", seen)
}

// publicMachine reports whether an interface has a public address.
func publicMachine() bool {
	return slices.ContainsFunc(own(&config.Config{}), func(a netip.Addr) bool { return fetch.Public(a) == nil })
}

func judgeBus(err error) Result {
	if err != nil {
		return wrong("check bus.url and sync_token, and that the bus runs", "%s", oneLine(err.Error()))
	}
	return well("it lets the station in")
}
