package origin

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

// IsAddress tells an address from a file.
func IsAddress(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// Address is an address as it is asked and as the journal knows it, and its host.
func Address(s string) (address, host string, err error) {
	u, err := url.Parse(s)
	if err != nil || !IsAddress(s) || u.Hostname() == "" {
		return "", "", errors.New("is no address: write it as https://radio.example.org")
	}
	return strings.TrimRight(s, "/"), u.Hostname(), nil
}

// Private are the addresses of a host that are not public.
func Private(ctx context.Context, host string) (own []netip.Prefix, err error) {
	all := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		all = append(all, a)
	} else if all, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, err
	}
	for _, a := range all {
		if a = a.Unmap().WithZone(""); fetch.Public(a) != nil {
			own = append(own, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	return own, nil
}

// Client reaches running systems: public ones, and those of the networks that are allowed, which
// a setting of that name allows.
func Client(version string, allow []netip.Prefix, setting string) *fetch.Client {
	return fetch.New(fetch.Options{
		Version: version, Allow: allow, Setting: setting, Ports: []fetch.PortRange{{From: 80, To: 80}, {From: 443, To: 443}, {From: 1024, To: 65535}},
		Header: time.Minute, Idle: time.Minute, Whole: 2 * time.Hour,
	})
}
