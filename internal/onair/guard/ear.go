package guard

import (
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
)

const (
	// answerWithin bounds connecting, and the wait for an answer.
	answerWithin = 2 * time.Second
	// again is the pause between two attempts at the mount.
	again = 200 * time.Millisecond
	// deaf is how long bytes may come of which the decoder makes nothing, before
	// it is started anew.
	deaf = 3 * time.Second
)

// ear listens to the mount and keeps what was heard last.
type ear struct {
	url     string
	standby string
	ready   func() bool
	level   float64
	log     *slog.Logger
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	decode  func(ctx context.Context, stream io.Reader, samples io.Writer) error // returns why it ended

	mu    sync.Mutex
	judge *Judge
	h     hearing
	odd   []byte // half a sample
	open  time.Time
}

// hearing is what the ear knows at a moment.
type hearing struct {
	Verdict
	pcm     time.Time // the last audio; zero: none yet
	standby time.Time // since when only the server's standby audio comes; zero: it does not
	cuts    int       // how often it began to
	cause   string    // why nothing comes, or came last
}

func newEar(o Options) *ear {
	return &ear{
		url: o.URL, standby: o.Standby, ready: o.Listening, level: o.Level, log: o.Log, judge: NewJudge(o.Level),
		dial: (&net.Dialer{Timeout: answerWithin}).DialContext, decode: decodeOgg,
	}
}

func (e *ear) hearing() hearing {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := e.h
	h.Verdict = e.judge.Verdict()
	return h
}

// run holds the connection until ctx ends.
func (e *ear) run(ctx context.Context) {
	transport := &http.Transport{
		DialContext: e.dial, ResponseHeaderTimeout: answerWithin, DisableCompression: true, DisableKeepAlives: true,
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for ctx.Err() == nil {
		err := e.listen(ctx, client)
		if ctx.Err() != nil {
			return
		}
		e.mu.Lock()
		e.h.cause, e.h.standby = err.Error(), time.Time{}
		e.mu.Unlock()
		e.log.Debug("dead-air guard: cannot listen to the mount", "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

var (
	errEnded = errors.New("the streaming server ended the stream")
	errDeaf  = errors.New("the stream cannot be decoded")
	errStill = fmt.Errorf("the streaming server sent nothing for %s", deaf)
)

// listen is one connection, from the request to its end.
func (e *ear) listen(ctx context.Context, client *http.Client) error {
	// Icecast does not survive every connection while it starts.
	if !e.ready() {
		return errors.New("the streaming server accepts no connections")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "athir-guard")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the streaming server answered %s", resp.Status)
	}
	e.begin()
	r, w := io.Pipe()
	decoding := make(chan struct{})
	go func() {
		defer close(decoding)
		err := e.decode(ctx, r, e)
		cancel(err)
		_ = r.CloseWithError(err) // a write to it must not wait
	}()
	err = e.pump(ctx, cancel, resp.Body, w)
	cancel(err)
	_ = w.CloseWithError(err)
	<-decoding
	return err
}

// decodeOgg decodes a stream of Ogg to 16-bit mono samples until either ends.
func decodeOgg(ctx context.Context, stream io.Reader, samples io.Writer) error {
	exit, err := proc.Run(ctx, proc.Spec{
		Name: "guard's decoder", Path: "ffmpeg", Stdin: stream, Stdout: samples, Stop: syscall.SIGKILL, Nice: 5,
		Args: []string{
			"-hide_banner", "-v", "quiet", "-probesize", "65536", "-analyzeduration", "0", "-fflags", "+nobuffer",
			"-f", "ogg", "-i", "pipe:0", "-map", "0:a:0", "-ac", "1", "-ar", fmt.Sprint(Rate), "-f", "s16le", "-flush_packets", "1", "pipe:1",
		},
	}, nil)
	if err == nil {
		err = fmt.Errorf("the decoder exited: %s", exit)
	}
	return err
}

// pump moves bytes from the server to the decoder, and looks at whose they are.
func (e *ear) pump(ctx context.Context, cancel context.CancelCauseFunc, from io.Reader, to io.Writer) error {
	still := time.AfterFunc(deaf, func() { cancel(errStill) })
	defer still.Stop()
	pages := &pages{mark: []byte(e.standby)}
	buf := make([]byte, 8<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			still.Reset(deaf)
			pages.read(buf[:n])
			e.arrived(pages.marked)
			if _, err := to.Write(buf[:n]); err != nil {
				return err
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

// begin forgets what was heard: a connection begins with the recent past.
func (e *ear) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.judge, e.odd, e.open = NewJudge(e.level), nil, time.Now()
	e.h.cause = ""
}

func (e *ear) arrived(standby bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !standby:
		e.h.standby = time.Time{}
	case e.h.standby.IsZero():
		e.h.standby = time.Now()
		e.h.cuts++
	}
}

func (e *ear) isDeaf() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Since(e.open) > deaf && time.Since(e.h.pcm) > deaf
}

// Write takes what the decoder makes: 16-bit samples.
func (e *ear) Write(b []byte) (int, error) {
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
	e.h.pcm = time.Now()
	return n, nil
}
