package turn

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/stun/v3"

	"github.com/athir-radio/athir/internal/kit/crowd"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// A connection that sends what is no message is closed. The first of these would keep the
// library's own division of a stream busy for ever: its length and that of the header wrap
// to nothing.
func TestStreamsOfNonsenseAreClosed(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	s := start(t, m, nil)
	header := func(kind, length string) []byte {
		return []byte(kind + length + "\x21\x12\xa4\x42" + "transaction!")
	}
	for what, sent := range map[string][]byte{
		"a length that wraps to nothing": header("\x00\x01", "\xff\xec"), "one that wraps to the header": header("\x00\x01", "\xff\xff"),
		"a message too long": header("\x00\x01", "\x10\x00"), "a length that is no multiple of four": header("\x00\x01", "\x00\x03"),
		"channel data too long": []byte("\x40\x00\xff\xff" + "data"), "a web browser": []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"bits that are reserved": header("\x80\x00", "\x00\x00"), "TLS where there is none": []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03random bytes"),
	} {
		conn, err := net.Dial("tcp", s.Addr("tcp").String()) //nolint:noctx // a test
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(sent); err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, conn); n > 0 { // until it is closed, or reset
			t.Errorf("%s is answered: %d bytes, %v", what, n, err)
		}
		_ = conn.Close()
	}
	testkit.Eventually(t, "all connections to be gone", func() bool { return s.Stats().Connections == 0 })
}

// A message may come byte by byte, and two at once.
func TestStreamsAreDividedIntoMessages(t *testing.T) {
	t.Parallel()
	m := echo(t, "127.0.0.1:0")
	s := start(t, m, nil)
	conn := dial(t, s, "tcp")
	c := rawOver(t, conn, nil, "", "")
	one, two := c.build(stun.ClassRequest, stun.MethodBinding), c.build(stun.ClassRequest, stun.MethodBinding)
	for i := range one.Raw {
		c.send(one.Raw[i : i+1])
	}
	if got := testkit.Receive(t, "an answer", c.answers); got.TransactionID != one.TransactionID {
		t.Error("the answer is another's")
	}
	c.send(append(bytes.Clone(two.Raw), one.Raw...))
	if got := testkit.Receive(t, "an answer", c.answers); got.TransactionID != two.TransactionID {
		t.Error("the answer is another's")
	}
	if got := testkit.Receive(t, "an answer", c.answers); got.TransactionID != one.TransactionID {
		t.Error("the answer is another's")
	}
}

// chatter is channel data without a channel.
const chatter = "\x40\x00\x00\x00"

// Who gets no allocation is let go after thirty seconds, whatever it sends: in the middle of
// a message or of the TLS handshake too.
func TestConnectionsThatDoNothingAreLetGo(t *testing.T) {
	for what, config := range map[string]*tls.Config{"tcp": nil, "tls": encrypted(t)} {
		for _, sent := range []string{"", "\x00\x01", "\x16\x03\x01", chatter} {
			if sent == chatter && config != nil {
				continue // no handshake
			}
			synctest.Test(t, func(t *testing.T) {
				network := testkit.NewNetwork()
				s := &Server{book: newBook(Quotas{}.withDefaults(), time.Now)}
				d := newStreams(network, &screen{door: what, book: s.book, count: &s.count}, config, make(chan struct{}, 1), crowd.New(crowd.Options{}), slog.New(slog.DiscardHandler))
				done := make(chan struct{})
				go func() { defer close(done); d.run(context.Background()) }()
				go func() { // the library
					for {
						conn, err := d.Accept()
						if err != nil {
							return
						}
						go func() {
							defer conn.Close() //nolint:errcheck // a test's
							for buf := make([]byte, 1600); ; {
								if _, err := conn.Read(buf); err != nil {
									return
								}
							}
						}()
					}
				}()
				conn, err := network.Dial(context.Background(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				talked := make(chan struct{})
				go func() {
					defer close(talked)
					for { // whole messages again and again, parts of one once
						if _, err := conn.Write([]byte(sent)); err != nil || sent != chatter {
							return
						}
						time.Sleep(20 * time.Second)
					}
				}()
				// A second one is beyond the bound of one.
				synctest.Wait()
				beyond, err := network.Dial(context.Background(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := beyond.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(begin) != 0 {
					t.Errorf("%s: one too many: %v after %s", what, err, time.Since(begin))
				}
				_, err = io.Copy(io.Discard, conn)
				if after := time.Since(begin); err != nil || after != settle {
					t.Errorf("%s that sends %q is closed after %s: %v", what, sent, after, err)
				}
				_ = d.Close()
				<-done
				_ = conn.Close()
				<-talked
			})
		}
	}
}
