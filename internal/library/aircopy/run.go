package aircopy

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// longPause is the longest time between two attempts after a fault of the machine.
const longPause = 10 * time.Minute

// Run keeps the copies in step with the media folder until ctx ends. An obstacle (a
// full disk, a missing program) is logged, shown as Snapshot.Problem and tried
// again; Run returns nil once everything it started has stopped. inUse reports that
// the file at an absolute path is playing, prepared, queued or planned, and must
// stay in place.
func (r *Rack) Run(ctx context.Context, inUse func(path string) bool) error {
	changed, cancel := r.opt.Registry.Subscribe()
	defer cancel()
	if r.opt.Disabled {
		r.mirror(ctx, changed)
		return nil
	}
	w := &runner{
		Rack: r, inUse: inUse, inWork: map[string]*task{}, removing: map[string]bool{}, troubles: map[string]setback{}, gone: map[string]time.Time{}, interrupted: map[string]int{},
	}
	w.sweep(true)
	w.loop(ctx, changed)
	return nil
}

// mirror shows the registry as it is.
func (r *Rack) mirror(ctx context.Context, changed <-chan struct{}) {
	for {
		r.show(r.opt.Registry.Tracks(), Work{}, "")
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// runner is the state of Run. One goroutine owns it; a worker gets one task at a
// time.
type runner struct {
	*Rack
	inUse    func(path string) bool
	tracks   []station.Track
	behind   bool      // the registry has changed
	followed time.Time // when tracks was taken from it
	listed   int       // the last number in soon then
	queue    []job
	deferred int              // files put off: see troubles
	putUntil time.Time        // when the first of them is due
	ahead    time.Duration    // of audio in queue
	inWork   map[string]*task // by rel
	removing map[string]bool  // by rel
	troubles map[string]setback
	gone     map[string]time.Time // rows without a file, since when
	// interrupted counts how often work on a file made way for another, by rel.
	interrupted map[string]int

	resume     time.Time // no new work before
	failures   int       // in a row, the machine's
	airing     int       // files that can air
	songs      int       // of them, music
	unheard    []job     // songs to be measured ahead: see opening
	previewed  *job      // the one that is being measured
	unfitSongs int       // in a row, measured in vain

	hung    string // the last file, if it was not finished: see unfinished
	problem string
	short   shortage

	dirty     bool
	published time.Time
	tidyNext  time.Time
	tidying   bool
	began     time.Time // of the present backlog; zero: there is none
	announced bool      // its start was logged
	heard     time.Duration
}

// task is a job in work.
type task struct {
	job
	name  string // of the copy, relative to Dir
	had   row    // the decision until now
	unfit bool   // it is known to need a copy
	// needed: so little airs that the air itself waits for it.
	needed bool
	share  atomic.Int64
	// held is since when the work is held up; nil: it is not.
	held atomic.Pointer[time.Time]
	// cancel ends its work; errInterrupted puts it back into the queue.
	cancel context.CancelCauseFunc
	ctx    context.Context //nolint:containedctx // of this task alone
}

// setback is a file that failed for a reason outside it.
type setback struct {
	track station.Track
	times int
	until time.Time
}

func (w *runner) loop(ctx context.Context, changed <-chan struct{}) {
	tasks, results, tidied := make(chan *task, w.opt.Workers), make(chan result, w.opt.Workers), make(chan report, 1)
	previews := make(chan measured, 1)
	var all sync.WaitGroup
	defer all.Wait()
	defer close(tasks)
	for range w.opt.Workers {
		all.Go(func() {
			for t := range tasks {
				results <- w.work(t.ctx, t)
			}
		})
	}
	tick := time.NewTicker(w.beat)
	defer tick.Stop()
	w.tidyNext = time.Now().Add(w.tend)
	w.follow()
	for {
		if j, ok := w.nextSong(); ok {
			first := w.songs == 0
			all.Go(func() { previews <- w.preview(ctx, j, first) })
		}
		for next := w.next(); next != nil; next = w.next() {
			w.start(ctx, next)
			tasks <- next // the channel has room for one task per worker
		}
		w.makeWay()
		select {
		case <-ctx.Done():
			return
		case <-changed:
			w.behind = true
		case <-w.asked:
			w.follow()
		case a := <-w.anew:
			w.decideAnew(ctx, a)
		case done := <-results:
			w.finish(ctx, done)
		case m := <-previews:
			w.measuredSong(ctx, m)
		case done := <-tidied:
			w.tidied(done)
		case now := <-tick.C:
			if w.deferred > 0 && !now.Before(w.putUntil) {
				w.plan()
			}
			if list := w.due(now); list != nil {
				all.Go(func() { tidied <- w.tidy(ctx, list) })
			}
			if !w.dirty && len(w.inWork) > 0 {
				w.progress(w.workload(), w.trouble())
			}
		}
		if w.behind && time.Since(w.followed) >= w.beat { // a scan of thousands signals often
			w.follow()
		}
		if w.dirty && time.Since(w.published) >= w.beat {
			w.dirty, w.published = false, time.Now()
			w.show(w.tracks, w.workload(), w.trouble())
		}
	}
}

// follow takes over the registry's changes.
func (w *runner) follow() {
	w.behind, w.followed = false, time.Now()
	w.mu.RLock()
	w.listed = w.asks
	w.mu.RUnlock()
	w.tracks = w.opt.Registry.Tracks()
	there := make(map[string]bool, len(w.tracks))
	for i := range w.tracks {
		there[w.tracks[i].Path] = true
		delete(w.gone, w.tracks[i].Path)
	}
	for rel := range w.rows {
		if _, known := w.gone[rel]; !known && !there[rel] {
			w.gone[rel] = time.Now()
		}
	}
	maps.DeleteFunc(w.troubles, func(rel string, _ setback) bool { return !there[rel] })
	for rel := range w.short.unfit {
		if !there[rel] {
			w.short.forget(rel)
		}
	}
	w.plan()
}

// plan lists what is to be done, in order.
func (w *runner) plan() {
	profiles := map[station.Category]string{}
	var jobs []job
	w.deferred, w.ahead, w.dirty = 0, 0, true
	w.forgetEarly()
	airing := map[station.Category]int{}
	now, soon := time.Now(), w.waitedFor()
	for i := range w.tracks {
		t := &w.tracks[i]
		profile, ok := profiles[t.Category]
		if !ok {
			profile = w.opt.Profile(t.Category)
			profiles[t.Category] = profile
		}
		row, known := w.rows[t.Path]
		early := w.early[t.Path].airs
		if early || known && row.airs(*t) {
			airing[t.Category]++
		}
		trouble, troubled := w.troubles[t.Path]
		switch {
		case known && row.settled(*t, profile), w.inWork[t.Path] != nil, w.removing[t.Path]:
		case troubled && now.Before(trouble.until) && unchanged(trouble.track, *t):
			w.putOff(trouble.until)
		case w.short.waits(*t, profile, now):
			w.putOff(w.short.until)
		default:
			turn := soon[t.Path]
			if early { // it airs already
				turn = 0
			}
			jobs = append(jobs, job{*t, profile, known && row.airs(*t), turn})
			w.ahead += t.Duration
		}
	}
	w.arrived(soon, jobs)
	w.queue = order(jobs)
	w.airing, w.songs = 0, 0
	for c, n := range airing {
		if w.airing += n; c.Music() {
			w.songs += n
		}
	}
	w.unheard = w.opening(jobs, airing)
	w.announce()
}

func (w *runner) putOff(until time.Time) {
	if w.deferred++; w.deferred == 1 || until.Before(w.putUntil) {
		w.putUntil = until
	}
}

// trouble is what keeps files from being mastered, for people.
func (w *runner) trouble() string { return cmp.Or(w.problem, w.short.problem) }

// announce times a stretch of work and logs its start and end if it is long.
func (w *runner) announce() {
	busy := len(w.queue)+len(w.inWork)+w.deferred > 0
	if !busy {
		w.problem = ""
	}
	switch {
	case busy && w.began.IsZero():
		w.began, w.heard = time.Now(), 0
	case !busy && !w.began.IsZero():
		if w.announced {
			w.opt.Log.Info("loudness check finished", "took", time.Since(w.began).Round(time.Second))
		}
		w.began, w.announced = time.Time{}, false
	}
	if waiting := len(w.queue) + len(w.inWork); waiting >= worthALine && !w.announced {
		w.announced = true
		w.opt.Log.Info("loudness check started", "files", waiting)
	}
}

// worthALine is how many waiting files are logged: a single one, as each bulletin
// is, is not.
const worthALine = 5

// next returns the task to hand out; nil when there is none now.
func (w *runner) next() *task {
	for len(w.queue) > 0 && w.removing[w.queue[0].track.Path] { // it comes back when that is done
		w.ahead -= w.queue[0].track.Duration
		w.queue = w.queue[1:]
	}
	if len(w.queue) == 0 || len(w.inWork) >= w.opt.Workers || time.Now().Before(w.resume) || w.awaitsSong() {
		return nil
	}
	j := w.queue[0]
	return &task{job: j, name: w.copyName(j.track.Path), had: w.rows[j.track.Path], unfit: w.short.knows(j.track, j.profile), needed: w.airing+len(w.inWork) < enough}
}

func (w *runner) start(ctx context.Context, t *task) {
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	rel := t.track.Path
	w.queue = w.queue[1:]
	w.ahead -= t.track.Duration
	w.inWork[rel] = t
	w.mu.Lock()
	defer w.mu.Unlock()
	w.copies[t.name], w.making[rel] = rel, true
}

// finish handles the result of a task.
func (w *runner) finish(ctx context.Context, done result) {
	t := done.task
	rel := t.track.Path
	interrupted := errors.Is(context.Cause(t.ctx), errInterrupted) && done.err != nil && done.row.state == ""
	t.cancel(nil)
	delete(w.inWork, rel)
	w.mu.Lock()
	delete(w.making, rel)
	if done.row.state != "" { // it is decided, even if the decision was not saved
		if !w.airsMeanwhile(&t.job) && done.row.airs(t.track) {
			if w.airing++; t.track.Category.Music() {
				w.songs++
			}
		}
		w.rows[rel] = done.row
		delete(w.early, rel)
		w.dirty = true
	} else if was := w.rows[rel]; was.state == copied && !w.whole(was) {
		// It failed with the new copy in place and no row saved.
		was.state = lost
		w.rows[rel] = was
		w.dirty = true
	}
	if w.rows[rel].copy != t.name {
		delete(w.copies, t.name)
	}
	w.mu.Unlock()
	if interrupted {
		w.plan()
		return
	}
	if done.err != nil {
		w.failed(ctx, t, done.err)
		return
	}
	delete(w.troubles, rel)
	delete(w.interrupted, rel)
	roomy := done.row.state == copied && w.short.found(t.track)
	w.short.forget(rel)
	w.failures, w.hung, w.problem, w.dirty = 0, "", "", true
	w.heard += t.track.Duration
	if done.row.state == refused {
		w.opt.Log.Warn("file refused: it cannot air", "file", rel, "reason", done.row.reason)
	}
	if done.row.Short > worthTelling {
		w.opt.Log.Info("file airs below its loudness: its limiter would go too deep", "file", rel,
			"lufs", math.Round(10*done.row.Integrated)/10, "lu_below", math.Round(10*done.row.Short)/10)
	}
	if now, there := find(w.tracks, rel); roomy || !there || len(w.queue)+len(w.inWork) == 0 || !done.row.settled(now, w.opt.Profile(now.Category)) {
		w.follow()
	}
}

// count counts an undecided file of which nothing airs meanwhile.
func (w *runner) count(work *Work, j *job) {
	if w.airsMeanwhile(j) {
		return
	}
	work.Silent++
	if j.track.Category.Music() {
		work.Songs++
	}
}

// workload is what there is to do.
func (w *runner) workload() Work {
	work := Work{Waiting: len(w.queue) + len(w.inWork) + w.deferred}
	for i := range w.queue {
		w.count(&work, &w.queue[i])
	}
	ahead := w.ahead
	for rel, t := range w.inWork {
		share := float64(t.share.Load()) / 1000
		work.Current = append(work.Current, Current{rel, share})
		ahead += time.Duration(float64(t.track.Duration) * (1 - share))
		w.count(&work, &t.job)
	}
	for _, e := range w.early {
		if e.airs {
			work.Early++
		}
	}
	if spent := time.Since(w.began); !w.began.IsZero() && w.heard > 0 && w.trouble() == "" {
		work.Left = time.Duration(float64(spent) * float64(ahead) / float64(w.heard))
	}
	return work
}
