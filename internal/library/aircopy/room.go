package aircopy

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

// errFull is a disk that has taken nothing more, against all reckoning.
var errFull = errors.New("the disk is full")

// roomError says what a copy lacks. What needs no copy is looked at all the same:
// a bulletin of ours airs as it is.
type roomError struct {
	dir        string
	need, free int64 // bytes, the reserve included
}

func (e *roomError) Error() string {
	return fmt.Sprintf("the disk is nearly full: a mastered copy needs %d MB free in %s, which has %d MB: free some space there, and mastering goes on by itself", (e.need+1<<20-1)>>20, e.dir, e.free>>20)
}

// room fails where a copy could fill the disk: database and log live there too.
func (r *Rack) room(t station.Track) error {
	free, all, err := r.free(r.opt.Dir)
	if err != nil {
		return nil //nolint:nilerr // where nothing can be learnt, writing will tell
	}
	if need := min(r.opt.Reserve, all/20) + room(t); free < need {
		return &roomError{r.opt.Dir, need, free}
	}
	return nil
}

// room is what a copy takes while it is made, in bytes.
func room(t station.Track) int64 {
	const bytesPerSecond, attempts = 40_000, 2
	return int64(t.Duration.Seconds() * bytesPerSecond * attempts)
}

// explain says of an error that a full disk is behind it, where one is.
func (r *Rack) explain(err error) error {
	free, _, e := r.free(r.opt.Dir)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, store.ErrDiskFull) || e == nil && free < 16<<20 {
		return fmt.Errorf("%w: free some space in %s, and mastering goes on by itself (%w)", errFull, r.opt.Dir, err)
	}
	return err
}

func freeBytes(dir string) (free, all int64, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, 0, err
	}
	left, size, err := file.Space(dir)
	return int64(left), int64(size), err //nolint:gosec // disks are smaller
}

// shortage is how copies wait for room, while everything else goes on. The zero
// value lacks nothing.
type shortage struct {
	unfit map[string]job // files known to need a copy, by rel
	until time.Time      // the disk is looked at again then
	need  int64          // of the smallest that found no room since: see room
	times int            // in a row
	said  string         // for people
}

// roomPause is the most between two looks at a full disk.
const roomPause = time.Minute

// lacks puts off a file that found no room, and all that need as much.
func (w *runner) lacks(t *task, lack *roomError, now time.Time) {
	s := &w.short
	if s.unfit == nil {
		s.unfit = map[string]job{}
	}
	s.unfit[t.track.Path] = t.job
	if now.Before(s.until) {
		s.need = min(s.need, room(t.track)) // another was at it side by side
	} else {
		s.need = room(t.track)
		s.times++
	}
	s.until = now.Add(min(backOff(w.pause, s.times), roomPause))
	if s.said == "" {
		w.opt.Log.Warn("mastering paused", "reason", lack.Error())
	}
	s.said = lack.Error()
}

// waits reports that a file is put off for want of room.
func (s *shortage) waits(t station.Track, profile string, now time.Time) bool {
	return now.Before(s.until) && room(t) >= s.need && s.knows(t, profile)
}

// knows reports that a file, as it is, needs a copy.
func (s *shortage) knows(t station.Track, profile string) bool {
	j, ok := s.unfit[t.Path]
	return ok && j.profile == profile && j.track.Size == t.Size && j.track.ModTime.Equal(t.ModTime)
}

// forget is told of files that are decided or gone.
func (s *shortage) forget(rel string) {
	delete(s.unfit, rel)
	if len(s.unfit) == 0 {
		*s = shortage{}
	}
}

// found is told of a copy that was made. One as large as those that wait says
// that there is room again: then they are tried at once.
func (s *shortage) found(t station.Track) (again bool) {
	if again = s.times > 0 && room(t) >= s.need; again {
		s.until, s.times, s.said = time.Time{}, 0, ""
	}
	return again
}
