package media

import (
	"context"
	"errors"
	"time"
)

// Progress is how far a scan has come.
type Progress struct {
	Seen        int    // audio files found so far
	Done        int    // of them decided: unchanged, registered or quarantined
	Total       int    // files there will be; an estimate until the walk has ended
	Added       int    // newly registered
	Updated     int    // registered before, changed
	Removed     int    // registered before, gone
	Quarantined int    // newly quarantined
	Current     string // a file being read
}

// Report is the outcome of a scan.
type Report struct {
	Progress
	Unsettled int           // files still being written: not registered yet
	Opened    int           // files opened: those new or changed
	Probed    int           // of them given to ffprobe and ffmpeg
	Late      int           // of them not read in time: left as they were, to be tried again
	Problems  []string      // folders that could not be read, for people
	Took      time.Duration // in whole
}

const (
	firstPublish = 200 * time.Millisecond
	nextPublish  = 500 * time.Millisecond
	progressTick = 100 * time.Millisecond
	commitRows   = 500
	commitAfter  = 250 * time.Millisecond
)

// Scan compares the whole media folder with the registry and returns when both
// agree, files that are being written included once they settle (a file that
// keeps changing is left out after a while). progress, when not nil, is called
// about ten times a second from this goroutine. A missing, unreadable or
// suddenly empty root is an error and changes nothing; a folder below it that
// cannot be read is a problem in the report. An ended ctx leaves what was
// registered so far.
func (l *Library) Scan(ctx context.Context, progress func(Progress)) (Report, error) {
	defer l.hurry.begin()()
	report, unsettled, err := l.scanAll(ctx, nil, progress, func(string) {})
	// Wait for files that are being copied, but not for one that never ends.
	for round := 0; err == nil && len(unsettled) > 0 && round < 5; round++ {
		select {
		case <-ctx.Done():
			return report, ctx.Err()
		case <-time.After(l.opt.Settle):
		}
		var more Report
		more, unsettled, err = l.rescan(ctx, scopesOf(unsettled), unsettled, func(string) {})
		report = report.plus(more)
		report.Unsettled = len(unsettled)
	}
	if progress != nil {
		progress(report.Progress)
	}
	return report, err
}

func scopesOf(unsettled map[string]fileStamp) []string {
	scopes := make([]string, 0, len(unsettled))
	for path := range unsettled {
		scopes = append(scopes, path)
	}
	return scopes
}

func (r Report) plus(more Report) Report {
	r.Added += more.Added
	r.Updated += more.Updated
	r.Removed += more.Removed
	r.Quarantined += more.Quarantined
	r.Opened += more.Opened
	r.Probed += more.Probed
	r.Late += more.Late
	r.Done += more.Done
	r.Took += more.Took
	return r
}

// scanAll is one pass over everything. entering is called with each folder
// before it is listed.
func (l *Library) scanAll(ctx context.Context, waited map[string]fileStamp, progress func(Progress), entering func(string)) (Report, map[string]fileStamp, error) {
	done, err := l.takeTurn(ctx)
	if err != nil {
		return Report{}, nil, err
	}
	defer done()
	l.scanning = true
	l.publish()
	report, unsettled, err := l.pass(ctx, task{scopes: []string{""}, waited: waited, progress: progress, entering: entering})
	l.scanning = false
	if err == nil {
		now := time.Now()
		err = finish(ctx, l.db, l.opt.Root, now)
		l.scannedAt, l.elsewhere = now, false
	}
	l.problem = problemOf(ctx, err, report)
	l.publish()
	return report, unsettled, err
}

func problemOf(ctx context.Context, err error, r Report) string {
	switch {
	case err != nil && errOf(ctx, err) != nil:
		return err.Error()
	case len(r.Problems) > 0:
		return r.Problems[0]
	}
	return ""
}

// rescan is one pass over some files or folders.
func (l *Library) rescan(ctx context.Context, scopes []string, waited map[string]fileStamp, entering func(string)) (Report, map[string]fileStamp, error) {
	return l.carryOut(ctx, task{scopes: scopes, waited: waited, entering: entering})
}

