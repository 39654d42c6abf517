package client_test

import (
	"net"
	"net/http"
	"net/netip"
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
		{"a proxy that hides who asks", "127.0.0.1:1", []string{"198.51.100.1, unknown"}, client.Unknown},
		{"the same behind a second proxy", "127.0.0.1:1", []string{"unknown, 127.0.0.1"}, client.Unknown},
		{"an empty entry", "127.0.0.1:1", []string{"198.51.100.1,"}, client.Unknown},
		{"an empty header", "127.0.0.1:1", []string{""}, client.Unknown},
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

func TestAddressReadsForwardedWhereNothingElseSaysWhoAsks(t *testing.T) {
	for _, c := range []struct {
		what, remote         string
		forwarded, forwarder []string
		want                 string
	}{
		{"through a proxy here", "127.0.0.1:1", []string{"for=198.51.100.1"}, nil, "198.51.100.1"},
		{"an invention before it", "127.0.0.1:1", []string{"for=6.6.6.6, proto=http;For=\"[2001:db8:1:2::7]:4711\";by=1.2.3.4"}, nil, "2001:db8:1:2::/64"},
		{"a secret", "127.0.0.1:1", []string{"for=6.6.6.6, for=_hidden"}, nil, client.Unknown},
		{"unknown", "127.0.0.1:1", []string{"for=unknown"}, nil, client.Unknown},
		{"nobody", "127.0.0.1:1", []string{"proto=https"}, nil, client.Unknown},
		{"another machine's claim", "203.0.113.9:1234", []string{"for=198.51.100.1"}, nil, "203.0.113.9"},
		{"beside the usual header", "127.0.0.1:1", []string{"for=6.6.6.6"}, []string{"198.51.100.1"}, "198.51.100.1"},
		{"through a second proxy here", "127.0.0.1:1", []string{"for=198.51.100.1"}, []string{"127.0.0.1"}, "198.51.100.1"},
		{"from this machine", "127.0.0.1:1", []string{"for=127.0.0.1"}, nil, ""},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"Forwarded": c.forwarded, "X-Forwarded-For": c.forwarder}}
		if got := client.Address(r); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

func TestPeerIsTheAddressOfAConnectionAndThisMachineHasNone(t *testing.T) {
	for remote, want := range map[string]string{
		"203.0.113.9:1234": "203.0.113.9", "[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::/64", "[::ffff:203.0.113.9]:1": "203.0.113.9",
		"127.0.0.1:1": "", "127.8.8.8:1": "", "[::1]:1": "", "[::ffff:127.0.0.1]:1": "",
	} {
		if got := client.Peer(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(remote))); got != want {
			t.Errorf("%s: %q, want %q", remote, got, want)
		}
	}
	for _, none := range []net.Addr{nil, &net.TCPAddr{}, &net.UnixAddr{Name: "@", Net: "unix"}} {
		if got := client.Peer(none); got != "" {
			t.Errorf("%v: %q", none, got)
		}
	}
}

func TestWiderIsTheSiteOfAnIPv6Network(t *testing.T) {
	for address, want := range map[string]string{
		"2001:db8:1:2::/64": "2001:db8:1::/48", "2001:db8:1:ffff::/64": "2001:db8:1::/48", "fe80::/64": "fe80::/48",
		"203.0.113.9": "", "": "", client.Unknown: "", "@": "", "a/64": "", "1.2.3.4/64": "",
	} {
		if got := client.Wider(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

func TestNetworkIsWhatOneOwnerRents(t *testing.T) {
	for address, want := range map[string]string{
		"2001:db8:1:2::/64": "2001:db8:1::/48", "203.0.113.9": "203.0.113.0/24", "": "", client.Unknown: client.Unknown, "@": "@",
	} {
		if got := client.Network(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}
