// Package registry keeps the station's live streams (mission: Live stream record): which
// there are, how they rank, and which are dead and left out of the ranking for a while.
// They are in the station configuration, under live.streams, and survive restarts.
//
// It connects to nothing: whether an address leads anywhere is the desk's to find out.
// Addresses may hold credentials, so what is meant for people shows them redacted; only
// Candidates and Source return them whole.
package registry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// mostStreams bounds the registry; mostStored its size in bytes in the station
	// configuration, which has room for 1 MiB in all.
	mostStreams = 500
	mostStored  = 512 << 10
	// touchEvery is how much newer LastLiveAt must be than what is on disk to be written:
	// a stream that is on the air is touched all the time.
	touchEvery = time.Minute
)

// Store keeps one JSON object, durably: policy.Owner.
type Store interface {
	// Live returns what was kept last; nil before the first.
	Live() json.RawMessage
	// KeepLive returns once it is on disk.
	KeepLive(ctx context.Context, raw json.RawMessage) error
}

// Options of a Registry. Log and Store are required.
type Options struct {
	Log       *slog.Logger
	Store     Store
	Addresses Addresses
	Now       func() time.Time // time.Now when nil
	ID        func() string    // makes an id of the shape LIVE<hex8>; random when nil
	// Changed is called after every change that may matter to the ranking; nil is allowed.
	Changed func()
}

// Registry holds the streams. Its methods may be called from any goroutine; a change is
// on disk when its method returns nil, and is not in force otherwise. Where nothing has
// changed nothing is written: a disk that is full keeps nobody off the air who was on it
// before. The number of listeners is no change.
type Registry struct {
	opt  Options
	turn sync.Mutex // one change after another
	now  atomic.Pointer[records]
}

// Fields are what whoever registers a stream says about it.
type Fields struct {
	URL       string `json:"url"`
	Title     string `json:"title"`
	Creator   string `json:"creator"`
	Listeners int    `json:"listeners"`
	Ingest    string `json:"ingest"` // rtmp, rtmp2, webrtc or pipe; empty is rtmp
}

// Open reads what is kept. Entries that cannot be used are left out and logged.
func Open(opt Options) (*Registry, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.ID == nil {
		opt.ID = newID
	}
	if opt.Changed == nil {
		opt.Changed = func() {}
	}
	r := &Registry{opt: opt}
	kept, err := r.load()
	if err != nil {
		return nil, err
	}
	r.now.Store(&kept)
	return r, nil
}

func newID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "LIVE" + hex.EncodeToString(b[:])
}

// Register adds a stream, or refreshes the creator and the listeners of the one with the
// same url, title and normalized ingest: its id stays. Errors: station.ErrInvalid, naming
// the field; station.ErrConflict when there are too many.
func (r *Registry) Register(ctx context.Context, f Fields) (live.Stream, error) {
	f.URL = strings.TrimSpace(f.URL)
	f.Title, f.Creator = live.Line(f.Title), live.Line(f.Creator)
	ingest, err := r.judge(f)
	if err != nil {
		return live.Stream{}, err
	}
	return r.put(ctx, f, ingest, func(old record) bool {
		return old.URL == f.URL && old.Title == f.Title && old.Ingest == ingest
	})
}

// RegisterFeed is Register for audio that has just begun to come from an encoder: an
// address carries one programme at a time, so there is one entry for it, whatever its
// title. Texts that are too long are cut, since whoever sends them cannot be asked.
func (r *Registry) RegisterFeed(ctx context.Context, f Fields) (live.Stream, error) {
	return r.feed(ctx, f, false, "")
}

// RegisterPipe is RegisterFeed for the phones' pipe. There is exactly one such entry,
// also after the pipe has moved to another path.
func (r *Registry) RegisterPipe(ctx context.Context, f Fields) (live.Stream, error) {
	return r.feed(ctx, f, true, "")
}

func (r *Registry) feed(ctx context.Context, f Fields, phone bool, owner string) (live.Stream, error) {
	f.URL = strings.TrimSpace(f.URL)
	f.Title, f.Creator = cut(live.Line(f.Title)), cut(live.Line(f.Creator))
	ingest, err := r.judge(f)
	if err != nil {
		return live.Stream{}, err
	}
	if phone && !live.Piped(f.URL) {
		return live.Stream{}, fmt.Errorf("url: the phones' feed must begin with %s: %w", live.PipeScheme, station.ErrInvalid)
	}
	return r.put(ctx, f, ingest, func(old record) bool {
		return old.URL == f.URL || phone && old.Phone
	}, func(next *record) { next.Phone, next.Owner = phone, owner })
}

// put refreshes the first record that is the same by f, and adds one where there is none.
func (r *Registry) put(ctx context.Context, f Fields, ingest string, same func(record) bool, also ...func(*record)) (live.Stream, error) {
	var out record
	err := r.change(ctx, func(all records) (records, error) {
		at := slices.IndexFunc(all, same)
		if at < 0 {
			var fresh record
			for _, change := range also {
				change(&fresh)
			}
			if all = all.makeRoom(fresh.Owner); len(all) >= mostStreams {
				return nil, fmt.Errorf("there are already %d live streams: remove one first: %w", mostStreams, station.ErrConflict)
			}
			at = len(all)
			fresh.Stream = live.Stream{ID: r.freshID(all), AddedAt: r.opt.Now().UnixMilli()}
			all = append(all, fresh)
		}
		next := all[at]
		next.URL, next.Title, next.Creator, next.Listeners, next.Ingest = f.URL, f.Title, f.Creator, f.Listeners, ingest
		for _, change := range also {
			change(&next)
		}
		all[at], out = next, next
		if next.Phone { // exactly one
			all = append(all[:at+1], slices.DeleteFunc(all[at+1:], same)...)
		}
		return all, nil
	})
	return shown(out.Stream), err
}

