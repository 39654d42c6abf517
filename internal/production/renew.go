package production

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// newsMoved is how far the start of a bulletin may move from the time that it
	// tells before it is made anew.
	newsMoved = 2 * time.Minute
	// newsAhead is how long before its start a bulletin is made anew: sooner, the
	// start may move again.
	newsAhead = 5 * time.Minute
	// newsTakes is what making one takes, with room; later, it cannot be replaced.
	newsTakes = 30 * time.Second
	// newsRest is the pause after one that could not be made.
	newsRest = 5 * time.Minute
	// newsBusy is the pause while another is being made.
	newsBusy = time.Second
	// newsLook is how often the plan is looked at if it does not change.
	newsLook = time.Minute
)

// renewal returns the time that a new bulletin must tell because the next one in the
// rotation tells another; zero if none is to be made now. look is when to ask again,
// unless the view changes before.
func renewal(v *scheduler.View, now time.Time) (at time.Time, look time.Duration) {
	starts, tells := nextBulletin(v)
	switch left := starts.Sub(now); {
	case starts.IsZero(), starts.Sub(tells).Abs() <= newsMoved, left < newsTakes:
		return time.Time{}, newsLook
	case left > newsAhead:
		return time.Time{}, left - newsAhead
	}
	for _, path := range v.Queued { // made, and waiting for the entries before it
		if told := bulletin.Tells(path); !told.IsZero() && starts.Sub(told).Abs() <= newsMoved {
			return time.Time{}, newsLook
		}
	}
	return starts, newsLook
}

// nextBulletin returns when the next bulletin of the rotation starts and the time that
// it tells, zero if it is still to be made. One that is queued but not planned, because it would be heard too late,
// should have been next. Zero times: there is none, or the start is unknown.
func nextBulletin(v *scheduler.View) (starts, tells time.Time) {
	upcoming := v.Upcoming()
	for _, path := range v.Queued {
		if told, next := bulletin.Tells(path), v.NextStart(); !told.IsZero() && next.Sub(told) > newsMoved {
			return next, told
		}
	}
	for _, it := range upcoming {
		if it.AfterNews {
			return it.ExpectedAt, time.Time{}
		}
		if told := bulletin.Tells(it.Track.Path); !told.IsZero() {
			return it.ExpectedAt, told
		}
	}
	return time.Time{}, time.Time{}
}

// nextTime returns the time that a bulletin made now should tell: the start of the
// first entry that it can open, or after a bulletin heard just now, of the planner's
// next place for news.
func nextTime(v *scheduler.View, now time.Time) time.Time {
	recent := heardSince(v, now.Add(-newsApart))
	for _, it := range v.Upcoming() {
		switch {
		case it.ExpectedAt.Sub(now) < newsTakes:
		case !recent || it.AfterNews || it.Track.Category == station.News:
			return it.ExpectedAt
		}
	}
	return now // nothing is expected, as during a takeover
}

// heardSince reports that a bulletin began since a time.
func heardSince(v *scheduler.View, since time.Time) bool {
	for _, heard := range append([]scheduler.OnAir{v.OnAir}, v.Past...) {
		if heard.Track.Category == station.News && heard.StartedAt.After(since) {
			return true
		}
	}
	return false
}

// renew makes bulletins anew whose start has moved, and one for each place that the
// planner has for news, until ctx ends.
func (p *Production) renew(ctx context.Context) {
	views, cancel := p.onair.Subscribe()
	defer cancel()
	p.onair.RenewNews(p.every > 0)
	for {
		changed := views
		at, pause := renewal(p.onair.View(), time.Now())
		switch {
		case at.IsZero():
		case p.board.Busy(bulletinLane): // another is being made, perhaps for the same start
			pause = newsBusy
		default:
			if err := p.await(ctx, bulletinLane, "bulletin", func(ctx context.Context, t *jobs.Task) (any, error) {
				made, err := p.bulletinAt(ctx, at, t.Show)
				return made, err
			}); err != nil {
				changed, pause = nil, newsRest // the board logs it
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-changed:
			timer.Stop()
		case <-timer.C:
		}
	}
}
