package mounts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/shout"
)

const (
	again, againAtMost = time.Second, 10 * time.Second
	writeTime          = 5 * time.Second
	look               = 100 * time.Millisecond
	// mute is how long silence is sent in place of an encoder. After that the mount is closed:
	// a player that is disconnected tells its listener, or tries another address.
	mute = time.Minute
	// backlog bounds what waits for the streaming server.
	backlog = 10 * time.Second
)

// Options of a Feed. All are required.
type Options struct {
	Log   *slog.Logger
	Mount Mount
	// Name is the mount's, "main.mp3".
	Name string
	// Port of the streaming server on this machine.
	Port     int
	Password func() string // asked for at each connection
	Station  string        // the mount's name for people
}

// Feed sends to a mount of the streaming server, while Run runs, what is written to it. Make
// one with New.
type Feed struct {
	opt  Options
	dial func(ctx context.Context) (net.Conn, error)
	news chan struct{} // of capacity 1

	mu      sync.Mutex
	cut     cutter
	queue   [][]byte
	fresh   bool      // the frames to come are another encoder's
	arrived time.Time // when the last frame came

	// Of Run, and of Leave after it:
	conn net.Conn // nil where the mount is not connected
	pace *pacer
}

// New makes a Feed.
func New(o Options) *Feed {
	f := &Feed{opt: o, news: make(chan struct{}, 1), cut: cutter{mount: o.Mount}}
	f.dial = func(ctx context.Context) (net.Conn, error) {
		// A connection while Icecast starts can crash it.
		if !port.Listening(o.Port) {
			return nil, fmt.Errorf("the streaming server does not listen on port %d", o.Port)
		}
		return (&net.Dialer{Timeout: writeTime}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	}
	return f
}

// Begin says that another encoder is about to begin.
func (f *Feed) Begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut.rest, f.fresh = nil, true
}

// Write takes what the encoder writes, in any pieces. It never fails and never waits.
func (f *Feed) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	frames := f.cut.add(b)
	if len(frames) == 0 {
		return len(b), nil
	}
	f.arrived = time.Now()
	f.queue = append(f.queue, frames...)
	if most := int(backlog / f.opt.Mount.lasts()); len(f.queue) > most {
		f.queue = f.queue[len(f.queue)-most:]
	}
	select {
	case f.news <- struct{}{}:
	default:
	}
	return len(b), nil
}

// Arrived is when the encoder's last frame came, zero before the first.
func (f *Feed) Arrived() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.arrived
}

func (f *Feed) take() (frames [][]byte, fresh bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	frames, fresh = f.queue, f.fresh
	f.queue, f.fresh = nil, false
	return frames, fresh
}

func (f *Feed) waiting() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.queue) > 0
}

var errAway = fmt.Errorf("nothing came of the encoder for %s", mute)

// Run feeds the mount until ctx ends; call Leave then. Faults are logged and retried. The mount
// is there from the encoder's first frame on.
func (f *Feed) Run(ctx context.Context) error {
	logged, failures := "", 0
	for ctx.Err() == nil {
		if f.conn == nil && !f.waiting() {
			select {
			case <-ctx.Done():
			case <-f.news:
			}
			continue
		}
		began := time.Now()
		err := f.feed(ctx)
		if err == nil { // ctx ended
			return nil
		}
		if failures++; time.Since(began) > againAtMost {
			failures, logged = 1, ""
		}
		if err.Error() != logged {
			logged = err.Error()
			f.opt.Log.Warn("a mount of the streaming server is not fed, retrying", "mount", f.opt.Name, "err", err)
		}
		if errors.Is(err, errAway) {
			continue // it waits for the encoder
		}
		_ = retry.Pause(ctx, retry.Doubled(again, againAtMost, failures))
	}
	return nil
}

