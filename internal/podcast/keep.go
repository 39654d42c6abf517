package podcast

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
)

const (
	// waitsToKeep is how long retention waits after an operator has said something of a show: a
	// slip, as 3 days for 30, can still be mended.
	waitsToKeep = 10 * time.Minute
	// failedFor is how long an episode that cannot be made is shown.
	failedFor = 30 * 24 * time.Hour
	// goneFor is how long is known what was an episode, after its source is offered no more.
	goneFor = 400 * 24 * time.Hour

	asideDir = ".aside" // within Dir: files that nothing names
	asideFor = 7 * 24 * time.Hour
)

var fileForm = regexp.MustCompile(`^[a-z2-7]{16}-[0-9a-f]{8}\.mp3$`)

// spare reports whether an episode may go to make room: not one that is pinned or being made.
func spare(r *record) bool { return !r.Pinned && r.State != Making }

// spares are the episodes of a show that may go to make room, the first to go first.
func spares(s *shelf) (out []*record) {
	for _, r := range s.records {
		if spare(r) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, inOrderOfGoing)
	return out
}

// inOrderOfGoing has those first that were removed by hand, then the oldest.
func inOrderOfGoing(a, b *record) int {
	by := func(r *record) int {
		if r.State == Removed {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(by(a), by(b)), cmp.Compare(a.age(), b.age()), cmp.Compare(a.Number, b.Number), strings.Compare(a.ID, b.ID))
}

// outdated are the episodes that a show no longer keeps. Keep bounds those that have a file and are
// not pinned: of episodes and bytes the newest stay.
func (s *shelf) outdated(now time.Time) (ids []string) {
	kept := slices.DeleteFunc(spares(s), func(r *record) bool { return !r.State.whole() && r.lost == "" || r.State == Removed })
	var bytes int64
	for i, r := range slices.Backward(kept) {
		bytes += r.Bytes
		newer := len(kept) - 1 - i
		switch {
		case s.Keep.Episodes > 0 && newer >= s.Keep.Episodes,
			s.Keep.Days > 0 && r.age() < now.AddDate(0, 0, -s.Keep.Days).UnixMilli(),
			s.Keep.Megabytes > 0 && bytes > int64(s.Keep.Megabytes)*1_000_000:
			ids = append(ids, r.ID)
			bytes -= r.Bytes
		}
	}
	for id, r := range s.records {
		failedLong := r.State == Failed && r.lost == "" && !r.Pinned && r.again == 0 && now.UnixMilli()-r.Changed > failedFor.Milliseconds()
		if failedLong {
			ids = append(ids, id)
		}
	}
	return ids
}

// keep removes what is no longer kept: by the bounds of each show and of all, and what was removed
// by hand so long ago that it does not come back.
func (p *Podcasts) keep(ctx context.Context) error {
	var failed error
	now := p.opt.Now()
	ended := now.Add(-undoFor).UnixMilli()
	for slug, s := range p.book.Load().shelves {
		if s.Removed != 0 && s.Removed <= ended {
			failed = errors.Join(failed, p.dropShow(ctx, slug, ended))
			continue
		}
		var removed []string
		for id, r := range s.records {
			if r.State == Removed && r.Removed <= ended {
				removed = append(removed, id)
			}
		}
		failed = errors.Join(failed, p.drop(ctx, slug, "they were removed by hand a week ago", func(r *record) bool { return r.State == Removed && r.Removed <= ended }, removed...))
		if s.Removed == 0 && now.UnixMilli()-s.said >= waitsToKeep.Milliseconds() {
			failed = errors.Join(failed, p.drop(ctx, slug, "the show keeps no more", nil, s.outdated(now)...))
		}
	}
	b := p.book.Load()
	return errors.Join(failed, p.evict(ctx, b, b.bytes-p.opt.MostBytes, nil))
}

// drop takes episodes away for good that may go by now; nil: those that are neither pinned nor in
// the making.
func (p *Podcasts) drop(ctx context.Context, slug, why string, may func(r *record) bool, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	if may == nil {
		may = spare
	}
	var dropped []string
	err := p.change(ctx, slug, func(s *shelf) error {
		now := p.opt.Now()
		for _, id := range ids {
			if r := s.records[id]; r != nil && may(r) {
				if r.State == Published {
					s.touch(now)
				}
				s.forget(id, now.UnixMilli())
				dropped = append(dropped, id)
			}
		}
		return nil
	})
	if err == nil && len(dropped) > 0 {
		p.opt.Log.Info("episodes were removed for good", "show", slug, "why", why, "episodes", strings.Join(dropped, " "))
	}
	return err
}

// dropShow takes a show away for good that was removed before a time.
func (p *Podcasts) dropShow(ctx context.Context, slug string, ended int64) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	s, ok := p.book.Load().shelves[slug]
	if !ok || s.Removed == 0 || s.Removed > ended {
		return nil
	}
	err := p.commit(ctx, slug, s, nil)
	if err == nil {
		p.cover.tidy(p.book.Load())
		p.opt.Log.Info("a show was removed for good", "show", slug, "episodes", len(s.records))
	}
	return err
}

