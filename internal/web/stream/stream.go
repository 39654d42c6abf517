// Package stream fans one upstream audio connection (an Icecast mount) out to
// any number of HTTP listeners: GET /stream and GET /stream/:channelId.
//
// The upstream's bytes are kept once, as immutable chunks in a bounded window;
// a listener is a position in it. A plain TCP listener costs neither a
// goroutine nor a buffer: its connection is taken over from net/http and a few
// shared writers serve all of them without ever blocking, so that a slow listener
// harms no other: it is cut once it has fallen out of the window, or has taken
// nothing for Options.Stall. TLS, HTTP/2 and wrapped connections are served by
// their handler's goroutine, from the same window.
//
// A listener starts with the codec headers of the chain link it starts in (Ogg,
// RFC 3533), then a burst of the recent past, so that a player has a buffer at
// once. When the upstream goes away, listeners stay for Options.Grace and go on
// when it returns; what a reconnected Icecast repeats is not sent twice.
//
// The package does not transcode, does not know channels by name beyond a map,
// keeps no state on disk and leaves TLS and access control to its caller.
package stream

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/rush"
)

// Defaults of Options.
const (
	DefaultBurst      = 64 << 10  // bytes; about 3 s at 160 kbit/s, Icecast's own figure
	DefaultWindow     = 512 << 10 // bytes; about 26 s at 160 kbit/s
	DefaultBatch      = 400 * time.Millisecond
	DefaultGrace      = 15 * time.Second
	DefaultWait       = 5 * time.Second
	DefaultStall      = 30 * time.Second
	DefaultSilence    = 10 * time.Second
	DefaultSendBuffer = 64 << 10 // bytes asked of the kernel per connection
)

// Options says what is fanned out and to whom. URL or Source is required; a zero
// value elsewhere means the default named beside it.
type Options struct {
	URL string // the upstream mount, http://127.0.0.1:8005/main
	// At returns where the upstream is now, for one that moves, and Moved signals that it has:
	// who listens goes on with the other as after a restart of the first. Nil: it stays at URL.
	At    func() string
	Moved func() (moved <-chan struct{}, cancel func())
	// Source is an upstream in this process, instead of one at URL: it writes an
	// Ogg stream until ctx ends, and is called again after an error.
	Source func(ctx context.Context, write func([]byte)) error

	// Name tells this channel from others where it is handed over.
	Name string
	// Handover takes the stream and its listeners to the program that takes this one's
	// place, and from the one before; nil: both end with their program.
	Handover Handover
	// Counted counts a listener's connection that was handed over, as its port counts
	// connections (kit/crowd); leave gives its place back. Nil: it is not counted.
	Counted func(remote net.Addr) (leave func())

	Info Info // what the icy-* response headers say
	// Title returns the text of StreamTitle ("Artist - Title") and a number
	// that differs whenever the text does. It is called often and must not
	// block. With nil, listeners that ask for ICY metadata get empty blocks.
	Title func() (text string, change uint64)
	Log   *slog.Logger // slog.Default()

	Burst  int           // bytes of the past a new listener gets at once: DefaultBurst
	Window int           // bytes a listener may fall behind before it is cut: DefaultWindow
	Batch  time.Duration // least time between two writes to one listener, hence the most latency added: DefaultBatch
	Grace  time.Duration // how long listeners are kept without an upstream: DefaultGrace
	Wait   time.Duration // how long a new listener waits for the upstream: DefaultWait
	Stall  time.Duration // how long a listener may take nothing: DefaultStall
	// Silence is how long a connected upstream may send nothing before it is
	// connected again: DefaultSilence.
	Silence time.Duration

	MaxListeners int // 0: no limit
	MaxPerClient int // 0: no limit
	// ClientKey names the client of a request for MaxPerClient. It returns "" for
	// clients that cannot be told apart, which are not counted. Behind a proxy the
	// caller reads its forwarded-for header. Nil stands for RemoteAddr's host.
	ClientKey func(*http.Request) string
	// Wider names the network that a key lies in, empty for none. All keys of one
	// network have eight times MaxPerClient together. Nil: no key lies in one.
	Wider func(key string) string
	// Who classifies the sender of a request, to be counted by Stats; nil: all are unknown.
	Who func(*http.Request) census.Who
	// AllowOrigin is the CORS Access-Control-Allow-Origin value, "*" for any
	// page; empty sends no CORS header.
	AllowOrigin string
	SendBuffer  int // SO_SNDBUF in bytes: DefaultSendBuffer
	Writers     int // shared writer goroutines: GOMAXPROCS
}

