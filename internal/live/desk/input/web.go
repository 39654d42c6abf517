package input

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

// Web is an HLS or Icecast address. Everything is fetched here: what Fetch may not reach is
// not reached, whatever a playlist or a redirect says. ffmpeg gets a stream's audio by its
// standard input, and a playlist with what it leads to by a doorway on loopback. It may open
// no file, and no connection but to there.
type Web struct {
	Address string
	Fetch   *fetch.Client
}

const (
	// webProtocols are what ffmpeg may speak: with the doorway alone, which is its proxy, too,
	// and none for https. crypto decrypts segments.
	webProtocols = "http,tcp,crypto"
	// formats are the demuxers that an address may need.
	formats = "mpegts,aac,mp3,ogg,flac,wav,mov,matroska,webm"
	// webKeep is for how long a connection stays open for the next segment.
	webKeep = 30 * time.Second
)

// Run reads until the stream ends.
func (w *Web) Run(ctx context.Context, out io.Writer) error {
	client := w.Fetch.Keeping(webKeep)
	defer client.Close()
	err := w.run(ctx, client, out)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil || err == io.EOF: //nolint:errorlint // decode's own
		return err
	case errors.Is(err, io.EOF): // a server that hung up is no end of a stream
		return errors.New(private(err.Error()))
	}
	return hushed{err}
}

func (w *Web) run(ctx context.Context, client *fetch.Client, out io.Writer) error {
	var list []byte // nil: it is no playlist
	var from string
	looking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	pause := time.AfterFunc(lookWait, func() { stop(errStalled) })
	defer pause.Stop()
	err := client.Stream(looking, fetch.Request{URL: w.Address}, func(s fetch.Stream) (err error) {
		begin := make([]byte, 512)
		n, _ := io.ReadFull(s.Body, begin) // what is wrong recurs below
		all := io.MultiReader(bytes.NewReader(begin[:n]), s.Body)
		if from = s.URL; isPlaylist(s.Header.Get("Content-Type"), begin[:n]) {
			list, err = readList(all, from)
			return err
		}
		pause.Stop()
		in := &body{Reader: all, stop: stop, pause: time.AfterFunc(bodyIdle, func() { stop(errStalled) })}
		defer in.pause.Stop()
		return w.hear(ctx, s.Header.Get("Content-Type"), in, out)
	})
	if err != nil || list == nil {
		return err
	}
	return w.follow(ctx, client, from, list, out)
}

// hear decodes a stream.
func (w *Web) hear(ctx context.Context, contentType string, in *body, out io.Writer) error {
	args := []string{"-protocol_whitelist", "pipe", "-probesize", "32768", "-analyzeduration", "500000"}
	if demuxer, err := Demuxer(contentType); err == nil {
		args = append(args, "-f", demuxer)
	} else { // ffmpeg finds out
		args = append(args, "-format_whitelist", formats)
	}
	to := &measured{ctx: ctx, to: out, rate: rate.NewLimiter(bytesPerSecond*1.02, ahead)}
	return decode(ctx, "address", append(args, "-i", "pipe:0"), nil, in, to)
}

// follow decodes what a playlist leads to.
func (w *Web) follow(ctx context.Context, client *fetch.Client, from string, text []byte, out io.Writer) error {
	d, err := openDoorway(ctx, client)
	if err != nil {
		return err
	}
	defer d.Close()
	entrance, err := d.enter(w.Address, from, text)
	if err != nil {
		return err
	}
	list := listed(entrance, "protocol_whitelist", webProtocols, "format_whitelist", "hls,"+formats, "rw_timeout", stall,
		"live_start_index", "-2", "probesize", "65536", "analyzeduration", "1000000")
	// As its proxy the doorway is asked for all that ffmpeg might want elsewhere, and refuses.
	env := []string{"http_proxy=http://" + d.host, "no_proxy="}
	// Segments come in bursts: they are read as they play.
	err = decode(ctx, "address", listing(webProtocols, "-re"), env, strings.NewReader(list), out)
	if why := d.failure(); why != nil && ctx.Err() == nil {
		return why
	}
	return err
}

// ahead is what an address may send faster than it plays, in bytes: Icecast's burst on
// connecting. A file is read as it plays.
const ahead = 2 * bytesPerSecond

// measured takes audio as fast as it plays, and a little more.
type measured struct {
	ctx  context.Context //nolint:containedctx // that of the Run whose writer it is
	to   io.Writer
	rate *rate.Limiter
}

func (m *measured) Write(p []byte) (int, error) {
	if err := m.rate.WaitN(m.ctx, len(p)); err != nil {
		return 0, err
	}
	return m.to.Write(p)
}

const (
	// lookWait bounds a look at an address, bodyIdle the longest pause of its audio.
	lookWait = 8 * time.Second
	bodyIdle = 5 * time.Second
)

// body is what an address sends.
type body struct {
	io.Reader
	stop  context.CancelCauseFunc
	pause *time.Timer
}

// errStalled ends a stream from which nothing comes any more.
var errStalled = errors.New("nothing comes from the address any more")

// Read returns what comes; where that takes too long the request ends.
func (b *body) Read(p []byte) (int, error) {
	b.pause.Reset(bodyIdle)
	defer b.pause.Stop()
	return b.Reader.Read(p)
}

// Stop ends a Read under way, and all that follow.
func (b *body) Stop() { b.stop(io.EOF) }
