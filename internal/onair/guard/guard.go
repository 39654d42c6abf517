// Package guard is the dead-air guard: it judges what the broadcast node hears of its own
// output, and acts on the programme when nothing is heard: it climbs a ladder of steps
// until audio is back, and reports each alarm.
//
// It decides when to take which step; Air carries the steps out. It repairs nothing that
// listeners cannot hear, except the playlist file, which they would hear soon. It kills no
// program: the node does, which sees whether one is wedged (node/supervise).
package guard

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/sound/deadair"
)

// Air shows the guard what is behind the sound, and carries out its steps.
type Air interface {
	// Playing returns what the engine plays, or Nothing where it does not answer within a
	// second.
	Playing(ctx context.Context) Source
	// Take carries out a step, never Wait. It returns once the step is
	// done, before it is heard, or why it cannot be done.
	Take(ctx context.Context, s Step) error
	// Release ends the emergency audio of the step AirEmergency: the rotation goes on
	// with a new entry.
	Release(ctx context.Context) error
	// Original returns the recording on air around the present moment, at Rate:
	// about 20 s before and 10 s after it, or up to the end. now is the index of the
	// present moment. It fails if the recording or the moment is unknown: with
	// ErrUnanswered where it is worth asking again.
	Original(ctx context.Context) (pcm []int16, now int, err error)
}

// Options of a Guard. All are required but Beginning.
type Options struct {
	Log *slog.Logger
	DB  *store.DB
	// Node returns what the broadcast node hears and knows of itself.
	Node func(ctx context.Context) (Report, error)

	Level       float64       // dBFS; below it is silence
	Silence     time.Duration // silence this long is a fault
	LiveSilence time.Duration // the same while a live source is on air

	Air Air
	// OnAir returns what the engine plays according to its markers.
	OnAir func() Source
	// Beginning, where set, reports that a new station takes its library in: until the first
	// song can air the engine plays emergency audio, which is no fault then.
	Beginning func() bool
	// Intact reports whether the playlist file is what was last put in place.
	Intact func(ctx context.Context) bool
	// Tell publishes an event; it never waits.
	Tell func(event string, payload any)
}

const (
	// tick is how often the guard decides.
	tick = 100 * time.Millisecond
	// fileEvery is how often the playlist file is looked at.
	fileEvery = time.Second
	// sightWithin and takeWithin bound looks and steps.
	sightWithin = 1500 * time.Millisecond
	takeWithin  = 8 * time.Second
)

// Guard watches one mount. Make one with Open.
type Guard struct {
	opt     Options
	log     *slog.Logger
	reports reports
	history *history
	results chan event // of looks and steps
	records chan record

	mu     sync.Mutex
	shown  Standing
	totals Totals

	// The rest belongs to Run's goroutine.
	l        ladder
	began    time.Time
	alarm    *Alarm // the current one; nil without
	source   Source
	sourceAt time.Time
	returned time.Time // when the ear last ceased to hear a live source
	begunAt  time.Time // when the library was last being taken in for the first time
	looping  time.Time // since when a loop is suspected
	lastTick time.Time
	cuts     int
	dead     bool         // at the last tick
	kills    map[Step]int // as the node told last
	acts     []act        // what the node did of late

	file    altered
	excuses excuse
}

// Open prepares a Guard; it listens while Run runs.
func Open(ctx context.Context, opt Options) (*Guard, error) {
	h, err := openHistory(ctx, opt.Log, opt.DB)
	if err != nil {
		return nil, err
	}
	g := &Guard{
		opt: opt, log: opt.Log, history: h, kills: map[Step]int{},
		results: make(chan event), records: make(chan record, 64),
		totals: Totals{Alarms: map[Kind]int{}, Steps: map[Step]int{}},
	}
	g.shown = Standing{State: Starting.String(), Since: time.Now().UnixMilli(), Level: deadair.Nothing}
	past, err := h.newest(ctx, 1)
	if err != nil {
		return nil, err
	}
	if len(past) > 0 {
		g.shown.LastAlarm = &past[0]
	}
	return g, nil
}

// Status is what the guard shows of itself.
func (g *Guard) Status() Standing {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shown
}

