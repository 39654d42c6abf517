// Package output listens to what the broadcast node sends out, beside the streaming
// server and as a listener does. The audio that arrives, and how much of it, is counted
// from the stream itself; only its level needs a decoder. It judges no fault: see
// onair/guard and node/supervise.
package output

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/sound/deadair"
)

const (
	// answerWithin bounds connecting, and the wait for an answer.
	answerWithin = 2 * time.Second
	// again is the pause between two attempts at the mount.
	again = 200 * time.Millisecond
	// still is how long no bytes may come before the connection is made anew: longer than
	// the server itself waits for its source.
	still = 6 * time.Second
	// deaf is how long the decoder may produce no audio from what comes before it is
	// started anew, with the connection: a stream cannot be entered in its middle. A decoder
	// that only waits for a processor is not helped by that.
	deaf = 15 * time.Second
	// resume is how long after its decoder has ended a connection goes on: its audio is
	// counted, and one that is made anew for each decoder that cannot start would never
	// outlast the burst.
	resume = 5 * time.Second
	// behind bounds what waits for the decoder, in reads: half a minute and more.
	behind = 128
	// burst is how long after a connection what comes may be from before it.
	burst = 500 * time.Millisecond
)

// Options of an Ear. All are required.
type Options struct {
	Log *slog.Logger
	// URL of the mount that listeners hear.
	URL string
	// Standby is the mark in the comments of the Ogg stream that the streaming server
	// falls back to: sound that is not the station's.
	Standby string
	// Listening says whether the streaming server accepts connections.
	Listening func() bool
	// Level in dBFS; below it is silence.
	Level float64
}

// Ear listens to a mount while Run runs, and keeps what was heard last. Make one with New.
type Ear struct {
	opt    Options
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	decode func(ctx context.Context, stream io.Reader, samples io.Writer) error // returns why it ended

	mu      sync.Mutex
	judge   *deadair.Judge
	pages   *pages
	odd     []byte    // half a sample
	open    time.Time // since when the connection stands
	arrived time.Time // the last audio that came; zero: none yet
	decoded time.Time // the last audio that was decoded; zero: none yet
	standby time.Time // since when only the server's standby audio comes; zero: it does not
	cuts    int
	full    bool
	cause   string
}

// New makes an Ear.
func New(o Options) *Ear {
	return &Ear{
		opt: o, judge: deadair.NewJudge(o.Level), pages: &pages{mark: []byte(o.Standby), at: -1, rate: usualRate},
		dial: (&net.Dialer{Timeout: answerWithin}).DialContext, decode: decodeOgg,
	}
}

// Hearing returns what is known now.
func (e *Ear) Hearing() Hearing {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	h := Hearing{
		Verdict: e.judge.Verdict(), Arrived: age(now, e.arrived), Decoded: age(now, e.decoded),
		Cuts: e.cuts, Full: e.full, Cause: e.cause,
	}
	if !e.standby.IsZero() {
		h.Standby = max(1, now.Sub(e.standby))
	}
	return h
}

func age(now, at time.Time) time.Duration {
	if at.IsZero() {
		return never
	}
	return max(0, now.Sub(at))
}

