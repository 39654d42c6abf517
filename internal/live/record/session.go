package record

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/live"
)

const (
	// resumeBytes is the room beyond what a write needs for recording to go on after a full
	// disk, so that it does not stop at once again.
	resumeBytes = 256 << 10
	// patience is what an encoder gets to finish, and most the longest pause before another
	// try of one that does not start.
	patience, mostPause = 5 * time.Second, 30 * time.Second
)

// session is a recording under way. feed, finish and lose are called from Run's goroutine,
// take from the encoder's.
type session struct {
	r     *Recorder
	name  string
	hurry <-chan struct{} // closed when Run is to end

	enc     *encoder
	fed     int64 // frames of PCM the encoder has
	before  int64 // milliseconds that the file had as the encoder began
	pause   time.Duration
	retryAt time.Time
	toldAt  time.Time // that audio did not fit

	mu       sync.Mutex
	file     *os.File // nil: it could not be made yet
	size     int64
	frames   int64
	partial  []byte
	unsynced bool
	stopped  string // why nothing is written, now
	missed   int64  // MP3 frames since then
	gone     int64  // MP3 frames of this encoder that were missed before; less than 0: what another one missed
	holes    bool   // parts do not follow each other without a gap
	inPart   bool   // a part is being written
	retry    time.Time
}

// feed hands PCM to the encoder, and starts one where there is none.
func (s *session) feed(pcm []byte) {
	if s.enc != nil {
		if err := s.enc.write(pcm, s.r.stall, s.hurry); err == nil {
			s.fed += int64(len(pcm) / 4)
			return
		} else if errors.Is(err, os.ErrDeadlineExceeded) {
			s.enc.kill()
		}
		s.enc.finish(patience)
		s.broken("the encoder was restarted", s.enc.why())
		s.enc = nil
		if s.fed > live.Rate { // it worked: the next is started at once
			s.pause, s.retryAt = 0, time.Time{}
		}
	}
	if time.Now().Before(s.retryAt) {
		s.lose(len(pcm))
		return
	}
	s.pause = min(2*s.pause+100*time.Millisecond, mostPause)
	s.retryAt = time.Now().Add(s.pause)
	s.partial = nil
	enc, err := newEncoder(func(pid int) {
		s.r.mu.Lock()
		s.r.encoder = pid
		s.r.mu.Unlock()
	}, s.take)
	if err != nil {
		s.broken("no encoder could be started", err)
		s.lose(len(pcm))
		return
	}
	s.enc, s.fed = enc, 0
	if rec, err := s.r.find(s.name); err == nil {
		s.before = rec.DurationMS
	}
	s.mu.Lock()
	s.gone = -s.missed
	s.mu.Unlock()
	if err := enc.write(pcm, s.r.stall, s.hurry); err != nil {
		s.lose(len(pcm))
		return
	}
	s.fed += int64(len(pcm) / 4)
}

// broken notes a failure that leaves a hole; the encoder's next run is another part.
func (s *session) broken(what string, err error) {
	s.r.opt.Log.Warn("recording has a hole", "recording", s.name, "why", what, "err", err)
	s.mu.Lock()
	s.holes, s.inPart = true, false
	s.mu.Unlock()
	s.r.change(s.name, func(rec *Recording) { rec.Problem = note(rec.Problem, what) })
}

// behind counts PCM that did not fit into the queue, and says so now and then.
func (s *session) behind(bytes int) {
	s.lose(bytes)
	if now := time.Now(); now.After(s.toldAt.Add(time.Minute)) {
		s.toldAt = now
		s.r.opt.Log.Warn("recording loses audio: the encoder is behind", "recording", s.name)
		s.r.change(s.name, func(rec *Recording) { rec.Problem = note(rec.Problem, "the encoder was behind") })
	}
}

// lose counts PCM that is not recorded.
func (s *session) lose(bytes int) {
	s.r.change(s.name, func(rec *Recording) { rec.LostMS += int64(bytes) * 1000 / bytesPerSecond })
}

// titled notes what the source says of what is fed next, at its place in the file.
func (s *session) titled(t Title) {
	s.mu.Lock()
	missed := s.gone + s.missed
	s.mu.Unlock()
	t.AtMS = s.before
	if s.enc != nil {
		t.AtMS = max(s.before, s.before+s.fed*1000/live.Rate-played(missed).Milliseconds())
	}
	s.r.change(s.name, func(rec *Recording) {
		all := rec.Titles
		if n := len(all); n > 0 && all[n-1].AtMS >= t.AtMS { // nothing was heard of it
			t.AtMS, all = all[n-1].AtMS, all[:n-1]
		}
		size := 0
		for _, one := range all {
			size += len(one.Title) + len(one.Creator) + 50
		}
		if size < mostTitles {
			rec.Titles = append(slices.Clip(all), t)
		}
	})
}

// take stores what the encoder wrote.
func (s *session) take(mp3 []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	whole, rest, _ := split(append(s.partial, mp3...))
	s.partial = append([]byte(nil), rest...)
	if len(whole) > 0 {
		s.store(whole)
	}
}

