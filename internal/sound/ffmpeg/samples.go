package ffmpeg

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/proc"
)

const (
	// stall is how long a decoder may give no samples before it is ended.
	stall = time.Minute
	// atMost bounds the time of a whole decoding or encoding.
	atMost = 12 * time.Hour
	// piece is how many bytes are moved at a time, where ffmpeg would by itself write 8
	// to 32 KB, and held what a pipe is made to hold: on a busy machine each wake-up is
	// a wait for the processor.
	piece = 256 << 10
	held  = 1 << 20
)

// Decoding says how a file is to be decoded.
type Decoding struct {
	Rate     int           // Hz; resampled where the file has another
	Channels int           // 1 or 2; mixed down or up where the file has others
	From     time.Duration // from there on, as near as the format's index leads
	First    time.Duration // only this much; 0: all
	Nice     int           // niceness of the decoder, proc.Air to 19
	// Complaints, when not nil, takes what the decoder says against the file while it
	// goes on. It is whole once Decode has returned.
	Complaints *Complaints
}

// Complaints are the lines in which a decoder says what is wrong with a file that it goes on
// with: packets that it left out, parts that are missing.
type Complaints struct {
	Lines int
	First string // the first of them
	end   bool   // First is complete
}

func (c *Complaints) Write(p []byte) (int, error) {
	const longest = 200
	c.Lines += bytes.Count(p, []byte{'\n'})
	if !c.end {
		line, _, end := bytes.Cut(p, []byte{'\n'})
		c.First += string(line[:min(len(line), longest-len(c.First))])
		if c.end = end; end {
			c.First = strings.ToValidUTF8(address.ReplaceAllString(c.First, ""), "")
		}
	}
	return len(p), nil
}

// Decode decodes the first sound track of a file and gives it to take in
// pieces of whole frames: interleaved samples, full scale 1, valid until take
// returns. take is called on the caller's own goroutine; its error ends the
// decoding and is returned. What cannot be decoded gives a *RefusedError, a decoder that
// gives nothing for a minute an *UnfinishedError.
func Decode(ctx context.Context, path string, d Decoding, take func([]float32) error) error {
	in, err := input(path)
	if err != nil {
		return err
	}
	args := []string{"-nostdin", "-hide_banner", "-v", "error"}
	spec := proc.Spec{Path: "ffmpeg", Nice: d.Nice}
	if d.Complaints != nil {
		args[3] = "repeat+error" // each line, not how often it came
		args = append(args, "-err_detect", "+crccheck")
		spec.Stderr = d.Complaints
	}
	if d.From > 0 {
		args = append(args, "-ss", strconv.FormatFloat(d.From.Seconds(), 'f', 3, 64))
	}
	args = append(args, in...)
	if d.First > 0 {
		args = append(args, "-t", strconv.FormatFloat(d.First.Seconds(), 'f', 3, 64))
	}
	args = append(args, "-map", "0:a:0", "-af", fmt.Sprintf("asetnsamples=n=%d:p=0", piece/4/d.Channels),
		"-ac", strconv.Itoa(d.Channels), "-ar", strconv.Itoa(d.Rate), "-avioflags", "direct", "-f", "f32le", "pipe:1")
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("decode %s: %w", path, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() {
		spec.Args, spec.Stdout = args, w
		ended <- runSpec(ctx, path, atMost, spec)
		_ = w.Close() // the reader's end of file
	}()
	stalled := stalledError(path, stall)
	watch := time.AfterFunc(stall, func() { cancel(stalled) })
	defer watch.Stop()
	err = samples(r, 4*d.Channels, watch, take)
	if err != nil {
		cancel(err)
	}
	_ = r.Close()
	exit := <-ended
	switch {
	case errors.Is(context.Cause(ctx), stalled):
		return stalled
	case err != nil:
		return err
	}
	return exit
}

// samples reads frames of size bytes until the end. watch runs only while it
// waits for some.
func samples(r *os.File, size int, watch *time.Timer, take func([]float32) error) error {
	// A blocking read: thousands of trips through the poller cost more than the
	// arithmetic, above all on a locked thread.
	fd := int(r.Fd())
	_, _ = unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, held)
	buf, out, kept := make([]byte, piece), make([]float32, 0, piece/4), 0
	for {
		n, err := unix.Read(fd, buf[kept:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return err
		}
		n += kept
		whole := n - n%size
		out = out[:0]
		for i := 0; i < whole; i += 4 {
			out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(buf[i:])))
		}
		kept = copy(buf, buf[whole:n])
		watch.Stop()
		if whole > 0 {
			if err := take(out); err != nil {
				return err
			}
		}
		watch.Reset(stall)
	}
}

