package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// sidecarBytes is the room that a sidecar needs while it is replaced.
	sidecarBytes = 2*mostTitles + 16<<10
	// ahead is what a recording grows by until retention is next looked at, and more.
	ahead = 128 << 10
)

func (rec *Recording) fill(f facts) {
	rec.StreamID, rec.Mode = clean(f.Stream, mostStream), live.Mode(clean(f.Mode, 16))
	rec.Began, rec.Ended = f.Began, f.Ended
	rec.Parts, rec.LostMS, rec.Complete, rec.Why = f.Parts, f.LostMS, f.Complete, clean(f.Why, mostWhy)
}

func sidecar(path string) string { return strings.TrimSuffix(path, ".mp3") + ".json" }

// recover reads the folder. What is not ours is left alone.
func (r *Recorder) recover() error {
	files, err := os.ReadDir(r.opt.Dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		name := f.Name()
		if !f.Type().IsRegular() {
			continue
		}
		if base, is := strings.CutSuffix(strings.TrimSuffix(name, ".new"), ".json"); is && nameForm.MatchString(base+".mp3") {
			// A recording is deleted before its sidecar.
			if _, err := os.Lstat(r.path(base + ".mp3")); errors.Is(err, fs.ErrNotExist) || strings.HasSuffix(name, ".new") {
				_ = os.Remove(r.path(name))
			}
			continue
		}
		if !nameForm.MatchString(name) {
			continue
		}
		e, err := r.read(name)
		switch {
		case err != nil: // one file must not hide the others
			r.opt.Log.Warn("cannot read recording", "recording", name, "err", err)
		case e == nil:
			r.opt.Log.Info("removed recording without audio", "recording", name)
		default:
			r.all[name] = e
			r.save(name)
		}
	}
	return nil
}