// store appends whole frames where the disk has room for them.
func (s *session) store(whole []byte) {
	n := int64(len(whole) / frameBytes)
	if s.stopped != "" && time.Now().Before(s.retry) {
		s.missed += n
		return
	}
	if why := s.obstacle(int64(len(whole))); why != "" {
		s.stop(why, n)
		return
	}
	done, err := s.file.WriteAt(whole, s.size)
	done -= done % frameBytes
	if err != nil {
		_ = s.file.Truncate(s.size + int64(done)) // a torn frame is none
	}
	s.size += int64(done)
	s.frames += int64(done / frameBytes)
	s.unsynced = true
	if s.stopped != "" && done > 0 {
		s.resume()
	}
	s.r.change(s.name, func(rec *Recording) {
		rec.Bytes, rec.DurationMS = s.size, played(s.frames).Milliseconds()
		if done > 0 && !s.inPart {
			rec.Parts++
		}
	})
	s.inPart = s.inPart || done > 0
	if err != nil {
		why := fmt.Sprintf("cannot write it: %v", err)
		if file.Full(err) {
			why = diskFull
		}
		s.stop(why, n-int64(done/frameBytes))
	}
}

const (
	diskFull = "the disk is full"
	allFull  = "recordings take all that they may (MaxBytes)"
)

// obstacle is why so many bytes cannot be written now; empty: they can.
func (s *session) obstacle(bytes int64) string {
	if s.stopped != "" {
		bytes += resumeBytes
	}
	if s.r.short(bytes + sidecarBytes) {
		return diskFull
	}
	if most := s.r.opt.MaxBytes; most > 0 && s.size+bytes > most {
		return allFull
	}
	if s.file == nil {
		if err := s.open(); err != nil {
			return fmt.Sprintf("cannot make it: %v", err)
		}
	}
	return ""
}

// open makes the file, or goes on in it.
func (s *session) open() error {
	s.r.disk.Lock()
	defer s.r.disk.Unlock()
	s.r.mu.Lock()
	e := s.r.all[s.name]
	rec := e.Recording
	s.r.mu.Unlock()
	f, err := os.OpenFile(s.r.path(s.name), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o640) //nolint:gosec // our own name
	if err != nil {
		return err
	}
	s.size = rec.Bytes
	if s.size == 0 {
		_, err = f.WriteAt(head(rec, 0, 0), 0)
		s.size = headBytes
	} else {
		err = f.Truncate(s.size)
	}
	if err == nil {
		err = errors.Join(f.Sync(), file.SyncDir(s.r.opt.Dir))
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	s.file = f
	s.frames = (s.size - headBytes) / frameBytes
	return nil
}

// stop notes that nothing is written for now; the broadcast goes on.
func (s *session) stop(why string, missed int64) {
	s.missed += missed
	s.retry = time.Now().Add(time.Second)
	if s.stopped == why {
		return
	}
	s.stopped = why
	at := played(s.frames).Round(time.Second)
	s.r.opt.Log.Error("recording has stopped, the broadcast goes on", "recording", s.name, "why", why, "at", at)
	s.r.change(s.name, func(rec *Recording) {
		rec.Problem = note(rec.Problem, fmt.Sprintf("stopped at %s: %s", at, why))
	})
}

// resume notes that recording goes on, and what is missing.
func (s *session) resume() {
	lost := played(s.missed)
	s.r.opt.Log.Warn("recording goes on", "recording", s.name, "missing", lost, "after", s.stopped)
	s.gone += s.missed
	s.stopped, s.missed, s.holes, s.inPart = "", 0, true, false
	s.r.change(s.name, func(rec *Recording) {
		rec.LostMS += lost.Milliseconds()
		rec.Problem = note(rec.Problem, fmt.Sprintf("went on after %s", lost.Round(time.Second)))
	})
}

// sync returns when what was written before is on disk.
func (s *session) sync() {
	s.mu.Lock()
	f, unsynced := s.file, s.unsynced
	s.unsynced = false
	s.mu.Unlock()
	if f == nil || !unsynced {
		return
	}
	if err := f.Sync(); err != nil && !errors.Is(err, os.ErrClosed) {
		s.r.opt.Log.Warn("cannot sync recording", "recording", s.name, "err", err)
	}
}

// finish ends the recording; interrupted: the recorder ends, not the broadcast.
func (s *session) finish(why string, at time.Time, interrupted bool) {
	if s.enc != nil {
		s.enc.finish(patience)
		if s.enc.err != nil || !s.enc.exit.OK() {
			s.broken("the encoder did not finish", s.enc.why())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.closeFile()
	var final Recording
	s.r.change(s.name, func(rec *Recording) {
		rec.LostMS += played(s.missed).Milliseconds()
		rec.Ended, rec.Why, rec.Interrupted = at.UnixMilli(), why, interrupted
		if interrupted {
			rec.Problem = note(rec.Problem, "it was interrupted: the live desk ended")
		}
		rec.Complete = !interrupted && !s.holes && rec.Parts == 1 && rec.LostMS == 0
		final = *rec
	})
	if s.file == nil || s.frames == 0 {
		s.r.opt.Log.Warn("nothing was recorded", "recording", s.name, "why", final.Problem)
		if err := s.r.remove(s.name); err != nil {
			s.r.opt.Log.Warn("cannot remove empty recording", "recording", s.name, "err", err)
		}
		return
	}
	samples := int64(0)
	if final.Complete {
		samples = s.fed
	}
	_, err := s.file.WriteAt(head(final, s.frames, samples), 0) // in place: it needs no room
	if err = errors.Join(err, s.file.Sync()); err != nil {
		s.r.opt.Log.Warn("cannot finish recording", "recording", s.name, "err", err)
	}
	s.r.save(s.name)
	s.r.opt.Log.Info("recording has ended", "recording", s.name, "duration", played(s.frames), "bytes", s.size,
		"parts", final.Parts, "complete", final.Complete, "why", why)
}

func (s *session) closeFile() {
	if s.file != nil {
		_ = s.file.Close() // it is synced
	}
}
