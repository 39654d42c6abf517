// Package sound makes the file of an episode: an MP3 at the station's loudness, which says in
// its tags what it is, and tells players its length, its chapters and its picture.
//
// What is at that loudness already is copied frame by frame; all else is mastered. It decides
// nothing of shows and episodes, and keeps no file but the one that it is asked for.
package sound

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// off is how far (LU) a sound may lie from the target and still be copied.
	off = 1
	// edge is what mastering keeps under its peak limit: what is copied may come up to the
	// limit itself.
	edge = 0.15
	// deepest is how far (dB) the limiter may go: speech of one who stands far from the
	// microphone needs more than music, which is far louder.
	deepest = 12
	// longest is how long an episode may be. Measuring takes 3 kB a second of it, so that is
	// what bounds the memory.
	longest = 12 * time.Hour
	// nice is the niceness of the work: nobody waits for it.
	nice = 15
	// misses is how far the length in the file's header may be from what was decoded.
	misses = 200 * time.Millisecond
)

// Options of Open. All are required.
type Options struct {
	Dir     string // its own, for what is in the making: emptied by Open
	Profile string // of mastering, by its name
	Log     *slog.Logger
}

// Finisher finishes episodes: see podcast.Finisher. It may be used from several goroutines.
type Finisher struct {
	dir     string
	profile mastering.Profile
	master  *mastering.Master
}

// Open removes what a killed run has left.
func Open(o Options) (*Finisher, error) {
	profile, err := mastering.Named(o.Profile)
	if err != nil {
		return nil, err
	}
	profile.Tolerance, profile.MaxDepth, profile.Brief = off, deepest, true
	profile.MaxPeak += edge
	if err := errors.Join(os.RemoveAll(o.Dir), os.MkdirAll(o.Dir, 0o700)); err != nil {
		return nil, fmt.Errorf("make folder of episodes in the making: %w", err)
	}
	return &Finisher{dir: o.Dir, profile: profile, master: mastering.New(mastering.Options{Longest: longest, Nice: nice, Log: o.Log})}, nil
}

// Finish implements podcast.Finisher.
func (f *Finisher) Finish(ctx context.Context, from, to string, tags podcast.Tags) (podcast.Finished, error) {
	work, err := os.MkdirTemp(f.dir, "episode-")
	if err != nil {
		return podcast.Finished{}, fmt.Errorf("finish episode: %w", err)
	}
	defer os.RemoveAll(work) //nolint:errcheck // Open removes what is left
	frames, length, err := f.level(ctx, from, work)
	if err != nil {
		return podcast.Finished{}, fmt.Errorf("level episode: %w", kindOf(err))
	}
	texts := filepath.Join(work, "tags.txt")
	if err := os.WriteFile(texts, metadata(tags, length), 0o600); err != nil {
		return podcast.Finished{}, fmt.Errorf("write tags of episode: %w", err)
	}
	end, err := soundEnd(frames)
	if err != nil {
		return podcast.Finished{}, fmt.Errorf("read sound of episode: %w", err)
	}
	if err := ffmpeg.Retag(ctx, frames, to, ffmpeg.Retagging{Metadata: texts, Cover: tags.Cover, End: end, Nice: nice}); err != nil {
		_ = os.Remove(to) // it is not whole
		return podcast.Finished{}, fmt.Errorf("tag episode: %w", kindOf(err))
	}
	out, err := settle(to, length)
	if err != nil {
		_ = os.Remove(to)
		return podcast.Finished{}, fmt.Errorf("finish episode: %w", err)
	}
	return out, nil
}

// level returns the path of an MP3 at the target's loudness, and how long it plays: the source
// itself, or one in the folder work.
func (f *Finisher) level(ctx context.Context, from, work string) (path string, length time.Duration, err error) {
	abs, err := filepath.Abs(from)
	if err != nil {
		return "", 0, err
	}
	// Mastering tells an MP3 by its name too, and that of a source may be any.
	in, out := filepath.Join(work, "source.mp3"), filepath.Join(work, "mastered.mp3")
	if err := os.Symlink(abs, in); err != nil {
		return "", 0, err
	}
	rec, err := f.master.Do(ctx, mastering.Job{In: in, Out: out, Profile: f.profile, KeepFit: true}, nil)
	if err != nil {
		return "", 0, err
	}
	if rec.Fit {
		return in, rec.Duration, nil
	}
	return out, rec.Duration, nil
}

// settle has a finished file on disk, and checks that players learn its length.
func settle(path string, length time.Duration) (podcast.Finished, error) {
	if err := file.Settle(path, 0o644); err != nil {
		return podcast.Finished{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return podcast.Finished{}, err
	}
	defer f.Close() //nolint:errcheck // only read
	stat, err := f.Stat()
	if err != nil {
		return podcast.Finished{}, err
	}
	info, err := audiofile.Read(f, stat.Size())
	if err != nil {
		return podcast.Finished{}, fmt.Errorf("its header does not tell its length: %w", err)
	}
	if (info.Duration - length).Abs() > misses {
		return podcast.Finished{}, fmt.Errorf("its header says %s, and %s can be decoded", info.Duration.Round(time.Millisecond), length.Round(time.Millisecond))
	}
	return podcast.Finished{Bytes: stat.Size(), Duration: info.Duration}, nil
}

// kindOf tells what is the sound's fault, by which trying again helps nothing.
func kindOf(err error) error {
	var refused *mastering.RefusedError
	var unreadable *ffmpeg.RefusedError
	switch {
	case errors.As(err, &refused) && refused.Reason != mastering.Changed:
		return fmt.Errorf("%w: %s", station.ErrInvalid, refused.Text)
	case errors.As(err, &unreadable) && unreadable.Reason != ffmpeg.DiskFault:
		return fmt.Errorf("%w: %s", station.ErrInvalid, unreadable.Reason)
	}
	return err
}