// feed connects, unless the mount is, and sends until that fails; nil where ctx ended.
func (f *Feed) feed(ctx context.Context) (err error) {
	if f.conn == nil {
		if err := f.connect(ctx); err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // it ended
			}
			return fmt.Errorf("connect: %w", err)
		}
		f.pace = newPacer(f.opt.Mount, time.Now())
		f.opt.Log.Debug("a mount is fed", "mount", f.opt.Name)
	}
	defer func() {
		if err != nil {
			_ = f.conn.Close() // nothing is lost
			f.conn = nil
		}
	}()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.news:
		case <-tick.C:
		}
		now := time.Now()
		frames, fresh := f.take()
		if fresh {
			f.pace.begins()
		}
		// The frames in one piece: none is cut where ctx ends.
		if out := f.pace.next(now, frames); len(out) > 0 {
			_ = f.conn.SetWriteDeadline(now.Add(writeTime))
			if _, err := f.conn.Write(bytes.Join(out, nil)); err != nil {
				return fmt.Errorf("send: %w", err)
			}
		}
		if f.pace.silentFor(now) > mute {
			return errAway
		}
	}
}

func (f *Feed) connect(ctx context.Context) error {
	conn, err := f.dial(ctx)
	if err != nil {
		return err
	}
	m := f.opt.Mount
	header := http.Header{
		"Content-Type": {m.Type()}, "Ice-Public": {"0"}, "Ice-Name": {f.opt.Station}, "Ice-Bitrate": {strconv.Itoa(m.Kbps)},
		"Ice-Audio-Info": {fmt.Sprintf("bitrate=%d;samplerate=%d;channels=2", m.Kbps, m.Rate())},
	}
	if err := shout.Enter(ctx, conn, writeTime, "/"+f.opt.Name, f.opt.Password(), header); err != nil {
		_ = conn.Close() // refused
		return err
	}
	f.conn = conn
	return nil
}

// Handover is what goes from one program of a process to the next (kit/reexec).
type Handover interface {
	Leaving() bool
	Leave(name string, f *os.File)
	Write(name string, value any) error
	Take(name string) *os.File
	Read(name string, into any) bool
}

// left is what one feed leaves to the next, beside its connection.
type left struct {
	Mount   Mount
	At      time.Time
	Lacking time.Duration
	Queue   [][]byte
	Rest    []byte
}

func (f *Feed) estate() string { return "mount " + f.opt.Name }

// Leave leaves the connection to the next program, so that no listener is disconnected; where
// there is to be none it is closed. Call it once Run has ended and the encoder is not read any
// more.
func (f *Feed) Leave(h Handover) error {
	if f.conn == nil {
		return nil
	}
	defer f.conn.Close() //nolint:errcheck // a copy is left
	conn, ok := f.conn.(interface{ File() (*os.File, error) })
	if !h.Leaving() || !ok {
		return nil
	}
	file, err := conn.File()
	if err != nil {
		return fmt.Errorf("leave the connection of %s: %w", f.opt.Name, err)
	}
	now := time.Now()
	frames, _ := f.take()
	h.Leave(f.estate(), file)
	return h.Write(f.estate(), left{Mount: f.opt.Mount, At: now, Lacking: f.pace.lacking(now), Queue: frames, Rest: f.cut.rest})
}

// Inherit takes what the feed of the program before left. Call it before the encoder is read.
func (f *Feed) Inherit(h Handover) {
	file := h.Take(f.estate())
	if file == nil {
		return
	}
	defer file.Close() //nolint:errcheck // FileConn has a copy
	var l left
	conn, err := net.FileConn(file)
	if err != nil {
		return
	}
	// Another bitrate is set: players were told of the former one, and may not follow.
	if !h.Read(f.estate(), &l) || l.Mount != f.opt.Mount {
		_ = conn.Close()
		return
	}
	now := time.Now()
	f.conn, f.queue, f.cut.rest = conn, l.Queue, l.Rest
	f.pace = newPacer(f.opt.Mount, now)
	f.pace.first, f.pace.gathering = false, false
	f.pace.zero = now.Add(-l.Lacking - min(max(now.Sub(l.At), 0), mute)) // the clock may have been set
}
