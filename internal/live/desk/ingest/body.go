package ingest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http/httputil"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// headWait is how long a request's head may take, idleWait the longest pause of audio.
	headWait = 10 * time.Second
	idleWait = 10 * time.Second
	// bodyRate is what an encoder may send on average, in bytes a second: twice uncompressed
	// audio. Beyond that it is read more slowly.
	bodyRate  = 400 << 10
	bodyBurst = 4 << 20
)

// body is an encoder's audio.
type body struct {
	conn net.Conn
	from io.Reader
	rate *rate.Limiter
	ctx  context.Context //nolint:containedctx // that of the connection

	mu    sync.Mutex
	last  time.Time // when something last came
	close bool
}

func newBody(ctx context.Context, conn net.Conn, in *bufio.Reader, r *request) *body {
	b := &body{conn: conn, from: in, rate: rate.NewLimiter(bodyRate, bodyBurst), ctx: ctx, last: time.Now()}
	if r.chunked {
		b.from = httputil.NewChunkedReader(in)
	}
	return b
}

// Read returns what comes; a sender that is silent for idleWait is cut off.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	if b.close {
		b.mu.Unlock()
		return 0, net.ErrClosed
	}
	_ = b.conn.SetReadDeadline(time.Now().Add(idleWait))
	b.mu.Unlock()
	n, err := b.from.Read(p)
	b.mu.Lock()
	if n > 0 {
		b.last = time.Now()
	}
	if b.close { // Stop ended it
		err = net.ErrClosed
	}
	b.mu.Unlock()
	if n > 0 {
		if wait := b.rate.WaitN(b.ctx, min(n, bodyBurst)); wait != nil {
			return 0, wait
		}
	}
	return n, err
}

// Stop ends a Read under way, and all that follow.
func (b *body) Stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.close = true
	_ = b.conn.SetReadDeadline(time.Now())
}

// silent is for how long nothing has come.
func (b *body) silent() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Since(b.last)
}
