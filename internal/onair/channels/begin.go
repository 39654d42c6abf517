package channels

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/station"
)

// Begin takes the first track off a channel's queue and returns its audio, Ogg
// Vorbis as fast as it is read; nil when the queue is empty. The track counts as
// playing until the audio is closed. It is never begun twice, so that an
// unreadable file is not tried for ever.
func (c *Channels) Begin(ctx context.Context, id string) io.ReadCloser {
	for {
		w, ok := c.first(id)
		if !ok {
			return nil
		}
		if err := c.take(ctx, id, w); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			c.opt.Log.Error("cannot take the next track off a channel's queue", "channel", id, "err", err)
			return nil
		}
		track, known := c.opt.Find(w.path)
		file, gain := "", 0.
		if known {
			file, gain = c.opt.Airs(w.path)
		}
		if file == "" {
			c.opt.Log.Warn("queued track is no longer in the library, skipped", "channel", id, "file", w.path)
			continue
		}
		c.opt.Log.Info("channel plays", "channel", id, "file", w.path)
		c.playing(id, &track)
		return c.encode(ctx, id, file, gain)
	}
}

func (c *Channels) first(id string) (waiting, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.find(id); one != nil && len(one.waiting) > 0 {
		return one.waiting[0], true
	}
	return waiting{}, false
}

// take takes the first track off the queue.
func (c *Channels) take(ctx context.Context, id string, w waiting) error {
	if err := c.hold(ctx); err != nil {
		return err
	}
	defer c.release()
	err := c.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM channel_queue WHERE id = ?`, w.id)
		return err
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	if one := c.find(id); one != nil && len(one.waiting) > 0 && one.waiting[0].id == w.id {
		if one.waiting = one.waiting[1:]; len(one.waiting) == 0 {
			select { // the queue is empty: take the wake-up back
			case <-one.wake:
			default:
			}
		}
	}
	c.mu.Unlock()
	c.changes.Tell()
	return nil
}

func (c *Channels) playing(id string, track *station.Track) {
	c.mu.Lock()
	if one := c.find(id); one != nil {
		one.Playing = track
		if track != nil {
			before := one.Heard[:min(len(one.Heard), MostHeard-1)]
			one.Heard = append([]Heard{{*track, c.opt.Now()}}, before...)
		}
	}
	c.mu.Unlock()
	c.changes.Tell()
}

// programme is a file being encoded for the listeners; the encoder waits until it
// is read.
type programme struct {
	audio  *os.File
	cancel context.CancelFunc
	ended  <-chan struct{} // once the encoder is gone
	err    error           // of the encoder, once it is gone
	stop   func()
}

// stalled is how long a read may wait for the encoder before it is ended: its
// file does not answer.
const stalled = 10 * time.Second

func (p *programme) Read(b []byte) (int, error) {
	timer := time.AfterFunc(stalled, p.cancel)
	defer timer.Stop()
	n, err := p.audio.Read(b)
	if errors.Is(err, io.EOF) {
		if <-p.ended; p.err != nil {
			err = p.err
		}
	}
	return n, err
}

// Close ends the encoder and waits for it.
func (p *programme) Close() error {
	p.stop()
	return nil
}

// level is the filter that brings a song without a mastered copy to its loudness: a gain,
// and a limiter half a decibel below the -1.5 dB true peak of the copies, because it looks
// at samples.
func level(gain float64) string {
	if gain == 0 {
		return "anull"
	}
	return fmt.Sprintf("volume=%.2fdB,alimiter=limit=-2dB:attack=5:release=80:level=disabled", gain)
}

// encode encodes a file like the main channel: 44.1 kHz stereo Vorbis, in pages
// of a fifth of a second.
func (c *Channels) encode(ctx context.Context, id, file string, gain float64) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	// A pipe of the system, which ffmpeg writes to itself: the track is read in
	// real time, so its last seconds are still in there when ffmpeg is gone.
	in, out, err := os.Pipe()
	if err != nil {
		cancel()
		c.opt.Log.Warn("cannot play a queued track", "channel", id, "file", file, "err", err)
		c.playing(id, nil)
		return nil
	}
	ended := make(chan struct{})
	p := &programme{audio: in, cancel: cancel, ended: ended}
	p.stop = sync.OnceFunc(func() {
		cancel()
		_ = in.Close() // the encoder's writes fail from here
		<-ended
		c.playing(id, nil)
	})
	go func() {
		defer close(ended)
		exit, err := proc.Run(ctx, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Stdout: out, Args: []string{
			"-v", "error", "-nostdin", "-i", "file:" + file, "-map", "0:a:0", "-map_metadata", "-1", "-af", level(gain),
			"-ac", "2", "-ar", "44100", "-c:a", "libvorbis", "-q:a", "5", "-page_duration", "200000", "-f", "ogg", "pipe:1",
		}}, nil)
		if err == nil && !exit.OK() && ctx.Err() == nil {
			err = errors.New(exit.String())
		}
		if err != nil {
			c.opt.Log.Warn("cannot play a queued track", "channel", id, "file", file, "err", err)
		}
		p.err = err
		_ = out.Close() // the reader's end of file
	}()
	return p
}
