package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/station"
)

// One broadcast node of a station has the air. It holds a lease that the control plane
// grants and that it renews; another node with the right credentials is the spare, where
// the settings name its address, or is refused, and named. A node stops obeying before the
// control plane may give its lease to another, so that no order is carried out twice and
// no track that another machine plays moves the cursor.
//
// Each grant to another node has a higher fence. Orders go to subjects that hold it, and
// markers bring it along: what a node does that has slept through its end counts for
// nothing. And since a node that does not ask may still be heard, the spare gets the air
// only where neither it nor the control plane sees the first one's streaming server.
//
// A node's id must not be one that a copy of its disk has too: the lease tells nodes apart
// by nothing else. Nothing is given back at the end: a node that is restarted has the
// station again at once, also where a second one waits for it.

// subjectLease is where nodes ask the control plane for the station.
const subjectLease = "athir.node.lease"

// terms are the times of a lease.
type terms struct {
	granted time.Duration // the control plane gives the station to no other node for so long
	held    time.Duration // the node obeys for so long after it asked; shorter than granted
	renew   time.Duration // between two questions of the node
	blind   time.Duration // nobody sees the holder for so long, before the spare gets the air
}

func usualTerms() terms {
	return terms{granted: 15 * time.Second, held: 10 * time.Second, renew: 3 * time.Second, blind: 2 * time.Second}
}

// spareTerms are those of a station that has a spare: it is to be heard within 5 s.
func spareTerms() terms {
	return terms{granted: 3300 * time.Millisecond, held: 2500 * time.Millisecond, renew: 500 * time.Millisecond, blind: 2 * time.Second}
}

type leaseAsk struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Host is which of the addresses in the control plane's settings is its own; empty: the
	// first.
	Host string `json:"host,omitempty"`
	// Fences: it takes orders that hold a fence. One of a version before takes any.
	Fences bool `json:"fences,omitempty"`
	// Next is the number that the relay of the node with the air gives its next segment; 0:
	// it has not said.
	Next int `json:"next,omitempty"`
	// Known is the highest fence that it was ever told: the file of a control plane that was
	// lost, or put back from a backup, has a lower one.
	Known uint64 `json:"known,omitempty"`
	// Sight is, from a spare, what it sees of the node that has the station.
	Sight sight `json:"sight,omitzero"`
}

type leaseAnswer struct {
	Granted bool   `json:"granted"`
	Holder  string `json:"holder"` // its name
	// Left is, for a node that is refused, how long the holder still has the station if
	// it does not ask again.
	Left time.Duration `json:"left,omitempty"`
	// Spare: it does not have the station, and is the one that will have it next.
	Spare bool   `json:"spare,omitempty"`
	Fence uint64 `json:"fence,omitempty"` // of the holder; 0 from an older control plane
	Host  string `json:"host,omitempty"`  // where the holder is, for a spare to look at
	// Floor is above the numbers of all segments that were on the air before this grant.
	Floor int `json:"floor,omitempty"`
	// Other is where the other node is; empty: the settings name none.
	Other string `json:"other,omitempty"`
	// Held and Renew are the times of the lease; 0: the usual.
	Held  time.Duration `json:"held,omitempty"`
	Renew time.Duration `json:"renew,omitempty"`
}

// tenancy is a node that has the station, as the file keeps it.
type tenancy struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Host   string `json:"host,omitempty"`
	Fence  uint64 `json:"fence,omitempty"`
	Fences bool   `json:"fences,omitempty"`
	Floor  int    `json:"floor,omitempty"`
}

// waiting is the node that stands by.
type waiting struct {
	tenancy
	asked time.Time
	seen  sight // of the holder
}

// Places are the addresses at which the settings allow a node.
type Places struct {
	Host  string // the node's
	Spare string // the spare's; empty: there is none
}

