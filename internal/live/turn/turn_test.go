package turn

import (
	"net"
	"net/netip"
	"testing"
)

func TestAPhoneReachesTheMediaByEveryDoor(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	s := start(t, m, func(o *Options) { o.TLSAddress, o.TLS = "127.0.0.1:0", encrypted(t) })
	for _, door := range []string{"udp", "tcp", "tls"} {
		turn := s.Servers(s.opts.Now(), "radio.example", false)[0]
		c := phone(t, s, door, turn.Username, turn.Credential)
		speak(t, allocate(t, c), m.at(), "hello by "+door)
	}
	if got := s.Stats(); got.Allocations != 3 || got.RelayPorts != 3 || got.Allocated != 3 || got.BytesUp == 0 || got.BytesUp != got.BytesDown || got.Connections != 2 {
		t.Errorf("%+v", got)
	}
	for _, from := range m.heard() {
		if from.Addr() != netip.MustParseAddr("127.0.0.1") {
			t.Errorf("the relay sends from %s: its ports should be on loopback alone", from)
		}
	}
}

// The media may listen at an address of this machine other than loopback, and be known to
// phones by yet another, that of a router.
func TestMediaBehindARouter(t *testing.T) {
	t.Parallel()
	m := echo(t, net.JoinHostPort(ownAddress(t), "0"))
	public := netip.MustParseAddrPort("203.0.113.7:8189")
	s := start(t, m, func(o *Options) { o.Media = []Media{{Public: public, Inner: m.at()}, {Public: m.at()}} })
	turn := s.Servers(s.opts.Now(), "radio.example", false)[0]
	relayed := allocate(t, phone(t, s, "udp", turn.Username, turn.Credential))
	if got := addrPort(relayed.LocalAddr()).Addr(); got != public.Addr() {
		t.Errorf("the relayed address is %s", got)
	}
	speak(t, relayed, public, "by the router")
	speak(t, relayed, m.at(), "by the network")
	speak(t, relayed, public, "by the router again")
}

// ownAddress is an address of this machine that is not loopback.
func ownAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return "127.0.0.3" // a machine without a network: another one of its own
}