func (r *Registry) freshID(all records) string {
	for {
		if id := r.opt.ID(); all.find(id) < 0 {
			return id
		}
	}
}

// Remove takes a stream out. Errors: station.ErrNotFound.
func (r *Registry) Remove(ctx context.Context, id string) error {
	return r.change(ctx, func(all records) (records, error) {
		at, err := all.index(id)
		if err != nil {
			return nil, err
		}
		return slices.Delete(all, at, at+1), nil
	})
}

const (
	mostDelta     = 100
	mostVotes     = 1_000_000
	mostListeners = 10_000_000
)

// Vote adds delta, -100 to 100, to a stream's votes. Errors: station.ErrNotFound,
// station.ErrInvalid.
func (r *Registry) Vote(ctx context.Context, id string, delta int) (live.Stream, error) {
	if delta < -mostDelta || delta > mostDelta {
		return live.Stream{}, fmt.Errorf("delta: must be %d to %d: %w", -mostDelta, mostDelta, station.ErrInvalid)
	}
	return r.edit(ctx, id, func(s *record) { s.Votes = min(max(s.Votes+delta, -mostVotes), mostVotes) })
}

// Touch notes that a stream was live at a time. Errors: station.ErrNotFound.
func (r *Registry) Touch(ctx context.Context, id string, at time.Time) error {
	s, err := r.find(id)
	if err != nil || at.UnixMilli() < s.LastLiveAt+touchEvery.Milliseconds() {
		return err
	}
	_, err = r.edit(ctx, id, func(s *record) { s.LastLiveAt = max(s.LastLiveAt, at.UnixMilli()) })
	return err
}

// SetListeners notes the present audience of a stream. It is written with the next
// change of another kind: it changes all the time and means nothing after a restart.
func (r *Registry) SetListeners(id string, n int) error {
	r.turn.Lock()
	defer r.turn.Unlock()
	all := slices.Clone(*r.now.Load())
	at, err := all.index(id)
	if err != nil {
		return err
	}
	all[at].Listeners = min(max(n, 0), mostListeners)
	r.now.Store(&all)
	return nil
}

// Find returns one stream for people: its address is redacted. Errors:
// station.ErrNotFound.
func (r *Registry) Find(id string) (live.Stream, error) {
	s, err := r.find(id)
	return shown(s.Stream), err
}

// List returns all streams in the order in which they were added, for people: addresses
// are redacted.
func (r *Registry) List() []live.Stream {
	all := *r.now.Load()
	out := make([]live.Stream, len(all))
	for i, s := range all {
		out[i] = shown(s.Stream)
	}
	return out
}

// Source returns a stream as the desk needs it, its address whole. Errors:
// station.ErrNotFound.
func (r *Registry) Source(id string) (live.Source, error) {
	s, err := r.find(id)
	return live.Source{ID: s.ID, URL: s.URL, Title: s.Title, Creator: s.Creator}, err
}

// Pipe returns that of the phones, its address whole, also while it is blacklisted. Errors:
// station.ErrNotFound.
func (r *Registry) Pipe() (live.Source, error) {
	for _, s := range *r.now.Load() {
		if s.Phone {
			return live.Source{ID: s.ID, URL: s.URL, Title: s.Title, Creator: s.Creator}, nil
		}
	}
	return live.Source{}, fmt.Errorf("the phones' live stream: %w", station.ErrNotFound)
}

// Candidates returns the streams that may be aired, the best first, by Rank; on tells
// which are live now. Addresses are whole.
func (r *Registry) Candidates(on map[string]bool) []live.Stream {
	all, now := *r.now.Load(), r.opt.Now()
	streams, facts := make([]live.Stream, len(all)), make(map[string]Fact, len(all))
	for i, s := range all {
		streams[i], facts[s.ID] = s.Stream, Fact{Live: on[s.ID], Blacklisted: s.Dead.holds(now)}
	}
	return Rank(streams, facts, now)
}

// Ranked returns all streams for people: those that may be aired, the best first, then the
// blacklisted ones. Addresses are redacted.
func (r *Registry) Ranked(on map[string]bool) []live.Stream {
	out := r.Candidates(on)
	named := map[string]bool{}
	for i, s := range out {
		named[s.ID], out[i] = true, shown(s)
	}
	for _, s := range r.List() {
		if !named[s.ID] {
			out = append(out, s)
		}
	}
	return out
}

func (r *Registry) find(id string) (record, error) {
	all := *r.now.Load()
	at, err := all.index(id)
	if err != nil {
		return record{}, err
	}
	return all[at], nil
}

// edit changes one record.
func (r *Registry) edit(ctx context.Context, id string, to func(*record)) (live.Stream, error) {
	var out record
	err := r.change(ctx, func(all records) (records, error) {
		at, err := all.index(id)
		if err != nil {
			return nil, err
		}
		to(&all[at])
		out = all[at]
		return all, nil
	})
	return shown(out.Stream), err
}

// change makes one change: on disk first, then in force.
func (r *Registry) change(ctx context.Context, to func(records) (records, error)) error {
	err := r.inTurn(ctx, to)
	if err == nil {
		r.opt.Changed()
	}
	return err
}

func (r *Registry) inTurn(ctx context.Context, to func(records) (records, error)) error {
	r.turn.Lock()
	defer r.turn.Unlock()
	was := *r.now.Load()
	next, err := to(was.clone())
	if err != nil {
		return err
	}
	if !was.equal(next) {
		if err := r.keep(ctx, next); err != nil {
			return err
		}
	}
	r.now.Store(&next)
	return nil
}
