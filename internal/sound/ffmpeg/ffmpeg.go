// Package ffmpeg runs ffprobe and ffmpeg on local files: it probes them, measures
// their real length, decodes them, and encodes samples to MP3. Every call is bounded
// in time, output and reach: it opens no network, no playlist and no file but the
// named ones.
//
// It writes only the file that EncodeMP3 is asked for, and does not process the sound.
// kit/proc runs the programs.
package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// RefusedError says in plain words, without the path, why a file cannot be played. Any
// other error is not the file's fault: a missing program, the caller's deadline, an
// exhausted machine.
type RefusedError struct {
	Path   string
	Reason string
}

func (e *RefusedError) Error() string { return e.Path + ": " + e.Reason }

// DiskFault is the Reason of a file whose reading failed. Some demuxers say the same of
// damaged files, so it is a refusal; but it may pass.
const DiskFault = "the disk cannot read it"

// UnfinishedError says in plain words, without the path, why a program did not finish
// with a file: it was not done in time, or was killed from outside. A busy machine or a
// slow disk does that to any file, so it says nothing of this one: try again, ever later.
type UnfinishedError struct {
	Path   string
	Reason string
}

func (e *UnfinishedError) Error() string { return e.Path + ": " + e.Reason }

// Timeout is true, as net.Error has it.
func (e *UnfinishedError) Timeout() bool { return true }

// formats are the demuxers a file may choose by its content. Playlists (hls,
// concat, dash) stay out: a "song" that is one could name any file or host.
const formats = "mp3,ogg,flac,mov,wav,w64,aac,aiff,matroska,asf,ape,wv,caf,oma,amr,au,tta"

// input is the arguments that name the file. "file:" keeps a leading dash, a
// colon or a scheme in the name from being read as anything but a name.
func input(path string) ([]string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if strings.IndexByte(abs, 0) >= 0 {
		return nil, &RefusedError{Path: path, Reason: "its name holds a NUL byte"}
	}
	return []string{"-protocol_whitelist", "file", "-format_whitelist", formats, "-i", "file:" + abs}, nil
}

// background is the niceness of a look at a file, some of which listeners send: what is on
// the air comes first. A look that takes too long for it is an *UnfinishedError and comes
// again.
const background = 10

// mostMemory bounds what a look at a file may allocate. Sound needs a twentieth; an index or
// a picture that claims to be huge is refused in place of making the machine short.
const mostMemory = 1 << 30

// run runs one of the two programs for a look at a file and turns a bad exit into the
// reason that the program gave.
func run(ctx context.Context, program, path string, limit time.Duration, out io.Writer, args ...string) error {
	return runSpec(ctx, path, limit, proc.Spec{Path: program, Args: args, Stdout: out, Nice: background})
}

func runSpec(ctx context.Context, path string, limit time.Duration, spec proc.Spec) error {
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	errs := &collector{limit: 16 << 10}
	program := spec.Path
	if spec.Stderr != nil {
		spec.Stderr = io.MultiWriter(errs, spec.Stderr)
	} else {
		spec.Stderr = errs
	}
	spec.Name, spec.Grace, spec.Drain, spec.Memory = program, time.Second, proc.DrainWhole, mostMemory
	exit, err := proc.Run(ctx, spec, nil)
	switch {
	case errors.Is(err, proc.ErrCut):
		return &UnfinishedError{Path: path, Reason: program + "'s output could not be read in time"}
	case err != nil:
		return err
	case parent.Err() != nil:
		return fmt.Errorf("%s %s: %w", program, path, context.Cause(parent))
	case ctx.Err() != nil:
		return &UnfinishedError{Path: path, Reason: fmt.Sprintf("%s was not done with it after %s", program, limit)}
	case exit.Signal == syscall.SIGKILL: // the kernel short of memory, or an operator
		return &UnfinishedError{Path: path, Reason: program + " was killed while it read it"}
	case exit.Signal != 0:
		return &RefusedError{Path: path, Reason: fmt.Sprintf("%s crashed on it (%s)", program, exit.Signal)}
	case !exit.OK():
		return &RefusedError{Path: path, Reason: reason(errs.kept, path)}
	}
	return nil
}

