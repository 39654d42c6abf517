package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"time"
)

// Feed is the audio of a channel beside the main one, as one chained Ogg stream in
// real time: the main channel's audio, replaced by programmes while there are any.
// A listener hears the programme begin where the main channel was cut, and goes
// back to the live main channel when the programme ends. The listener's buffer
// stays equally full.
type Feed struct {
	// Main is the channel that is heard while there is no programme.
	Main *Fanout
	// Next begins the programme that is due now, as Ogg Vorbis that comes as fast
	// as it is read; nil when there is none.
	Next func(ctx context.Context) io.ReadCloser
	// Waiting receives when Next may have a programme.
	Waiting <-chan struct{}
}

var (
	errMainAway  = errors.New("main channel sends nothing")
	errNoVorbis  = errors.New("programme is not Ogg Vorbis")
	errProgramme = errors.New("programme ends within an Ogg page")
)

// Run is the Source of a Fanout. It ends with an error when there is nothing to
// send.
func (c *Feed) Run(ctx context.Context, write func([]byte)) error {
	for ctx.Err() == nil {
		if p := c.Next(ctx); p != nil {
			err := c.play(ctx, p, write)
			_ = p.Close()
			if err != nil && ctx.Err() == nil {
				c.Main.log.Warn("channel programme interrupted", "err", err)
			}
			continue
		}
		if err := c.relay(ctx, write); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// relay sends the main channel's pages until a programme may wait.
func (c *Feed) relay(ctx context.Context, write func([]byte)) error {
	at, mask, joined := c.Main.newest(), rand.Uint32(), false
	if at == nil {
		return errMainAway
	}
	for {
		switch {
		case joined:
			write(remade(at.data, mask))
		case at.joinable:
			joined = true
			write(remade(at.header, mask))
			write(remade(at.data, mask))
		}
		select {
		case <-at.more:
		case <-c.Waiting:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
		if at = at.next.Load(); at == nil {
			return errMainAway
		}
	}
}

// remade returns the pages with other serial numbers: a chain may not repeat one,
// and the main channel is joined again and again.
func remade(pages []byte, mask uint32) []byte {
	out := slices.Clone(pages)
	for rest := out; len(rest) > 0; {
		size, more := pageSize(rest)
		if size == 0 || more {
			break // cannot be: a framer emits whole pages only
		}
		p := page(rest[:size])
		binary.LittleEndian.PutUint32(p[14:], p.serial()^mask)
		binary.LittleEndian.PutUint32(p[22:], checksum(p))
		rest = rest[size:]
	}
	return out
}

// play sends a programme in real time.
func (c *Feed) play(ctx context.Context, audio io.Reader, write func([]byte)) error {
	t := timing{begin: time.Now()}
	var (
		parser pageParser
		ready  [][]byte
		mask   = rand.Uint32()
		buf    = make([]byte, 16<<10)
	)
	for {
		n, err := audio.Read(buf)
		parser.write(buf[:n], func(p page) { ready = append(ready, remade(p, mask)) })
		for _, p := range ready {
			due, ok := t.due(p)
			if !ok {
				return errNoVorbis
			}
			if wait(ctx, due) != nil {
				return ctx.Err()
			}
			write(p)
		}
		ready = ready[:0]
		switch {
		case errors.Is(err, io.EOF) && len(parser.buf) > 0:
			return errProgramme
		case errors.Is(err, io.EOF):
			return wait(ctx, t.end())
		case err != nil:
			return err
		}
	}
}

// timing computes when the next page is due.
type timing struct {
	begin time.Time
	rate  int64 // Hz; 0 before the first page
	last  int64 // granule position: samples until the end of the last page
}

func (t *timing) due(p page) (time.Time, bool) {
	if p.begins() {
		const head = "\x01vorbis"
		body := p.body()
		if len(body) < 16 || string(body[:len(head)]) != head {
			return time.Time{}, false
		}
		t.rate = int64(binary.LittleEndian.Uint32(body[12:]))
	}
	if t.rate <= 0 {
		return time.Time{}, false
	}
	due := t.end()
	if g := p.granule(); g > 0 {
		t.last = g
	}
	return due, true
}

// end returns when the last page has been heard.
func (t *timing) end() time.Time {
	if t.rate == 0 {
		return t.begin
	}
	return t.begin.Add(time.Duration(float64(t.last) / float64(t.rate) * float64(time.Second)))
}

func wait(ctx context.Context, until time.Time) error {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
