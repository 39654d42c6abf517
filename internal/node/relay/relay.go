// Package relay is the station's HLS relay, a process of its own: one
// publisher (the bridge) hands it AAC in MPEG-TS over a local socket, and any
// number of listeners fetch HLS from memory. It also admits or refuses the
// encoders that publish over RTMP, and lists every path with its readers in
// the shape of MediaMTX's /v3/paths/list.
//
// It outlives its publisher: when the bridge restarts, the playlist goes on
// behind an EXT-X-DISCONTINUITY. It survives its own restart as well: media
// sequence numbers start from the time of day and session tokens are signed
// with a secret kept on disk. Where another program takes its process over, the
// stream goes on in it without a break: see Handover.
//
// It refuses to transcode, to write segments to disk, to hold a request open
// for a segment to come, and to run programs: nginx and MediaMTX are described
// here (RTMP, MediaMTX) and run by the supervisor.
package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/httpend"
	"github.com/athir-radio/athir/internal/kit/secret"

	"github.com/athir-radio/athir/internal/kit/census"
)

// MainPath is the name of the path the bridge publishes.
const MainPath = "main"

// Options configures a Server. Zero durations and counts take the defaults.
type Options struct {
	HLSAddress     string // host:port listeners come to, ":19351"
	PathsAddress   string // host:port of /v3/paths/list, "127.0.0.1:19353"
	PublishAddress string // where the bridge publishes: unix:PATH or tcp:HOST:PORT
	// HookAddress is where nginx asks whether an encoder may publish and the node says who has
	// the air (Air), and StatAddress where nginx tells what is being published; both unix:PATH
	// or tcp:HOST:PORT. Both empty: no RTMP ingest.
	HookAddress, StatAddress string
	// SourcePassword is what an encoder must present. Not set refuses all that Admit does
	// not let in.
	SourcePassword *secret.Secret
	// Admit is asked about an encoder whose password is not SourcePassword, when it comes
	// and each half minute while it publishes; nil refuses it. An error means that it could
	// not be asked: then one that comes is refused, and its address keeps its tries; one
	// that publishes goes on. It has three seconds.
	Admit func(context.Context, Encoder) (allowed bool, detail string, err error)
	// Published is called when an encoder that was let in really publishes, and Ended
	// when that has gone, in turn and each until it returns nil. After a restart of the
	// relay, what nginx goes on publishing is told again. Nil: nobody is told.
	Published, Ended func(context.Context, Encoder) error
	// Roll is called with all that publish: when the relay begins, and every five seconds,
	// for whoever missed one of the above, which were called before. Who is refused, with
	// the reason, is disconnected. Nil: nobody is told.
	Roll func(context.Context, []Encoder) (refused map[Encoder]string, err error)
	// StateDir holds the secret that signs session tokens.
	StateDir string

	// Renditions are the bitrates in kbit/s in which the bridge sends the same sound, the main
	// one first; 256. What it sends more than that is left out.
	Renditions []int

	SegmentDuration  time.Duration // least length of a segment, whole seconds; 2 s
	SegmentCount     int           // segments in the playlist, at least 3; 8
	PublisherTimeout time.Duration // a publisher silent this long is closed; 10 s
	SessionIdle      time.Duration // a session counts as a listener this long after its last request; 45 s
	SessionReturn    time.Duration // and may be taken up again this long; 10 min
	SessionFresh     time.Duration // one that has fetched no segment is kept this long after its last request; 15 s
	MaxSessions      int           // 20,000
	// Sessions an address may begin at once, and how often after that: 50, and
	// one each 200 ms. Many listeners may share an address.
	SessionBurst int
	SessionEvery time.Duration

	// Uncounted serves everybody the same playlists, without cookies and sessions, for a
	// content delivery network to keep; nobody is counted.
	Uncounted bool
	// Edge reports whether a token is that of an edge, which fetches for listeners of its
	// own: see Mirror. Nil: there are none.
	Edge func(token string) bool
	// Front reports whether a token is the control plane's, which passes listeners on and names
	// the address of each. Nil: only proxies of this machine are believed.
	Front func(token string) bool

	// Who classifies the sender of a session's first request, to be counted by the path list;
	// nil: all are unknown.
	Who func(*http.Request) census.Who

	// Bound wraps the listener of HLSAddress to limit its connections, before any
	// request is read; nil: no limit.
	Bound func(net.Listener) net.Listener

	// Handover takes the stream to the program that takes this one's place; nil: there is
	// none.
	Handover Handover

	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if len(o.Renditions) == 0 {
		o.Renditions = []int{256}
	}
	setDefault(&o.SegmentDuration, 2*time.Second)
	setDefault(&o.SegmentCount, 8)
	setDefault(&o.PublisherTimeout, 10*time.Second)
	setDefault(&o.SessionIdle, 45*time.Second)
	setDefault(&o.SessionReturn, 10*time.Minute)
	setDefault(&o.SessionFresh, 15*time.Second)
	setDefault(&o.MaxSessions, 20_000)
	setDefault(&o.SessionBurst, 50)
	setDefault(&o.SessionEvery, 200*time.Millisecond)
	if o.Handover == nil {
		o.Handover = none()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func setDefault[T comparable](value *T, fallback T) {
	if *value == *new(T) {
		*value = fallback
	}
}

// Server is the relay. Make it with New, run it once with Run.
type Server struct {
	*output
	opts   Options
	path   *path
	ingest *ingest

	ready   chan struct{} // closed when every address is bound
	mu      sync.Mutex
	bound   map[string]net.Addr
	remains []remains
}

// New checks the options and loads or makes the token secret. It binds nothing.
func New(opts Options) (*Server, error) {
	opts = opts.withDefaults()
	if opts.SegmentCount < 3 {
		return nil, fmt.Errorf("configure relay: %d segments are too few: a live playlist needs at least 3 (RFC 8216, 6.2.2)", opts.SegmentCount)
	}
	if err := renditions(opts.Renditions).check(); err != nil {
		return nil, fmt.Errorf("configure relay: %w", err)
	}
	if opts.SegmentDuration < time.Second || opts.SegmentDuration%time.Second != 0 {
		return nil, fmt.Errorf("configure relay: segment duration %s must be a whole number of seconds", opts.SegmentDuration)
	}
	for _, address := range []string{opts.PublishAddress, opts.HookAddress, opts.StatAddress} {
		if _, _, err := splitAddress(address); address != "" && err != nil {
			return nil, fmt.Errorf("configure relay: %w", err)
		}
	}
	secret, err := loadSecret(opts.StateDir)
	if err != nil {
		return nil, fmt.Errorf("start relay: %w", err)
	}
	era, err := nextEra(opts.StateDir)
	if err != nil {
		return nil, fmt.Errorf("start relay: %w", err)
	}
	now := time.Now()
	s := &Server{opts: opts, ready: make(chan struct{}), bound: map[string]net.Addr{}}
	s.output = newOutput(opts, newWindow(opts.Renditions, opts.SegmentDuration, opts.SegmentCount, era, now), secret, now)
	s.stage = newStage(opts.StateDir, s.window, s.log)
	s.fresh = func() bool {
		end := s.window.end()
		return !end.IsZero() && time.Since(end) < time.Duration(opts.SegmentCount)*opts.SegmentDuration+opts.PublisherTimeout
	}
	s.path = newPath(s.window, opts.SegmentDuration, now, s.log)
	s.ingest = newIngest(opts, s.count)
	return s, nil
}

// Run serves until ctx ends or an address cannot be bound. It returns when all
// it started has stopped; a requested end is not an error.
func (s *Server) Run(ctx context.Context) error {
	listeners, err := s.listen(ctx)
	if err != nil {
		return fmt.Errorf("start relay: %w", err)
	}
	left := s.resume(time.Now())
	close(s.ready)

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serve(ctx, listeners["hls"], s.hlsHandler()) })
	group.Go(func() error { return serve(ctx, listeners["paths"], s.pathsHandler()) })
	group.Go(func() error { return s.acceptPublishers(ctx, listeners["publish"], left) })
	if hook := listeners["hook"]; hook != nil {
		group.Go(func() error { return serve(ctx, hook, s.orders()) })
		group.Go(func() error { return s.ingest.follow(ctx) })
		group.Go(func() error { return s.ingest.teller.run(ctx) })
		group.Go(func() error { return s.ingest.askAgain(ctx) })
	}
	err = group.Wait()
	if s.opts.Handover.Leaving() {
		s.leave()
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// listen binds every address, or none.
func (s *Server) listen(ctx context.Context) (map[string]net.Listener, error) {
	wanted := map[string]string{
		"hls": "tcp:" + s.opts.HLSAddress, "paths": "tcp:" + s.opts.PathsAddress,
		"publish": s.opts.PublishAddress, "hook": s.opts.HookAddress,
	}
	listeners := map[string]net.Listener{}
	for name, address := range wanted {
		if address == "" {
			continue
		}
		l, err := listen(ctx, s.opts.Handover, address)
		if err != nil {
			for _, open := range listeners {
				_ = open.Close()
			}
			return nil, fmt.Errorf("bind %s address: %w", name, err)
		}
		listeners[name] = l
	}
	if s.opts.Bound != nil {
		listeners["hls"] = s.opts.Bound(listeners["hls"])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, l := range listeners {
		s.bound[name] = l.Addr()
	}
	return listeners, nil
}

// Ready is closed once every address is bound.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// HLSAddr is the bound HLS address, nil before Ready.
func (s *Server) HLSAddr() net.Addr { return s.addr("hls") }

// PathsAddr is the bound address of the path list, nil before Ready.
func (s *Server) PathsAddr() net.Addr { return s.addr("paths") }

// PublishAddr is where the bridge publishes, nil before Ready.
func (s *Server) PublishAddr() net.Addr { return s.addr("publish") }

func (s *Server) addr(name string) net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound[name]
}

// serve runs one HTTP server until ctx ends. The timeouts close clients that
// send their headers byte by byte and those that stopped reading; a segment of
// 70 KB still reaches a phone at 20 kbit/s.
func serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	counted := httpend.Of(server)
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	err := counted.Serve(l)
	if stop() {
		return err
	}
	counted.End(lastAnswers)
	return ctx.Err()
}

// lastAnswers is how long requests under way, which are short, are answered at the end.
const lastAnswers = time.Second
