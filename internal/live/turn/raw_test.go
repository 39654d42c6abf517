package turn

import (
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/stun/v3"
	pion "github.com/pion/turn/v5"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// raw is a client that sends what no honest one does.
type raw struct {
	t                  testing.TB
	conn               net.PacketConn
	to                 net.Addr
	username, password string
	nonce              stun.Nonce
	realm              stun.Realm
	answers            chan *stun.Message
	relayed            chan []byte // Data indications and channel data, as they came
	messages           atomic.Int64
}

func newRaw(t testing.TB, s *Server, username, password string) *raw {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := rawOver(t, conn, net.UDPAddrFromAddrPort(s.Addr("udp")), username, password)
	return c
}

func rawOver(t testing.TB, conn net.PacketConn, to net.Addr, username, password string) *raw {
	c := &raw{t: t, conn: conn, to: to, username: username, password: password, answers: make(chan *stun.Message, 100), relayed: make(chan []byte, 100)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 2048)
		for {
			n, _, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			c.messages.Add(1)
			m := &stun.Message{Raw: append([]byte(nil), buf[:n]...)}
			if m.Decode() != nil || m.Type.Class == stun.ClassIndication {
				select {
				case c.relayed <- m.Raw:
				default: // nobody looks
				}
				continue
			}
			select {
			case c.answers <- m:
			default:
			}
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return c
}

func (c *raw) send(message []byte) {
	c.t.Helper()
	if _, err := c.conn.WriteTo(message, c.to); err != nil {
		c.t.Fatal(err)
	}
}

// build makes a message; a request carries the credential, once the server has named
// itself.
func (c *raw) build(class stun.MessageClass, method stun.Method, attributes ...stun.Setter) *stun.Message {
	c.t.Helper()
	all := append([]stun.Setter{stun.TransactionID, stun.NewType(method, class)}, attributes...)
	if class == stun.ClassRequest && c.nonce != nil {
		all = append(all, stun.NewUsername(c.username), c.realm, c.nonce,
			stun.MessageIntegrity(pion.GenerateAuthKey(c.username, c.realm.String(), c.password)))
	}
	m, err := stun.Build(all...)
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// ask sends a request until it is answered, for datagrams may be lost, and returns the
// error code; 0: it was granted.
func (c *raw) ask(method stun.Method, attributes ...stun.Setter) stun.ErrorCode {
	c.t.Helper()
	answer := c.exchange(c.build(stun.ClassRequest, method, attributes...))
	if answer.Type.Class == stun.ClassSuccessResponse {
		return 0
	}
	var code stun.ErrorCodeAttribute
	if err := code.GetFrom(answer); err != nil {
		c.t.Fatal(err)
	}
	if code.Code == stun.CodeUnauthorized && c.nonce == nil || code.Code == stun.CodeStaleNonce {
		if err := answer.Parse(&c.nonce, &c.realm); err != nil {
			c.t.Fatal(err)
		}
		return c.ask(method, attributes...)
	}
	return code.Code
}

func (c *raw) exchange(m *stun.Message) *stun.Message {
	c.t.Helper()
	again := time.NewTicker(500 * time.Millisecond) // as RFC 8489, 6.2.1
	defer again.Stop()
	for try := range 240 {
		if try == 0 || c.to != nil { // on a stream nothing is lost, and each would count
			c.send(m.Raw)
		}
		for {
			select {
			case answer := <-c.answers:
				if answer.TransactionID == m.TransactionID {
					return answer
				}
				continue
			case <-again.C:
			}
			break
		}
	}
	c.t.Fatalf("never: an answer to %s", m)
	return nil
}

// transport is REQUESTED-TRANSPORT.
type transport byte

func (p transport) AddTo(m *stun.Message) error {
	m.Add(stun.AttrRequestedTransport, []byte{byte(p), 0, 0, 0})
	return nil
}

// lifetime is LIFETIME in seconds.
type lifetime byte

func (l lifetime) AddTo(m *stun.Message) error {
	m.Add(stun.AttrLifetime, []byte{0, 0, 0, byte(l)})
	return nil
}

// bare is an attribute with a value as it is.
type bare struct {
	kind  stun.AttrType
	value []byte
}

func (b bare) AddTo(m *stun.Message) error {
	m.Add(b.kind, b.value)
	return nil
}

// peer is XOR-PEER-ADDRESS, an IPv4 address in IPv6 as such: the library's own would write
// that as IPv4.
type peer netip.AddrPort

func (p peer) AddTo(m *stun.Message) error {
	at := netip.AddrPort(p)
	const cookie = "\x21\x12\xa4\x42"
	key := append([]byte(cookie), m.TransactionID[:]...)
	family, ip := byte(1), at.Addr().AsSlice()
	if len(ip) == 16 {
		family = 2
	}
	value := []byte{0, family, byte(at.Port()>>8) ^ key[0], byte(at.Port()) ^ key[1]}
	for i, b := range ip {
		value = append(value, b^key[i])
	}
	m.Add(stun.AttrXORPeerAddress, value)
	return nil
}

// channel is CHANNEL-NUMBER, and data in it.
type channel uint16

func (c channel) AddTo(m *stun.Message) error {
	m.Add(stun.AttrChannelNumber, []byte{byte(c >> 8), byte(c), 0, 0})
	return nil
}

func (c channel) data(words string) []byte {
	return append([]byte{byte(c >> 8), byte(c), byte(len(words) >> 8), byte(len(words))}, words...)
}

// roundTrip sends words to the media by Send indications until they are back: whatever was
// sent before has had its effect by then.
func (c *raw) roundTrip(to netip.AddrPort, words string) {
	c.t.Helper()
	testkit.Eventually(c.t, "the echo of "+words, func() bool {
		c.send(c.build(stun.ClassIndication, stun.MethodSend, peer(to), bare{stun.AttrData, []byte(words)}).Raw)
		select {
		case back := <-c.relayed:
			m := &stun.Message{Raw: back}
			if m.Decode() != nil {
				return false
			}
			got, _ := m.Get(stun.AttrData)
			if string(got) == "knock" {
				c.t.Error("a stranger's datagram came through")
			}
			return string(got) == words
		case <-time.After(500 * time.Millisecond):
			return false
		}
	})
}
