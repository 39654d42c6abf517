package socket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/athir-radio/athir/internal/web/socket/engine"
)

// Errors of messages to send.
var (
	ErrReserved    = errors.New("event name is reserved by the protocol")
	ErrAttachments = errors.New("too many attachments")
	ErrNamespace   = errors.New("message of another namespace")
)

// Message is an event, encoded and framed for one namespace. It never changes and
// may be sent any number of times to any socket there.
type Message struct {
	namespace *Namespace
	packets   []*engine.Packet
	marked    []*engine.Packet // with the offset as last argument; nil without one
}

// to returns the packets for a socket: who can be recovered gets the offset.
func (m *Message) to(s *Socket) []*engine.Packet {
	if m.marked != nil && s.pid != "" {
		return m.marked
	}
	return m.packets
}

// Message makes an event. A []byte argument is sent as binary, a json.RawMessage as
// it is, any other as encoding/json writes it.
func (n *Namespace) Message(event string, args ...any) (*Message, error) {
	return n.Attach(nil, event, args...)
}

// Attach is Message with attachments that Placeholder refers to from within the
// arguments. They come before those that are arguments themselves.
func (n *Namespace) Attach(attachments [][]byte, event string, args ...any) (*Message, error) {
	packets, err := encodeEvent(n.name, nil, attachments, event, args)
	if err != nil {
		return nil, err
	}
	return &Message{namespace: n, packets: shared(packets)}, nil
}

// At is Message at an offset, by which a client that can be recovered says how far it
// has heard. The offset is the last argument for those clients and for no other: some
// libraries hand an event with a second argument to the application in another shape.
func (n *Namespace) At(offset, event string, args ...any) (*Message, error) {
	if reserved(event) {
		return nil, fmt.Errorf("encode event %q: %w", event, ErrReserved)
	}
	body, attachments, err := encodeArgs(nil, append([]any{event}, args...))
	if err != nil {
		return nil, fmt.Errorf("encode event %q: %w", event, err)
	}
	last, err := json.Marshal(offset)
	if err != nil {
		return nil, fmt.Errorf("encode offset of event %q: %w", event, err)
	}
	marked := slices.Concat(body[:len(body)-1], []byte{','}, last, []byte{']'})
	return &Message{
		namespace: n,
		packets:   shared(frame(n.name, kindEvent, nil, body, attachments)),
		marked:    shared(frame(n.name, kindEvent, nil, marked, attachments)),
	}, nil
}

// Bytes is what the message takes in memory, about.
func (m *Message) Bytes() (n int) {
	for _, p := range slices.Concat(m.packets, m.marked) {
		n += p.Size()
	}
	return n
}

func shared(packets []*engine.Packet) []*engine.Packet {
	for i, p := range packets {
		packets[i] = p.Shared()
	}
	return packets
}

// encodeEvent makes the packets of an event; id asks for an acknowledgement.
func encodeEvent(namespace string, id *uint64, attachments [][]byte, event string, args []any) ([]*engine.Packet, error) {
	if reserved(event) {
		return nil, fmt.Errorf("encode event %q: %w", event, ErrReserved)
	}
	packets, err := encodeArray(namespace, kindEvent, id, attachments, append([]any{event}, args...))
	if err != nil {
		return nil, fmt.Errorf("encode event %q: %w", event, err)
	}
	return packets, nil
}

// encodeArray makes the packets of an event or an acknowledgement.
func encodeArray(namespace string, k kind, id *uint64, attachments [][]byte, args []any) ([]*engine.Packet, error) {
	body, attachments, err := encodeArgs(attachments, args)
	if err != nil {
		return nil, err
	}
	return frame(namespace, k, id, body, attachments), nil
}

// encodeArgs writes arguments as an array, and adds those that are bytes to the
// attachments.
func encodeArgs(attachments [][]byte, args []any) ([]byte, [][]byte, error) {
	var body bytes.Buffer
	body.WriteByte('[')
	for i, arg := range args {
		if i > 0 {
			body.WriteByte(',')
		}
		if data, ok := arg.([]byte); ok {
			arg = Placeholder(len(attachments))
			attachments = append(attachments[:len(attachments):len(attachments)], data)
		}
		if err := encodeArg(&body, arg); err != nil {
			return nil, nil, err
		}
	}
	body.WriteByte(']')
	if len(attachments) > MaxAttachments {
		return nil, nil, ErrAttachments
	}
	return body.Bytes(), attachments, nil
}

// frame makes the packets of an encoded array.
func frame(namespace string, k kind, id *uint64, body []byte, attachments [][]byte) []*engine.Packet {
	if len(attachments) > 0 {
		k += kindBinaryEvent - kindEvent
	}
	text := appendHeader(make([]byte, 0, len(body)+len(namespace)+24), k, len(attachments), namespace)
	if id != nil {
		text = strconv.AppendUint(text, *id, 10)
	}
	packets := make([]*engine.Packet, 0, 1+len(attachments))
	packets = append(packets, engine.Text(append(text, body...)))
	for _, data := range attachments {
		packets = append(packets, engine.Binary(data))
	}
	return packets
}

func encodeArg(body *bytes.Buffer, arg any) error {
	if raw, ok := arg.(json.RawMessage); ok {
		// Invalid JSON would cost every client its connection.
		if !json.Valid(raw) {
			return errors.New("argument is not JSON")
		}
		body.Write(raw)
		return nil
	}
	encoder := json.NewEncoder(body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(arg); err != nil {
		return err
	}
	body.Truncate(body.Len() - 1) // the encoder's newline
	return nil
}

// encodeObject makes the packet of a connect or its refusal.
func encodeObject(namespace string, k kind, object any) *engine.Packet {
	text := appendHeader(nil, k, 0, namespace)
	if object != nil {
		data, err := json.Marshal(object)
		if err != nil {
			data = []byte(`{"message":"connection refused"}`)
		}
		text = append(text, data...)
	}
	return engine.Text(text)
}
