package events

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"time"
)

// Bus is what a follower needs of the message bus.
type Bus interface {
	Subscribe(subject string, fn func(data []byte)) (cancel func(), err error)
	Request(ctx context.Context, subject string, data []byte) ([]byte, error)
	Changes() (changed <-chan struct{}, cancel func())
	Up() bool
}

const (
	// arriving is how many received events may wait; those beyond are dropped and
	// asked for again.
	arriving  = 4096
	syncWait  = 5 * time.Second
	syncAgain = 500 * time.Millisecond
	// awayAfter is how long the station may be silent before it counts as away.
	awayAfter = 5 * beatEvery
)

// Follower keeps a mirror of a hub on another machine. Its Hub has numbers of its
// own; every event of the other hub appears in it once, in order, even if the bus
// loses messages, as long as the other hub or a record's owner still has it.
type Follower struct {
	*Hub
	bus Bus

	epoch  string
	seq    uint64            // newest number known of the other hub
	newest map[string]string // id of the newest record of each name
	seen   recently          // records: one may come from storage and again over the bus
	last   time.Time         // when the mirror was last known to be complete
}

// recently remembers the newest keys, at most kept of them.
type recently struct {
	all  map[string]bool
	next []string
}

// add adds a key and reports whether it was there already.
func (r *recently) add(key string) bool {
	if r.all[key] {
		return true
	}
	if r.all == nil {
		r.all = map[string]bool{}
	}
	r.all[key] = true
	if r.next = append(r.next, key); len(r.next) > kept {
		delete(r.all, r.next[0])
		r.next = r.next[1:]
	}
	return false
}

// NewFollower makes a mirror, with numbers and an epoch of its own, that is empty until Run has reached the other hub.
func NewFollower(log *slog.Logger, bus Bus) *Follower {
	return &Follower{Hub: NewHub(log, "m"+rand.Text()), bus: bus, newest: map[string]string{}}
}

// Run follows until ctx ends.
func (f *Follower) Run(ctx context.Context) error {
	in := make(chan []byte, arriving)
	cancel, err := f.bus.Subscribe(SubjectEvents, func(data []byte) {
		select {
		case in <- data:
		default: // the next event shows that this one is missing
		}
	})
	if err != nil {
		return err
	}
	defer cancel()
	changed, done := f.bus.Changes()
	defer done()
	again := time.NewTicker(syncAgain)
	defer again.Stop()
	f.last = time.Now()
	whole := false
	for {
		if !whole && f.bus.Up() {
			whole = f.sync(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			whole = false
		case <-again.C:
			if time.Since(f.last) > awayAfter {
				whole = false // the bus may be up and the station silent
				f.leave(f.last)
			}
		case data := <-in:
			if whole = f.take(data) && whole; whole {
				f.last = time.Now()
			}
		}
	}
}

// take handles a message of the bus and reports whether no event is missing.
func (f *Follower) take(data []byte) bool {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		f.log.Warn("bus message is not an event", "err", err)
		return true
	}
	switch {
	case w.Epoch != f.epoch:
		return false
	case w.Name == "": // a beat
		return w.Seq <= f.seq
	case w.Seq <= f.seq:
		return true // known from an earlier sync
	case w.Seq > f.seq+1:
		return false
	}
	f.seq = w.Seq
	f.mirror(f.epoch, w.Event)
	f.reach(Mark{f.epoch, f.seq})
	return true
}

// mirror adds an event of the other hub. A record from storage has no number.
func (f *Follower) mirror(epoch string, e Event) {
	k, ok := f.table[e.Name]
	if !ok {
		return // from a newer version of the station
	}
	e.class, e.inside = k.Class, k.Scope == Inside
	e.told = Mark{cmp.Or(epoch, "storage"), e.Seq}
	if k.Class == Record {
		if id := e.id(); id != "" {
			if f.seen.add(e.Name + " " + id) {
				return
			}
			f.newest[e.Name] = id
		}
	}
	f.add(e)
}

// sync asks for missed events until none is missing, and reports whether it succeeded.
func (f *Follower) sync(ctx context.Context) bool {
	_, from := f.Latest()
	for {
		got, err := f.ask(ctx)
		if err != nil {
			f.log.Debug("cannot synchronise events with the station", "err", err)
			return false
		}
		for _, e := range got.Events {
			if !got.Whole && f.same(e) {
				continue
			}
			f.mirror(got.Epoch, e)
		}
		for name, id := range got.Records {
			if f.newest[name] == "" {
				f.newest[name] = id
			}
		}
		f.epoch, f.seq = got.Epoch, got.Seq
		if got.More {
			continue
		}
		if !got.Whole {
			f.retain(got.Events)
		}
		f.reach(Mark{f.epoch, f.seq})
		f.last = time.Now()
		f.comeBack(from)
		return true
	}
}

func (f *Follower) ask(ctx context.Context) (got syncAnswer, err error) {
	data, err := json.Marshal(syncAsk{Epoch: f.epoch, Seq: f.seq, Records: f.newest})
	if err != nil {
		return got, err
	}
	ctx, cancel := context.WithTimeout(ctx, syncWait)
	defer cancel()
	if data, err = f.bus.Request(ctx, SubjectSync, data); err != nil {
		return got, err
	}
	return got, json.Unmarshal(data, &got)
}

// same reports whether the mirror has the same state already.
func (f *Follower) same(e Event) bool {
	have, ok := f.State(e.Name, e.Room, e.Channel)
	return ok && string(have.Payload) == string(e.Payload)
}
