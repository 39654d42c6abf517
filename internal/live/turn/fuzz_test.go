package turn

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/pion/stun/v3"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// Whatever comes on a stream, what is read is whole messages, and they are as long as they
// say.
func FuzzReadMessage(f *testing.F) {
	binding := stun.MustBuild(stun.TransactionID, stun.BindingRequest).Raw
	f.Add(binding)
	f.Add(append(bytes.Clone(binding), channel(0x4000).data("hello...")...))
	f.Add([]byte("\x00\x01\xff\xec\x21\x12\xa4\x42transaction!"))
	f.Add([]byte("\x40\x00\x00\x01a"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		r, p := bytes.NewReader(sent), make([]byte, 1600)
		var got []byte
		for {
			n, err := readMessage(r, p)
			if err != nil {
				break
			}
			if n < 4 || n > longestMessage || n%4 != 0 {
				t.Fatalf("a message of %d bytes", n)
			}
			got = append(got, p[:n]...)
		}
		if !bytes.HasPrefix(sent, got) {
			t.Error("what is read is not what was sent")
		}
		if _, err := readMessage(r, p[:10]); err != io.ErrShortBuffer { //nolint:errorlint // as it is
			t.Error(err)
		}
	})
}

// Whatever comes, the screen does not fail; without an allocation nothing is relayed; and
// no channel goes on to anything but the media.
func FuzzScreen(f *testing.F) {
	media := netip.MustParseAddrPort("192.0.2.1:8189")
	for _, to := range []string{"192.0.2.1:8189", "192.0.2.1:22", "[::ffff:192.0.2.1]:22", "0.0.0.0:22"} {
		m := stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodChannelBind, stun.ClassRequest), channel(0x4000), peer(netip.MustParseAddrPort(to)))
		f.Add(m.Raw)
	}
	f.Add(stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodAllocate, stun.ClassRequest), transport(6)).Raw)
	f.Add(channel(0x4000).data("hello"))
	on := seat{"udp", netip.MustParseAddrPort("198.51.100.1:1")}
	f.Fuzz(func(t *testing.T, message []byte) {
		b := newBook(Quotas{}.withDefaults(), func() time.Time { return noon })
		s := &screen{door: "udp", gate: gate{{media, media}}, book: b, turns: client.NewLimits(2, time.Hour, b.now), count: &counters{}}
		kept := bytes.Clone(message)
		without := s.look(message, on.client)
		kind, method := classify(message)
		if without.on && (kind != request || method == stun.MethodConnect || method == stun.MethodConnectionBind) {
			t.Errorf("%v of method %v goes on without an allocation", kind, method)
		}
		b.reserve(on, "sara")
		b.made(on, media)
		with := s.look(message, on.client)
		if with.on && kind == garbage {
			t.Error("garbage goes on")
		}
		if m := (&stun.Message{Raw: bytes.Clone(message)}); with.on && method == stun.MethodChannelBind && m.Decode() == nil {
			var to stun.XORMappedAddress
			if err := to.GetFromAs(m, stun.AttrXORPeerAddress); err != nil || !to.IP.Equal(net.IPv4(192, 0, 2, 1)) || to.Port != 8189 {
				t.Errorf("a channel to %v goes on: %v", to, err)
			}
		}
		if len(with.answer) > 100 {
			t.Errorf("%d bytes of answer", len(with.answer))
		}
		if !bytes.Equal(kept, message) {
			t.Error("the message was changed")
		}
	})
}

// Whatever somebody with a credential and an allocation sends, the server stays.
func FuzzServer(f *testing.F) {
	m, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // a test
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = m.Close() })
	s, err := New(Options{Secret: secret.Of(string(north)), Address: "127.0.0.1:0", Media: []Media{{Public: addrPort(m.LocalAddr())}}, Quotas: Quotas{Requests: 1 << 30}})
	if err != nil {
		f.Fatal(err)
	}
	testkit.Background(f, s.Run)
	<-s.Ready()
	username, password, _ := Credentials(north, "sara", time.Now())
	c := newRaw(f, s, username, password)
	if code := c.ask(stun.MethodAllocate, transport(protocolUDP)); code != 0 {
		f.Fatal(code)
	}
	if code := c.ask(stun.MethodCreatePermission, peer(addrPort(m.LocalAddr()))); code != 0 {
		f.Fatal(code)
	}
	f.Add(uint16(3), []byte{0, 0x19, 0, 4, 17, 0, 0, 0}, true)
	f.Add(uint16(4), []byte{0, 0x0d, 0, 4, 0, 0, 0, 60}, true)
	f.Add(uint16(8), []byte{0, 0x12, 0, 8, 0, 1, 1, 2, 3, 4, 5, 6}, true)
	f.Add(uint16(9), []byte{0, 0x0c, 0, 4, 0x40, 0, 0, 0, 0, 0x12, 0, 8, 0, 1, 1, 2, 3, 4, 5, 6}, true)
	f.Add(uint16(0x16), []byte{0, 0x13, 0, 0, 0, 0x12, 0, 8, 0, 1, 1, 2, 3, 4, 5, 6}, false)
	f.Add(uint16(0x4000), []byte("hello"), false)
	f.Fuzz(func(t *testing.T, kind uint16, attributes []byte, sign bool) {
		c.t = t
		if len(attributes) > 1200 {
			return
		}
		head := []byte{byte(kind >> 8), byte(kind), byte(len(attributes) >> 8), byte(len(attributes))}
		message := append(append(head, "\x21\x12\xa4\x42transaction!"...), attributes...)
		if kind>>14 == 1 {
			message = append(head, attributes...)
		}
		if m := (&stun.Message{Raw: bytes.Clone(message)}); sign && m.Decode() == nil {
			signed := []stun.Setter{stun.TransactionID, m.Type}
			for _, a := range m.Attributes {
				if a.Type != stun.AttrMessageIntegrity && a.Type != stun.AttrFingerprint {
					signed = append(signed, bare{a.Type, a.Value})
				}
			}
			message = c.build(m.Type.Class, m.Type.Method, signed[2:]...).Raw
		}
		c.send(message)
		if answer := c.exchange(c.build(stun.ClassRequest, stun.MethodBinding)); answer.Type != stun.BindingSuccess && answer.Type.Method != stun.MethodBinding {
			t.Error(answer)
		}
	})
}
