// Package injection takes live audio from the studio, chunk by chunk (mission:
// Events, start_stream, audio_data, stop_stream), and passes it on to the live desk of
// the node as a source of its own, with a format that browsers record.
//
// One studio is live at a time, within a byte rate, and only while audio arrives. It
// decodes nothing, and what is heard is the live desk's business.
package injection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// mostRate is what a desk may send on average, in bytes a second: uncompressed CD audio.
	mostRate = 200 << 10
	// mostAhead bounds a burst, and the audio that waits to be sent, in bytes.
	mostAhead = 2 << 20
	// silence is how long a live desk may send nothing before it is ended.
	silence = 10 * time.Second
)

// Options of a Desk. All are required.
type Options struct {
	Log      *slog.Logger
	Desk     func() string  // host:port where the live desk takes encoders
	Password *secret.Secret // of the station's own source user there
	Name     string         // what listeners read while the studio is on the air; one line
	// Failed is called when live audio ends by a failure, with words that everybody may
	// read. The reason, which names addresses and what programs said, is in the log.
	Failed func(message string)
	Now    func() time.Time
}

// Desk is where live audio comes in. Its methods may be called from any goroutine.
type Desk struct {
	opt Options

	mu   sync.Mutex
	life context.Context //nolint:containedctx // Run's: no session outlives it
	all  *errgroup.Group
	live *session // nil while no desk is live
}

// session is one desk's live audio, from Start to its end.
type session struct {
	owner  string
	begun  time.Time
	last   time.Time
	bytes  int64
	rate   *rate.Limiter
	queue  chan []byte
	ahead  int // bytes that wait to be sent
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// New makes a Desk; it takes audio once Run runs.
func New(opt Options) *Desk { return &Desk{opt: opt} }

// Run accepts audio until ctx ends, and returns once every session has ended.
func (d *Desk) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	d.mu.Lock()
	d.life, d.all = ctx, g
	d.mu.Unlock()
	g.Go(func() error { // keeps the group open for sessions to come
		<-ctx.Done()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.life = nil // sessions begun before are in the group
		return nil
	})
	return g.Wait()
}

// recorded returns whether a MIME type is one that browsers and encoders send.
func recorded(kind string) bool {
	switch kind {
	case "audio/webm", "video/webm", "audio/ogg", "audio/mp4", "audio/mpeg", "audio/aac", "audio/wav", "audio/x-wav":
		return true
	}
	return false
}

// Start begins a desk's live audio. An empty mime means audio/webm, as browsers
// record. Errors: station.ErrConflict while another desk is live,
// station.ErrInvalid, station.ErrUnavailable.
func (d *Desk) Start(owner, mime string) error {
	kind, _, _ := strings.Cut(strings.ToLower(mime), ";")
	kind = cmp.Or(strings.TrimSpace(kind), "audio/webm")
	if !recorded(kind) {
		return fmt.Errorf("type: %.40q is not live audio: send audio/webm, ogg, mp4, mpeg, aac or wav: %w", kind, station.ErrInvalid)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.life == nil || d.life.Err() != nil:
		return fmt.Errorf("live audio is not ready, try again soon: %w", station.ErrUnavailable)
	case d.live != nil && d.live.owner == owner:
		return nil
	case d.live != nil:
		return fmt.Errorf("another desk has been live since %s: %w", d.live.begun.UTC().Format(time.TimeOnly), station.ErrConflict)
	}
	ctx, cancel := context.WithCancelCause(d.life)
	s := &session{
		owner: owner, begun: d.opt.Now(), last: d.opt.Now(), rate: rate.NewLimiter(mostRate, mostAhead),
		queue: make(chan []byte, 4096), cancel: cancel, done: make(chan struct{}),
	}
	d.live = s
	d.opt.Log.Info("live audio from the studio started", "type", kind)
	d.all.Go(func() error {
		defer close(s.done)
		err := d.carry(ctx, s, kind)
		d.ended(s, err)
		return nil
	})
	return nil
}

