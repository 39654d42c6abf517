package media

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
)

// Files that ffprobe or ffmpeg did not finish with: see ffmpeg.UnfinishedError. The
// belief is that the machine was busy or the disk hung, and the evidence the same for
// either. Nothing is concluded about the file: what is registered of it stays, and it is
// read again, ever later, for as long as it is there. If the belief is wrong, a file that
// keeps the programs busy costs one attempt an hour.
const (
	lateFirst = 30 * time.Second // until the second attempt; twice as long before each further one
	lateMost  = time.Hour
)

// lateFile is a file that was not read in time.
type lateFile struct {
	file   fileStamp // as it was then
	reason string
	times  int // in a row
	until  time.Time
}

// lateFiles are those of a library, by path.
type lateFiles struct {
	first time.Duration // lateFirst, but for tests

	mu    sync.Mutex
	files map[string]lateFile
}

// waits reports that a file is not to be tried yet. One that has changed is.
func (l *lateFiles) waits(rel string, file fileStamp, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	late, ok := l.files[rel]
	return ok && late.file == file && now.Before(late.until)
}

// follow takes over the outcome of a pass that has ended: what it found late, and what
// it read, refused or no longer found.
func (l *lateFiles) follow(p *pass, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.files, func(rel string, _ lateFile) bool {
		_, again := p.late[rel]
		return !again && !p.waiting[rel] && p.inScope(rel)
	})
	for rel, late := range p.late {
		late.times = l.files[rel].times + 1
		late.until = now.Add(retry.Doubled(l.first, lateMost, late.times))
		l.files[rel] = late
		p.lib.opt.Log.Warn("media file not read in time: it is tried again", "path", rel, "reason", late.reason, "times", late.times,
			"next_attempt", late.until.Format(time.TimeOnly))
	}
}

// due lists the files whose time has come.
func (l *lateFiles) due(now time.Time) (paths []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rel, late := range l.files {
		if !now.Before(late.until) {
			paths = append(paths, rel)
		}
	}
	return paths
}

// next is when the first of them is due; zero when there is none.
func (l *lateFiles) next() (at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, late := range l.files {
		if at.IsZero() || late.until.Before(at) {
			at = late.until
		}
	}
	return at
}

// problem is what people are told of them; empty if there are none.
func (l *lateFiles) problem() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	paths := slices.Sorted(maps.Keys(l.files))
	switch len(paths) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s could not be read yet (%s): it is tried again", paths[0], l.files[paths[0]].reason)
	}
	return fmt.Sprintf("%d files could not be read yet, as %s (%s): they are tried again", len(paths), paths[0], l.files[paths[0]].reason)
}
