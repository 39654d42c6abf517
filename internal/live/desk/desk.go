// Package desk is the live desk of the broadcast node: everything live comes in here, is
// mixed on one bus, and goes to the playout engine by one encoder and one connection.
//
//	FIFO of a phone ─────┐
//	encoder ── ingest ───┤  tapes   bus (20 ms)   session
//	RTMP, HLS, Icecast ──┴─ input ─► decides, ───► MP3 ──► harbor of the engine
//	                                 rides, mixes
//
// The control plane orders, and is told: see live.Order and live.Report. The desk keeps
// nothing of its own over a restart; without an order the rotation plays. It serves the
// node by HTTP (Handler) and encoders by the Icecast protocol (Ingest).
package desk

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/bus"
	"github.com/athir-radio/athir/internal/live/desk/harbor"
	"github.com/athir-radio/athir/internal/live/desk/ingest"
	"github.com/athir-radio/athir/internal/live/desk/input"
)

// Control is the control plane, as the desk asks it about encoders.
type Control interface {
	// Admit says whether somebody may go live now.
	Admit(ctx context.Context, who live.Credentials) (live.Admission, error)
	// Arrived tells of a new audio track; id is that of its stream.
	Arrived(ctx context.Context, a live.Arrival) (id string, err error)
	// Left tells of its end.
	Left(ctx context.Context, l live.Leaving) error
	// Roll tells of all that there are.
	Roll(ctx context.Context, r live.Roll) (live.RollAnswer, error)
}

// Recorder keeps what was live. The calls come one after another, in the order of the bus,
// and must not wait for a disk: the clock makes them.
type Recorder interface {
	// Begin is a source that comes on the air; one under way has ended before.
	Begin(source live.Source, mode live.Mode)
	// Titled is what the source says that it plays from here on.
	Titled(title, artist string)
	// Write takes what the engine gets of it, behind rider and limiter, in the format of the
	// bus: signed 16 bit little endian. It must copy what it keeps.
	Write(pcm []byte)
	// End is the end of the source on the air, and why in words.
	End(why string)
	// Current is the recording under way; nil for none.
	Current() *live.RecordingReport
}

// Options of a Desk. Those without a remark are required.
type Options struct {
	Log *slog.Logger
	// HarborAddress is the engine's live harbor, host:port; it is asked at each connection.
	HarborAddress func() string
	// HarborPassword is that of its user "source".
	HarborPassword func() string
	// StudioPassword lets user "source" send to any mount, as the station itself; empty: there
	// is no such user.
	StudioPassword *secret.Secret
	Control        Control
	// Fetch reaches http, https and foreign rtmp addresses.
	Fetch *fetch.Client
	// RTMPOwn is where the addresses of this machine's own RTMP ingest begin:
	// "rtmp://127.0.0.1:19350/". Empty: there is none.
	// RTMPPlay is where it is played, host:port; the same place when empty.
	RTMPOwn, RTMPPlay string
	// Rider makes the loudness rider of one source: rider.New. Nil: audio passes as it comes.
	Rider func() bus.Rider
	// Bed brings the bed of a show, or a cart, by the name that the order has, onto this machine; each
	// done is called once, when what it was brought for plays no more. Nil: the name is its path.
	Bed func(ctx context.Context, name string) (path string, done func(), err error)
	// CartBytes bounds what is in memory of the wall, but for two seconds of each cart; 96 MiB when 0.
	CartBytes int
	// Recorder keeps what was live; nil: nothing is kept.
	Recorder Recorder
	// Recordings answers /recordings and what is below it; nil: 404.
	Recordings http.Handler
	// EncoderStarted is told the process id of each encoder; nil: nobody asks.
	EncoderStarted func(pid int)
}

// Desk is the live desk. Its methods may be called from any goroutine.
type Desk struct {
	opt     Options
	ingest  *ingest.Server
	changed signal.Changes

	mu        sync.Mutex
	mix       *bus.Mixer
	order     live.Order
	inputs    map[string]*running      // by source id: those that are opened from here
	pushes    map[string]*push         // by mount
	farewells map[string]chan struct{} // by mount: closed once its last encoder's end was told
	bed       *running                 // of the show
	bedName   string
	listen    map[string]*listened // sources that are pre-listened, by id
	ears      map[string]*ear      // those who pre-listen by pieces, by name
	carts     cartShelf
	session   *harbor.Session
	sent      bool // the session is open
	recorded  broadcast
	titled    live.Source // as the recorder was last told of it
	harborUp  bool
	version   uint64 // the mixer's, when it was last told
	extra     uint64 // changes that are not the mixer's
	breaks    uint64 // of sessions that have ended
	lost      time.Duration
	skipped   time.Duration
	all       *errgroup.Group //nolint:containedctx // of Run
	life      context.Context //nolint:containedctx // Run's: nothing outlives it
}

