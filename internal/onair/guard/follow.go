package guard

import (
	"context"
	"slices"
	"sync"
	"time"
)

// follow carries out what an event led to.
func (g *Guard) follow(ctx context.Context, wg *sync.WaitGroup, e event, a action) {
	if a.raise {
		g.raise(e)
	}
	if g.now != nil && g.now.Heard == 0 && (g.l.state == Proving || g.l.state == Holding) {
		g.now.Heard = e.at.UnixMilli()
		g.record(false)
	}
	if a.look {
		wg.Go(func() { g.look(ctx) })
	}
	if a.take != "" {
		g.now.Steps = slices.Clone(g.l.taken)
		g.count1(a.take)
		g.log.Warn("dead-air guard: taking a step", "step", a.take, "kind", g.l.kind, "engine", e.sight.Engine, "server", e.sight.Server,
			"feed", e.sight.Feed, "on_air", e.sight.OnAir)
		g.record(false)
		wg.Go(func() { g.take(ctx, a.take) })
	}
	if a.release {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, takeWithin)
			defer cancel()
			if err := g.opt.Air.Release(ctx); err != nil && ctx.Err() == nil {
				g.log.Error("dead-air guard: cannot take the emergency audio off the air", "err", err)
			}
		})
	}
	if a.clear {
		g.clear(e)
	}
}

func (g *Guard) raise(e event) {
	now := Alarm{Kind: e.kind, Began: e.began.UnixMilli(), Raised: e.at.UnixMilli(), Steps: []Step{}}
	if e.kind == Gone {
		now.Cause = g.cause()
	}
	g.now = &now
	g.mu.Lock()
	g.totals.Alarms[e.kind]++
	g.mu.Unlock()
	g.log.Error("dead-air guard: alarm", "kind", e.kind, "text", raisedText(now), "after", now.Detected())
	g.record(true)
	g.opt.Tell(Event, Alert{Kind: now.Kind, State: "raised", Text: raisedText(now), At: now.Raised})
}

func (g *Guard) cause() string {
	switch h := g.ear.hearing(); {
	case !h.standby.IsZero(), h.cuts > 0 && h.cause == "":
		return "the streaming server plays its standby audio"
	case h.cause != "":
		return h.cause
	}
	return "the stream stopped"
}

func (g *Guard) clear(e event) {
	g.now.Cleared = e.at.UnixMilli()
	g.log.Info("dead-air guard: cleared", "kind", g.now.Kind, "detected_after", g.now.Detected(), "heard_after", g.now.Recovered(), "steps", g.now.Steps)
	g.record(false)
	g.opt.Tell(Event, Alert{Kind: g.now.Kind, State: "cleared", Text: clearedText(*g.now), At: g.now.Cleared})
	done := *g.now
	g.now = nil
	g.mu.Lock()
	g.shown.LastAlarm = &done
	g.mu.Unlock()
}

func (g *Guard) count1(s Step) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.totals.Steps[s]++
}

// look asks who is to blame.
func (g *Guard) look(ctx context.Context) {
	look, cancel := context.WithTimeout(ctx, sightWithin)
	defer cancel()
	sight := g.opt.Air.Sight(look)
	g.happened(ctx, event{at: time.Now(), what: sighted, sight: sight})
}

// take carries out a step. A wait is one by itself.
func (g *Guard) take(ctx context.Context, s Step) {
	if s == Wait || s == WaitFeed {
		return
	}
	take, cancel := context.WithTimeout(ctx, takeWithin)
	defer cancel()
	if err := g.opt.Air.Take(take, s); err != nil && ctx.Err() == nil {
		g.log.Warn("dead-air guard: cannot take the step", "step", s, "err", err)
		g.happened(ctx, event{at: time.Now(), what: failed, step: s})
	}
}

func (g *Guard) happened(ctx context.Context, e event) {
	select {
	case g.results <- e:
	case <-ctx.Done():
	}
}

// altered is since when the playlist file is not ours.
type altered struct {
	mu sync.Mutex
	at time.Time
}

func (a *altered) since() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at
}

func (a *altered) set(intact bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case intact:
		a.at = time.Time{}
	case a.at.IsZero():
		a.at = time.Now()
	}
}

func (g *Guard) watchFile(ctx context.Context) {
	clock := time.NewTicker(fileEvery)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
			g.file.set(g.opt.Intact(ctx))
		}
	}
}

// record is an alarm to be kept: new, or as it went on.
type record struct {
	alarm Alarm
	fresh bool
}

// record hands the alarm to be kept: a slow disk must not hold up the ladder.
func (g *Guard) record(fresh bool) {
	select {
	case g.records <- record{*g.now, fresh}:
	default:
		g.log.Error("dead-air guard: alarm not saved, the disk is too slow")
	}
}

// lastWords bounds what is written of the history once the guard is told to end.
const lastWords = 2 * time.Second

// keep writes the history. What was recorded before ctx ended is written too.
func (g *Guard) keep(ctx context.Context) {
	writing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWords, cancel) })()
	var id int64
	for {
		select {
		case r := <-g.records:
			id = g.write(writing, r, id)
		case <-ctx.Done():
			if len(g.records) == 0 {
				return
			}
		}
	}
}

// write keeps one record, of the alarm with that id unless it is a new one.
func (g *Guard) write(ctx context.Context, r record, id int64) int64 {
	var err error
	if r.fresh {
		id, err = g.history.add(ctx, r.alarm)
	} else {
		r.alarm.ID = id
		err = g.history.update(ctx, r.alarm)
	}
	if err != nil {
		g.log.Error("dead-air guard: cannot save the alarm", "err", err)
	}
	return id
}
