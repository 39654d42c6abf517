package harbor

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
)

// Options of a Session.
type Options struct {
	Log      *slog.Logger
	Address  func() string // of the harbor, host:port, asked for at each connection
	Password func() string // asked for likewise
	Dial     Dial          // nil: the system's
	// Changed is called when the harbor takes the bus, or no longer.
	Changed func()
	// Started is called with the process id of each encoder; nil: nobody asks.
	Started func(pid int)
	// Stall is for how long an encoder may take nothing before it counts as hung and is
	// replaced; 0: 10 s. A starved one takes something within that. If that is wrong,
	// another one is started, for a broadcast that nobody heard anyway.
	Stall time.Duration
}

const (
	// ahead bounds what waits for the encoder, in ticks, and for the connection, in frames:
	// two seconds each.
	aheadTicks  = 100
	aheadFrames = 84
	// fresh is how old the first audio may be when the harbor takes it. What waited for
	// longer is dropped: the engine would be late by so much for the whole broadcast.
	fresh = time.Second
	// the pauses between two connections, and two encoders.
	firstPause, longestPause = 200 * time.Millisecond, 2 * time.Second
	// flushWait bounds how long the rest of a broadcast takes to be sent.
	flushWait = 3 * time.Second
)

// Session is the way of one broadcast to the engine. It is warm before the broadcast: its
// encoder runs, and what it encodes is thrown away until Open.
type Session struct {
	opt    Options
	pcm    chan []byte
	queue  *queue
	ended  chan struct{} // closed by Finish
	open   chan struct{} // closed by the first Open
	done   chan struct{}
	titled chan struct{} // of capacity 1: the title or the connection is another

	mu      sync.Mutex
	mount   string // empty: not open
	opened  time.Time
	conn    net.Conn
	name    named
	breaks  uint64
	lost    time.Duration
	late    context.Context //nolint:containedctx // ends some time after Finish
	cancel  context.CancelFunc
	finish  sync.Once
	opening sync.Once
}

// New makes a Session; it works while Run does.
func New(opt Options) *Session {
	if opt.Stall == 0 {
		opt.Stall = 10 * time.Second
	}
	late, cancel := context.WithCancel(context.Background())
	return &Session{
		late: late, cancel: cancel, opt: opt, pcm: make(chan []byte, aheadTicks), queue: newQueue(aheadFrames),
		ended: make(chan struct{}), open: make(chan struct{}), done: make(chan struct{}), titled: make(chan struct{}, 1),
	}
}

// Run encodes and sends until Finish was called and all is sent, or ctx ends.
func (s *Session) Run(ctx context.Context) error {
	defer close(s.done)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.late, cancel)()
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer s.queue.end()
		s.encode(gctx)
		return nil
	})
	g.Go(func() error {
		select {
		case <-s.open:
			sending, stop := context.WithCancel(gctx)
			var telling sync.WaitGroup
			telling.Go(func() { s.tell(sending) })
			s.send(gctx)
			stop()
			telling.Wait()
		case <-s.ended:
		case <-gctx.Done():
		}
		return nil
	})
	return g.Wait()
}

// Write takes one tick of audio, signed 16 bit little endian; it keeps the slice. It never
// waits: what finds no room is lost, and counted.
func (s *Session) Write(pcm []byte) {
	select {
	case s.pcm <- pcm:
	default:
		s.mu.Lock()
		s.lost += time.Duration(len(pcm)/4) * time.Second / 48_000
		s.mu.Unlock()
	}
}

// Open sends what is written from now on to a mount of the harbor. Another mount than the
// one before leaves that one.
func (s *Session) Open(mount string) {
	s.mu.Lock()
	if s.mount != "" && s.mount != mount && s.conn != nil {
		_ = s.conn.Close()
	}
	if s.mount == "" {
		s.opened = time.Now()
		s.queue.clear()
	}
	s.mount = mount
	s.mu.Unlock()
	s.opening.Do(func() { close(s.open) })
}

// Finish tells that all has been written. What is on its way has flushWait to arrive: a
// harbor that is away does not hold up the end.
func (s *Session) Finish() {
	s.finish.Do(func() {
		close(s.ended)
		time.AfterFunc(flushWait, s.cancel)
	})
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Connected reports that the engine takes the bus.
func (s *Session) Connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn != nil
}

