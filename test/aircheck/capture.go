package aircheck

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/wav"
)

// PCM is mono audio.
type PCM struct {
	Rate    int
	Samples []int16
}

// Duration of the audio.
func (p PCM) Duration() time.Duration { return p.time(len(p.Samples)) }

func (p PCM) time(sample int) time.Duration {
	return time.Duration(sample) * time.Second / time.Duration(p.Rate)
}

func (p PCM) samples(d time.Duration) int { return int(d * time.Duration(p.Rate) / time.Second) }

// Cut is the stretch from start to end; it shares the samples.
func (p PCM) Cut(start, end time.Duration) PCM {
	n := len(p.Samples)
	return PCM{p.Rate, p.Samples[min(n, p.samples(start)):min(n, p.samples(end))]}
}

// WriteFile keeps the audio as WAV, to listen to where a test failed.
func (p PCM) WriteFile(path string) error {
	return os.WriteFile(path, wav.PCM16(p.Rate, 1, p.Samples), 0o600)
}

// captureRate is the rate everything is decoded to.
const captureRate = 44100

// Capture decodes d of anything ffmpeg reads: a file, an HTTP stream, an HLS
// playlist.
func Capture(ctx context.Context, url string, d time.Duration) (PCM, error) {
	r := NewRecorder(url)
	r.limit = d
	if err := r.Run(ctx); err != nil {
		return PCM{}, err
	}
	return r.PCM(), nil
}

// Recorder captures a stream until its context ends, and knows when each
// moment of it arrived.
type Recorder struct {
	url   string
	limit time.Duration

	mu      sync.Mutex
	samples []int16
	odd     []byte // half a sample, between two writes
	marks   []arrival
}

// arrival says that so many samples had come by then.
type arrival struct {
	samples int
	when    time.Time
}

// NewRecorder does not connect yet.
func NewRecorder(url string) *Recorder { return &Recorder{url: url} }

// Run records until ctx ends or the stream does. What was recorded by then can
// be read at any time, while it runs too. It may be run again, one after the other:
// the recording goes on.
func (r *Recorder) Run(ctx context.Context) error {
	r.mu.Lock()
	r.odd = nil
	r.mu.Unlock()
	args := []string{"-v", "error", "-nostdin", "-i", r.url}
	if r.limit > 0 {
		args = append(args, "-t", strconv.FormatFloat(r.limit.Seconds(), 'f', 3, 64))
	}
	args = append(args, "-vn", "-ac", "1", "-ar", strconv.Itoa(captureRate), "-f", "s16le", "-flush_packets", "1", "pipe:1")
	var complaint tail
	exit, err := proc.Run(ctx, proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Args: args, Stdout: r, Stderr: &complaint,
		Stop: syscall.SIGKILL, // what it decoded has reached us already
		Nice: proc.Air,        // a busy machine must not pass for a silent station
	}, nil)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil || exit.OK():
		return nil
	case len(r.PCM().Samples) == 0:
		return fmt.Errorf("capture %s: %s: %s", r.url, exit, complaint.text)
	}
	return nil
}

// Write takes decoded audio from ffmpeg.
func (r *Recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(b)
	if len(r.odd) > 0 {
		b = append(r.odd, b...) //nolint:gocritic // the leftover goes first
		r.odd = nil
	}
	for ; len(b) >= 2; b = b[2:] {
		r.samples = append(r.samples, int16(binary.LittleEndian.Uint16(b))) //nolint:gosec // the same bits
	}
	if len(b) == 1 {
		r.odd = []byte{b[0]}
	}
	r.marks = append(r.marks, arrival{len(r.samples), time.Now()})
	return n, nil
}

// PCM is what was recorded so far.
func (r *Recorder) PCM() PCM {
	r.mu.Lock()
	defer r.mu.Unlock()
	return PCM{captureRate, r.samples[:len(r.samples):len(r.samples)]}
}

// Position is how much had been recorded at a moment of the clock: what
// happened then is heard after it.
func (r *Recorder) Position(when time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var p time.Duration
	for _, m := range r.marks {
		if m.when.After(when) {
			break
		}
		p = PCM{Rate: captureRate}.time(m.samples)
	}
	return p
}

// ArrivedAt is when the audio at a position of the recording had come: what was
// heard there was heard then, by a listener at the live edge. False while it has
// not.
func (r *Recorder) ArrivedAt(position time.Duration) (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := PCM{Rate: captureRate}.samples(position)
	i := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].samples > n })
	if i == len(r.marks) {
		return time.Time{}, false
	}
	return r.marks[i].when, true
}

// ErrTimeout says that what was waited for was not heard in time.
var ErrTimeout = errors.New("not heard in time")

// WaitFor returns once a track is heard after a position of the recording, and
// says where it begins.
func (r *Recorder) WaitFor(ctx context.Context, id int, after time.Duration) (Segment, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		all := r.PCM()
		for _, s := range segments(all.Cut(after, all.Duration()), id) {
			s.Start += after
			s.End += after
			return s, nil
		}
		select {
		case <-ctx.Done():
			return Segment{}, fmt.Errorf("track %d after %s: %w", id, after, ErrTimeout)
		case <-tick.C:
		}
	}
}

// tail keeps the last words of a program.
type tail struct{ text string }

func (t *tail) Write(b []byte) (int, error) {
	t.text = string(b[max(0, len(b)-500):])
	return len(b), nil
}