// Info is the station as players show it, sent as icy-name and so on in raw
// UTF-8, the way Icecast does. Empty fields send no header.
type Info struct {
	Name, Description, Genre, URL string
	Bitrate                       int // kbit/s
}

// Fanout is one channel. It is an http.Handler for that channel's listeners,
// who are served only while Run runs.
type Fanout struct {
	opt     Options
	log     *slog.Logger
	writers []*writer
	turn    atomic.Uint64 // which writer the next listener goes to
	door    door
	rush    *rush.Watch
	title   atomic.Pointer[titleBlock]
	// floor is the stream position behind which a listener is too slow.
	floor atomic.Uint64
	count struct{ in, out, slow atomic.Uint64 }
	// intake is used by Run's goroutine only.
	intake *intake

	mu      sync.Mutex
	ring    ring
	format  string // the upstream's Content-Type
	state   State
	since   time.Time     // of state
	last    time.Time     // of the last upstream byte
	changed chan struct{} // closed and replaced when state changes
}

// New returns a fan-out that does nothing until Run.
func New(opt Options) *Fanout {
	opt.Burst = cmp.Or(opt.Burst, DefaultBurst)
	opt.Window = max(cmp.Or(opt.Window, DefaultWindow), opt.Burst)
	opt.Batch = cmp.Or(opt.Batch, DefaultBatch)
	opt.Grace = cmp.Or(opt.Grace, DefaultGrace)
	opt.Wait = cmp.Or(opt.Wait, DefaultWait)
	opt.Stall = cmp.Or(opt.Stall, DefaultStall)
	opt.Silence = cmp.Or(opt.Silence, DefaultSilence)
	opt.SendBuffer = cmp.Or(opt.SendBuffer, DefaultSendBuffer)
	opt.Writers = cmp.Or(opt.Writers, runtime.GOMAXPROCS(0))
	opt.Log = cmp.Or(opt.Log, slog.Default())
	if opt.ClientKey == nil {
		opt.ClientKey = remoteHost
	}
	f := &Fanout{opt: opt, log: opt.Log.With("upstream", opt.URL), since: time.Now(), rush: rush.New(nil), changed: make(chan struct{})}
	f.ring.burst = opt.Burst
	f.door.perKey, f.door.kinds, f.door.wider = make(map[string]int), census.Count{}, opt.Wider
	for range opt.Writers {
		f.writers = append(f.writers, newWriter(f))
	}
	f.intake = &intake{f: f}
	return f
}

// Run holds the upstream connection and serves the listeners until ctx ends; then
// it closes every listener, or hands all of them over, and returns nil. It is called once.
// It returns an error only if Options.URL is invalid.
func (f *Fanout) Run(ctx context.Context) error {
	if u, err := url.Parse(f.opt.URL); f.opt.Source == nil && (err != nil || u.Host == "") {
		return fmt.Errorf("stream upstream %q: must be a URL such as http://127.0.0.1:8005/main", f.opt.URL)
	}
	f.resume()
	var wg sync.WaitGroup
	for _, w := range f.writers {
		wg.Go(func() { w.run(ctx) })
	}
	f.follow(ctx)
	f.mu.Lock()
	f.set(Stopped)
	f.mu.Unlock()
	if f.leaving() {
		wg.Wait()
		f.leave()
	}
	f.mu.Lock()
	f.ring.end()
	f.mu.Unlock()
	wg.Wait()
	return nil
}

// Channels are the fan-outs of one server by channel id.
type Channels map[string]*Fanout

// Handler returns the channel's handler; false for an unknown id, which the
// caller answers with 404.
func (c Channels) Handler(id string) (http.Handler, bool) {
	f, ok := c[id]
	return f, ok
}

func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
