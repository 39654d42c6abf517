// Package standby feeds the streaming server's standby mount: a quiet loop that
// listeners hear while the playout engine's stream is gone. Icecast moves them
// there and back, and they stay connected.
//
// Icecast would serve a file of its own as fallback, but sends it as fast as a
// listener takes it (three times too fast, measured with 2.4.4): every player
// would lag behind ever after. This loop comes in real time.
//
// It decodes nothing, and runs until its context ends.
package standby

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/internal/kit/shout"
)

// Mark is a comment in our Ogg stream that tells it from the programme. (Icecast
// gives a stream pages and a serial number of its own.)
const Mark = "ATHIR=standby"

const serial = 1

const (
	again     = time.Second
	writeTime = 5 * time.Second
	// lead is how far ahead of the clock pages are sent.
	lead = 300 * time.Millisecond
	// atMost is how much of a long file is used.
	atMost = 10 * time.Minute
	// encodeWithin is how long the encoder may take: half a minute on a machine with eight
	// busy loops. One that hangs is ended, and another begins.
	encodeWithin = 5 * time.Minute
)

// Options of Run. All are required but Begin and EncodeWithin.
type Options struct {
	Log *slog.Logger
	// Dir keeps the encoded loop.
	Dir string
	// Files are the audio to choose from: the first that can be encoded.
	Files []string
	// Port of the streaming server on this machine.
	Port     int
	Mount    string        // with its slash
	Password func() string // asked for at each connection
	// Begin, when not nil, is called first and returns when the feed may start.
	Begin func(ctx context.Context)
	// EncodeWithin bounds the encoding of a file; five minutes when zero.
	EncodeWithin time.Duration
}

// Run feeds the mount until ctx ends. Faults are logged and retried.
func Run(ctx context.Context, o Options) error { return run(ctx, o, newLoops(o)) }

func run(ctx context.Context, o Options, loops *loops) error {
	if o.Begin != nil {
		o.Begin(ctx)
	}
	logged := ""
	for ctx.Err() == nil {
		err := feed(ctx, o, loops)
		if ctx.Err() != nil {
			break
		}
		if err.Error() != logged {
			logged = err.Error()
			o.Log.Warn("cannot send standby audio to the streaming server, retrying", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
	return nil
}

// feed connects and sends the loop until that fails.
func feed(ctx context.Context, o Options, loops *loops) error {
	l, err := loops.first(ctx)
	if err != nil {
		return err
	}
	// A connection while Icecast starts can crash it.
	if !port.Listening(o.Port) {
		return fmt.Errorf("the streaming server does not listen on port %d", o.Port)
	}
	conn, err := (&net.Dialer{Timeout: writeTime}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return fmt.Errorf("connect standby audio: %w", err)
	}
	defer conn.Close() //nolint:errcheck // nothing is lost
	return o.send(ctx, conn, l)
}

// send gives the loop to the streaming server in real time, until it fails.
func (o Options) send(ctx context.Context, conn net.Conn, l *loop) error {
	header := http.Header{"Content-Type": {"application/ogg"}, "Ice-Public": {"0"}}
	if err := shout.Enter(ctx, conn, writeTime, o.Mount, o.Password(), header); err != nil {
		return fmt.Errorf("connect standby audio: %w", err)
	}
	o.Log.Debug("standby audio connected", "mount", o.Mount)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	begin := time.Now()
	for at, page := range l.pages(serial) {
		if wait := at - lead - time.Since(begin); wait > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(wait):
			}
		}
		_ = conn.SetWriteDeadline(time.Now().Add(writeTime))
		if _, err := conn.Write(page); err != nil {
			return fmt.Errorf("send standby audio: %w", err)
		}
	}
	return errors.New("standby audio ended")
}