// reason puts ffmpeg's complaint into words for an operator.
func reason(stderr []byte, path string) string {
	text := string(stderr)
	if abs, err := filepath.Abs(path); err == nil { // as input named it
		text = strings.ReplaceAll(text, abs, "")
	}
	text = strings.ReplaceAll(text, path, "")
	for _, known := range []struct{ words, means string }{
		{"moov atom not found", "truncated or unfinished: the index (moov) is missing"},
		{"No such file or directory", "it is gone"},
		{"Permission denied", "it may not be read"},
		{"Is a directory", "it is a folder"},
		{"Input/output error", DiskFault},
		{"matches no streams", "there is no audio in it"},
		{"does not contain any stream", "there is no audio in it"},
		{"not in whitelist", "not an audio file"},
		{"not on whitelist", "not an audio file"},
		{"Invalid data found when processing input", "not an audio file, or damaged at its start"},
		{"Failed to read frame size", "not an audio file, or damaged at its start"},
		{"Cannot allocate memory", "it asks for more memory than any sound needs"},
		{"End of file", "truncated: the file ends inside its header"},
	} {
		if strings.Contains(text, known.words) {
			return known.means
		}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return "not readable: " + strings.Trim(address.ReplaceAllString(lines[len(lines)-1], ""), " :")
}

// address is where in its memory a part of ffmpeg is that complains.
var address = regexp.MustCompile(` @ 0x[0-9a-f]+`)

// collector keeps the first limit bytes of an output and swallows the rest, so that
// a talkative program neither blocks nor fills memory.
type collector struct {
	kept  []byte
	limit int
	over  bool
}

func (c *collector) Write(p []byte) (int, error) {
	room := c.limit - len(c.kept)
	c.over = c.over || len(p) > room
	c.kept = append(c.kept, p[:min(len(p), room)]...)
	return len(p), nil
}

// counter counts an output and keeps nothing of it. Each piece puts off its watch, and
// the one with which there is enough ends the program.
type counter struct {
	bytes  int64
	enough int64
	end    func()
	watch  *time.Timer
	stall  time.Duration
}

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	c.watch.Reset(c.stall)
	if c.bytes >= c.enough {
		c.end()
	}
	return len(p), nil
}

// Length decodes the whole file and returns how much audio it really holds, to the
// millisecond, at a cost of about 1 ms of one core per second of audio. For a damaged
// file it is the decodable part. A file that decodes to nothing is refused; a decoder
// that gives nothing for a minute is an *UnfinishedError.
func Length(ctx context.Context, path string) (time.Duration, error) {
	return length(ctx, path, 12*time.Hour, stall)
}

// LengthUpTo is Length, but decodes no more than most, and returns it for what is longer:
// a small file can hold days of audio.
func LengthUpTo(ctx context.Context, path string, most time.Duration) (time.Duration, error) {
	return length(ctx, path, most, stall)
}

func length(ctx context.Context, path string, most, stall time.Duration) (time.Duration, error) {
	in, err := input(path)
	if err != nil {
		return 0, err
	}
	const rate = 8000 // one byte a sample: cheap to pipe, exact enough
	args := append([]string{"-nostdin", "-hide_banner", "-v", "error"}, in...)
	args = append(args, "-t", strconv.FormatFloat(most.Seconds(), 'f', 3, 64), "-map", "0:a:0", "-ac", "1", "-ar", fmt.Sprint(rate), "-f", "u8", "pipe:1")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := stalledError(path, stall)
	out := counter{
		watch: time.AfterFunc(stall, func() { cancel(stalled) }), stall: stall,
		// -t goes by the file's own times, which need not advance.
		enough: most.Milliseconds() * rate / 1000, end: func() { cancel(nil) },
	}
	defer out.watch.Stop()
	err = run(ctx, "ffmpeg", path, atMost, &out, args...)
	if out.bytes >= out.enough {
		return most, nil
	}
	if errors.Is(context.Cause(ctx), stalled) {
		return 0, stalled
	}
	var refused *RefusedError
	if err != nil && (out.bytes == 0 || !errors.As(err, &refused)) {
		return 0, err
	}
	if out.bytes == 0 {
		return 0, &RefusedError{Path: path, Reason: "no audio can be decoded from it"}
	}
	return time.Duration(out.bytes) * time.Second / rate, nil
}

func stalledError(path string, stall time.Duration) error {
	return &UnfinishedError{Path: path, Reason: fmt.Sprintf("ffmpeg decoded nothing for %s", stall)}
}
