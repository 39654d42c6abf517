// Package input brings the audio of one live source in, as the bus takes it: signed 16 bit
// little endian, 48,000 Hz, stereo. There is one kind for each scheme of a stream's
// address: a FIFO of PCM, an encoder's push, RTMP, and HLS or Icecast addresses.
//
// Every Run returns when the source is over or its context ends, and leaves no child, open
// file or goroutine behind. Nothing here tries again, or knows of the air.
package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// Input is a source that is opened from here.
type Input interface {
	// Run writes the source's PCM to out until it is over; the error says why. It is
	// ctx's own error where that ended.
	Run(ctx context.Context, out io.Writer) error
}

// Options say what addresses may be opened.
type Options struct {
	// Fetch reaches http and https addresses; what it refuses is refused.
	Fetch *fetch.Client
	// RTMPOwn is where the addresses of this machine's own ingest begin, as in
	// "rtmp://127.0.0.1:19350/": they are opened without asking Fetch.
	RTMPOwn string
	// RTMPPlay is where that ingest is played, host:port; the same place when empty. The
	// ingest may stand behind a door that lets nobody play.
	RTMPPlay string
}

// New returns the input for an address. Errors: station.ErrInvalid for a scheme that is not
// opened from here, or an address that is malformed.
func New(address string, o Options) (Input, error) {
	if path, ok := strings.CutPrefix(address, live.PipeScheme); ok {
		return &Pipe{Path: path}, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("url: %.80q is not an address: %w", address, station.ErrInvalid)
	}
	switch u.Scheme {
	case "http", "https":
		return &Web{Address: address, Fetch: o.Fetch}, nil
	case "rtmp":
		own := o.RTMPOwn != "" && strings.HasPrefix(address, strings.TrimSuffix(o.RTMPOwn, "/")+"/")
		if own && o.RTMPPlay != "" {
			u.Host = o.RTMPPlay
		}
		return &RTMP{Address: u, Own: own, Fetch: o.Fetch}, nil
	}
	return nil, fmt.Errorf("url: %.20q is no scheme of a live source: use pipe:, rtmp://, http:// or https://: %w", u.Scheme, station.ErrInvalid)
}

// ErrTooFast says that audio came much faster than it plays: a file, not a live source.
var ErrTooFast = errors.New("audio comes faster than it plays: let the encoder send in real time (ffmpeg: -re)")
