// Package telemetry counts listeners and stores the counts: by minute, hour and
// day for charts, and for each airing. Every five seconds it asks each server that
// people listen to (mission: Telemetry and other routes).
//
// It counts sessions, not requests, each of them once; the station's own
// connections to the streaming server do not count. A listener with two players
// counts twice. Neither addresses nor ids are stored; of devices and countries the sums alone.
package telemetry

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("telemetry", migrations) }

// Options of Open. All are required.
type Options struct {
	Log  *slog.Logger
	DB   *store.DB
	Zone *time.Location // whose days are counted
	Now  func() time.Time

	// The ways to listen. By the mission's rule the station's count is the
	// relay's, or the streaming server's while the relay does not answer.
	HLS     Source
	Icecast Source // direct listeners, without the station's own connections
	Stream  Source

	// Air returns what is and was on air, newest first.
	Air func() []Airing
	// Known is what the library has by now of the recording in a file: it fills in what was not
	// known when that aired. False for a file that there is not, and for one that has another
	// title or artist by now, which is another recording. Nil: nothing is filled in.
	Known func(path, title, artist string) (Release, bool)
	// Tell sends an event to every listener. It does not block.
	Tell func(event string, payload any)
	// Reached is called for each milestone, once it is on disk. It does not block.
	Reached func(Milestone)
}

// Parts counts listeners by the way they listen.
type Parts struct {
	HLS     int `json:"hls" doc:"HLS sessions"`
	Stream  int `json:"stream" doc:"Listeners of /stream"`
	Icecast int `json:"icecast" doc:"Listeners who take the master mount directly; our own parts are none"`
	Total   int `json:"total" doc:"All of them"`
}

// Bandwidth is what is sent to listeners, in bits per second.
type Bandwidth struct {
	HLS     float64
	Stream  float64
	Icecast float64
	Total   float64
}

// Count is one count of all listeners.
type Count struct {
	// Listeners is the mission's count: the relay's, else the streaming server's.
	Listeners int
	Source    string // name of the server it comes from; empty before the first answer
	Parts     Parts
	Bandwidth Bandwidth
	At        time.Time
	// Crowd is of what kinds all listeners are: as many by device and by country as
	// Parts.Total.
	Crowd census.Crowd
	// TuneIns and TuneOuts are listeners who came and left since Open.
	TuneIns, TuneOuts uint64

	came, went int // since the count before
}

// Telemetry counts listeners. Make it with Open.
type Telemetry struct {
	opt    Options
	latest atomic.Pointer[Count]
	hls    part
	ice    part
	stream part

	book    book
	onAir   tracker
	heard   atomic.Pointer[Heard]
	paths   paths
	marks   marks
	updates updates
	// When it was last looked for what airings lack, and up to which path.
	filled   time.Time
	filledTo []byte

	reports chan struct{} // held while months of airings are read: see report
}

// Open reads the stored airings, milestones and history.
func Open(ctx context.Context, opt Options) (*Telemetry, error) {
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate telemetry tables: %w", err)
	}
	t := &Telemetry{
		opt: opt, hls: part{source: opt.HLS}, ice: part{source: opt.Icecast}, stream: part{source: opt.Stream},
		book: book{db: opt.DB, zone: opt.Zone}, reports: make(chan struct{}, 1),
	}
	t.latest.Store(&Count{})
	var err error
	if t.onAir, err = t.book.lastAiring(ctx); err != nil {
		return nil, fmt.Errorf("read airings: %w", err)
	}
	now := opt.Now()
	past, err := t.book.airings(ctx, now.Add(-HeardFor), time.UnixMilli(1<<50), mostRows)
	if err != nil {
		return nil, fmt.Errorf("read airings: %w", err)
	}
	t.heard.Store(newHeard(nil).add(past, now))
	if t.marks, err = t.book.marks(ctx); err != nil {
		return nil, fmt.Errorf("read milestones: %w", err)
	}
	if t.updates.past, err = t.book.recent(ctx, opt.Now()); err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return t, nil
}

