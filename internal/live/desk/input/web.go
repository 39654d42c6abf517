package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

// Web is an HLS or Icecast address. A stream is fetched here, a playlist by ffmpeg. That
// resolves names, follows redirects and fetches segments by itself, so all it does goes
// through the doorway of kit/fetch: what a Client may not reach, it cannot reach, whatever a
// playlist says. It may open no file.
type Web struct {
	Address string
	Fetch   *fetch.Client
}

// webProtocols are what ffmpeg may speak, the proxy's tunnel and encrypted HLS included.
const webProtocols = "http,https,tls,tcp,httpproxy,crypto"

// formats are the demuxers that an address may need.
const formats = "hls,mpegts,aac,mp3,ogg,flac,wav,mov,matroska,webm"

// Run reads until the stream ends.
func (w *Web) Run(ctx context.Context, out io.Writer) error {
	if _, err := w.Fetch.Check(w.Address); err != nil {
		return hushed{err}
	}
	err := w.Fetch.Doorway(ctx, math.MaxInt64, func(proxy string) error { return w.through(ctx, proxy, out) })
	if err == nil || errors.Is(err, io.EOF) || ctx.Err() != nil {
		return err
	}
	return hushed{err}
}

func (w *Web) through(ctx context.Context, proxy string, out io.Writer) error {
	found, err := w.look(ctx, proxy)
	if err != nil {
		return err
	}
	if found.body != nil {
		defer found.body.Stop()
		args := []string{"-protocol_whitelist", "pipe", "-probesize", "32768", "-analyzeduration", "500000"}
		if found.demuxer != "" {
			args = append(args, "-f", found.demuxer)
		} else {
			args = append(args, "-format_whitelist", formats)
		}
		to := &measured{ctx: ctx, to: out, rate: rate.NewLimiter(bytesPerSecond*1.02, ahead)}
		return decode(ctx, "address", append(args, "-i", "pipe:0"), nil, found.body, to)
	}
	list := listed(w.Address, "protocol_whitelist", webProtocols, "format_whitelist", formats, "rw_timeout", stall,
		"user_agent", w.Fetch.UserAgent(), "live_start_index", "-2", "probesize", "65536", "analyzeduration", "1000000")
	// Both names: what is on loopback goes through the doorway, too.
	env := []string{"http_proxy=" + proxy, "https_proxy=" + proxy, "no_proxy="}
	// Segments come in bursts: they are read as they play.
	return decode(ctx, "address", listing(webProtocols, "-re"), env, strings.NewReader(list), out)
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

// found is what an address has turned out to be.
type found struct {
	body    *body  // a stream's audio; nil: it is a playlist, which ffmpeg has to follow
	demuxer string // of the body; empty: ffmpeg has to find out, among formats
}

const (
	// lookWait bounds a look at an address, bodyIdle the longest pause of its audio.
	lookWait = 8 * time.Second
	bodyIdle = 5 * time.Second
)

// body is what an address sends: its beginning, which has been looked at, and the rest.
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

// look asks for the address, by the same doorway.
func (w *Web) look(ctx context.Context, proxy string) (out found, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	pause := time.AfterFunc(lookWait, func() { stop(errStalled) })
	defer func() {
		pause.Stop()
		if out.body == nil {
			stop(nil)
		}
	}()
	through, err := url.Parse(proxy)
	if err != nil {
		return found{}, err
	}
	transport := &http.Transport{Proxy: http.ProxyURL(through), DisableKeepAlives: true, DisableCompression: true}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Address, nil)
	if err != nil {
		return found{}, err
	}
	req.Header.Set("User-Agent", w.Fetch.UserAgent())
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return found{}, fmt.Errorf("open address: %w", err)
	}
	defer func() {
		if out.body == nil {
			_ = resp.Body.Close()
		}
	}()
	begin := make([]byte, 512)
	n, _ := io.ReadFull(resp.Body, begin)
	if resp.StatusCode != http.StatusOK {
		said := strings.TrimSpace(string(begin[:n]))
		if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusBadGateway {
			said = ""
		}
		return found{}, fmt.Errorf("open address: it answers %s %.200s", resp.Status, said)
	}
	if bytes.HasPrefix(bytes.TrimLeft(begin[:n], "\ufeff \r\n"), []byte("#EXTM3U")) {
		return found{}, nil
	}
	out.demuxer, _ = Demuxer(resp.Header.Get("Content-Type")) // none: ffmpeg finds out
	out.body = &body{stop: stop, pause: time.AfterFunc(bodyIdle, func() { stop(errStalled) })}
	out.body.Reader = &ending{io.MultiReader(bytes.NewReader(begin[:n]), resp.Body), resp.Body, ctx}
	return out, nil
}

// ending closes a body at its end, and says why it was cut.
type ending struct {
	io.Reader
	body io.Closer
	ctx  context.Context //nolint:containedctx // that of the request whose body it is
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil {
		_ = e.body.Close()
		if cause := context.Cause(e.ctx); cause != nil {
			err = cause
		}
	}
	return n, err
}
