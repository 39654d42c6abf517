package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

const (
	// partSize is what one message holds: a server that nobody has configured
	// takes 1 MiB, headers included.
	partSize = 512 << 10
	// MostBytes is the longest request.
	MostBytes = 8 << 20
	// partsWait is how long a request waits for its next part.
	partsWait = 10 * time.Second
	// mostOpen bounds the requests that are not whole yet, and with MostBytes
	// the memory they take.
	mostOpen = 32

	headerRequest = "Athir-Request" // id, of a request in parts
	headerPart    = "Athir-Part"    // n of m, from 0
	headerReply   = "Athir-Reply"
)

// Request asks whoever serves the subject, and returns the answer. A request
// that is longer than a message goes in parts; an answer must fit one. Errors:
// ErrUnreachable, or ctx's.
func (b *Bus) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if len(data) > MostBytes {
		return nil, fmt.Errorf("request %s: %d bytes, at most %d are allowed", subject, len(data), MostBytes)
	}
	if !b.Up() {
		return nil, fmt.Errorf("request %s: %w", subject, ErrUnreachable)
	}
	var m *nats.Msg
	var err error
	if len(data) <= partSize {
		m, err = b.conn.RequestWithContext(ctx, subject, data)
	} else {
		m, err = b.inParts(ctx, subject, data)
	}
	if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrConnectionClosed) {
		err = ErrUnreachable
	}
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", subject, err)
	}
	return m.Data, nil
}

func (b *Bus) inParts(ctx context.Context, subject string, data []byte) (*nats.Msg, error) {
	inbox := b.conn.NewInbox()
	sub, err := b.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer sub.Unsubscribe() //nolint:errcheck // only fails when closed
	id, parts := nuid.Next(), (len(data)+partSize-1)/partSize
	for n := range parts {
		m := nats.NewMsg(subject)
		m.Data = data[n*partSize : min(len(data), (n+1)*partSize)]
		m.Header.Set(headerRequest, id)
		m.Header.Set(headerPart, strconv.Itoa(n)+" "+strconv.Itoa(parts))
		m.Header.Set(headerReply, inbox)
		if n == parts-1 {
			m.Reply = inbox
		}
		if err := b.conn.PublishMsg(m); err != nil {
			return nil, err
		}
	}
	m, err := sub.NextMsgWithContext(ctx)
	if err == nil && len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		return nil, nats.ErrNoResponders
	}
	return m, err
}

// mostSubjects bounds the subjects that one with a * in it stands for; mostQueued the
// requests that wait at each, and mostHeld the bytes of those that wait or are being answered.
const (
	mostSubjects = 1024
	mostQueued   = 1024
	mostHeld     = 128 << 20
)

// queue is what is asked at one subject.
type queue struct {
	in   chan *nats.Msg
	held atomic.Int64 // bytes
}

// put reports whether there was room.
func (q *queue) put(m *nats.Msg) bool {
	size := int64(len(m.Data))
	if q.held.Add(size) <= mostHeld {
		select {
		case q.in <- m:
			return true
		default:
		}
	}
	q.held.Add(-size)
	return false
}

// Serve answers the requests of a subject until ctx ends, at most workers at
// once; it returns when the last is answered. One process serves a subject.
// What fn returns is the answer, an empty one where it panics; the bytes it is
// given are its own.
//
// Of a subject with a * in it each that it stands for has workers and a queue of its own:
// where the * is the name of who asks, nobody is kept out by another who asks too much.
func (b *Bus) Serve(ctx context.Context, subject string, workers int, fn func(ctx context.Context, data []byte) []byte) error {
	in := make(chan *nats.Msg, mostQueued)
	sub, err := b.conn.ChanSubscribe(subject, in)
	if err != nil {
		return fmt.Errorf("serve %s: %w", subject, err)
	}
	defer sub.Unsubscribe() //nolint:errcheck // only fails when closed
	var open sync.WaitGroup
	defer open.Wait()
	queues := map[string]*queue{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-in:
			q := queues[m.Subject]
			if q == nil && len(queues) < mostSubjects {
				q = &queue{in: make(chan *nats.Msg, mostQueued)}
				queues[m.Subject] = q
				open.Go(func() { b.serve(ctx, q, workers, fn) })
			}
			if q == nil || !q.put(m) { // who asked times out, and asks again
				b.errorLog.say(slog.LevelWarn, "bus: more is asked than can be answered", "subject", m.Subject)
			}
		}
	}
}

// serve answers the requests of one subject until ctx ends.
func (b *Bus) serve(ctx context.Context, q *queue, workers int, fn func(ctx context.Context, data []byte) []byte) {
	var open sync.WaitGroup
	defer open.Wait()
	places := make(chan struct{}, workers)
	whole := assembly{open: map[string]*request{}}
	for {
		var m *nats.Msg
		select {
		case <-ctx.Done():
			return
		case m = <-q.in:
		}
		data, reply := m.Data, m.Reply
		if id := m.Header.Get(headerRequest); id != "" {
			q.held.Add(-int64(len(m.Data))) // the parts have a bound of their own
			if data = whole.add(id, m.Header.Get(headerPart), m.Data, time.Now()); data == nil {
				continue
			}
			q.held.Add(int64(len(data)))
			reply = m.Header.Get(headerReply)
		}
		select {
		case <-ctx.Done():
			return
		case places <- struct{}{}:
		}
		if !strings.HasPrefix(reply, inboxes) {
			reply = "" // or whoever may ask could have its answer sent to a subject that it may not
		}
		open.Go(func() {
			defer func() { q.held.Add(-int64(len(data))); <-places }()
			if answer := b.guarded(ctx, m.Subject, data, fn); reply != "" {
				_ = b.conn.Publish(reply, answer) // the caller times out and asks again
			}
		})
	}
}

// guarded keeps a panic of fn's from ending the program: its answer is empty.
func (b *Bus) guarded(ctx context.Context, subject string, data []byte, fn func(context.Context, []byte) []byte) (answer []byte) {
	defer func() {
		if fault := recover(); fault != nil {
			b.log.Error("request handler panicked", "subject", subject, "panic", fault, "stack", string(debug.Stack()))
			answer = nil
		}
	}()
	return fn(ctx, data)
}

// assembly joins the parts of long requests.
type assembly struct {
	open map[string]*request
}

type request struct {
	data bytes.Buffer
	next int
	last time.Time // of its parts
}

// add returns the whole request with its last part, nil before. Parts of one
// sender arrive in order; a request that misses one is dropped, and times out
// where it was made.
func (a *assembly) add(id, part string, data []byte, now time.Time) []byte {
	for other, r := range a.open {
		if now.Sub(r.last) > partsWait {
			delete(a.open, other)
		}
	}
	var n, parts int
	if _, err := fmt.Sscanf(part, "%d %d", &n, &parts); err != nil || n < 0 || n >= parts || parts > MostBytes/partSize+1 {
		return nil
	}
	r := a.open[id]
	if r == nil {
		if n != 0 || len(a.open) >= mostOpen {
			return nil
		}
		r = &request{}
		a.open[id] = r
	}
	if n != r.next || r.data.Len()+len(data) > MostBytes {
		delete(a.open, id)
		return nil
	}
	r.last = now
	r.data.Write(data)
	if r.next++; r.next < parts {
		return nil
	}
	delete(a.open, id)
	return r.data.Bytes()
}