// Breaks is how often a connection or an encoder broke, Lost how much audio that and a
// harbor that was too slow have cost.
func (s *Session) Breaks() (breaks uint64, lost time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.breaks, s.lost + time.Duration(s.queue.lost())*24*time.Millisecond
}

func (s *Session) broke() {
	s.mu.Lock()
	s.breaks++
	s.mu.Unlock()
}

// encode keeps an encoder running until Finish.
func (s *Session) encode(ctx context.Context) {
	for failures := 0; ; {
		begun := time.Now()
		ended, err := s.encoder(ctx)
		if ended || ctx.Err() != nil {
			return
		}
		if time.Since(begun) > 10*time.Second {
			failures = 0
		}
		s.broke()
		s.opt.Log.Warn("live encoder ended, starting another", "why", err)
		if failures++; failures > 1 && retry.Pause(ctx, retry.Doubled(firstPause, longestPause, failures-1)) != nil {
			return
		}
		for empty := false; !empty; { // what was missed
			select {
			case <-s.pcm:
			default:
				empty = true
			}
		}
	}
}

// encoder runs one encoder. ended: it was given all there is.
func (s *Session) encoder(ctx context.Context) (ended bool, err error) {
	in, feed, err := os.Pipe()
	if err != nil {
		return false, err
	}
	out, write, err := os.Pipe()
	if err != nil {
		_, _ = in.Close(), feed.Close()
		return false, err
	}
	g, live := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer feed.Close() //nolint:errcheck // the encoder flushes
		var hung error
		ended, hung = s.feed(live, feed)
		return hung
	})
	g.Go(func() error {
		defer out.Close() //nolint:errcheck // read to its end
		_, err := io.Copy(&splitter{give: s.frame}, out)
		return err
	})
	g.Go(func() error {
		exit, err := proc.Run(live, proc.Spec{
			Name: "live encoder", Path: "ffmpeg", Stdin: in, Stdout: write, Nice: proc.Air, Grace: time.Second,
			Args: []string{
				// A probe of raw audio takes a second otherwise.
				"-hide_banner", "-v", "error", "-nostats", "-protocol_whitelist", "pipe", "-probesize", "32", "-analyzeduration", "0",
				"-f", "s16le", "-ar", "48000", "-ac", "2", "-i", "pipe:0",
				// Without a reservoir every frame stands for itself: a connection may begin at any.
				"-c:a", "libmp3lame", "-b:a", "128k", "-reservoir", "0", "-write_xing", "0", "-id3v2_version", "0",
				"-flush_packets", "1", "-f", "mp3", "pipe:1",
			},
		}, s.opt.Started)
		_, _ = in.Close(), write.Close()
		if err == nil {
			err = errors.New(exit.String())
		}
		return err // ends feed, and the group
	})
	err = g.Wait()
	return ended, err
}

// errHung: the encoder takes nothing.
var errHung = errors.New("it takes no audio")

// feed writes to the encoder until Finish and all is written, or the encoder is over. The
// error is that it hangs.
func (s *Session) feed(ctx context.Context, to *os.File) (ended bool, err error) {
	stop := context.AfterFunc(ctx, func() { _ = to.SetWriteDeadline(time.Now()) })
	defer stop()
	for {
		var pcm []byte
		select {
		case pcm = <-s.pcm:
		default:
			select {
			case pcm = <-s.pcm:
			case <-s.ended:
				if len(s.pcm) == 0 {
					return true, nil
				}
				continue
			case <-ctx.Done():
				return false, nil
			}
		}
		_ = to.SetWriteDeadline(time.Now().Add(s.opt.Stall))
		if ctx.Err() != nil { // it ended between the deadline of stop and this one
			return false, nil
		}
		if _, err := to.Write(pcm); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil {
				return false, errHung
			}
			return false, nil
		}
	}
}

// frame takes one from the encoder.
func (s *Session) frame(f []byte) {
	select {
	case <-s.open:
		s.queue.put(f)
	default: // warm
	}
}
