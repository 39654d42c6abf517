package engine

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"pgregory.net/rapid"
)

// What is written as a polling body is read back as it was.
func TestPayloadIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type item struct {
			text   string
			binary bool
		}
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) item {
			if rapid.Bool().Draw(t, "binary") {
				return item{string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")), true}
			}
			// A message has no separator: JSON escapes it.
			return item{rapid.StringMatching(`[^\x1e]{0,20}`).Draw(t, "text"), false}
		}), 1, 12).Draw(t, "items")
		var packets []*Packet
		for _, i := range items {
			if i.binary {
				packets = append(packets, Binary([]byte(i.text)))
			} else {
				packets = append(packets, Text([]byte(i.text)))
			}
		}
		n := 0
		err := decodePayload(encodePayload(packets), len(items), func(packet []byte, binary bool) bool {
			want := items[n]
			if !want.binary {
				want.text = "4" + want.text
			}
			if string(packet) != want.text || binary != want.binary {
				t.Fatalf("packet %d: %q (%v), want %q (%v)", n, packet, binary, want.text, want.binary)
			}
			n++
			return true
		})
		if err != nil || n != len(items) {
			t.Fatalf("%d of %d, %v", n, len(items), err)
		}
	})
}

func FuzzPayload(f *testing.F) {
	for _, seed := range []string{"4hello", "4a\x1ebAQIDBA==\x1e2", "b", "\x1e", "", "4\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		n, size := 0, 0
		err := decodePayload(body, 8, func(packet []byte, binary bool) bool {
			n++
			size += len(packet)
			if !binary && len(packet) == 0 {
				t.Error("an empty packet")
			}
			return true
		})
		if n > 8 || size > len(body) {
			t.Errorf("%d packets of %d bytes from %d", n, size, len(body))
		}
		if err == nil && n == 0 {
			t.Error("nothing was read, and nothing was wrong")
		}
	})
}

// stream is a connection that only reads.
type stream struct{ io.Reader }

func (stream) Write(p []byte) (int, error)      { return len(p), nil }
func (stream) Close() error                     { return nil }
func (stream) LocalAddr() net.Addr              { return nil }
func (stream) RemoteAddr() net.Addr             { return nil }
func (stream) SetDeadline(time.Time) error      { return nil }
func (stream) SetReadDeadline(time.Time) error  { return nil }
func (stream) SetWriteDeadline(time.Time) error { return nil }

func readAll(r io.Reader, limit int) (messages []string, err error) {
	session := &Session{server: New(Options{MaxPayload: limit}, nil)}
	w := session.newWire(stream{r}, nil)
	w.allowed = func() bool { return true }
	w.control = func(ws.OpCode, []byte) error { return nil }
	for {
		data, _, err := w.message()
		if err != nil {
			return messages, err
		}
		messages = append(messages, string(data))
		w.room.free()
	}
}

// However a message is cut into frames, and the frames into reads, it is read
// as it was.
func TestFramesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent []string
		var wire bytes.Buffer
		for range rapid.IntRange(1, 5).Draw(t, "messages") {
			text := bytes.Repeat([]byte("0123456789"), rapid.SampledFrom([]int{0, 1, 12, 13, 50, 6600, 9000}).Draw(t, "size"))
			sent = append(sent, string(text))
			op := ws.OpText
			for first := true; first || len(text) > 0; first = false {
				n := rapid.IntRange(0, len(text)).Draw(t, "cut")
				if rapid.Bool().Draw(t, "ping") {
					wire.Write(ws.MustCompileFrame(ws.MaskFrame(ws.NewPingFrame([]byte("p")))))
				}
				wire.Write(ws.MustCompileFrame(ws.MaskFrame(ws.NewFrame(op, false, bytes.Clone(text[:n])))))
				op, text = ws.OpContinuation, text[n:]
			}
			wire.Write(ws.MustCompileFrame(ws.MaskFrame(ws.NewFrame(ws.OpContinuation, true, nil))))
		}
		got, err := readAll(&choppy{wire.Bytes(), rapid.IntRange(1, 700).Draw(t, "read")}, 100_000)
		if !errors.Is(err, io.EOF) || len(got) != len(sent) {
			t.Fatalf("%d of %d messages, %v", len(got), len(sent), err)
		}
		for i := range sent {
			if got[i] != sent[i] {
				t.Fatalf("message %d differs", i)
			}
		}
	})
}

// choppy reads at most n bytes at a time.
type choppy struct {
	data []byte
	n    int
}

func (c *choppy) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.n)], c.data)
	c.data = c.data[n:]
	return n, nil
}

func FuzzFrames(f *testing.F) {
	f.Add(ws.MustCompileFrame(ws.MaskFrame(ws.NewTextFrame([]byte("4hello")))))
	f.Add(ws.MustCompileFrame(ws.MaskFrame(ws.NewCloseFrame(nil))))
	f.Add([]byte{0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 1, 2, 3, 4, 5})
	f.Add([]byte{0x01, 0x80, 1, 2, 3, 4, 0x80, 0x81, 1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 4096
		messages, err := readAll(bytes.NewReader(data), limit)
		if err == nil {
			t.Error("it does not end")
		}
		size := 0
		for _, m := range messages {
			size += len(m)
			if len(m) > limit {
				t.Errorf("a message of %d bytes", len(m))
			}
		}
		if size > len(data) {
			t.Errorf("%d bytes of messages from %d", size, len(data))
		}
	})
}