// failedText is what listeners learn of any failure.
const failedText = "live audio from the studio ended by a failure: the station's log has the reason"

// errStopped ends a session on purpose.
var errStopped = errors.New("ended by the studio")

func (d *Desk) ended(s *session, err error) {
	d.mu.Lock()
	if d.live == s {
		d.live = nil
	}
	bytes := s.bytes
	d.mu.Unlock()
	s.cancel(nil)
	stopped := errors.Is(err, errStopped) || errors.Is(err, context.Canceled)
	level := slog.LevelInfo
	if !stopped {
		level = slog.LevelWarn
		d.opt.Failed(failedText)
	}
	d.opt.Log.Log(context.Background(), level, "live audio from the studio ended", "after", d.opt.Now().Sub(s.begun).Round(time.Second), "bytes", bytes, "why", err)
}

// Data takes one chunk and keeps the slice; total is the session's bytes so far.
// Errors: station.ErrConflict when that desk is not live, *client.LimitError when it
// sends too fast.
func (d *Desk) Data(owner string, chunk []byte) (total int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.live
	if s == nil || s.owner != owner {
		return 0, fmt.Errorf("send start_stream first: %w", station.ErrConflict)
	}
	now := d.opt.Now()
	if s.ahead+len(chunk) > mostAhead || !s.rate.AllowN(now, len(chunk)) {
		return s.bytes, &client.LimitError{RetryAfter: time.Second}
	}
	select {
	case s.queue <- chunk:
	default:
		return s.bytes, &client.LimitError{RetryAfter: time.Second}
	}
	s.last = now
	s.ahead += len(chunk)
	s.bytes += int64(len(chunk))
	return s.bytes, nil
}

// Stop ends a desk's live audio and returns when the desk has been left. For a desk that
// is not live it does nothing.
func (d *Desk) Stop(ctx context.Context, owner string) error {
	d.mu.Lock()
	s := d.live
	d.mu.Unlock()
	if s == nil || s.owner != owner {
		return nil
	}
	s.cancel(errStopped)
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Live reports whether a desk is live, and since when.
func (d *Desk) Live() (since time.Time, live bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.live == nil {
		return time.Time{}, false
	}
	return d.live.begun, true
}

// carry sends a session's audio to the live desk until either ends.
func (d *Desk) carry(ctx context.Context, s *session, mime string) error {
	desk, err := connect(ctx, d.opt.Desk(), d.opt.Password.Current(), mime, d.opt.Name)
	if err != nil {
		return fmt.Errorf("connect to the live desk: %w", err)
	}
	g, live := errgroup.WithContext(ctx)
	g.Go(func() error {
		<-live.Done()
		_ = desk.Close() // ends the other two
		return nil
	})
	g.Go(func() error {
		_, err := io.Copy(io.Discard, desk) // it says nothing more, and closes where it has had enough
		if live.Err() != nil {
			return nil //nolint:nilerr // we closed it
		}
		return errors.Join(errDeskEnded, err)
	})
	g.Go(func() error { return d.feed(live, s, desk) })
	err = g.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// errDeskEnded: the live desk closed the connection.
var errDeskEnded = errors.New("the live desk ended it: the audio could not be read, or another source took its place; the node's log has the reason")

// feed writes chunks to the live desk until the session ends or falls silent.
func (d *Desk) feed(ctx context.Context, s *session, to io.Writer) error {
	quiet := time.NewTicker(time.Second)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case chunk := <-s.queue:
			if _, err := to.Write(chunk); err != nil {
				return errors.Join(errDeskEnded, err)
			}
			d.mu.Lock()
			s.ahead -= len(chunk)
			d.mu.Unlock()
		case <-quiet.C:
			d.mu.Lock()
			last := s.last
			d.mu.Unlock()
			if d.opt.Now().Sub(last) > silence {
				return fmt.Errorf("no audio came from the studio for %s", silence)
			}
		}
	}
}
