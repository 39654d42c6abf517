// Package peaks draws the waveform of a file: the lowest and the highest sample of each of
// some hundred equal parts. What it has drawn it keeps for a while, in memory.
package peaks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

const (
	// rate is enough for a picture a screen wide: what is above it shows no peak of its own.
	rate = 8000
	// Columns is how many parts a waveform has at most.
	Columns = 2000
	kept    = 200
	// atOnce bounds how many are drawn at a time: a page asks for one.
	atOnce = 2
	// background is the niceness of drawing: what is on the air goes first.
	background = 15
)

// Wave is the waveform of a file.
type Wave struct {
	Duration time.Duration
	// Peaks are two bytes of each part: its lowest and its highest sample, from 0 to 255 for
	// full scale, 128 for silence.
	Peaks []byte
}

// Drawer draws. Methods may be called from any goroutine.
type Drawer struct {
	draw func(path string, about time.Duration) (Wave, error)
	room chan struct{}

	mu  sync.Mutex
	all []drawn // the last used at the end
	now map[stamp]*drawing
}

// stamp is a file as it was when somebody asked for it.
type stamp struct {
	path     string
	size, at int64
}

type drawn struct {
	of   stamp
	wave Wave
	err  error // the file cannot be drawn
}

// drawing is a waveform that is being drawn, once for all who ask.
type drawing struct {
	done    chan struct{} // closed once wave and err are set
	wave    Wave
	err     error
	waiting int           // who ask
	left    chan struct{} // closed where none is left before it has begun
	begun   bool
}

// New makes one that draws until ctx ends.
func New(ctx context.Context) *Drawer {
	return newDrawer(func(path string, about time.Duration) (Wave, error) { return draw(ctx, path, about) })
}

func newDrawer(draw func(string, time.Duration) (Wave, error)) *Drawer {
	return &Drawer{draw: draw, room: make(chan struct{}, atOnce), now: map[stamp]*drawing{}}
}

// Of returns the waveform of a file that lasts about so long. The caller waits as long as ctx;
// what was begun by then goes on, and is there for whoever asks next: a mix of hours takes
// longer to draw than a page waits. Errors are ffmpeg's and the system's.
func (d *Drawer) Of(ctx context.Context, path string, about time.Duration) (Wave, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Wave{}, fmt.Errorf("look at a file to draw it: %w", err)
	}
	of := stamp{path, info.Size(), info.ModTime().UnixNano()}
	d.mu.Lock()
	if had, ok := d.had(of); ok {
		d.mu.Unlock()
		return had.wave, had.err
	}
	job, under := d.now[of]
	if !under {
		job = &drawing{done: make(chan struct{}), left: make(chan struct{})}
		d.now[of] = job
		go d.run(of, job, about)
	}
	job.waiting++
	d.mu.Unlock()
	select {
	case <-job.done:
		return job.wave, job.err
	case <-ctx.Done():
		d.leave(of, job)
		return Wave{}, ctx.Err()
	}
}

// leave takes one off who wait. What nobody waits for, and is not begun, is not drawn: a page
// that was closed leaves nothing in the way of the next.
func (d *Drawer) leave(of stamp, job *drawing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if job.waiting--; job.waiting == 0 && !job.begun && d.now[of] == job {
		delete(d.now, of)
		close(job.left)
	}
}

// run draws a file once there is room.
func (d *Drawer) run(of stamp, job *drawing, about time.Duration) {
	select {
	case d.room <- struct{}{}:
		defer func() { <-d.room }()
	case <-job.left:
		return
	}
	d.mu.Lock()
	job.begun = d.now[of] == job // else everybody left just now
	d.mu.Unlock()
	if !job.begun {
		return
	}
	job.wave, job.err = d.draw(of.path, about)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.now, of)
	var refused *ffmpeg.RefusedError
	if job.err == nil || errors.As(job.err, &refused) && refused.Reason != ffmpeg.DiskFault {
		d.all = append(d.all, drawn{of, job.wave, job.err})
		if len(d.all) > kept {
			d.all = slices.Delete(d.all, 0, 1)
		}
	}
	close(job.done)
}

// had looks up what was drawn. The caller holds mu.
func (d *Drawer) had(of stamp) (drawn, bool) {
	i := slices.IndexFunc(d.all, func(one drawn) bool { return one.of == of })
	if i < 0 {
		return drawn{}, false
	}
	found := d.all[i]
	d.all = append(slices.Delete(d.all, i, i+1), found)
	return found, true
}

func draw(ctx context.Context, path string, about time.Duration) (Wave, error) {
	part := max(1, int(about.Seconds()*rate)/Columns)
	var out []byte
	low, high, n, total := float32(1), float32(-1), 0, 0
	flush := func() {
		out = append(out, level(low), level(high))
		low, high, n = 1, -1, 0
	}
	err := ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: rate, Channels: 1, Nice: background}, func(samples []float32) error {
		for _, s := range samples {
			low, high = min(low, s), max(high, s)
			if n++; n == part {
				flush()
			}
		}
		total += len(samples)
		return nil
	})
	if err != nil {
		return Wave{}, fmt.Errorf("draw %s: %w", path, err)
	}
	if n > 0 {
		flush()
	}
	for len(out) > 2*Columns { // it is longer than it was said to be
		out = halved(out)
	}
	return Wave{time.Duration(total) * time.Second / rate, out}, nil
}

func level(s float32) byte { return byte(min(max(128+127*s, 0), 255)) }

// halved joins each two parts.
func halved(peaks []byte) []byte {
	out := make([]byte, 0, len(peaks)/2+2)
	for i := 0; i < len(peaks); i += 4 {
		low, high := peaks[i], peaks[i+1]
		if i+3 < len(peaks) {
			low, high = min(low, peaks[i+2]), max(high, peaks[i+3])
		}
		out = append(out, low, high)
	}
	return out
}
