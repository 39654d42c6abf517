package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/live"
)

const (
	// complaints bounds what is kept of a decoder's messages.
	complaints = 400
	// A file of 100 kB can state an index of gigabytes. mostBlock bounds what a decoder may
	// allocate at once, in bytes, memory what it may have in all: live audio takes a tenth of
	// that. Each thread counts with its stack, so there is one of a kind.
	mostBlock = 64 << 20
	memory    = 512 << 20
)

// decode runs ffmpeg on an input and writes its PCM to out. in, when not nil, is the
// decoder's standard input.
func decode(ctx context.Context, name string, args, env []string, in io.Reader, out io.Writer) error {
	pcm, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("decode %s: %w", name, err)
	}
	defer pcm.Close() //nolint:errcheck // read to its end
	spec := proc.Spec{
		Name: "live decoder", Path: "ffmpeg", Nice: proc.Air, Stdout: write, Grace: time.Second, Env: env, Memory: memory,
		Args: append(append([]string{"-hide_banner", "-v", "error", "-nostats", "-max_alloc", strconv.Itoa(mostBlock), "-filter_threads", "1", "-threads", "1"}, args...),
			"-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1",
			// A live source's clock is the bus's business: time stamps neither fill nor drop.
			"-af", "asetpts=N/SR/TB", "-ac", strconv.Itoa(live.Channels), "-ar", strconv.Itoa(live.Rate),
			"-flush_packets", "1", "-f", "s16le", "pipe:1"),
	}
	complaint := &head{}
	spec.Stderr = complaint
	g, gctx := errgroup.WithContext(ctx)
	var feed *os.File
	if in == nil {
		spec.Args = append([]string{"-nostdin"}, spec.Args...)
	} else {
		// An operating-system pipe breaks when the decoder ends; waiting for the decoder does
		// not wait for audio that it has not read.
		var from *os.File
		if from, feed, err = os.Pipe(); err != nil {
			_ = write.Close()
			return fmt.Errorf("decode %s: %w", name, err)
		}
		spec.Stdin = from
	}
	var (
		fed   error
		whole bool        // the source ended first, by itself
		over  atomic.Bool // the decoder ended first: what the source says of it is our doing
		odd   error       // what the decoder complained of, and yet was content
		heard int64
	)
	if feed != nil {
		g.Go(func() error {
			defer feed.Close() //nolint:errcheck // the decoder sees the end
			err := pour(feed, in)
			switch {
			case over.Load():
			case errors.Is(err, io.EOF):
				whole = true
			default:
				fed = err
			}
			return nil
		})
	}
	g.Go(func() error {
		exit, err := proc.Run(gctx, spec, nil)
		_ = write.Close()
		if from, ok := spec.Stdin.(*os.File); ok {
			_ = from.Close()
		}
		if feed != nil {
			over.Store(true)
			_ = feed.SetWriteDeadline(time.Now()) // nobody reads any longer
			if c, ok := in.(interface{ Stop() }); ok {
				c.Stop()
			}
		}
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case gctx.Err() != nil:
			return context.Cause(gctx)
		case complaint.String() != "":
			err := fmt.Errorf("audio could not be read (%s): %s", exit, complaint)
			if exit.OK() {
				odd = err
			}
			return err
		}
		return io.EOF
	})
	g.Go(func() error {
		var err error
		heard, err = io.Copy(out, pcm)
		return err
	})
	err = g.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if fed != nil {
		return fed
	}
	// A form with an index or clusters never ends where a decoder likes it to.
	if odd != nil && whole && heard > 0 {
		return io.EOF
	}
	return err
}

// pour copies to the decoder: io.EOF once all of the source is, nil where the decoder ended
// before, another error where something is wrong with the source.
func pour(to io.Writer, from io.Reader) error {
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if _, failed := to.Write(buf[:n]); failed != nil {
				return nil //nolint:nilerr // the decoder has ended, and says why
			}
		}
		if err != nil {
			return err
		}
	}
}

// head keeps the beginning of what a program complains of.
type head struct{ b strings.Builder }

func (h *head) Write(p []byte) (int, error) {
	h.b.Write(p[:min(len(p), max(0, complaints-h.b.Len()))])
	return len(p), nil
}

// String is the first line, without what ffmpeg puts before its own names, and without
// what may be secret in addresses.
func (h *head) String() string {
	line, _, _ := strings.Cut(strings.TrimSpace(h.b.String()), "\n")
	if strings.HasPrefix(line, "[") {
		if _, rest, ok := strings.Cut(line, "] "); ok {
			line = rest
		}
	}
	return private(line)
}
