package input

import (
	"bytes"
	"context"
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

// Web is an HLS or Icecast address. ffmpeg resolves names, follows redirects and fetches
// segments by itself, so all it does goes through the doorway of kit/fetch: what a Client
// may not reach, it cannot reach, whatever a playlist says. It may open no file.
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
		return err
	}
	return w.Fetch.Doorway(ctx, math.MaxInt64, func(proxy string) error {
		found, err := w.look(ctx, proxy)
		if err != nil {
			return err
		}
		args := []string{"-protocol_whitelist", webProtocols, "-rw_timeout", stall, "-user_agent", w.Fetch.UserAgent()}
		to := out
		if found.hls {
			// Segments come in bursts: they are read as they play.
			args = append(args, "-re", "-live_start_index", "-2", "-probesize", "65536", "-analyzeduration", "1000000", "-f", "hls")
		} else {
			to = &measured{ctx: ctx, to: out, rate: rate.NewLimiter(bytesPerSecond*1.02, ahead)}
			args = append(args, "-probesize", "32768", "-analyzeduration", "500000")
			if found.demuxer != "" {
				args = append(args, "-f", found.demuxer)
			} else {
				args = append(args, "-format_whitelist", formats)
			}
		}
		// Both names: what is on loopback goes through the doorway, too.
		env := []string{"http_proxy=" + proxy, "https_proxy=" + proxy, "no_proxy="}
		return decode(ctx, "address", append(args, "-i", w.Address), env, nil, to)
	})
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
	hls     bool
	demuxer string // empty: ffmpeg has to find out, among formats
}

// lookWait bounds a look at an address.
const lookWait = 8 * time.Second

// look asks once for the beginning, by the same doorway.
func (w *Web) look(ctx context.Context, proxy string) (found, error) {
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	through, err := url.Parse(proxy)
	if err != nil {
		return found{}, err
	}
	transport := &http.Transport{Proxy: http.ProxyURL(through), DisableKeepAlives: true, DisableCompression: true}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Address, nil)
	if err != nil {
		return found{}, err
	}
	req.Header.Set("User-Agent", w.Fetch.UserAgent())
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return found{}, fmt.Errorf("open address: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // only its beginning is read
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
		return found{hls: true}, nil
	}
	demuxer, err := Demuxer(resp.Header.Get("Content-Type"))
	if err != nil {
		demuxer = ""
	}
	return found{demuxer: demuxer}, nil
}
