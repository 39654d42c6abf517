package record

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// encoder is one run of ffmpeg: PCM in, MP3 frames out.
type encoder struct {
	in   *os.File
	kill context.CancelFunc
	done chan struct{} // closed when take has had everything
	exit proc.Exit
	err  error
	said tail
}

// newEncoder starts one. take is called with what it writes, from one goroutine, the last
// time before done is closed.
func newEncoder(started func(pid int), take func([]byte)) (*encoder, error) {
	fromUs, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, toUs, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, fromUs.Close(), in.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &encoder{in: in, kill: cancel, done: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.exit, e.err = proc.Run(ctx, proc.Spec{
			Name: "recording encoder", Path: "ffmpeg", Stdin: fromUs, Stdout: toUs, Stderr: &e.said, Grace: time.Second,
			// By the default probing of raw PCM more than a second would wait at the start.
			Args: []string{
				"-nostdin", "-hide_banner", "-v", "error", "-probesize", "32", "-analyzeduration", "0",
				"-f", "s16le", "-ar", "48000", "-ac", "2", "-i", "pipe:0",
				"-map_metadata", "-1", "-c:a", "libmp3lame", "-b:a", "256k", "-reservoir", "0", "-threads", "1",
				"-write_xing", "0", "-id3v2_version", "0", "-write_id3v1", "0", "-flush_packets", "1", "-f", "mp3", "pipe:1",
			},
		}, started)
		_, _ = fromUs.Close(), toUs.Close() // the ends of file, at both sides
	}()
	go func() {
		defer close(e.done)
		buf := make([]byte, 32<<10)
		for {
			n, err := out.Read(buf)
			if n > 0 {
				take(buf[:n])
			}
			if err != nil {
				break
			}
		}
		<-ended
		cancel()
		_ = out.Close()
	}()
	return e, nil
}

// write hands PCM over. One that takes none for so long has hung, and once hurry is closed
// one that takes none for a second.
func (e *encoder) write(pcm []byte, stall time.Duration, hurry <-chan struct{}) error {
	since := time.Now()
	for {
		if err := e.in.SetWriteDeadline(time.Now().Add(min(stall, time.Second))); err != nil {
			return err
		}
		n, err := e.in.Write(pcm)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if pcm = pcm[n:]; n > 0 {
			since = time.Now()
		}
		select {
		case <-hurry:
			return err
		default:
		}
		if time.Since(since) >= stall {
			return err
		}
	}
}

// finish lets it encode what it has; one that is not done in time is killed. It returns
// when take has had everything.
func (e *encoder) finish(patience time.Duration) {
	_ = e.in.Close()
	late := time.AfterFunc(patience, e.kill)
	defer late.Stop()
	<-e.done
}

// why says how it ended by itself.
func (e *encoder) why() error {
	if e.err != nil {
		return e.err
	}
	return errors.New(strings.TrimSpace(e.exit.String() + " " + e.said.String()))
}

// tail keeps the last words of a program.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-300):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return clean(string(t.text), 300)
}
