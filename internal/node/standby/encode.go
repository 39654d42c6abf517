package standby

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
)

// loops finds the loop to send, and makes it where there is none.
type loops struct {
	opt    Options
	encode func(ctx context.Context, file, out string) error
	failed map[string]failure // by where the loop would lie, which tells the file's version
}

// failure is the last one to make a loop of a file.
type failure struct {
	err   error
	count int // in a row
	again time.Time
}

// againAtMost bounds the pause after a failure, which doubles: an encoder takes a second of
// processor time before all other work.
const againAtMost = time.Minute

func newLoops(o Options) *loops {
	return &loops{opt: o, encode: encode, failed: map[string]failure{}}
}

// first returns the loop of the first file that has one.
func (l *loops) first(ctx context.Context) (*loop, error) {
	var errs []error
	for _, file := range l.opt.Files {
		found, err := l.loop(ctx, file)
		if err == nil {
			return found, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("prepare standby audio: %w", errors.Join(errs...))
}

// loop returns the loop of a file, which is encoded once for each of its versions. Where
// that failed, the error is the same until it is tried again.
func (l *loops) loop(ctx context.Context, file string) (*loop, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%d", Mark, file, info.Size(), info.ModTime().UnixNano()))
	out := filepath.Join(l.opt.Dir, "standby-"+hex.EncodeToString(sum[:6])+".ogg")
	if found, err := read(out); err == nil {
		return found, nil
	}
	before := l.failed[out]
	if time.Now().Before(before.again) {
		return nil, before.err
	}
	found, err := l.make(ctx, file, out)
	if err != nil {
		count := before.count + 1
		l.failed[out] = failure{err, count, time.Now().Add(retry.Doubled(again, againAtMost, count))}
		return nil, err
	}
	delete(l.failed, out)
	return found, nil
}

func (l *loops) make(ctx context.Context, file, out string) (*loop, error) {
	l.clean()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(l.opt.EncodeWithin, encodeWithin))
	defer cancel()
	if err := l.encode(ctx, file, out); err != nil {
		return nil, err
	}
	return read(out)
}

func read(path string) (*loop, error) {
	data, err := os.ReadFile(path) //nolint:gosec // our own file
	if err != nil {
		return nil, err
	}
	return parse(data)
}

// clean removes loops of earlier versions of the files once there are many.
func (l *loops) clean() {
	if old, err := filepath.Glob(filepath.Join(l.opt.Dir, "standby-*.ogg")); err == nil && len(old) > 8 {
		for _, f := range old {
			_ = os.Remove(f)
		}
	}
}

// encode makes the loop of a file. It has the master stream's rate and channels, so that no
// player has to begin anew; it fades at both ends, so that nothing clicks where
// it begins again.
func encode(ctx context.Context, file, out string) error {
	tmp := out + ".new"
	defer os.Remove(tmp) //nolint:errcheck // gone where all went well
	// With the priority of the air: until this is done, an engine that ends takes every
	// listener of Icecast with it, and on a machine with forty jobs for each processor the
	// second that it takes becomes minutes.
	_, err := proc.Output(ctx, proc.Spec{Name: "encode standby audio", Path: "ffmpeg", Nice: proc.Air, Stop: syscall.SIGKILL, Args: []string{
		"-nostdin", "-hide_banner", "-v", "error", "-y", "-t", fmt.Sprint(atMost.Seconds()), "-i", "file:" + file, "-map", "0:a:0", "-map_metadata", "-1", "-metadata", Mark,
		// The fade-out is a fade-in of the reversed audio.
		"-af", "aformat=sample_rates=44100:channel_layouts=stereo,afade=d=0.4,areverse,afade=d=0.4,areverse",
		"-c:a", "libvorbis", "-b:a", "128k", "-page_duration", "200000", "-f", "ogg", "file:" + tmp,
	}}, 1<<16)
	if err != nil {
		return err
	}
	return os.Rename(tmp, out)
}
