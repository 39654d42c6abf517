package media

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// pass compares some of the media folder with the registry. One goroutine
// walks, some stat, some open what is new or changed, and the caller collects:
//
//	walk ─► stat ─► queue ─► read ─► collect ─► database, snapshot
//
// A file that is unchanged ends at stat.
type pass struct {
	lib    *Library
	base   *registry
	scopes []string
	again  bool // what is quarantined or late is read though it has not changed
	// waited holds files that were being written when last seen: one that has
	// not changed since is finished.
	waited map[string]fileStamp

	hold    func() // called between two files
	batches chan batch
	queue   *queue
	results chan change
	reader  reader

	seenTracks, seenRefused []atomic.Bool // by index in base
	seen, done              atomic.Int64  // audio files found; decided
	walked                  atomic.Bool
	current                 atomic.Pointer[string]

	mu        sync.Mutex
	unsettled map[string]fileStamp // being written: to be looked at again
	late      map[string]lateFile  // not read in time
	waiting   map[string]bool      // late before, and not due
	hidden    []string             // folders that could not be listed: what they hold stays registered
	problems  []string
	machine   error // the first fault of the machine, not of a file
}

func newPass(l *Library, in *files, t task, hold func()) *pass {
	return &pass{
		lib: l, base: l.registry, scopes: t.scopes, again: t.again, waited: t.waited, hold: hold,
		batches: make(chan batch, 16), queue: newQueue(), results: make(chan change, 64), reader: reader{files: in},
		seenTracks: make([]atomic.Bool, len(l.registry.tracks)), seenRefused: make([]atomic.Bool, len(l.registry.refused)),
		unsettled: map[string]fileStamp{}, late: map[string]lateFile{}, waiting: map[string]bool{},
	}
}

// start runs the stages; results is closed when all have ended.
func (p *pass) start(ctx context.Context, entering func(string)) {
	stop := context.AfterFunc(ctx, p.queue.abandon)
	var stats, reads sync.WaitGroup
	stats.Go(func() {
		defer close(p.batches)
		p.walk(ctx, entering)
	})
	// Stats wait for the disk or the network rather than for a processor.
	for range max(4, p.lib.opt.Workers) {
		stats.Go(func() {
			for b := range p.batches {
				p.stat(ctx, b)
			}
		})
	}
	for range p.lib.opt.Workers {
		reads.Go(func() { p.read(ctx) })
	}
	go func() {
		stats.Wait()
		p.walked.Store(true)
		p.queue.close()
		reads.Wait()
		stop()
		close(p.results)
	}()
}

