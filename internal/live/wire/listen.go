package wire

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// pieceEvery is the pause between two questions for audio. The desk answers at once: it
	// takes few questions at a time, and must not hold one that waits for a silent source.
	pieceEvery = 120 * time.Millisecond
	// mostPiece bounds one piece, in bytes: the desk sends a second at most.
	mostPiece = 256 << 10
)

// Listen asks for a source's input as WAV, for as long as the caller reads; it closes the
// body. Errors: station.ErrNotFound, station.ErrUnavailable.
func (d Desk) Listen(ctx context.Context, src live.Source) (*http.Response, error) {
	q := url.Values{"url": {src.URL}}
	if !d.Pieces {
		return d.listen(ctx, src.ID, q)
	}
	q.Set("ear", rand.Text())
	first, err := d.piece(ctx, src.ID, q)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"audio/wav"}}, ContentLength: -1,
		Body: &listening{ctx: ctx, now: first, next: func() ([]byte, error) { return d.piece(ctx, src.ID, q) }},
	}, nil
}

func (d Desk) listen(ctx context.Context, id string, q url.Values) (*http.Response, error) {
	address := "http://node/sources/" + url.PathEscape(id) + "/listen?" + q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := d.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("listen to source: %w: %w", err, station.ErrUnavailable)
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, longestReason))
		_ = resp.Body.Close()
		return nil, refusal(resp.StatusCode, text)
	}
	return resp, nil
}

func (d Desk) piece(ctx context.Context, id string, q url.Values) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	resp, err := d.listen(ctx, id, q)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(resp.Body, mostPiece))
}

// wavHead is the length of the header that the desk sends, in bytes.
const wavHead = 44

// listening is audio without an end that comes in pieces. A desk that was restarted, or has
// forgotten an ear that was slow, begins with another header. Read as samples that would be a
// click near full scale in a headphone, so the first alone is passed on.
type listening struct {
	ctx  context.Context //nolint:containedctx // of the request that the body belongs to
	now  []byte
	next func() ([]byte, error)
}

func (l *listening) Read(p []byte) (int, error) {
	for len(l.now) == 0 {
		if err := retry.Pause(l.ctx, pieceEvery); err != nil {
			return 0, err
		}
		var err error
		if l.now, err = l.next(); err != nil {
			return 0, err
		}
		if bytes.HasPrefix(l.now, []byte("RIFF")) && len(l.now) >= wavHead {
			l.now = l.now[wavHead:]
		}
	}
	n := copy(p, l.now)
	l.now = l.now[n:]
	return n, nil
}

func (l *listening) Close() error { return nil }