// Totals are the counts so far.
func (g *Guard) Totals() Totals {
	g.mu.Lock()
	defer g.mu.Unlock()
	return Totals{Alarms: maps.Clone(g.totals.Alarms), Steps: maps.Clone(g.totals.Steps), Dead: g.totals.Dead}
}

// History returns at most n alarms, newest first.
func (g *Guard) History(ctx context.Context, n int) ([]Alarm, error) { return g.history.newest(ctx, n) }

// Run listens and acts until ctx ends.
func (g *Guard) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wg.Go(func() { g.poll(ctx) })
	wg.Go(func() { g.watchFile(ctx) })
	deciding, decided := context.WithCancel(context.WithoutCancel(ctx))
	defer decided() // after the last record
	wg.Go(func() { g.keep(deciding) })
	clock := time.NewTicker(tick)
	defer clock.Stop()
	g.began = time.Now()
	g.l = g.l.to(Starting, g.began)
	g.lastTick = g.began
	t := times()
	for {
		var e event
		select {
		case <-ctx.Done():
			return nil
		case e = <-g.results:
		case <-clock.C:
			e = g.observe(ctx, &wg)
		}
		l, a := next(g.l, e, t)
		g.l = l
		g.follow(ctx, &wg, e, a)
		g.show()
	}
}

// observe returns the event of a tick.
func (g *Guard) observe(ctx context.Context, wg *sync.WaitGroup) event {
	h, now := g.reports.hearing(), time.Now()
	if s := g.opt.OnAir(); s != g.source || g.sourceAt.IsZero() {
		if g.source == Live {
			g.returned = now.Add(earLate)
		}
		g.source, g.sourceAt = s, now
	}
	if h.Looping == 0 || now.Sub(h.told) >= stale {
		g.looping = time.Time{}
	} else if g.looping.IsZero() {
		g.looping = now
	}
	if g.opt.Beginning != nil && g.opt.Beginning() {
		g.begunAt = now
	}
	s := scene{
		now: now, began: g.began, alarm: g.alarmed(), source: g.source, sourceAt: latest(g.sourceAt, g.begunAt), returned: g.returned,
		held: g.l.held, altered: g.file.since(), cut: h.Cuts > g.cuts, limits: limits{g.opt.Silence, g.opt.LiveSilence},
	}
	if g.source == Rotation && (!g.looping.IsZero() || s.counted(h.Silent, g.opt.Silence) >= g.opt.Silence/2) {
		var asked bool
		if s.loops, s.rests, asked = g.excuses.now(now, g.looping); !asked {
			g.ask(ctx, wg)
		}
	}
	e := observe(h, s)
	g.cuts = h.Cuts
	g.acted(now, h)
	g.count(now, h, e)
	g.mu.Lock()
	g.shown.Level = max(deadair.Nothing, h.Level)
	if h.decoded.IsZero() || now.Sub(h.decoded) >= stalled {
		g.shown.Level = deadair.Nothing
	}
	g.shown.Reachable, g.shown.Short, g.shown.DiskFull = now.Sub(h.told) < lost, h.Short != "", h.DiskFull
	g.shown.Arriving = g.shown.Reachable && !h.arrived.IsZero() && now.Sub(h.arrived) < stalled
	g.mu.Unlock()
	return e
}

// alarmed returns the kind of the fault that is on.
func (g *Guard) alarmed() Kind {
	if slices.Contains([]State{Alarmed, Recovering, Pausing}, g.l.state) {
		return g.l.kind
	}
	return None
}

// count adds up for how long nothing was heard.
func (g *Guard) count(now time.Time, h hearing, e event) {
	dead := e.what == fault && e.kind.Dead() && h.standby.IsZero() && g.l.state != Starting
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case dead && !g.dead:
		g.totals.Dead += now.Sub(e.began)
	case dead:
		g.totals.Dead += now.Sub(g.lastTick)
	}
	g.dead, g.lastTick = dead, now
}

// show brings what is shown up to date.
func (g *Guard) show() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shown.State, g.shown.Since = g.l.state.String(), g.l.since.UnixMilli()
	g.shown.Kind, g.shown.Step = None, ""
	if g.alarm == nil {
		return
	}
	g.shown.Kind = g.l.kind
	if n := len(g.alarm.Steps); n > 0 {
		g.shown.Step = g.alarm.Steps[n-1]
	}
	shown := *g.alarm
	g.shown.LastAlarm = &shown
}