func (p *pass) walk(ctx context.Context, entering func(string)) {
	w := &walker{
		root: p.lib.opt.Root, realRoot: p.reader.files.realRoot, files: p.reader.files,
		entering: entering, entered: map[string]bool{},
		emit: func(b batch) error {
			select {
			case p.batches <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		refuse: func(rel, reason string) {
			p.seen.Add(1)
			p.refuse(ctx, rel, &refusal{reason: reason, passes: true}, fileStamp{}, 0)
		},
		unreadable: p.unreadable,
	}
	for _, scope := range p.scopes {
		if err := w.walk(ctx, scope); err != nil {
			return // only the context ends a walk
		}
	}
}

func (p *pass) unreadable(rel string, cause error) {
	problem := unreadableError(filepath.Join(p.lib.opt.Root, rel)).Error()
	if !errors.Is(cause, fs.ErrPermission) {
		problem = "folder " + filepath.Join(p.lib.opt.Root, rel) + " cannot be read: " + unwrapPath(cause).Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hidden = append(p.hidden, rel)
	p.problems = append(p.problems, problem)
}

// stat compares the files of one batch with the registry.
func (p *pass) stat(ctx context.Context, b batch) {
	for _, name := range b.names {
		if ctx.Err() != nil {
			return
		}
		rel := join(b.dir, name)
		abs := p.lib.opt.Root + "/" + rel
		info, err := os.Stat(abs)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		p.seen.Add(1)
		var refused *refusal
		if err = orOpenError(err); errors.As(err, &refused) {
			p.refuse(ctx, rel, refused, fileStamp{}, 0)
			continue
		} else if err != nil {
			p.fault(err)
			p.keep(rel)
			continue
		}
		j := job{rel: rel, abs: abs, file: stampFile(info), modTime: info.ModTime()}
		j.credit, _ = b.credits.row(rel)
		var sidecar fileStamp
		if j.sidecar = b.sidecar[name]; j.sidecar {
			if info, err := os.Stat(abs + licenseSuffix); err == nil {
				sidecar = stampFile(info)
			}
		}
		j.stamp = stampOf(readerVersion, j.credit, sidecar)
		if p.unchanged(&j, sidecar) {
			p.done.Add(1)
		} else if !p.again && p.lib.late.waits(rel, j.file, time.Now()) {
			p.wait(rel)
		} else if p.settled(j) {
			p.queue.push(j)
		}
	}
}

func orOpenError(err error) error {
	if err == nil {
		return nil
	}
	return openError(err)
}

// unchanged looks a file up in the registry and marks it as seen. The reader before this one
// judged what cannot air as this one does; a track that it read is noted in the job, for what it
// did not read of it.
func (p *pass) unchanged(j *job, sidecar fileStamp) bool {
	before := func(stamp uint64) bool { return stamp == stampOf(beforeRelease, j.credit, sidecar) }
	if i, ok := p.base.track(j.rel); ok {
		p.seenTracks[i].Store(true)
		t, stamp := &p.base.tracks[i], p.base.stamps[i]
		if t.Size != j.file.size || t.ModTime.UnixNano() != j.file.mtime {
			return false
		}
		if stamp != j.stamp && before(stamp) {
			j.tagsOf = t
		}
		return stamp == j.stamp
	}
	if i, ok := p.base.refusal(j.rel); ok {
		p.seenRefused[i].Store(true)
		q := &p.base.refused[i]
		return q.file == j.file && !p.again && (q.stamp == j.stamp || before(q.stamp))
	}
	return false
}

// settled says whether a new or changed file looks finished: not written to for
// Options.Settle, or unchanged since a pass that waited for it. (A program that
// preserves times sets them when it is done.)
func (p *pass) settled(j job) bool {
	if p.waited[j.rel] == j.file || time.Since(j.modTime).Abs() >= p.lib.opt.Settle {
		return true
	}
	p.moving(j.rel, j.file)
	return false
}

func (p *pass) moving(rel string, file fileStamp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unsettled[rel] = file
}

// wait passes over a file that is late and not due.
func (p *pass) wait(rel string) {
	p.done.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[rel] = true
}

// putOff leaves a file as it was registered, to be read later.
func (p *pass) putOff(j job, reason string) {
	p.done.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late[j.rel] = lateFile{file: j.file, reason: reason}
}

// keep marks what is registered under a path as seen, so that it stays.
func (p *pass) keep(rel string) {
	if i, ok := p.base.track(rel); ok {
		p.seenTracks[i].Store(true)
	}
	if i, ok := p.base.refusal(rel); ok {
		p.seenRefused[i].Store(true)
	}
}

// read opens files until the queue ends.
func (p *pass) read(ctx context.Context) {
	for {
		j, ok := p.queue.pop()
		if !ok {
			return
		}
		p.hold() // if ctx ends meanwhile, so does the read
		p.current.Store(&j.rel)
		t, err := p.reader.read(ctx, j)
		var refused *refusal
		var late *lateError
		switch {
		case err == nil:
			t.AddedAt = p.addedAt(j.rel)
			p.send(ctx, change{path: j.rel, track: &t, stamp: j.stamp})
		case errors.As(err, &refused):
			p.refuse(ctx, j.rel, refused, j.file, j.stamp)
		case errors.As(err, &late):
			p.putOff(j, late.reason)
		case errors.Is(err, errVanished):
			p.send(ctx, change{path: j.rel})
		case errors.Is(err, errMoving):
			p.moving(j.rel, fileStamp{})
		default:
			p.fault(err)
		}
	}
}

func (p *pass) addedAt(rel string) time.Time {
	if i, ok := p.base.track(rel); ok {
		return p.base.tracks[i].AddedAt
	}
	return time.UnixMilli(time.Now().UnixMilli())
}

// refuse quarantines a path, unless it already is for the same reason.
func (p *pass) refuse(ctx context.Context, rel string, r *refusal, file fileStamp, stamp uint64) {
	if r.passes {
		file, stamp = fileStamp{}, 0
	}
	q := Quarantine{Path: rel, Reason: r.reason, Since: time.UnixMilli(time.Now().UnixMilli()), file: file, stamp: stamp}
	if i, ok := p.base.refusal(rel); ok {
		p.seenRefused[i].Store(true)
		old := p.base.refused[i]
		if old.Reason == q.Reason && old.file == file && old.stamp == stamp {
			p.done.Add(1)
			return
		}
		q.Since = old.Since
	}
	p.send(ctx, change{path: rel, refused: &q})
}

func (p *pass) send(ctx context.Context, c change) {
	select {
	case p.results <- c:
	case <-ctx.Done():
	}
}

// fault records a fault of the machine: the files it hides stay as they were.
func (p *pass) fault(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.machine == nil {
		p.machine = err
	}
}

// inScope reports that the pass has seen what there is under a path.
func (p *pass) inScope(path string) bool {
	covers := func(folder string) bool { return within(path, folder) }
	return !slices.ContainsFunc(p.hidden, covers) && slices.ContainsFunc(p.scopes, covers)
}

// gone lists registered paths under the scopes that no longer exist.
func (p *pass) gone() []change {
	var out []change
	for i := range p.base.tracks {
		if path := p.base.tracks[i].Path; !p.seenTracks[i].Load() && p.inScope(path) {
			out = append(out, change{path: path})
		}
	}
	for i := range p.base.refused {
		if path := p.base.refused[i].Path; !p.seenRefused[i].Load() && p.inScope(path) {
			out = append(out, change{path: path})
		}
	}
	return out
}

// rootID tells whether the root is still the folder it was when a pass began.
func rootID(root string) (dev, ino uint64) {
	var st syscall.Stat_t
	if syscall.Stat(root, &st) != nil {
		return 0, 0
	}
	return uint64(st.Dev), st.Ino //nolint:unconvert // the type of Dev differs between machines
}