// look for files compares episodes with their files. One whose file has gone is taken from
// listeners until it is there again, or is made once more by hand: a disk that is not mounted, or a
// backup that was restored without its sounds, must neither leave listeners with errors nor cost
// the episodes.
func (p *Podcasts) compare(ctx context.Context) error {
	var failed error
	for slug, s := range p.book.Load().shelves {
		is := map[string]event{}
		for id, r := range s.records {
			if r.File == "" || !r.State.whole() && (r.State != Failed || r.lost == "") {
				continue
			}
			info, err := os.Stat(p.path(slug, r.File))
			there := err == nil && info.Size() == r.Bytes
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				continue // it cannot be said
			}
			if there && r.State == Failed {
				is[id] = find
			} else if !there && r.State != Failed {
				is[id] = lose
			}
		}
		if len(is) == 0 {
			continue
		}
		lost := 0
		failed = errors.Join(failed, p.change(ctx, slug, func(s *shelf) error {
			now := p.opt.Now()
			for id, e := range is {
				r := s.edit(id)
				if r == nil || s.move(r, e, now) != nil {
					continue
				}
				r.Changed = max(r.Changed+1, now.UnixMilli())
				if e == lose {
					lost++
					r.Problem = "its file " + filepath.Join(slug, r.File) + " has gone or was changed: put it back (its disk may not be mounted), or have it made again"
					r.ProblemAR = "ملف الحلقة مفقود أو تغيّر: أعده إلى مكانه (فقد يكون قرصه غير موصول)، أو اطلب صنعها من جديد"
				}
			}
			s.touch(now)
			return nil
		}))
		if lost > 0 {
			p.opt.Log.Warn("files of episodes have gone: listeners do not find these episodes until they are there again", "show", slug, "episodes", lost, "folder", filepath.Join(p.opt.Dir, slug))
		}
	}
	return failed
}

// sweep removes what a kill left in the making, and puts files aside that nothing names, as after
// an older state of the database was restored; later they go. Nothing may be made meanwhile.
func (p *Podcasts) sweep() error {
	failed := os.RemoveAll(filepath.Join(p.opt.Dir, workDir))
	named := map[string]bool{}
	for slug, s := range p.book.Load().shelves {
		for _, r := range s.records {
			named[filepath.Join(slug, r.File)] = true
		}
	}
	folders, err := os.ReadDir(p.opt.Dir)
	failed = errors.Join(failed, err)
	for _, d := range folders {
		if !d.IsDir() || !slugForm.MatchString(d.Name()) {
			continue
		}
		files, err := os.ReadDir(filepath.Join(p.opt.Dir, d.Name()))
		failed = errors.Join(failed, err)
		for _, f := range files {
			if f.Type().IsRegular() && fileForm.MatchString(f.Name()) && !named[filepath.Join(d.Name(), f.Name())] {
				failed = errors.Join(failed, p.aside(d.Name(), f.Name()))
			}
		}
		if p.book.Load().shelves[d.Name()] == nil {
			_ = os.Remove(filepath.Join(p.opt.Dir, d.Name())) // stays where something is in it
		}
	}
	return errors.Join(failed, p.clearAside())
}

func (p *Podcasts) aside(slug, name string) error {
	dir := filepath.Join(p.opt.Dir, asideDir)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	to := filepath.Join(dir, slug+"-"+name)
	if err := file.RenameNew(p.path(slug, name), to); err != nil {
		return err
	}
	p.opt.Log.Warn("a file of no episode is put aside, and removed after a week", "file", to)
	now := p.opt.Now()
	return os.Chtimes(to, now, now)
}

func (p *Podcasts) clearAside() error {
	dir := filepath.Join(p.opt.Dir, asideDir)
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range files {
		if info, ierr := f.Info(); ierr == nil && p.opt.Now().Sub(info.ModTime()) > asideFor {
			err = errors.Join(err, os.Remove(filepath.Join(dir, f.Name())))
		}
	}
	return err
}
