package requests

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// soon is how long before its time the asker is told.
	soon = 5 * time.Minute
	// lookEvery bounds the time between two looks: requests expire without a signal.
	lookEvery = 30 * time.Second
	// settleFor is how long more requests are waited for before the rotation is planned
	// anew, renewEvery the least time between two such plans.
	settleFor  = 3 * time.Second
	renewEvery = time.Minute
	// pruneEvery is how often old requests are deleted.
	pruneEvery = 24 * time.Hour
)

// step is what has become of a request, as far as the air shows:
//
//	waiting, planned   aired since it was asked for       → aired
//	waiting            in the rotation                    → planned
//	planned            no longer in the rotation          → waiting
//	planned            within 5 minutes, first time       → the asker is told
//	waiting            not planned for the time it has    → expired
//
// changed is false where nothing is to be saved; event is empty where nobody is told.
func step(q Request, air Air, now time.Time, limit time.Duration) (out Request, event Event, changed bool) {
	out = q
	for _, a := range air.Heard {
		if a.Path == q.Track.Path && a.At.After(q.At) {
			out.Status, out.ClosedAt, out.airing = Aired, a.At, a.ID
			return out, OnAir, true
		}
	}
	at, planned := next(air, q.Track.Path)
	if planned {
		out.Status = Planned
	} else {
		out.Status = Waiting
	}
	switch {
	case planned && !q.told && !at.IsZero() && at.Sub(now) <= soon:
		out.told, event = true, Soon
	case !planned && now.Sub(q.At) >= limit:
		out.Status, out.ClosedAt, event = Expired, now, Refused
	}
	return out, event, out.Status != q.Status || out.told != q.told
}

func next(air Air, path string) (time.Time, bool) {
	i := slices.IndexFunc(air.Next, func(n Coming) bool { return n.Path == path })
	if i < 0 {
		return time.Time{}, false
	}
	return air.Next[i].At, true
}

// renewal decides when the rotation is planned anew. A storm of requests leads to one
// plan a minute.
type renewal struct {
	dirty       bool
	asked, last time.Time
}

// ask notes that the rotation does not hold what is wanted.
func (n *renewal) ask(now time.Time) { n.dirty, n.asked = true, now }

// due returns whether to plan now, and else when to look again; zero: when asked.
func (n *renewal) due(now time.Time) (bool, time.Time) {
	if !n.dirty {
		return false, time.Time{}
	}
	at := n.asked.Add(settleFor)
	if held := n.last.Add(renewEvery); held.After(at) {
		at = held
	}
	if at.Sub(now) > renewEvery+settleFor { // the clock was set back
		at = now
	}
	return !at.After(now), at
}

// Run follows the air until ctx ends.
func (r *Requests) Run(ctx context.Context) error {
	var all errgroup.Group
	all.Go(func() error { r.desk.run(ctx); return nil })
	all.Go(func() error { r.follow(ctx); return nil })
	return all.Wait()
}

func (r *Requests) follow(ctx context.Context) {
	changed, cancel := r.opt.Changed()
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var pruned time.Time
	for {
		now := r.opt.Now()
		if now.Sub(pruned) >= pruneEvery || now.Before(pruned) {
			pruned = now
			r.mu.Lock()
			if err := r.write(ctx, func(ctx context.Context, tx *sql.Tx) error { return prune(ctx, tx, now) }); err != nil {
				r.opt.Log.Error("cannot delete old requests", "err", err)
			}
			r.mu.Unlock()
		}
		timer.Reset(r.look(ctx))
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-r.woke:
		case <-timer.C:
		}
	}
}

// look takes in what has happened, and returns when to look again.
func (r *Requests) look(ctx context.Context) time.Duration {
	if err := r.advance(ctx); err != nil {
		r.opt.Log.Error("cannot save what has become of requests", "err", err)
	}
	wait := lookEvery
	if again := r.plan(ctx); again > 0 {
		wait = min(wait, again)
	}
	if again := r.tale.tell(r); again > 0 {
		wait = min(wait, again)
	}
	return wait
}

// advance saves what has become of the open requests, in one transaction.
func (r *Requests) advance(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	air, now := r.opt.Air(), r.opt.Now()
	type happened struct {
		Event
		Request
	}
	var all []happened
	for _, q := range r.kept.Load().open {
		if out, event, changed := step(q, air, now, r.opt.Limits.Expire); changed {
			out.ExpectedAt, _ = next(air, q.Track.Path)
			all = append(all, happened{event, out})
		}
	}
	if len(all) == 0 {
		return nil
	}
	err := r.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, h := range all {
			if err := update(ctx, tx, h.Request); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, h := range all {
		if h.Event != "" {
			r.opt.Happened(h.Event, h.Request)
		}
	}
	return nil
}

// plan has the rotation planned anew where it is due, and returns when to look again.
func (r *Requests) plan(ctx context.Context) time.Duration {
	if r.opt.Renew == nil {
		return 0
	}
	now := r.opt.Now()
	r.mu.Lock()
	if r.renew.dirty && r.opt.Air().Built.After(r.renew.asked) {
		r.renew.dirty = false // planned meanwhile for another reason
	}
	due, at := r.renew.due(now)
	if due {
		r.renew.dirty, r.renew.last = false, now
	}
	r.mu.Unlock()
	switch {
	case due:
		if err := r.opt.Renew(ctx); err != nil && ctx.Err() == nil {
			r.opt.Log.Warn("requests are not planned yet", "err", err)
			r.mu.Lock()
			r.renew.ask(now)
			r.mu.Unlock()
			return renewEvery
		}
	case !at.IsZero():
		return max(at.Sub(now), time.Millisecond)
	}
	return 0
}
