package turn

import (
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/pion/stun/v3"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// BenchmarkRelay is one packet of Opus over loopback to the media and back, directly and by
// the relay, one after another.
func BenchmarkRelay(b *testing.B) {
	m, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // a benchmark
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = m.Close() })
	go func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := m.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = m.WriteTo(buf[:n], from)
		}
	}()
	s, err := New(Options{Log: slog.New(slog.DiscardHandler), Secret: secret.Of(string(north)), Address: "127.0.0.1:0", Media: []Media{{Public: addrPort(m.LocalAddr())}}})
	if err != nil {
		b.Fatal(err)
	}
	testkit.Background(b, s.Run)
	<-s.Ready()
	trip := func(b *testing.B, conn net.PacketConn, to net.Addr, message []byte) {
		buf := make([]byte, 2048)
		for b.Loop() {
			if _, err := conn.WriteTo(message, to); err != nil {
				b.Fatal(err)
			}
			if _, _, err := conn.ReadFrom(buf); err != nil {
				b.Fatal(err)
			}
		}
	}
	packet := string(make([]byte, 160))
	b.Run("direct", func(b *testing.B) {
		conn, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // a benchmark
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // a benchmark's
		trip(b, conn, m.LocalAddr(), []byte(packet))
	})
	b.Run("relayed", func(b *testing.B) {
		username, password, _ := Credentials(north, "sara", time.Now())
		conn, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // a benchmark
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // a benchmark's
		c := &raw{t: b, conn: conn, to: net.UDPAddrFromAddrPort(s.Addr("udp")), username: username, password: password}
		c.once(stun.MethodAllocate, transport(protocolUDP))
		if code := c.once(stun.MethodAllocate, transport(protocolUDP)); code != 0 {
			b.Fatal(code)
		}
		if code := c.once(stun.MethodChannelBind, channel(0x4000), peer(addrPort(m.LocalAddr()))); code != 0 {
			b.Fatal(code)
		}
		trip(b, conn, c.to, channel(0x4000).data(packet))
	})
}
