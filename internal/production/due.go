package production

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/imaging"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// Run does what is due by itself until ctx ends.
func (p *Production) Run(ctx context.Context) {
	p.sweep()
	var all sync.WaitGroup
	all.Go(func() { _ = p.board.Run(ctx) })
	all.Go(func() { _ = p.content.Run(ctx) })
	all.Go(func() { _ = p.prints.run(ctx) })
	all.Go(func() { p.watchInbox(ctx) })
	all.Go(func() { p.renew(ctx) })
	all.Go(func() { p.rehearsals.run(ctx) })
	all.Go(func() {
		_ = bulletin.Clock{Every: p.every, Log: p.log, Make: p.bulletinDue}.Run(ctx)
	})
	all.Wait()
}

// sweep removes what an interrupted run has left in the decks.
func (p *Production) sweep() {
	imaging.Sweep(p.root)
	bulletin.Sweep(filepath.Join(p.root, string(station.News)))
	for _, c := range []station.Category{station.Sweepers, station.SFX, station.News} {
		if n, err := mastering.Sweep(filepath.Join(p.root, string(c))); n > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.log.Info("removed leftovers of an interrupted run", "deck", c, "files", n, "err", err)
		}
	}
}

const (
	// inboxEvery is how often the inbox is checked.
	inboxEvery = 15 * time.Second
	// inboxPause is the longest pause between two checks after files could not be
	// taken in, as on a full disk.
	inboxPause = 10 * time.Minute
)

// watchInbox takes in the files that an operator puts into the inbox.
func (p *Production) watchInbox(ctx context.Context) {
	pause := inboxEvery
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if p.board.Busy(ContentLane) || !p.content.Waiting(ctx) {
			continue
		}
		var r content.Result
		j, err := p.board.Start(ContentLane, "inbox", func(ctx context.Context, t *jobs.Task) (_ any, err error) {
			r, err = p.content.Inbox(ctx, ContentSteps(t))
			return r, err
		})
		if err != nil {
			continue
		}
		_, err = p.board.Wait(ctx, j.ID) // the board logs it
		switch {
		case ctx.Err() != nil: // r may still be written to
			return
		case err != nil || len(r.Problems) > 0:
			pause = min(2*pause, inboxPause)
		default:
			pause = inboxEvery
		}
	}
}

// orderLook is how often held work looks whether an order waits for it.
const orderLook = time.Second

// unlessOrdered returns hold, which lets go as soon as an order waits for its turn behind
// the work that is held up: it would be held up with it.
func (p *Production) unlessOrdered(hold func(context.Context) error) func(context.Context) error {
	if hold == nil {
		return nil
	}
	return func(ctx context.Context) error {
		for !p.board.Waits(ContentLane) {
			look, done := context.WithTimeout(ctx, orderLook)
			err := hold(look)
			done()
			if err == nil || ctx.Err() != nil {
				break
			}
		}
		return ctx.Err()
	}
}

// refreshDue runs a scheduled refresh of the content pipeline as a job, like the
// ones that operators order.
func (p *Production) refreshDue(ctx context.Context, refresh func(context.Context, func(content.Progress)) (content.Result, error)) error {
	return p.await(ctx, ContentLane, "content refresh", func(ctx context.Context, t *jobs.Task) (any, error) {
		r, err := refresh(ctx, ContentSteps(t))
		return r, err
	})
}

// bulletinDue makes a scheduled bulletin as a job, like the ones that operators
// order.
func (p *Production) bulletinDue(ctx context.Context) error {
	return p.await(ctx, bulletinLane, "bulletin", func(ctx context.Context, t *jobs.Task) (any, error) {
		made, err := p.Bulletin(ctx, t.Show)
		return made, err
	})
}

// await runs work as a job and waits for its end.
func (p *Production) await(ctx context.Context, lane, kind string, work jobs.Work) error {
	j, err := p.board.Start(lane, kind, work)
	if err != nil {
		return err
	}
	_, err = p.board.Wait(ctx, j.ID)
	return err
}

// bulletinLane is the lane of jobs that make bulletins, ordered ones as well.
const bulletinLane = "bulletin"

// ContentLane is the lane of jobs on the library: one thing at a time.
const ContentLane = "content"

// ContentSteps shows the pipeline's progress as a job's.
func ContentSteps(t *jobs.Task) func(content.Progress) {
	var last content.Step
	return func(p content.Progress) {
		t.Show(jobs.Progress{Step: string(p.Step), Detail: p.Detail, Done: p.Done, Total: p.Total})
		if p.Step != last {
			last = p.Step
			t.Say("%s · %s", p.Step.English(), p.Step.Arabic())
		}
	}
}
