package front

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/retry"
)

// writes lists the routes whose bodies may carry an id of the client's own. Such a write
// counts once however often it arrives, so it waits while the control plane is away and is
// sent again, as those over sockets are.
var writes = []string{"POST /api/comments", "POST /api/reactions", "POST /api/requests", "POST /api/vibe"}

const (
	// mostWrite is the longest write that is held, in bytes. The control plane takes none
	// that is longer.
	mostWrite = 64 << 10
	// mostHeld bounds the writes that are held at once, and mostOfOne those of one address:
	// together they take no more memory than those of an edge's sockets. One more is sent
	// once, as if it had no id.
	mostHeld  = 4096
	mostOfOne = mostHeld / 4
	// mostAnswer is the longest answer to a write, in bytes.
	mostAnswer = 1 << 20
)

// errEnding says that this process ends.
var errEnding = errors.New("this server ends")

// again sends requests on, those with an id until they are answered.
type again struct {
	once http.RoundTripper
	ends <-chan struct{} // closed when this process ends; nil: never
	held client.Places
}

// RoundTrip implements http.RoundTripper.
func (a *again) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return a.once.RoundTrip(r)
	}
	start, err := io.ReadAll(io.LimitReader(r.Body, mostWrite+1))
	if err != nil {
		_ = r.Body.Close()
		return nil, err // of the client's; see faultOf
	}
	if len(start) <= mostWrite && client.Repeatable(start) {
		from := client.Address(r)
		if leave, err := a.held.Enter(mostHeld, client.Share{Name: from, Most: mostOfOne}, client.Share{Name: client.Wider(from), Most: mostOfOne}); err == nil {
			defer leave()
			defer r.Body.Close() //nolint:errcheck // has been read
			return a.hold(r, start)
		}
	}
	rest := r.Body
	passed := r.Clone(r.Context())
	passed.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), rest), rest}
	return a.once.RoundTrip(passed)
}

// hold sends a write until it is answered in whole.
func (a *again) hold(r *http.Request, body []byte) (answer *http.Response, err error) {
	ctx, end := context.WithCancelCause(r.Context())
	defer end(nil)
	ctx, cancel := context.WithTimeout(ctx, retry.Patience)
	defer cancel()
	if a.ends != nil {
		go func() {
			select {
			case <-a.ends:
				end(errEnding)
			case <-ctx.Done():
			}
		}()
	}
	err = retry.Answered(ctx, true, func(ctx context.Context) error {
		try := r.Clone(ctx)
		try.Body, try.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		got, err := a.once.RoundTrip(try)
		if err != nil {
			return err
		}
		defer got.Body.Close() //nolint:errcheck // only read
		whole, err := io.ReadAll(io.LimitReader(got.Body, mostAnswer+1))
		switch {
		case err != nil:
			return fmt.Errorf("read the answer: %w", err)
		case len(whole) > mostAnswer:
			return fmt.Errorf("the answer is longer than %d bytes", mostAnswer)
		}
		got.Body = io.NopCloser(bytes.NewReader(whole))
		answer = got
		return nil
	})
	return answer, err
}
