// Package fetch brings documents and files from addresses that came from
// outside: listeners, feeds, search results, operators; and sends messages to
// such addresses. Such an address must not become a way into the machine or its
// network.
//
// Only http and https are spoken, without user names, to ports of the web. A
// host's name is resolved here, each address is held against IANA's registries of
// special-purpose addresses (see Public), and the connection goes to an address
// that was checked: a name that changes its mind between the check and the
// connection gains nothing. Every redirect begins this anew. Sizes, redirects,
// times and attempts are bounded, and compressed answers by their size after
// decompression.
//
// The package refuses to follow the proxy of the environment: a proxy resolves
// names by itself, so nothing that is checked here would hold. It renders no
// page, keeps no cookie and adds no credential of its own.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Options say how a Client behaves. The zero value is what an untrusted address
// deserves.
type Options struct {
	Version string // of the program, told as User-Agent "athir/<version>"
	// Allow lists addresses that are reached although they are not public, at any port:
	// an operator's own network, where their feeds are served from.
	Allow []netip.Prefix
	// Setting is what an operator writes to fill Allow, as in
	// "content.networks": a refusal names it as the remedy. Empty: none does.
	Setting string
	// Ports that may be asked for outside Allow; DefaultPorts when empty.
	Ports []PortRange
	// Proxy carries all requests when not nil. It resolves the names, so only
	// addresses written as numbers and names that are local by definition are
	// refused here; the proxy must refuse the rest.
	Proxy *url.URL
	// Resolver finds a name's addresses; the system's when nil.
	Resolver Resolver
	// Dial connects to an address that was checked; the system does when nil. Tests
	// put a network in memory there.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Roots are trusted instead of the system's certificate authorities.
	Roots *x509.CertPool

	Connect  time.Duration // to resolve, connect, and again for TLS; 15 s when 0
	Header   time.Duration // from the request to its answer's header; 15 s when 0
	Idle     time.Duration // longest pause within a body; 30 s when 0
	Whole    time.Duration // all attempts of one call together; 30 min when 0, a Document at most 2
	Attempts int           // tries of a call that may succeed later; 3 when 0
	Backoff  time.Duration // before the second try, four times that before the third; 2 s when 0
	// Patience is the longest Retry-After that is waited for; 30 s when 0. A
	// server that asks for more gets its StatusError at once.
	Patience time.Duration
	// Keep leaves a connection open for the next request of the same host, for
	// so long; 0 closes each. Whoever sets it calls Close at the end.
	Keep time.Duration

	only bool // nothing but Allow is reached
}

// Resolver finds a name's addresses, as *net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// PortRange is a range of TCP ports, both ends included.
type PortRange struct{ From, To uint16 }

// DefaultPorts are those of the web, and 8000 to 8999 where media servers and
// development servers listen. Ports of mail, databases and caches are not there:
// some of those take an HTTP request for commands.
func DefaultPorts() []PortRange {
	return []PortRange{{80, 80}, {443, 443}, {8000, 8999}}
}

// maxRedirects is how many redirects one request follows. Podcast downloads pass
// through two or three counting services.
const maxRedirects = 5

// maxHeader bounds an answer's header, in bytes.
const maxHeader = 64 << 10

// mostIdle bounds the connections that Keep leaves open.
const mostIdle = 16

// Client fetches, and sends. It is safe for use by many at once and keeps no
// connection open between requests, unless told to.
type Client struct {
	o    Options
	http *http.Client
	post *http.Client // the same connections; follows no redirect
}

// New makes a Client.
func New(o Options) *Client {
	setDefaults(&o)
	c := &Client{o: o}
	transport := &http.Transport{
		DialContext:            c.dial,
		TLSHandshakeTimeout:    o.Connect,
		TLSClientConfig:        &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		ResponseHeaderTimeout:  o.Header,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // bodies are decompressed here, within bounds
		DisableKeepAlives:      o.Keep <= 0,
		IdleConnTimeout:        o.Keep,
		MaxIdleConns:           mostIdle,
		MaxIdleConnsPerHost:    mostIdle / 2,
	}
	if o.Proxy != nil {
		transport.Proxy = http.ProxyURL(o.Proxy)
		transport.DialContext = c.dialProxy
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: c.redirect}
	c.post = &http.Client{Transport: transport, CheckRedirect: notFollowed}
	return c
}

func setDefaults(o *Options) {
	fallback := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	fallback(&o.Connect, 15*time.Second)
	fallback(&o.Header, 15*time.Second)
	fallback(&o.Idle, 30*time.Second)
	fallback(&o.Whole, 30*time.Minute)
	fallback(&o.Backoff, 2*time.Second)
	fallback(&o.Patience, 30*time.Second)
	if o.Attempts <= 0 {
		o.Attempts = 3
	}
	if len(o.Ports) == 0 {
		o.Ports = DefaultPorts()
	}
	if o.Version == "" {
		o.Version = "dev"
	}
}

// UserAgent is how the client names itself.
func (c *Client) UserAgent() string { return "athir/" + c.o.Version }

// redirect holds the next address to the rules of the first.
func (c *Client) redirect(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &ContentError{Why: "it redirects more than 5 times", Remedy: "use the address it should lead to"}
	}
	checked, err := c.Check(next.URL.String())
	if err != nil {
		return err
	}
	next.URL, next.Host = checked, ""
	if len(via) > 0 && !sameOrigin(via[0].URL, checked) {
		foreign(next.Header)
	}
	next.Header.Del("Referer") // the address before may carry a listener's token
	return nil
}