// task is what a pass looks at, and how.
type task struct {
	scopes   []string
	waited   map[string]fileStamp // files that were being written when last seen
	again    bool                 // what is quarantined or late is read though it has not changed
	progress func(Progress)       // nil: nobody asks
	entering func(string)         // called with each folder before it is listed
}

// carryOut is one pass that is not over everything.
func (l *Library) carryOut(ctx context.Context, t task) (Report, map[string]fileStamp, error) {
	done, err := l.takeTurn(ctx)
	if err != nil {
		return Report{}, nil, err
	}
	defer done()
	return l.carryOutNow(ctx, t)
}

// carryOutNow is carryOut of whoever holds turn.
func (l *Library) carryOutNow(ctx context.Context, t task) (Report, map[string]fileStamp, error) {
	l.passing = true
	report, unsettled, err := l.pass(ctx, t)
	l.passing = false
	problem := problemOf(ctx, err, report)
	if problem != "" { // only a whole scan proves the problem gone
		l.problem = problem
	}
	if problem != "" || l.Snapshot().Passing {
		l.publish()
	}
	return report, unsettled, err
}

// pass runs one pass and brings what it finds into the database and the
// snapshot. The caller holds turn.
func (l *Library) pass(ctx context.Context, t task) (Report, map[string]fileStamp, error) {
	begin := time.Now()
	if err := checkRoot(l.opt.Root, len(l.registry.tracks)); err != nil {
		return Report{}, nil, err
	}
	in, err := openFiles(l.opt.Root, l.opt.FollowLinks)
	if err != nil {
		return Report{}, nil, err
	}
	defer in.close()
	dev, ino := rootID(l.opt.Root)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	hold, end := l.held(ctx)
	defer end()
	p := newPass(l, in, t, hold)
	c := &collector{lib: l, pass: p, progress: t.progress, begin: begin}
	p.start(ctx, t.entering)
	asides := l.asides
	if l.elsewhere { // what is published is not the registry
		asides = nil
	}
	if err := c.collect(ctx, asides); err != nil {
		cancel(err)
		for range p.results { // until all stages have ended
		}
		c.show()
		return c.report(), nil, err
	}
	if nowDev, nowIno := rootID(l.opt.Root); dev != nowDev || ino != nowIno {
		p.fault(errors.New("the media folder was replaced or unmounted during the scan: " + l.opt.Root))
	}
	err = c.end(ctx)
	if c.foreign {
		l.generation = 0 // so that refresh retries a reload that fails now
		if err == nil {
			err = l.reload(ctx)
		}
	}
	if t.progress != nil {
		t.progress(c.now())
	}
	return c.report(), p.unsettled, err
}

// end brings the last of a pass into the registry, once all its stages have ended.
func (c *collector) end(ctx context.Context) error {
	l, p := c.lib, c.pass
	err := ctx.Err()
	if err == nil {
		err = p.machine
	}
	if err == nil {
		err = checkRoot(l.opt.Root, len(l.registry.tracks))
	}
	if err == nil {
		err = c.add(ctx, p.gone()...)
	}
	err = errors.Join(err, c.flush(context.WithoutCancel(ctx)))
	c.show()
	if err == nil {
		was := l.late.problem()
		if l.late.follow(p, time.Now()); was != l.late.problem() {
			l.publish()
		}
	}
	return err
}

// collector takes the results of a pass, in the goroutine that owns the registry.
type collector struct {
	lib      *Library
	pass     *pass
	progress func(Progress)
	begin    time.Time

	batch   []change // not committed
	fresh   []change // committed, not published
	found   *registry
	foreign bool     // another process wrote in between
	apart   []string // paths that were looked at in between
	counts  Progress
}