// New makes a Desk; it works while Run does.
func New(opt Options) *Desk {
	opt.CartBytes = cmp.Or(opt.CartBytes, mostHeld)
	d := &Desk{
		opt: opt, mix: bus.New(bus.Options{Rider: opt.Rider}),
		inputs: map[string]*running{}, pushes: map[string]*push{}, listen: map[string]*listened{}, ears: map[string]*ear{}, farewells: map[string]chan struct{}{},
	}
	d.ingest = ingest.New(ingest.Options{
		Log: opt.Log, Admit: opt.Control.Admit, Studio: opt.StudioPassword, Carry: d.carry,
		Accepts: func(kind string) error { _, err := input.Demuxer(kind); return err },
		Named:   d.named,
	})
	return d
}

// Ingest takes encoders in at a listener until ctx ends. It needs Run beside it.
func (d *Desk) Ingest(ctx context.Context, l net.Listener) error { return d.ingest.Serve(ctx, l) }

// Run keeps the bus going until ctx ends, and returns once all it started has ended.
func (d *Desk) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := &errgroup.Group{}
	d.mu.Lock()
	d.all, d.life = g, ctx
	d.mu.Unlock()
	g.Go(func() error {
		d.clock(ctx)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.all, d.life = nil, nil // what was begun before is in the group
		if d.recorded.id != "" && d.opt.Recorder != nil {
			d.opt.Recorder.End("the desk was stopped")
		}
		d.recorded = broadcast{}
		return nil
	})
	g.Go(func() error {
		d.callRoll(ctx)
		return nil
	})
	_ = g.Wait() // nothing in it fails
	return ctx.Err()
}

// Order takes what the control plane wants, and returns the report.
func (d *Desk) Order(o live.Order) live.Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	d.mix.Order(o, now)
	if now := d.mix.Ordered(); now.Epoch != d.order.Epoch || now.Number != d.order.Number {
		d.opt.Log.Info("live order", "number", now.Number, "air", idOf(now.Air), "next", len(now.Next), "mode", now.Mode, "why", now.Why)
		d.order = now
	}
	d.open()
	d.tell()
	return d.report(now)
}

func idOf(s *live.Source) string {
	if s == nil {
		return ""
	}
	return s.ID
}

// Mute tells that the source of an address is muted on purpose, or no longer.
func (d *Desk) Mute(url string, muted bool) (known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known = d.mix.Mute(url, muted, time.Now())
	d.tell()
	return known
}

// Report is a snapshot.
func (d *Desk) Report() live.Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.report(time.Now())
}

// Connected counts what would be cut off if the desk ended: encoders, and the source on the
// air if it is none of them.
func (d *Desk) Connected() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.pushes)
	if n == 0 && d.report(time.Now()).Air != "" {
		n = 1
	}
	return n
}

func (d *Desk) report(now time.Time) live.Report {
	r := d.mix.Report(now)
	r.Version += d.extra
	r.Carts = d.cartReport(r.Carts)
	r.Harbor = d.harborUp
	breaks, lost := d.breaks, d.lost+d.skipped
	if d.session != nil {
		b, l := d.session.Breaks()
		breaks, lost = breaks+b, lost+l
	}
	r.Counters.HarborBreaks = breaks
	r.Counters.DroppedMS += uint64(lost.Milliseconds())
	if d.opt.Recorder != nil {
		r.Recording = d.opt.Recorder.Current()
	}
	return r
}

// tell wakes up those who wait for a new version. The caller holds mu.
func (d *Desk) tell() {
	if v := d.mix.Version() + d.extra; v != d.version {
		d.version = v
		d.changed.Tell()
	}
}

// mountOf is where the engine takes a broadcast.
func mountOf(m live.Mode) string {
	if cmp.Or(m, live.Replace) == live.Over {
		return harbor.Over
	}
	return harbor.Replace
}
