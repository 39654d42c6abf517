// Package resume takes files over connections that break: resumable uploads by the tus 1.0
// protocol, in one folder of its own. Each finished upload is handed on exactly once in
// effect, whatever is cut or killed, and its answer can be had again for a day.
//
// It does not look into what was sent, decide who may send, or keep what is finished:
// a Gate admits, a Taker takes, and both belong to its owner, as do the words of refusals.
// It knows no concatenation and no upload whose length is not known at its start, and
// nothing that was sent can be read back from it.
package resume

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/tus/tusd/v2/pkg/handler"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/file"
)

// Taker takes a finished upload for its own. It is called again with the same ID after a
// crash, and must then answer with the same Receipt. The file at Path may be gone by then:
// the call before the crash took it. No two calls with one ID run at once. An error is
// the sender's answer, and the upload waits for the next call.
type Taker interface {
	Take(ctx context.Context, u Finished) (Receipt, error)
}

// Gate judges an upload before its first byte: metadata, size, who. Its error is the
// sender's answer.
type Gate interface {
	Admit(ctx context.Context, meta map[string]string, size int64, from From) error
}

// Finished is an upload that is whole and on disk.
type Finished struct {
	ID   string // of A-Z, a-z and 0-9, and secret: who knows it reads the Receipt
	Path string // to be renamed, linked or copied away at once; what is left of it is removed
	Size int64
	Meta map[string]string // by Options.Keys; a key that was not sent is missing
	From From
}

// Receipt is what the sender needs of what became of the upload: headers of the answer to its
// last byte, by name, which are also those of every later answer.
type Receipt map[string]string

// From is who sends.
type From struct {
	Address string `json:"address,omitempty"` // as client.Address has it
	Device  string `json:"device,omitempty"`  // header X-Athir-Device, where it is a plain id
	Name    string `json:"name,omitempty"`    // as Options.Name has it
}

// Limits bound what others can make the station do. A field of zero takes its default.
type Limits struct {
	Size           int64         // bytes of one upload: 200 MiB
	Uploads        int           // unfinished ones, of all clients: 200
	Bytes          int64         // what those have announced: 8 GiB
	ClientUploads  int           // unfinished ones of an address; eight times as many of a /48: 10
	ClientBytes    int64         // what those have announced: 1 GiB
	Creations      int           // new ones at once of an address: 20
	CreationsEvery time.Duration // after which it may make one more: a minute
	Reserve        int64         // bytes of the disk that uploads leave free: 1 GiB
	Expire         time.Duration // since the last byte, after which an unfinished one is removed: a day
	Keep           time.Duration // for which a receipt can be had again: a day
	Yield          time.Duration // without a byte, after which one gives its place up where all are taken: 15 minutes
	Stall          time.Duration // in which less than 4 KiB arrive, after which a request is ended: 30 s
	Quiet          time.Duration // without a byte, after which a request gives way to a newer one: a second
	Patience       time.Duration // for which the newer one waits before it is answered 423: 3 s
}

// Defaults fills in the fields that are zero.
func (l Limits) Defaults() Limits {
	return Limits{
		Size: cmp.Or(l.Size, 200<<20), Uploads: cmp.Or(l.Uploads, 200), Bytes: cmp.Or(l.Bytes, 8<<30),
		ClientUploads: cmp.Or(l.ClientUploads, 10), ClientBytes: cmp.Or(l.ClientBytes, 1<<30),
		Creations: cmp.Or(l.Creations, 20), CreationsEvery: cmp.Or(l.CreationsEvery, time.Minute), Reserve: cmp.Or(l.Reserve, 1<<30),
		Expire: cmp.Or(l.Expire, 24*time.Hour), Keep: cmp.Or(l.Keep, 24*time.Hour), Yield: cmp.Or(l.Yield, 15*time.Minute),
		Stall: cmp.Or(l.Stall, 30*time.Second), Quiet: cmp.Or(l.Quiet, time.Second), Patience: cmp.Or(l.Patience, 3*time.Second),
	}
}

// Options are what an Uploads is made of. Dir, Base, Taker and Log are needed.
type Options struct {
	Dir      string // for nothing else
	Base     string // path where the handler is mounted, with a slash at its end
	Keys     []Key  // of Upload-Metadata; every other one is refused
	Taker    Taker
	Gate     Gate // nil admits everything within Limits
	Limits   Limits
	Refusals Refusals
	Log      *slog.Logger

	// Name says by which name a sender is logged in; nil: nobody is.
	Name func(r *http.Request) string
	// Earlier reads the receipt out of a record that an earlier version wrote, before a
	// receipt was a set of headers; nil: there was none.
	Earlier func(record []byte) Receipt

	// Problem answers with an error of a kind of station, of the Gate's or of the Taker's.
	// The default writes a short problem document.
	Problem func(w http.ResponseWriter, r *http.Request, err error)
	// Now and Space are the clock that uploads age by and the room of the disk of a folder:
	// time.Now and file.Space.
	Now   func() time.Time
	Space func(dir string) (free, size uint64, err error)
}