// Lease is the control plane's side: which node has the station. It keeps that in a
// file, so that a restart of the control plane gives the station to no other node.
type Lease struct {
	log    *slog.Logger
	path   string
	terms  terms
	places Places
	now    func() time.Time
	look   *lookout // at the holder
	// changes signals each change of the holder.
	changes signal.Changes

	mu     sync.Mutex
	holder tenancy
	spare  waiting
	until  time.Time            // no other node has the station before
	asked  time.Time            // by the holder, of this process; zero: not yet
	known  uint64               // the highest fence that a node told
	next   int                  // the highest number of a segment that a holder told
	took   Takeover             // the last
	warned map[string]time.Time // by id of refused nodes
}

// Takeover is when the spare took the air, and why.
type Takeover struct {
	At       time.Time
	From, To string // names of the nodes
	Why      string
}

// warnEvery is the least time between two log lines about one refused node.
const warnEvery = time.Minute

// segmentsUntold is more than a relay makes between two tellings of its next number.
const segmentsUntold = 8

// mostWarned bounds how many refused nodes are remembered.
const mostWarned = 64

// openLease reads who had the station last; that node has the first term to itself. see
// returns nil where the streaming server of the node at a host answers.
func openLease(log *slog.Logger, path string, t terms, places Places, see func(ctx context.Context, host string) error) *Lease {
	l := &Lease{log: log, path: path, terms: t, places: places, now: time.Now, look: &lookout{see: see}, warned: map[string]time.Time{}}
	var err error
	if l.holder, err = readHolder(path); err != nil {
		log.Warn("cannot read which node has the station: the first that asks gets it", "file", path, "err", err)
	}
	if l.holder.ID != "" || places.Spare != "" {
		l.until = l.now().Add(max(t.granted, usualTerms().granted))
	}
	l.look.at(l.holder.Fence, l.places.hostOf(l.holder))
	return l
}

// readHolder returns nobody where there is no file, or no use in it.
func readHolder(path string) (h tenancy, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // our own file
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil {
		return tenancy{}, err
	}
	return h, nil
}

// hostOf is where a node is: the settings may have changed since the file was written.
func (p Places) hostOf(t tenancy) string {
	if p.Spare != "" && t.Host == p.Spare {
		return p.Spare
	}
	return p.Host
}

// other is the place that is not this one; empty: there is none.
func (p Places) other(host string) string {
	switch {
	case p.Spare == "":
		return ""
	case host == p.Spare:
		return p.Host
	}
	return p.Spare
}

// LastHost is where the node was that had the station last, by the file that says so.
func (p Places) LastHost(path string) string {
	h, _ := readHolder(path) // openLease tells of it
	return p.hostOf(h)
}