// collect takes results until the pass has ended, and looks at other paths in between; asides
// is nil where it does not.
func (c *collector) collect(ctx context.Context, asides <-chan aside) error {
	tick := time.NewTicker(progressTick)
	defer tick.Stop()
	publishAt, commitAt := c.begin.Add(firstPublish), c.begin.Add(firstPublish)
	for {
		select {
		case change, ok := <-c.pass.results:
			if !ok {
				return nil
			}
			c.pass.done.Add(1)
			if err := c.add(ctx, change); err != nil {
				return err
			}
		case a := <-asides:
			if err := c.aside(ctx, a); err != nil {
				return err
			}
		case <-tick.C:
			if c.progress != nil {
				c.progress(c.now())
			}
		}
		now := time.Now()
		if len(c.batch) > 0 && now.After(commitAt) {
			if err := c.flush(ctx); err != nil {
				return err
			}
			commitAt = time.Now().Add(commitAfter)
		}
		if len(c.fresh) > 0 && now.After(publishAt) {
			c.show()
			// Publishing copies the whole list: keep it to a tenth of the time.
			publishAt = time.Now().Add(max(nextPublish, 10*time.Since(now)))
		}
	}
}

// add takes changes in, and counts them against the registry before the pass.
func (c *collector) add(ctx context.Context, changes ...change) error {
	for _, ch := range changes {
		if c.decidedApart(ch.path) {
			continue
		}
		_, was := c.pass.base.track(ch.path)
		_, wasRefused := c.pass.base.refusal(ch.path)
		switch {
		case ch.track != nil && was:
			c.counts.Updated++
			c.lib.opt.Log.Debug("media file updated", "path", ch.path)
		case ch.track != nil:
			c.counts.Added++
			if len(c.pass.base.tracks) > 0 { // a first scan would log every file
				c.lib.opt.Log.Debug("media file added", "path", ch.path, "title", ch.track.Title, "artist", ch.track.Artist)
			}
		case ch.refused != nil:
			c.counts.Quarantined++
			c.lib.opt.Log.Debug("media file quarantined", "path", ch.path, "reason", ch.refused.Reason)
		case was:
			c.counts.Removed++
			c.lib.opt.Log.Debug("media file removed", "path", ch.path)
		case !wasRefused:
			continue // it came and went during the pass
		}
		if t := ch.track; t != nil {
			for _, text := range []*string{&t.Artist, &t.Album, &t.Genre, &t.License, &t.Label, &t.Composer} {
				*text = c.lib.texts.share([]byte(*text))
			}
		}
		if c.batch = append(c.batch, ch); len(c.batch) >= commitRows {
			if err := c.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush commits the batch.
func (c *collector) flush(ctx context.Context) error {
	if len(c.batch) == 0 {
		return nil
	}
	generation, err := commit(ctx, c.lib.db, c.batch)
	if err != nil {
		return err
	}
	c.foreign = c.foreign || generation != c.lib.generation+1
	c.lib.generation = generation
	c.fresh = append(c.fresh, c.batch...)
	c.batch = c.batch[:0]
	return nil
}

// show publishes what is committed.
func (c *collector) show() {
	if len(c.fresh) == 0 {
		return
	}
	if c.lib.elsewhere {
		if c.found == nil {
			c.found = &registry{}
		}
		c.found = c.found.merge(c.fresh)
	}
	c.lib.registry = c.lib.registry.merge(c.fresh)
	c.fresh = nil
	if c.lib.elsewhere {
		c.lib.show(c.found)
		return
	}
	c.lib.publish()
}

func (c *collector) now() Progress {
	p := c.counts
	p.Seen, p.Done = int(c.pass.seen.Load()), int(c.pass.done.Load())
	p.Total = p.Seen
	if !c.pass.walked.Load() {
		p.Total = max(p.Seen, len(c.pass.base.tracks)+len(c.pass.base.refused))
	}
	if current := c.pass.current.Load(); current != nil {
		p.Current = *current
	}
	return p
}

func (c *collector) report() Report {
	return Report{
		Progress: c.now(), Unsettled: len(c.pass.unsettled), Problems: c.pass.problems, Took: time.Since(c.begin),
		Opened: int(c.pass.reader.opened.Load()), Probed: int(c.pass.reader.probed.Load()), Late: len(c.pass.late),
	}
}
