package media

import (
	"context"
	"slices"
	"time"
)

// A first scan of a large folder takes an hour, and somebody who has just sent one file does
// not wait for that: the scan under way looks at it in between.

// aside asks the pass under way for a look at some paths.
type aside struct {
	task  task
	asker context.Context // whoever asked has left where it ends
	done  chan looked     // capacity 1
}

// looked is the outcome of a pass.
type looked struct {
	report    Report
	unsettled map[string]fileStamp
	err       error
}

// look carries a task out at once: as a pass of its own, or in the one under way.
func (l *Library) look(ctx context.Context, t task) (Report, map[string]fileStamp, error) {
	a := aside{t, ctx, make(chan looked, 1)}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
		return l.carryOutNow(ctx, t)
	case l.asides <- a:
	case <-ctx.Done():
		return Report{}, nil, ctx.Err()
	}
	select {
	case out := <-a.done:
		return out.report, out.unsettled, out.err
	case <-ctx.Done():
		return Report{}, nil, ctx.Err()
	}
}

// aside is a small pass between two results of this one, which will not change its mind:
// what this one says of those paths later is older.
func (c *collector) aside(ctx context.Context, a aside) error {
	if err := c.flush(ctx); err != nil {
		a.done <- looked{err: err}
		return err
	}
	c.show()
	whole := ctx
	ctx, cancel := context.WithCancelCause(a.asker)
	defer cancel(nil)
	defer context.AfterFunc(whole, func() { cancel(context.Cause(whole)) })()
	p := newPass(c.lib, c.pass.reader.files, a.task, func() {})
	sub := &collector{lib: c.lib, pass: p, begin: time.Now()}
	p.start(ctx, a.task.entering)
	err := sub.collect(ctx, nil)
	if err != nil {
		cancel(err)
		for range p.results { // until all stages have ended
		}
	} else {
		err = sub.end(ctx)
	}
	c.foreign = c.foreign || sub.foreign
	if err == nil { // else it is as this pass finds it
		c.apart = append(c.apart, a.task.scopes...)
	}
	a.done <- looked{sub.report(), p.unsettled, err}
	return nil
}

// decidedApart reports that another look at a path was newer than what the pass found.
func (c *collector) decidedApart(path string) bool {
	return len(c.apart) > 0 && slices.ContainsFunc(c.apart, func(scope string) bool { return within(path, scope) })
}
