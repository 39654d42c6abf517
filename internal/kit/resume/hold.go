package resume

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

var (
	errBusy    = errors.New("another request goes on with this upload: try again") // 423
	errClosing = fmt.Errorf("the station is restarting: go on from the offset in a moment: %w", station.ErrUnavailable)
	errStalled = fmt.Errorf("too little arrives: go on from the offset: %w", station.ErrUnavailable)
	errNone    = fmt.Errorf("upload: %w", station.ErrNotFound)
)

// hold is one request's turn at an upload: no two change it at once. A phone that has
// changed its network comes back while the old connection still looks open, so a newer
// request ends an older one whose body has brought nothing for Limits.Quiet; to one that
// goes on it gives way. Bytes that have arrived are kept either way.
type hold struct {
	uploads *Uploads
	entry   *entry
	feed    *feed // nil: it has no body
	done    chan struct{}
}

// hold waits for the turn at an upload. It returns errNone where there is no such upload,
// and errBusy where another request goes on with it.
func (u *Uploads) hold(ctx context.Context, id string, f *feed) (*hold, error) {
	late := time.NewTimer(u.limits.Patience)
	defer late.Stop()
	for {
		u.mu.Lock()
		e := u.entries[id]
		switch {
		case e == nil || u.expired(e, u.opts.Now()):
			u.mu.Unlock()
			return nil, errNone
		case u.closing:
			u.mu.Unlock()
			return nil, errClosing
		case e.holder == nil:
			h := u.holdLocked(e, f)
			u.mu.Unlock()
			return h, nil
		}
		before := e.holder
		u.mu.Unlock()
		again := time.NewTimer(before.feed.giveWay(u.limits.Quiet))
		select {
		case <-before.done:
		case <-again.C:
		case <-late.C:
			again.Stop()
			return nil, errBusy
		case <-ctx.Done():
			again.Stop()
			return nil, ctx.Err()
		}
		again.Stop()
	}
}

func (u *Uploads) holdLocked(e *entry, f *feed) *hold {
	e.holder = &hold{u, e, f, make(chan struct{})}
	return e.holder
}

func (h *hold) release() {
	h.uploads.mu.Lock()
	gone := h.entry.yields && !h.entry.whole()
	h.entry.holder, h.entry.yields = nil, false
	if gone {
		delete(h.uploads.entries, h.entry.ID)
	}
	h.uploads.mu.Unlock()
	if gone {
		h.uploads.erase(h.entry.ID)
	}
	close(h.done)
}

// feed is a request's body that can be ended from outside, and ends by itself when it
// brings next to nothing. The library sets the deadline of each single read.
type feed struct {
	body  io.ReadCloser
	conn  *http.ResponseController
	stall time.Duration

	mu     sync.Mutex
	last   time.Time // of a byte
	over   bool      // nothing is read any more
	reason error     // why it was ended

	since  time.Time // in which arrived bytes are counted
	amount int
}

// LeastPerStall is what must arrive within Limits.Stall: a byte now and then holds a
// place as long as none.
const LeastPerStall = 4 << 10

func newFeed(w http.ResponseWriter, body io.ReadCloser, stall time.Duration) *feed {
	now := time.Now()
	return &feed{body: body, conn: http.NewResponseController(w), stall: stall, last: now, since: now}
}

// giveWay ends a feed that has brought nothing for quiet, or returns how long it may still
// do so. A nil feed, and one that is over, belongs to a request that ends by itself.
func (f *feed) giveWay(quiet time.Duration) (wait time.Duration) {
	if f == nil {
		return quiet
	}
	f.mu.Lock()
	silent := time.Since(f.last)
	f.mu.Unlock()
	if silent < quiet {
		return quiet - silent
	}
	f.end(errBusy)
	return quiet
}

// end makes the read that is under way, and all later ones, return the reason.
func (f *feed) end(reason error) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over || f.reason != nil {
		return
	}
	// First the reason: the library moves the deadline before each read, and Read looks
	// for a reason after that.
	f.reason = reason
	_ = f.conn.SetReadDeadline(time.Unix(1, 0))
}

func (f *feed) why() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reason
}

// Read implements io.Reader.
func (f *feed) Read(p []byte) (int, error) {
	if err := f.why(); err != nil {
		return 0, err
	}
	n, err := f.body.Read(p)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if n > 0 {
		f.last = now
	}
	if f.amount += n; f.amount >= LeastPerStall {
		f.since, f.amount = now, 0
	}
	switch {
	case errors.Is(err, io.EOF):
		f.over = true
	case f.reason != nil:
		err = f.reason
	case err != nil:
		f.over = true
	case now.Sub(f.since) > f.stall:
		f.reason, err = errStalled, errStalled
	}
	return n, err
}

// Close implements io.Closer.
func (f *feed) Close() error { return f.body.Close() }
