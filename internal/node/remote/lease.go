package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/station"
)

// A station has one broadcast node. It holds a lease that the control plane grants and
// that it renews; another node with the right credentials is refused, and named. A node
// stops obeying before the control plane may give its lease to another, so that no order
// is carried out twice and no track that another machine plays moves the cursor.
//
// Its id must not be one that a copy of its disk has too: the lease tells nodes apart by
// nothing else. Nothing is given back at the end: a node that is restarted has the station
// again at once, also where a second one waits for it.

// subjectLease is where nodes ask the control plane for the station.
const subjectLease = "athir.node.lease"

// terms are the times of a lease.
type terms struct {
	granted time.Duration // the control plane gives the station to no other node for so long
	held    time.Duration // the node obeys for so long after it asked; shorter than granted
	renew   time.Duration // between two questions of the node
}

func usualTerms() terms {
	return terms{granted: 15 * time.Second, held: 10 * time.Second, renew: 3 * time.Second}
}

type leaseAsk struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type leaseAnswer struct {
	Granted bool   `json:"granted"`
	Holder  string `json:"holder"` // its name
	// Left is, for a node that is refused, how long the holder still has the station if
	// it does not ask again.
	Left time.Duration `json:"left,omitempty"`
}

// Lease is the control plane's side: which node has the station. It keeps that in a
// file, so that a restart of the control plane gives the station to no other node.
type Lease struct {
	log   *slog.Logger
	path  string
	terms terms
	now   func() time.Time

	mu     sync.Mutex
	holder leaseAsk
	until  time.Time
	asked  time.Time            // by the holder, of this process; zero: not yet
	warned map[string]time.Time // by id of refused nodes
}

// warnEvery is the least time between two log lines about one refused node.
const warnEvery = time.Minute

// mostWarned bounds how many refused nodes are remembered.
const mostWarned = 64

// openLease reads who had the station last; that node has the first term to itself.
func openLease(log *slog.Logger, path string, t terms) *Lease {
	l := &Lease{log: log, path: path, terms: t, now: time.Now, warned: map[string]time.Time{}}
	text, err := os.ReadFile(path) //nolint:gosec // our own file
	if err == nil {
		err = json.Unmarshal(text, &l.holder)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("cannot read which node has the station: the first that asks gets it", "file", path, "err", err)
		l.holder = leaseAsk{}
	}
	if l.holder.ID != "" {
		l.until = l.now().Add(t.granted)
	}
	return l
}

// ask grants the station to a node, or names the one that has it.
func (l *Lease) ask(_ context.Context, in leaseAsk) (leaseAnswer, error) {
	if in.ID == "" {
		return leaseAnswer{}, fmt.Errorf("lease: the node has no id: %w", station.ErrInvalid)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.holder.ID != in.ID && now.Before(l.until) {
		if now.Sub(l.warned[in.ID]) >= warnEvery {
			if len(l.warned) >= mostWarned {
				clear(l.warned)
			}
			l.warned[in.ID] = now
			l.log.Warn("a second node asks for the station and is refused: stop one of the two", "node", in.Name, "holder", l.holder.Name)
		}
		return leaseAnswer{Holder: l.holder.Name, Left: l.until.Sub(now)}, nil
	}
	if l.holder != in {
		l.log.Info("broadcast node has the station", "node", in.Name, "before", l.holder.Name)
		text, _ := json.Marshal(in) // two texts
		if err := file.WriteAtomic(l.path, text, 0o600); err != nil {
			l.log.Warn("cannot keep which node has the station", "err", err)
		}
	}
	l.holder, l.until, l.asked = in, now.Add(l.terms.granted), now
	delete(l.warned, in.ID)
	return leaseAnswer{Granted: true, Holder: in.Name}, nil
}

// Admit returns nil for the node that has the station, station.ErrConflict for another
// one, and station.ErrUnavailable while that is not decided.
func (l *Lease) Admit(node string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	switch {
	case node != "" && node == l.holder.ID:
		return nil
	case l.holder.ID == "" || !now.Before(l.until):
		return fmt.Errorf("no node has the station yet: %w", station.ErrUnavailable)
	case l.asked.IsZero() || now.Sub(l.asked) > 2*l.terms.renew:
		// It may never ask again, as after a reboot, which changes the id of a node.
		return fmt.Errorf("the node that has the station, %s, does not ask for it: %w", l.holder.Name, station.ErrUnavailable)
	}
	return fmt.Errorf("another node has the station, %s: %w", l.holder.Name, station.ErrConflict)
}

// serve answers nodes until ctx ends.
func (l *Lease) serve(ctx context.Context, b *bus.Bus) error {
	return b.Serve(ctx, subjectLease, 1, bus.Answering(l.ask))
}

// tenant is the node's side of the lease.
type tenant struct {
	log   *slog.Logger
	bus   *bus.Bus
	me    leaseAsk
	terms terms

	told string // the holder that was logged last
}

// request asks once. until is when the node must stop obeying if it is not granted again.
func (t *tenant) request(ctx context.Context) (got leaseAnswer, until time.Time, err error) {
	asked := time.Now()
	got, err = bus.Call[leaseAnswer](ctx, t.bus, subjectLease, t.terms.renew, t.me)
	if err != nil {
		return leaseAnswer{}, time.Time{}, err
	}
	switch {
	case !got.Granted && got.Holder == t.me.Name && got.Holder != t.told:
		t.log.Info("the station is still kept for this node as it was before a reboot", "lease_ends_in", got.Left.Round(time.Millisecond))
		t.told = got.Holder
	case !got.Granted && got.Holder != t.told:
		t.log.Error("another node has the station, this one takes no orders: stop one of the two",
			"holder", got.Holder, "node", t.me.Name, "lease_ends_in", got.Left.Round(time.Millisecond))
		t.told = got.Holder
	case got.Granted && t.told != "":
		t.log.Info("this node has the station now", "node", t.me.Name)
		t.told = ""
	}
	return got, asked.Add(t.terms.held), nil
}

// acquire returns once the node has the station; false when ctx ended first.
func (t *tenant) acquire(ctx context.Context) (until time.Time, ok bool) {
	for {
		got, until, err := t.request(ctx)
		if got.Granted {
			return until, true
		}
		if retry.Pause(ctx, t.pause(got, err)) != nil {
			return time.Time{}, false
		}
	}
}

// pause is how long a node without the station waits before it asks again.
func (t *tenant) pause(got leaseAnswer, err error) time.Duration {
	switch {
	case err != nil:
		return t.terms.renew / 3 // the control plane may be starting
	case got.Left > 0:
		return min(t.terms.renew, got.Left) // no node waits longer than the term
	}
	return t.terms.renew
}

// keep renews the lease; it returns when the node has it no more, or ctx ends.
func (t *tenant) keep(ctx context.Context, until time.Time) {
	for retry.Pause(ctx, min(t.terms.renew, max(0, time.Until(until)))) == nil {
		got, later, err := t.request(ctx)
		switch {
		case got.Granted:
			until = later
		case err == nil, !time.Now().Before(until):
			return
		}
	}
}