// ask grants the station to a node, or names the one that has it.
func (l *Lease) ask(_ context.Context, in leaseAsk) (leaseAnswer, error) {
	if in.ID == "" {
		return leaseAnswer{}, fmt.Errorf("lease: the node has no id: %w", station.ErrInvalid)
	}
	asker := tenancy{ID: in.ID, Name: in.Name, Host: l.places.Host, Fences: in.Fences}
	if l.places.Spare != "" && in.Host != "" {
		if asker.Host = in.Host; in.Host != l.places.Host && in.Host != l.places.Spare {
			return leaseAnswer{}, fmt.Errorf("node.host of the node is %q, and the control plane knows %s and %s (its node.host and node.spare): %w",
				in.Host, l.places.Host, l.places.Spare, station.ErrInvalid)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	out := leaseAnswer{Held: l.terms.held, Renew: l.terms.renew, Other: l.places.other(asker.Host)}
	l.known = max(l.known, in.Known)
	if l.holder.ID != in.ID && !l.free(asker, in.Sight, now) {
		out.Holder, out.Left, out.Fence, out.Host = l.holder.Name, l.until.Sub(now), l.holder.Fence, l.places.hostOf(l.holder)
		if out.Spare = l.standsBy(asker, in.Sight, now); !out.Spare {
			l.refused(asker, now)
		}
		return out, nil
	}
	if err := l.grant(asker, now); err != nil {
		return leaseAnswer{}, err
	}
	l.next = max(l.next, in.Next)
	out.Granted, out.Holder, out.Fence, out.Floor = true, in.Name, l.holder.Fence, l.holder.Floor
	return out, nil
}

// free reports that the station may be given to this node, which is not the holder.
func (l *Lease) free(asker tenancy, seen sight, now time.Time) bool {
	elsewhere := l.places.Spare != "" && asker.Host != l.places.hostOf(l.holder)
	switch {
	case l.holder.ID == "": // a new station: the first node has a term to come before the spare
		return asker.Host == l.places.Host || !now.Before(l.until)
	case !elsewhere: // at the same address nobody else is heard
		patience := time.Duration(0)
		if !l.asked.IsZero() {
			patience = max(0, usualTerms().granted-l.terms.granted)
		}
		return !now.Before(l.until.Add(patience))
	case now.Before(l.until), !l.fresh(asker, now):
		return false
	}
	mine := l.look.sight()
	return seen.of(l.holder.Fence) >= l.terms.blind && mine.of(l.holder.Fence) >= l.terms.blind
}

// fresh reports that a node is the one that stands by.
func (l *Lease) fresh(asker tenancy, now time.Time) bool {
	return l.spare.ID == asker.ID && now.Sub(l.spare.asked) < l.terms.granted
}

// standsBy takes a node as the spare, unless there is another one.
func (l *Lease) standsBy(asker tenancy, seen sight, now time.Time) bool {
	if l.places.Spare == "" || l.holder.ID == "" || !asker.Fences || asker.Host == l.places.hostOf(l.holder) {
		return false
	}
	if l.spare.ID != asker.ID && l.spare.ID != "" && now.Sub(l.spare.asked) < usualTerms().granted {
		return false
	}
	if l.spare.ID != asker.ID {
		l.log.Info("a spare node stands by", "node", asker.Name, "holder", l.holder.Name)
	}
	l.spare = waiting{asker, now, seen}
	return true
}

func (l *Lease) refused(asker tenancy, now time.Time) {
	if now.Sub(l.warned[asker.ID]) < warnEvery {
		return
	}
	if len(l.warned) >= mostWarned {
		clear(l.warned)
	}
	l.warned[asker.ID] = now
	l.log.Warn("a second node asks for the station and is refused: stop one of the two", "node", asker.Name, "holder", l.holder.Name)
}

// grant gives the station to a node. The fence of another one is on the disk before it is
// told: after a power cut none is given twice.
func (l *Lease) grant(asker tenancy, now time.Time) error {
	before := l.holder
	asker.Fence, asker.Floor = max(before.Fence, 1), before.Floor
	if before.ID != asker.ID && before.ID != "" {
		asker.Fence++
		if l.next > 0 {
			asker.Floor = max(asker.Floor, l.next+segmentsUntold)
		}
	}
	if l.known > before.Fence {
		asker.Fence = max(asker.Fence, l.known+1)
	}
	if before != asker {
		text, _ := json.Marshal(asker) // texts and a number
		if err := file.WriteAtomic(l.path, text, 0o600); err != nil {
			if l.places.Spare != "" && before.Fence != asker.Fence {
				return fmt.Errorf("keep which node has the station: %w: %w", err, station.ErrUnavailable)
			}
			l.log.Warn("cannot keep which node has the station", "err", err)
		}
	}
	lost := now.Sub(l.asked)
	l.holder, l.until, l.asked = asker, now.Add(l.terms.granted), now
	delete(l.warned, asker.ID)
	l.look.at(asker.Fence, asker.Host)
	if before == asker {
		return nil
	}
	l.log.Info("broadcast node has the station", "node", asker.Name, "before", before.Name, "fence", asker.Fence)
	if l.spare.ID == asker.ID {
		l.spare = waiting{}
		why := fmt.Sprintf("the node has not asked for %s, and neither the spare nor the control plane sees its streaming server", lost.Round(100*time.Millisecond))
		l.took = Takeover{At: now, From: before.Name, To: asker.Name, Why: why}
		l.log.Warn("the spare took the air", "node", asker.Name, "before", before.Name, "fence", asker.Fence, "why", why)
	}
	l.changes.Tell()
	return nil
}

// Admit returns nil for a marker of the node that has the station, with the fence that it
// has it by; station.ErrConflict for another one, and station.ErrUnavailable while that is
// not decided. Fence 0: the marker has none.
func (l *Lease) Admit(node string, fence uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	switch {
	case node != "" && node == l.holder.ID && (fence == l.holder.Fence || fence == 0 && l.places.Spare == ""):
		return nil
	case node != "" && node == l.holder.ID && fence == 0:
		return fmt.Errorf("the marker has no fence, and the station has a spare node: the node's engine is about to be renewed: %w", station.ErrUnavailable)
	case node != "" && node == l.holder.ID:
		return fmt.Errorf("the marker is of fence %d, and the node has the station by fence %d now: %w", fence, l.holder.Fence, station.ErrConflict)
	case l.holder.ID == "" || !now.Before(l.until):
		return fmt.Errorf("no node has the station yet: %w", station.ErrUnavailable)
	case l.asked.IsZero() || now.Sub(l.asked) > 2*l.terms.renew:
		// It may never ask again, as after a reboot, which changes the id of a node.
		return fmt.Errorf("the node that has the station, %s, does not ask for it: %w", l.holder.Name, station.ErrUnavailable)
	}
	return fmt.Errorf("another node has the station, %s: %w", l.holder.Name, station.ErrConflict)
}

// Host is where the node is that has the station.
func (l *Lease) Host() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.places.hostOf(l.holder)
}

// Spare is the node that stands by, with the fence of the one that has the station; false
// where none does.
func (l *Lease) Spare() (tenancy, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spare.ID == "" || l.now().Sub(l.spare.asked) > 2*l.terms.granted {
		return tenancy{}, false
	}
	out := l.spare.tenancy
	out.Fence = l.holder.Fence
	return out, true
}

// Standing is who has the station, and who waits for it.
type Standing struct {
	Holder, Host string
	Fence        uint64
	// OnSpare: the node that has the station is the one at the spare's address.
	OnSpare bool
	Took    Takeover // the last since this process began; zero: none
	// Unseen is for how long the control plane has not seen the holder's streaming server,
	// SpareUnseen the spare; 0: it does, or there is none.
	Unseen, SpareUnseen time.Duration
}

// Standing is who has the station now.
func (l *Lease) Standing() Standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	host := l.places.hostOf(l.holder)
	return Standing{
		l.holder.Name, host, l.holder.Fence, l.places.Spare != "" && host == l.places.Spare, l.took,
		l.look.sight().of(l.holder.Fence), l.spare.seen.of(l.holder.Fence),
	}
}

// Changes signals each change of the holder.
func (l *Lease) Changes() (changed <-chan struct{}, cancel func()) { return l.changes.Subscribe() }

// to is where orders to the holder go.
func (l *Lease) to(subject string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.holder.Fences {
		return subject
	}
	return fenced(subject, l.holder.Fence, false)
}

// toSpare is where orders to the spare go: to nobody where there is none.
func (l *Lease) toSpare(subject string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fenced(subject, l.holder.Fence, true)
}

// serve answers nodes, and looks at the holder, until ctx ends.
func (l *Lease) serve(ctx context.Context, b *bus.Bus) error {
	if l.places.Spare != "" {
		var looking sync.WaitGroup
		defer looking.Wait()
		looking.Go(func() { l.look.run(ctx) })
	}
	return b.Serve(ctx, subjectLease, 1, bus.Answering(l.ask))
}

const everyOrder = "athir.node."

// fenced is the subject of an order to the node that has the station by that fence, or to
// the spare beside it.
func fenced(subject string, fence uint64, spare bool) string {
	stage := "fence."
	if spare {
		stage = "spare."
	}
	return everyOrder + stage + strconv.FormatUint(fence, 10) + "." + strings.TrimPrefix(subject, everyOrder)
}
