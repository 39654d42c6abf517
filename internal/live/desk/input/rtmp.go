package input

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/station"
)

// stall is for how long an address may send nothing before it is given up, in microseconds.
const stall = "5000000"

// RTMP is a stream at an RTMP server. ffmpeg 5.1 speaks RTMP through no proxy, so the
// doorway cannot stand between. Instead the host is resolved here, each of its addresses
// is judged, and ffmpeg gets one as a number that was allowed, with the name in the
// connect command (tcUrl) alone: it resolves nothing. It follows no redirect of RTMP, and
// may open no other protocol. rtmps is not offered: its certificate could not be checked
// against the name.
type RTMP struct {
	Address *url.URL
	Own     bool // this machine's own ingest
	Fetch   *fetch.Client
}

// rtmpPorts are those an RTMP server elsewhere may have, beside the web's.
var rtmpPorts = []string{"", "1935", "19350"} //nolint:gochecknoglobals // a constant table

// Run reads until the stream ends.
func (r *RTMP) Run(ctx context.Context, out io.Writer) error {
	target := r.Address.String()
	options := []string{
		"protocol_whitelist", "rtmp,tcp", "format_whitelist", "flv", "rw_timeout", stall, "rtmp_live", "live",
		"probesize", "65536", "analyzeduration", "500000",
	}
	if !r.Own {
		host, err := r.judged(ctx)
		if err != nil {
			return err
		}
		to := *r.Address
		to.Host = host
		app, _, _ := strings.Cut(strings.TrimPrefix(r.Address.Path, "/"), "/")
		target, options = to.String(), append(options, "rtmp_tcurl", "rtmp://"+r.Address.Host+"/"+app)
	}
	return decode(ctx, "rtmp", listing("rtmp,tcp"), nil, strings.NewReader(listed(target, options...)), out)
}

// judged is an address of the host that may be reached, with its port.
func (r *RTMP) judged(ctx context.Context) (string, error) {
	host, port := r.Address.Hostname(), r.Address.Port()
	if r.Address.User != nil || host == "" {
		return "", fmt.Errorf("url: write it as rtmp://host/app/stream: %w", station.ErrInvalid)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", host, err)
	}
	for _, a := range found {
		// The port of RTMP is not among those of the web: the address is judged alone.
		at := net.JoinHostPort(a.Unmap().String(), port)
		if slices.Contains(rtmpPorts, port) {
			at = net.JoinHostPort(a.Unmap().String(), "80")
		}
		if _, err = r.Fetch.Check("http://" + at + "/"); err == nil {
			if port == "" {
				port = "1935"
			}
			return netip.AddrPortFrom(a.Unmap(), mustPort(port)).String(), nil
		}
	}
	if err == nil {
		err = fmt.Errorf("resolve %s: it has no address", host)
	}
	return "", err
}

func mustPort(text string) uint16 {
	p, _ := netip.ParseAddrPort("0.0.0.0:" + text) // url.Parse has seen that it is a number
	return p.Port()
}
