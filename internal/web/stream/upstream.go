package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// The pause between two attempts at the upstream grows from the first to the second.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 2 * time.Second
	// startPatience is how long an upstream that starts at the same time may stay
	// away before a warning is logged.
	startPatience = 30 * time.Second
	// answerTimeout bounds connecting and the wait for response headers.
	answerTimeout = 5 * time.Second
)

// errSilent is the cause when the upstream stays connected but sends nothing.
var errSilent = errors.New("nothing received for too long")

// errMoved is the cause when the upstream is elsewhere now.
var errMoved = errors.New("the upstream has moved")

// follow holds the upstream connection until ctx ends.
func (f *Fanout) follow(ctx context.Context) {
	// The grace runs beside the attempts, which may take seconds each.
	grace := time.AfterFunc(time.Hour, f.giveUp)
	grace.Stop()
	defer grace.Stop()

	in := f.intake
	if f.waiting() { // what was handed over waits for the upstream
		grace.Reset(f.opt.Grace)
	}
	if f.opt.Moved != nil {
		moved, end := f.opt.Moved()
		defer end()
		in.moved = moved
	}
	session := in.session
	if f.opt.Source != nil {
		session = in.source
	}
	begun := time.Now()
	pause, told := firstPause, false
	for {
		err := session(ctx)
		if ctx.Err() != nil {
			return
		}
		if f.lost() {
			grace.Reset(f.opt.Grace)
			f.log.Warn("stream upstream lost, listeners kept waiting", "err", err, "grace", f.opt.Grace)
			pause, told = firstPause, true
		}
		if !told {
			level := slog.LevelDebug
			if told = time.Since(begun) >= startPatience; told {
				level = slog.LevelWarn
			}
			f.log.Log(ctx, level, "stream upstream not reachable, will try again", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-in.moved:
			pause = firstPause
			continue
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// intake is the receiving side; its framer outlives a connection.
type intake struct {
	f      *Fanout
	framer framer
	format string
	// kept is the connection that goes from one program to the next: from that before until
	// the first session, and to the next from the end of the last.
	kept  *connection
	moved <-chan struct{} // nil: the upstream stays where it is
}

// session is one connection to the upstream, from request to failure.
func (in *intake) session(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel(nil)
	watching.Go(func() {
		select {
		case <-in.moved:
			cancel(errMoved)
		case <-ctx.Done():
		}
	})
	c := in.kept
	if in.kept = nil; c == nil {
		var err error
		if c, err = connect(ctx, in.f.upstream()); err != nil {
			return err
		}
		in.open(c.format)
	}
	defer func() {
		if in.kept == nil {
			c.close()
		}
	}()
	defer c.interrupted(ctx)()

	silence := time.AfterFunc(in.f.opt.Silence, func() { cancel(errSilent) })
	defer silence.Stop()
	buf := make([]byte, 16<<10)
	for {
		n, err := c.body.Read(buf)
		if n > 0 {
			silence.Reset(in.f.opt.Silence)
			in.framer.frame(buf[:n], in.f.publish)
			in.f.count.in.Add(uint64(n))
			in.f.heard()
		}
		if err != nil {
			cause := context.Cause(ctx)
			if cause != nil && !errors.Is(cause, errSilent) && !errors.Is(cause, errMoved) && errors.Is(err, os.ErrDeadlineExceeded) && in.f.leaving() {
				in.kept = c
			}
			if cause != nil {
				err = cause
			}
			return fmt.Errorf("read upstream: %w", err)
		}
	}
}

// upstream is where it is now.
func (f *Fanout) upstream() string {
	if f.opt.At != nil {
		return f.opt.At()
	}
	return f.opt.URL
}

// source is one run of an upstream in this process.
func (in *intake) source(ctx context.Context) error {
	in.open("application/ogg")
	return in.f.opt.Source(ctx, func(p []byte) {
		in.framer.frame(p, in.f.publish)
		in.f.count.in.Add(uint64(len(p)))
		in.f.heard()
	})
}

// open prepares for a new connection. Listeners cannot follow into another format,
// so a changed format ends them. With no listeners left, nothing counts as a
// repeat: new ones need all that the connection sends.
func (in *intake) open(format string) {
	in.f.mu.Lock()
	defer in.f.mu.Unlock()
	if in.format == format && in.f.ring.head != nil {
		in.framer.resume()
		return
	}
	in.framer, in.format = framerFor(format), format
	in.f.ring.end()
	in.f.format = format
}

// publish puts a unit on air.
func (f *Fanout) publish(u unit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ring.add(u)
	if f.ring.size > uint64(f.opt.Window) {
		f.floor.Store(f.ring.size - uint64(f.opt.Window))
	}
	if f.state != Live {
		f.log.Info("stream upstream live", "format", f.format)
		f.set(Live)
	}
}

func (f *Fanout) heard() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = time.Now()
}

// lost notes that the connection is gone; false when there was nothing to lose.
func (f *Fanout) lost() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state != Live {
		return false
	}
	f.set(Away)
	return true
}

// waiting reports that there are listeners and no upstream.
func (f *Fanout) waiting() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state == Away
}

// giveUp ends the listeners after the grace.
func (f *Fanout) giveUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == Away && time.Since(f.since) >= f.opt.Grace {
		f.log.Warn("stream upstream did not return, listeners disconnected", "grace", f.opt.Grace)
		f.ring.end()
	}
}

// set changes the state; the caller holds mu.
func (f *Fanout) set(s State) {
	f.state, f.since = s, time.Now()
	close(f.changed)
	f.changed = make(chan struct{})
}

// newest returns the live end of the stream; nil when there is none.
func (f *Fanout) newest() *chunk {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ring.head
}

// await returns where a new listener starts and the format; nil when the
// upstream is not live within Options.Wait.
func (f *Fanout) await(ctx context.Context) (*chunk, string) {
	timer := time.NewTimer(f.opt.Wait)
	defer timer.Stop()
	for {
		f.mu.Lock()
		at, format, state, changed := f.ring.join, f.format, f.state, f.changed
		f.mu.Unlock()
		if state == Live && at != nil {
			return at, format
		}
		if state == Stopped {
			return nil, ""
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil, ""
		case <-ctx.Done():
			return nil, ""
		}
	}
}
