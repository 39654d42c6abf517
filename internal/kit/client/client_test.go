package client_test

import (
	"net/http"
	"testing"

	"github.com/athir-radio/athir/internal/kit/client"
)

func TestAddressBelievesOnlyProxiesOfThisMachine(t *testing.T) {
	for _, c := range []struct {
		what, remote string
		forwarded    []string
		want         string
	}{
		{"directly", "203.0.113.9:1234", nil, "203.0.113.9"},
		{"another machine's claim", "203.0.113.9:1234", []string{"198.51.100.1"}, "203.0.113.9"},
		{"through a proxy here", "127.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"an invention before it", "127.0.0.1:1", []string{"6.6.6.6, 127.0.0.1, 198.51.100.1"}, "198.51.100.1"},
		{"an invention in a header of its own", "127.0.0.1:1", []string{"6.6.6.6", "198.51.100.1"}, "198.51.100.1"},
		{"through two proxies here", "[::1]:1", []string{"198.51.100.1, 127.0.0.1"}, "198.51.100.1"},
		{"from this machine", "127.0.0.1:1", nil, ""},
		{"from this machine, forwarded", "127.0.0.1:1", []string{"127.0.0.1"}, ""},
		{"with its port", "127.0.0.1:1", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"IPv6 with its port", "127.0.0.1:1", []string{"[2001:db8:1:2::7]:4711"}, "2001:db8:1:2::/64"},
		{"IPv6 in brackets", "127.0.0.1:1", []string{"[2001:db8:1:2::7]"}, "2001:db8:1:2::/64"},
		{"nonsense", "127.0.0.1:1", []string{"198.51.100.1, unknown"}, ""},
		{"IPv6", "[2001:db8:1:2:3:4:5:6]:1", nil, "2001:db8:1:2::/64"},
		{"its neighbour", "127.0.0.1:1", []string{"2001:db8:1:2::7"}, "2001:db8:1:2::/64"},
		{"another network", "[2001:db8:1:3::7]:1", nil, "2001:db8:1:3::/64"},
		{"IPv4 in IPv6", "[::ffff:203.0.113.9]:1", nil, "203.0.113.9"},
		{"a link", "[fe80::1%eth0]:1", nil, "fe80::/64"},
		{"this machine's IPv4 in IPv6", "[::ffff:127.0.0.1]:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a Unix socket", "@", nil, "@"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := client.Address(r); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
