package guard

import (
	"context"
	"slices"
	"sync"
	"time"
)

// follow carries out the action that an event led to.
func (g *Guard) follow(ctx context.Context, wg *sync.WaitGroup, e event, a action) {
	if a.raise {
		g.raise(e)
	}
	if g.alarm != nil && g.alarm.Heard == 0 && (g.l.state == Proving || g.l.state == Holding) {
		g.alarm.Heard = e.at.UnixMilli()
		g.record(false)
	}
	if a.look {
		wg.Go(func() { g.look(ctx) })
	}
	if a.take != "" {
		g.alarm.Steps = append(slices.Clone(g.alarm.Steps), a.take)
		g.count1(a.take)
		g.log.Warn("dead-air guard: taking a step", "step", a.take, "kind", g.l.kind, "on_air", e.sight.OnAir, "disk_full", e.sight.DiskFull)
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
	alarm := Alarm{Kind: e.kind, Began: e.began.UnixMilli(), Raised: e.at.UnixMilli(), Steps: []Step{}}
	alarm.Cause = g.cause(e.kind)
	for _, a := range g.acts {
		if !a.at.Before(e.began.Add(-time.Second)) {
			alarm.Steps = append(alarm.Steps, a.step)
		}
	}
	g.alarm = &alarm
	g.mu.Lock()
	g.totals.Alarms[e.kind]++
	g.mu.Unlock()
	alert := Alert{Kind: alarm.Kind, State: "raised", Text: alarm.Kind.words(), At: alarm.Raised, Cause: alarm.Cause}
	g.log.Error("dead-air guard: alarm", "kind", e.kind, "text", alert.Full(), "after", alarm.Detected())
	g.record(true)
	g.opt.Tell(Event, alert)
}

// cause says in words what the node found; empty for a kind that says it all.
func (g *Guard) cause(k Kind) string {
	switch h := g.reports.hearing(); {
	case k == Unreachable:
		return h.failure
	case k == Starved:
		return h.Short
	case k != Gone:
		return ""
	case !h.standby.IsZero(), h.Cuts > 0 && h.Cause == "":
		return "the streaming server plays its standby audio"
	case h.Cause != "":
		return h.Cause
	}
	return "the stream stopped"
}

// act is a step that the node took by itself.
type act struct {
	step Step
	at   time.Time
}

// keptActs is how long an act of the node may precede the alarm that it belongs to.
const keptActs = time.Minute

// acted takes note of what the node did since its last report.
func (g *Guard) acted(now time.Time, h hearing) {
	g.acts = slices.DeleteFunc(g.acts, func(a act) bool { return now.Sub(a.at) > keptActs })
	for _, s := range []Step{RestartEngine, RestartServer} {
		before, known := g.kills[s]
		if h.Kills == nil {
			continue
		}
		g.kills[s] = h.Kills[s]
		// A node that began anew counts from nought again.
		if !known || h.Kills[s] <= before {
			continue
		}
		g.log.Warn("dead-air guard: the node killed a program that did not work any more", "step", s)
		g.acts = append(g.acts, act{s, now})
		g.count1(s)
		if g.alarm != nil {
			g.alarm.Steps = append(slices.Clone(g.alarm.Steps), s)
			g.record(false)
		}
	}
}

func (g *Guard) clear(e event) {
	g.alarm.Cleared = e.at.UnixMilli()
	g.log.Info("dead-air guard: cleared", "kind", g.alarm.Kind, "detected_after", g.alarm.Detected(), "heard_after", g.alarm.Recovered(), "steps", g.alarm.Steps)
	g.record(false)
	g.opt.Tell(Event, Alert{Kind: g.alarm.Kind, State: "cleared", Text: clearedText(*g.alarm), At: g.alarm.Cleared})
	done := *g.alarm
	g.alarm = nil
	g.mu.Lock()
	g.shown.LastAlarm = &done
	g.mu.Unlock()
}

func (g *Guard) count1(s Step) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.totals.Steps[s]++
}

// look finds out what is on air.
func (g *Guard) look(ctx context.Context) {
	look, cancel := context.WithTimeout(ctx, sightWithin)
	defer cancel()
	sight := Sight{OnAir: g.opt.Air.Playing(look), DiskFull: g.reports.hearing().DiskFull}
	g.happened(ctx, event{at: time.Now(), what: sighted, sight: sight})
}

// take carries out a step. A wait needs nothing done.
func (g *Guard) take(ctx context.Context, s Step) {
	if s == Wait {
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

// altered keeps since when the playlist file is not ours.
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

// record is an alarm to be saved: a new one, or an update.
type record struct {
	alarm Alarm
	fresh bool
}

// record queues the alarm for saving: a slow disk must not hold up the ladder.
func (g *Guard) record(fresh bool) {
	select {
	case g.records <- record{*g.alarm, fresh}:
	default:
		g.log.Error("dead-air guard: alarm not saved, the disk is too slow")
	}
}

// lastWords bounds writing the history after the guard is told to end.
const lastWords = 2 * time.Second

// keep writes the history, including what was queued before ctx ended.
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

// write saves one record: a new alarm, whose id it returns, or an update of id.
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