// Encoding says what MP3 is to be made.
type Encoding struct {
	Rate  int         // Hz, of the samples and of the file: 32000, 44100 or 48000
	Kbps  int         // constant bit rate
	Tags  [][2]string // ffmpeg's names and values, UTF-8; written as ID3v2.4
	Cover string      // path of a JPEG (.jpg) or PNG (.png) to attach; empty: none
	Nice  int         // niceness of the encoder, 0 to 19
}

// EncodeMP3 makes the file at path from interleaved stereo samples, which
// produce hands to write, on the caller's own goroutine. A decoder returns them
// at the same level and, thanks to LAME's tag in the file, at exactly the same
// length. After an error the file is incomplete, and the caller removes it.
func EncodeMP3(ctx context.Context, path string, e Encoding, produce func(write func([]float32) error) error) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() {
		ended <- runSpec(ctx, path, atMost, proc.Spec{Path: "ffmpeg", Args: e.args(abs), Stdin: r, Nice: e.Nice})
		_ = r.Close() // a write to an encoder that has exited fails instead of waiting
	}()
	var buf []byte
	_, _ = unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, held) // Fd makes it blocking: see samples
	undo := 1 / lameScale(e.Kbps)
	err = produce(func(frames []float32) error {
		buf = buf[:0]
		for _, v := range frames {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v*undo))
		}
		_, err := w.Write(buf)
		return err
	})
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		cancel(err)
	}
	_ = w.Close()
	if exit := <-ended; exit != nil && (err == nil || errors.Is(err, syscall.EPIPE)) {
		err = exit // why the pipe broke
	}
	return err
}

// lameScale is the factor by which LAME (3.98 and later, presets.c) lowers constant bit
// rates against clipping in decoders. It is undone, because mastering measures levels.
func lameScale(kbps int) float32 {
	switch {
	case kbps <= 160:
		return 0.95
	case kbps <= 192:
		return 0.97
	case kbps <= 224:
		return 0.98
	}
	return 1
}

func (e Encoding) args(path string) []string {
	args := []string{
		"-hide_banner", "-v", "error", "-f", "f32le", "-ar", strconv.Itoa(e.Rate), "-ac", "2", "-i", "pipe:0",
	}
	picture := []string{"-map", "0:a"}
	if e.Cover != "" {
		demuxer := "jpeg_pipe"
		if filepath.Ext(e.Cover) == ".png" {
			demuxer = "png_pipe"
		}
		args = append(args, "-protocol_whitelist", "file", "-f", demuxer, "-i", "file:"+e.Cover)
		picture = append(picture, "-map", "1:v", "-c:v", "copy", "-disposition:v", "attached_pic")
	}
	args = append(args, picture...)
	args = append(args, "-c:a", "libmp3lame", "-b:a", strconv.Itoa(e.Kbps)+"k", "-threads", "1", "-map_metadata", "-1", "-id3v2_version", "4")
	for _, tag := range e.Tags {
		args = append(args, "-metadata", tag[0]+"="+tag[1])
	}
	return append(args, "-f", "mp3", "-y", "file:"+path)
}