// Run holds the connection until ctx ends.
func (e *Ear) Run(ctx context.Context) error {
	transport := &http.Transport{
		DialContext: e.dial, ResponseHeaderTimeout: answerWithin, DisableCompression: true, DisableKeepAlives: true,
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for ctx.Err() == nil {
		err := e.listen(ctx, client)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // ctx ended it
		}
		e.mu.Lock()
		e.cause, e.standby, e.full = err.Error(), time.Time{}, errors.Is(err, errFull)
		e.mu.Unlock()
		e.opt.Log.Debug("cannot listen to the station's own output", "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
	return nil
}

var (
	errEnded = errors.New("the streaming server ended the stream")
	errDeaf  = errors.New("the stream cannot be decoded")
	errFull  = errors.New("the streaming server has no place for another listener")
	errStill = fmt.Errorf("the streaming server sent nothing for %s", still)
)

// userAgent is how the server lists this listener; see icecast.Listener.
const userAgent = "athir-output"

// listen is one connection, from the request to its end.
func (e *Ear) listen(ctx context.Context, client *http.Client) error {
	// Icecast does not survive every connection while it starts.
	if !e.opt.Listening() {
		return errors.New("the streaming server accepts no connections")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.opt.URL, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", userAgent)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusForbidden: // Icecast's answer beyond max-listeners and clients
		return errFull
	default:
		return fmt.Errorf("the streaming server answered %s", resp.Status)
	}
	e.begin()
	r, w := io.Pipe()
	decoding := make(chan struct{})
	go func() {
		defer close(decoding)
		err := e.decode(ctx, r, e)
		_ = r.CloseWithError(err) // a write to it must not wait
		_ = retry.Pause(ctx, resume)
		cancel(err)
	}()
	err = e.pump(ctx, cancel, resp.Body, w)
	<-decoding
	return err
}

// decodeOgg decodes a stream of Ogg to 16-bit mono samples until either ends.
func decodeOgg(ctx context.Context, stream io.Reader, samples io.Writer) error {
	exit, err := proc.Run(ctx, proc.Spec{
		Name: "decoder of the output", Path: "ffmpeg", Stdin: stream, Stdout: samples, Stop: syscall.SIGKILL, Nice: proc.Air,
		Args: []string{
			"-hide_banner", "-v", "quiet", "-probesize", "65536", "-analyzeduration", "0", "-fflags", "+nobuffer",
			"-f", "ogg", "-i", "pipe:0", "-map", "0:a:0", "-ac", "1", "-ar", fmt.Sprint(deadair.Rate), "-f", "s16le", "-flush_packets", "1", "pipe:1",
		},
	}, nil)
	if err == nil {
		err = fmt.Errorf("the decoder exited: %s", exit)
	}
	return err
}

// pump moves bytes from the server to the decoder, and detects standby audio.
func (e *Ear) pump(ctx context.Context, cancel context.CancelCauseFunc, from io.Reader, to *io.PipeWriter) error {
	silent := time.AfterFunc(still, func() { cancel(errStill) })
	defer silent.Stop()
	// What arrives is counted as it arrives, whether or not the decoder keeps up.
	queue := make(chan []byte, behind)
	var moving sync.WaitGroup
	defer func() {
		cancel(errEnded) // of no effect after another cause
		_ = to.CloseWithError(errEnded)
		close(queue)
		moving.Wait()
	}()
	moving.Go(func() {
		for b := range queue {
			_, _ = to.Write(b) // after the decoder's end it goes nowhere
		}
	})
	buf := make([]byte, 8<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			silent.Reset(still)
			e.heard(buf[:n])
			select {
			case queue <- bytes.Clone(buf[:n]):
			default:
				return errDeaf
			}
			if e.isDeaf() {
				return errDeaf
			}
		}
		switch {
		case err == nil:
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case errors.Is(err, io.EOF):
			return errEnded
		default:
			return err
		}
	}
}

// begin forgets what was heard: a new connection repeats the recent past.
func (e *Ear) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.judge, e.odd, e.open = deadair.NewJudge(e.opt.Level), nil, time.Now()
	e.pages = &pages{mark: []byte(e.opt.Standby), at: -1, rate: usualRate}
	e.cause, e.full = "", false
}

// heard takes note of what arrived.
func (e *Ear) heard(b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now, before := time.Now(), e.pages.audio
	e.pages.read(b)
	// What a new listener is sent at once may be old.
	if e.pages.audio > before && now.Sub(e.open) > burst {
		e.arrived = now
	}
	switch {
	case !e.pages.marked:
		e.standby = time.Time{}
	case e.standby.IsZero():
		e.standby = now
		e.cuts++
	}
}

func (e *Ear) isDeaf() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Since(e.open) > deaf && time.Since(e.decoded) > deaf
}

// Write takes what the decoder makes: 16-bit samples.
func (e *Ear) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(b)
	if len(e.odd) > 0 {
		b = append(e.odd, b...) //nolint:gocritic // the half sample goes first
		e.odd = nil
	}
	samples := make([]int16, len(b)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(b[2*i:])) //nolint:gosec // the same bits
	}
	if len(b)%2 == 1 {
		e.odd = []byte{b[len(b)-1]}
	}
	e.judge.Add(samples)
	e.decoded = time.Now()
	return n, nil
}
