package aircopy

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

// errFull is a disk that refused a write although room seemed to be left.
var errFull = errors.New("the disk is full")

// roomError says how much room a copy lacks. Files that need no copy are still
// checked: the station's own bulletins air as they are.
type roomError struct {
	dir        string
	need, free int64 // bytes, the reserve included
}

func (e *roomError) Error() string {
	return fmt.Sprintf("the disk is nearly full: a mastered copy needs %d MB free in %s, which has %d MB: free some space there, and mastering goes on by itself", (e.need+1<<20-1)>>20, e.dir, e.free>>20)
}

// room fails when a copy could fill the disk, which holds database and log too.
func (r *Rack) room(t station.Track) error {
	free, all, err := r.free(r.opt.Dir)
	if err != nil {
		return nil //nolint:nilerr // unknown: the write itself will fail
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

// explain names a full disk as the cause of an error, if it is.
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

// shortage keeps the copies that wait for disk room, while other work goes on. The
// zero value means that there is room.
type shortage struct {
	unfit   map[string]job // files known to need a copy, by rel
	until   time.Time      // when to measure the disk again
	need    int64          // bytes for the smallest copy that found no room since: see room
	times   int            // in a row
	problem string         // for people
}

// roomPause is the longest time between two measurements of a full disk.
const roomPause = time.Minute

// lacks puts off a file that found no room, and all that need as much or more.
func (w *runner) lacks(t *task, lack *roomError, now time.Time) {
	s := &w.short
	if s.unfit == nil {
		s.unfit = map[string]job{}
	}
	s.unfit[t.track.Path] = t.job
	if now.Before(s.until) {
		s.need = min(s.need, room(t.track)) // another worker found it at the same time
	} else {
		s.need = room(t.track)
		s.times++
	}
	s.until = now.Add(min(retry.Doubled(w.pause, longPause, s.times), roomPause))
	if s.problem == "" {
		w.opt.Log.Warn("mastering paused", "reason", lack.Error())
	}
	s.problem = lack.Error()
}

// waits reports that a file is put off because it lacks room.
func (s *shortage) waits(t station.Track, profile string, now time.Time) bool {
	return now.Before(s.until) && room(t) >= s.need && s.knows(t, profile)
}

// knows reports that a file, as it is, needs a copy.
func (s *shortage) knows(t station.Track, profile string) bool {
	j, ok := s.unfit[t.Path]
	return ok && j.profile == profile && unchanged(j.track, t)
}

// forget drops files that are decided or gone.
func (s *shortage) forget(rel string) {
	delete(s.unfit, rel)
	if len(s.unfit) == 0 {
		*s = shortage{}
	}
}

// found records that a copy was made. If it is as large as those that wait, there
// is room again and they are tried at once.
func (s *shortage) found(t station.Track) (again bool) {
	if again = s.times > 0 && room(t) >= s.need; again {
		s.until, s.times, s.problem = time.Time{}, 0, ""
	}
	return again
}