// Uploads is the handler of tus. Run must run beside it.
type Uploads struct {
	opts      Options
	limits    Limits
	keys      keys
	tus       http.Handler
	creations *client.Limits

	mu      sync.Mutex
	entries map[string]*entry
	closing bool // Run has ended: what is sent goes on after the restart
}

// Stats are figures for metrics.
type Stats struct {
	Unfinished int   // uploads that are not taken yet
	Bytes      int64 // of them on disk; those of a request under way are counted each 8 MiB
	Announced  int64 // bytes of them, once they are whole
	Receipts   int   // uploads that were taken and can be asked for
}

// Open reads what an earlier process left in Options.Dir, and removes what is torn or
// too old.
func Open(opts Options) (*Uploads, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Space == nil {
		opts.Space = file.Space
	}
	if opts.Problem == nil {
		opts.Problem = writeProblem
	}
	opts.Refusals = opts.Refusals.defaults()
	u := &Uploads{opts: opts, limits: opts.Limits.Defaults(), keys: newKeys(opts.Keys), entries: map[string]*entry{}}
	u.creations = client.NewLimits(u.limits.Creations, u.limits.CreationsEvery, opts.Now)
	tus, err := handler.NewHandler(u.protocol())
	if err != nil {
		return nil, fmt.Errorf("set up tus: %w", err)
	}
	u.tus = tus
	if err := u.load(); err != nil {
		return nil, fmt.Errorf("read the folder of uploads: %w", err)
	}
	return u, nil
}

// Stats counts.
func (u *Uploads) Stats() Stats {
	u.mu.Lock()
	defer u.mu.Unlock()
	var s Stats
	for _, e := range u.entries {
		if e.taken() {
			s.Receipts++
			continue
		}
		s.Unfinished++
		s.Bytes += e.offset
		s.Announced += e.Size
	}
	return s
}

// sweepEvery is the time between two sweeps.
const sweepEvery = time.Minute

// Run sweeps until ctx ends, and then ends the requests that are under way: their offsets
// are kept. What became whole while nobody could take it is taken here, so that this does
// not depend on its sender's coming back.
func (u *Uploads) Run(ctx context.Context) error {
	ticks := time.NewTicker(sweepEvery)
	defer ticks.Stop()
	for {
		u.sweep(ctx)
		select {
		case <-ctx.Done():
			u.interruptAll()
			return nil
		case <-ticks.C:
		}
	}
}

// mostReceipts bounds how many are remembered; the oldest are forgotten first.
const mostReceipts = 4096

func (u *Uploads) sweep(ctx context.Context) {
	now := u.opts.Now()
	for _, e := range u.outdated(now) {
		if e.whole() && !e.taken() {
			u.opts.Log.Warn("a whole upload was never taken and is removed", "size", e.Size, "address", e.From.Address)
		}
		u.erase(e.ID)
	}
	for h := u.nextUntaken(now); h != nil && ctx.Err() == nil; h = u.nextUntaken(now) {
		err := u.finish(ctx, h)
		h.release()
		if err != nil {
			u.opts.Log.Warn("cannot hand on a finished upload; trying again", "err", err, "size", h.entry.Size)
		}
	}
}

// outdated takes what has expired, and receipts beyond mostReceipts, out of the entries.
func (u *Uploads) outdated(now time.Time) (gone []*entry) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var receipts []*entry
	for _, e := range u.entries {
		switch {
		case e.holder != nil:
		case u.expired(e, now):
			gone = append(gone, e)
		case e.taken():
			receipts = append(receipts, e)
		}
	}
	gone = append(gone, oldest(receipts, len(receipts)-mostReceipts)...)
	for _, e := range gone {
		delete(u.entries, e.ID)
	}
	return gone
}

// nextUntaken holds one that is whole and due for another try.
func (u *Uploads) nextUntaken(now time.Time) *hold {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range u.entries {
		if e.holder == nil && e.whole() && !e.taken() && !now.Before(e.tryAt) {
			return u.holdLocked(e, nil)
		}
	}
	return nil
}

// interruptAll ends what is being sent, now and later.
func (u *Uploads) interruptAll() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closing = true
	for _, e := range u.entries {
		if e.holder != nil {
			e.holder.feed.end(errClosing)
		}
	}
}