// Latest returns the latest count.
func (t *Telemetry) Latest() Count { return *t.latest.Load() }

// Run counts until ctx ends, then saves what it has counted.
func (t *Telemetry) Run(ctx context.Context) error {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for {
		t.poll(ctx)
		select {
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer cancel()
			t.flush(ctx)
			return nil
		case <-tick.C:
		}
	}
}

// poll asks every server once and notes the counts.
func (t *Telemetry) poll(ctx context.Context) {
	var asked sync.WaitGroup
	for _, p := range []*part{&t.hls, &t.ice, &t.stream} {
		asked.Go(func() { t.ask(ctx, p) })
	}
	asked.Wait()
	if ctx.Err() != nil {
		return // the answers were cut off
	}
	now := t.opt.Now()
	c := t.count(now)
	t.latest.Store(&c)
	t.note(ctx, c, now)
}

func (t *Telemetry) ask(ctx context.Context, p *part) {
	ctx, cancel := context.WithTimeout(ctx, Every/2)
	defer cancel()
	r, err := p.source.Ask(ctx)
	now := t.opt.Now()
	if err != nil {
		t.opt.Log.Debug("cannot read listener count", "source", p.source.Name, "err", err)
		p.miss(now)
		return
	}
	p.take(r, now)
}

// count adds up the parts.
func (t *Telemetry) count(now time.Time) Count {
	c := Count{At: now}
	c.Parts = Parts{HLS: t.hls.last.Listeners, Stream: t.stream.last.Listeners, Icecast: t.ice.last.Listeners}
	c.Parts.Total = c.Parts.HLS + c.Parts.Stream + c.Parts.Icecast
	c.Bandwidth = Bandwidth{HLS: t.hls.bits, Stream: t.stream.bits, Icecast: t.ice.bits}
	c.Bandwidth.Total = c.Bandwidth.HLS + c.Bandwidth.Stream + c.Bandwidth.Icecast
	for _, p := range []*part{&t.hls, &t.stream, &t.ice} {
		c.Crowd.Join(p.last.Crowd.Fit(p.last.Listeners))
	}
	c.came = t.hls.came + t.stream.came + t.ice.came
	c.went = t.hls.went + t.stream.went + t.ice.went
	before := t.latest.Load()
	c.TuneIns, c.TuneOuts = before.TuneIns+uint64(c.came), before.TuneOuts+uint64(c.went)
	switch {
	case t.hls.answering:
		c.Listeners, c.Source = t.hls.last.Listeners, t.hls.source.Name
	case t.ice.answering:
		c.Listeners, c.Source = t.ice.last.Listeners, t.ice.source.Name
	case now.Sub(t.hls.at) <= stale || now.Sub(t.ice.at) <= stale:
		c.Listeners, c.Source = before.Listeners, before.Source
	}
	return c
}

// answered reports whether a server answered the latest poll.
func (t *Telemetry) answered() bool { return t.hls.answering || t.ice.answering }

// note adds a count to the charts, the airing, the milestones and the updates.
func (t *Telemetry) note(ctx context.Context, c Count, now time.Time) {
	answered := t.answered()
	ended := t.onAir.step(t.opt.Air(), c, answered)
	t.book.aired(ended)
	t.hear(ended, now)
	if answered {
		t.book.add(c)
		t.reach(ctx, c.Parts.Total, now)
	}
	if t.book.due(now) {
		t.flush(ctx)
	}
	t.follow(c, answered)
}

// flush saves what is pending. What cannot be saved is tried again with the next
// minute.
func (t *Telemetry) flush(ctx context.Context) {
	t.book.aired(t.onAir.open())
	if err := t.book.write(ctx, t.marks, t.opt.Now()); err != nil {
		t.opt.Log.Warn("listener counts not saved, will try again in a minute", "err", err)
		return
	}
	t.fill(ctx)
}