// read takes a recording's sidecar where it agrees with the file, else makes one; nil: the
// file has no audio, and is gone.
func (r *Recorder) read(name string) (*entry, error) {
	path := r.path(name)
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // synced where it was written
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	e := &entry{}
	text, err := os.ReadFile(sidecar(path))
	known := err == nil && json.Unmarshal(text, &e.Recording) == nil && e.Name == name
	if known && e.Ended != 0 && e.Bytes == stat.Size() {
		return e, nil
	}
	begin := make([]byte, headBytes)
	if _, err := f.ReadAt(begin, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	from := int64(headBytes)
	if told, ok := parseHead(begin); !known {
		if e.Recording = told; !ok {
			from = 0
			e.Recording = byName(name, stat.ModTime())
		}
		e.Name = name
	} else if ok && e.Ended == 0 && told.Ended != 0 {
		e.Recording.fill(facts{told.StreamID, string(told.Mode), told.Began, told.Ended, told.Parts, told.LostMS, told.Complete, told.Why})
	} else if !ok {
		from = 0
	}
	frames, end, err := scan(io.NewSectionReader(f, from, stat.Size()-from))
	if err != nil {
		return nil, err
	}
	if frames == 0 {
		return nil, r.unlink(name)
	}
	return e, r.settle(f, e, stat, from, frames, from+end)
}

// byName is what is known of a file without sidecar and head.
func byName(name string, changed time.Time) Recording {
	rec := Recording{Mode: live.Replace, Parts: 1, Problem: "its facts were lost"}
	stamp, rest, _ := strings.Cut(strings.TrimPrefix(name, "LIVE_"), "_")
	rec.Title = strings.TrimSuffix(rest, ".mp3")
	if at, err := time.ParseInLocation("20060102-150405", stamp, changed.Location()); err == nil {
		rec.Began = at.UnixMilli()
	}
	return rec
}

// settle ends what a crash left: a torn frame is cut off, head and sidecar are made.
func (r *Recorder) settle(f *os.File, e *entry, stat fs.FileInfo, from, frames, end int64) error {
	e.Bytes, e.DurationMS, e.Parts = end, played(frames).Milliseconds(), max(e.Parts, 1)
	if e.Ended == 0 {
		e.Ended, e.Complete = stat.ModTime().UnixMilli(), false
		e.Interrupted = true
		e.Problem = note(e.Problem, "it was interrupted: the live desk ended")
		r.opt.Log.Warn("recording was interrupted", "recording", e.Name, "duration", played(frames), "cut", stat.Size()-end)
	}
	if stat.Size() != end {
		if err := f.Truncate(end); err != nil {
			return err
		}
	}
	if from == headBytes {
		if _, err := f.WriteAt(head(e.Recording, frames, 0), 0); err != nil {
			return err
		}
	}
	err := f.Sync()
	// What was cut and written must not look like the end of the broadcast.
	_ = os.Chtimes(r.path(e.Name), time.Time{}, stat.ModTime())
	e.changes++ // Open saves it
	return err
}

// note adds a problem to those there are, within bounds.
func note(before, problem string) string {
	if before == "" || strings.Contains(before, problem) {
		return max(before, problem)
	}
	return clean(before+"; "+problem, 500)
}

// save writes a sidecar that is behind where there is room; else the next tick tries again.
func (r *Recorder) save(name string) {
	r.disk.Lock()
	defer r.disk.Unlock()
	r.mu.Lock()
	e, ok := r.all[name]
	if !ok || e.changes == e.saved {
		r.mu.Unlock()
		return
	}
	rec, changes := e.Recording, e.changes
	r.mu.Unlock()
	if r.short(sidecarBytes) {
		return
	}
	text, err := json.MarshalIndent(rec, "", "  ")
	if err == nil {
		err = file.WriteAtomic(sidecar(r.path(name)), append(text, '\n'), 0o640)
	}
	if err != nil {
		if !file.Full(err) {
			r.opt.Log.Warn("cannot write a recording's sidecar", "recording", name, "err", err)
		}
		return
	}
	r.mu.Lock()
	e.saved = changes
	r.mu.Unlock()
}

// short reports that so many bytes more would touch the reserve.
func (r *Recorder) short(bytes int64) bool {
	free, _, err := file.Space(r.opt.Dir)
	return err == nil && int64(min(free, 1<<62)) < r.opt.ReserveBytes+bytes
}

// remove deletes a recording that is not under way.
func (r *Recorder) remove(name string) error {
	r.disk.Lock()
	defer r.disk.Unlock()
	r.mu.Lock()
	e, ok := r.all[name]
	if ok && e.Ended != 0 {
		delete(r.all, name) // before the file goes: a broadcast that comes back begins anew
	}
	r.mu.Unlock()
	switch {
	case !ok:
		return fmt.Errorf("recording %.80q: %w", name, station.ErrNotFound)
	case e.Ended == 0:
		return fmt.Errorf("recording %q is under way: end the broadcast first: %w", name, station.ErrConflict)
	}
	if err := r.unlink(name); err != nil {
		r.mu.Lock()
		r.all[name] = e
		r.mu.Unlock()
		return fmt.Errorf("delete recording: %w", err)
	}
	return nil
}

// unlink removes the file, then its sidecar: one without a file is swept at the next start.
func (r *Recorder) unlink(name string) error {
	if err := os.Remove(r.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(sidecar(r.path(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return file.SyncDir(r.opt.Dir)
}

// retain deletes the oldest recordings beyond the bounds; those of age only where the clock is
// believed.
func (r *Recorder) retain(now time.Time, believed bool) {
	total := int64(0)
	all := r.List()
	for _, rec := range all {
		if total += rec.Bytes; rec.Ended == 0 {
			total += ahead
		}
	}
	for _, rec := range slices.Backward(all) {
		old := believed && r.opt.MaxAge > 0 && now.Sub(time.UnixMilli(rec.Ended)) > r.opt.MaxAge
		big := r.opt.MaxBytes > 0 && total > r.opt.MaxBytes
		if rec.Ended == 0 || !old && !big {
			continue
		}
		if err := r.remove(rec.Name); err != nil {
			if !errors.Is(err, station.ErrNotFound) && !errors.Is(err, station.ErrConflict) {
				r.opt.Log.Warn("cannot delete old recording", "recording", rec.Name, "err", err)
			}
			continue
		}
		total -= rec.Bytes
		r.opt.Log.Info("deleted old recording", "recording", rec.Name, "too old", old, "too many bytes", big)
	}
}
