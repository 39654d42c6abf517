package media

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	quiet    = 200 * time.Millisecond // without an event, before a path is looked at
	longest  = 2 * time.Second        // a path waits for quiet
	overview = ""                     // the scope of a whole scan
)

// notifier watches folders, not what is below them.
type notifier struct {
	add    func(folder string) error
	remove func(folder string) error
	list   func() []string
	close  func() error
	events <-chan fsnotify.Event
	errors <-chan error
}

func inotify() (*notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &notifier{w.Add, w.Remove, w.WatchList, w.Close, w.Events, w.Errors}, nil
}

// watch collects the paths that events name until they have come to rest.
type watch struct {
	root string
	n    *notifier // nil: nothing can be watched
	wake chan struct{}

	mu      sync.Mutex
	marks   map[string]mark // by path relative to the root
	limited bool            // the system's limit of watched folders was hit
}

// mark is a path to look at.
type mark struct {
	since, due time.Time
	moved      bool // it went, or something else took its name
}

func newWatch(root string, n *notifier) *watch {
	return &watch{root: root, n: n, wake: make(chan struct{}, 1), marks: map[string]mark{}}
}

// pump takes events in until the notifier is closed. It must never wait, or
// the kernel's queue overflows.
func (w *watch) pump() {
	for events, errs := w.n.events, w.n.errors; events != nil || errs != nil; {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			w.event(e, time.Now())
		case _, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			// Mostly an overflow of the queue: events are lost, so look at everything.
			w.mark(overview, time.Now(), quiet, false)
		}
	}
}

func (w *watch) event(e fsnotify.Event, now time.Time) {
	rel, ok := strings.CutPrefix(e.Name, w.root+"/")
	if !ok {
		w.mark(overview, now, quiet, false) // the root itself
		return
	}
	name := path.Base(rel)
	moved := e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	switch {
	case name == attributionFile:
		w.mark(parent(rel), now, quiet, false)
	case strings.HasSuffix(name, licenseSuffix):
		w.mark(strings.TrimSuffix(rel, licenseSuffix), now, quiet, false)
	case ignored(name), posted(rel), !audioFile(name) && !moved && !e.Has(fsnotify.Create):
	default:
		w.mark(rel, now, quiet, moved)
	}
}

// mark plans a look at a path once it has been quiet for a while.
func (w *watch) mark(rel string, now time.Time, wait time.Duration, moved bool) {
	w.mu.Lock()
	m, ok := w.marks[rel]
	if !ok {
		m.since = now
	}
	m.moved = m.moved || moved
	m.due = now.Add(wait)
	if most := m.since.Add(max(longest, wait)); m.due.After(most) {
		m.due = most
	}
	w.marks[rel] = m
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// due takes the paths whose time has come; one below another goes with it.
// moved are those that went, or whose name something else took. If anything is
// to be looked at now, or everything (whole), they include those whose time has
// not come: a folder has more events under its old name than under its new one,
// and must not be walked before its old watches are forgotten.
func (w *watch) due(now time.Time, whole bool) (scopes, moved []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ripe := map[string]bool{}
	for rel, m := range w.marks {
		if m.moved {
			moved = append(moved, rel)
		}
		if !m.due.After(now) {
			ripe[rel] = true
			delete(w.marks, rel)
		}
	}
	if len(ripe) == 0 && !whole {
		return nil, nil
	}
	for rel := range ripe {
		if !covered(rel, ripe) {
			scopes = append(scopes, rel)
		}
	}
	slices.Sort(scopes)
	return scopes, moved
}

// covered reports whether a folder above rel is ripe too.
func covered(rel string, ripe map[string]bool) bool {
	for rel != overview {
		if rel = parent(rel); ripe[rel] {
			return true
		}
	}
	return false
}

// next is when the next path will be due; zero when none is marked.
func (w *watch) next() (at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.marks {
		if at.IsZero() || m.due.Before(at) {
			at = m.due
		}
	}
	return at
}

// enter watches a folder that is about to be listed.
func (w *watch) enter(abs string) {
	if w.n == nil || w.atLimit() {
		return
	}
	if err := w.n.add(abs); errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) {
		w.setLimit(true)
	}
}

func (w *watch) atLimit() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limited
}

func (w *watch) setLimit(limited bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limited = limited
}

// forget ends the watches of folders that were moved: a watch stays with the
// folder and would go on to report it under its old name.
func (w *watch) forget(moved []string) {
	if w.n == nil {
		return
	}
	for _, rel := range moved {
		if audioFile(rel) {
			continue
		}
		abs := filepath.Join(w.root, rel)
		for _, watched := range w.n.list() {
			if within(watched, abs) {
				_ = w.n.remove(watched) // it may have ended by itself
			}
		}
	}
}

// polling says that the folder must be scanned more often because not all of
// it is watched.
func (w *watch) polling() bool { return w.n == nil || w.atLimit() }

// Run scans the media folder, then keeps the registry in step with it until ctx
// ends: by the kernel's events, by a whole scan every Options.Rescan, and by
// what other processes write to the database. A missing folder or a full disk
// is logged, shown as Snapshot.Problem and tried again; Run returns nil once
// everything it started has stopped.
func (l *Library) Run(ctx context.Context) error {
	r := &runner{lib: l, waited: map[string]fileStamp{}}
	n, err := l.notifier()
	if err != nil {
		l.opt.Log.Warn("cannot watch the media folder: scanning it at intervals instead; raise fs.inotify.max_user_instances", "err", err)
	}
	r.watch = newWatch(l.opt.Root, n)
	if n != nil {
		var pump sync.WaitGroup
		pump.Go(r.watch.pump)
		defer pump.Wait()
		defer func() { _ = n.close() }()
	}
	r.loop(ctx)
	return nil
}
