// Package takeover decides which live stream is on the air (mission: Live takeover), and
// orders it of the live desk on the broadcast node. What it knows is in memory only: a
// restart of the control plane returns the station to the normal mix.
//
// It touches no audio. The desk notices silence and holes and fails over by itself, among
// the streams that it was told of; takeover follows what the desk reports. Nothing takes
// the air by itself but a publisher who may, once for each connection.
package takeover

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

// Streams are the station's live streams: a *registry.Registry.
type Streams interface {
	// Find returns a stream for people, its address redacted, or station.ErrNotFound.
	Find(id string) (live.Stream, error)
	// Source returns it as the desk needs it, its address whole, or station.ErrNotFound.
	Source(id string) (live.Source, error)
	// Pipe returns that of the phones, or station.ErrNotFound.
	Pipe() (live.Source, error)
	// Candidates returns those that may be aired, the best first; on tells which are
	// live now.
	Candidates(on map[string]bool) []live.Stream
	// Ranked returns all for people, addresses redacted: the same, then those that are
	// blacklisted.
	Ranked(on map[string]bool) []live.Stream
	// Arrived registers what has begun to come.
	Arrived(ctx context.Context, a live.Arrival) (live.Stream, error)
}

// Record takes down how streams did: a *registry.Registry.
type Record interface {
	Touch(ctx context.Context, id string, at time.Time) error
	Failed(ctx context.Context, id string) error
	Succeeded(ctx context.Context, id string) error
}

// Desk is the live desk on the node.
type Desk interface {
	Put(ctx context.Context, o live.Order) (live.Report, error)
	// Report returns at once when the desk's version is not after, and otherwise when it
	// changes or after some seconds. An error that is ErrAway says that the node answers
	// and its desk does not; any other that nothing is known of the desk.
	Report(ctx context.Context, after uint64) (live.Report, error)
}

// ErrAway says that the node is there and its live desk is not: it crashed, and the
// engine has returned to the rotation.
var ErrAway = errors.New("the live desk is away")

// Options of a Takeover. Those without a default are required.
type Options struct {
	Log     *slog.Logger
	Streams Streams
	Record  Record
	Desk    Desk
	// Probe reports whether the WHIP server has a feed flowing.
	Probe func(ctx context.Context) (live bool, err error)
	// Phones lists the WHIP server's sessions; nil: there are none.
	Phones func(ctx context.Context) ([]live.Session, error)
	// Disconnect ends a session at the node; of one that only its id is known of it is a
	// phone's. why is for a phone's page. Errors: station.ErrNotFound, station.ErrUnavailable.
	Disconnect func(ctx context.Context, who live.Arrival, why string) error
	// Sent reports that a whole address is of an ingest that tells who sends: it is aired only
	// while somebody does. The pipe and what begins with live.SourceScheme are, in any case. Nil:
	// no other is.
	Sent func(url string) bool
	// OnAir is the engine's own truth: rotation, live or emergency, and since when.
	OnAir func() (kind string, startedAt time.Time)
	// Presenter tells of a publisher by id, whether it may be on the air now, and whether
	// it takes the air by itself. Nil: there are none.
	Presenter func(id string) live.Admission
	// Aired notes that a publisher was live at a time; nil is allowed.
	Aired func(ctx context.Context, publisher string, at time.Time) error
	Told  func(Event)      // must not wait; nil is allowed
	Now   func() time.Time // time.Now when nil
	// Here converts what the desk tells of times, epoch milliseconds, to those of this
	// machine's clock; nil: they are the same. It may give another answer each time.
	Here  func(ms int64) int64
	Epoch string // names this control plane; random when empty
}

// Takeover is the live takeover. Its methods may be called from any goroutine; they need
// Run to be running, or end with their context.
type Takeover struct {
	opt    Options
	asks   chan func(*control)
	stale  chan struct{} // of capacity 1: the ranking may have changed
	status atomic.Pointer[Status]
	open   chan struct{} // closed when Run has ended
	looks  looks
}

// New makes a Takeover; nothing is ordered before Run.
func New(opt Options) *Takeover {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Epoch == "" {
		opt.Epoch = rand.Text()
	}
	if opt.Here == nil {
		opt.Here = func(ms int64) int64 { return ms }
	}
	if opt.Told == nil {
		opt.Told = func(Event) {}
	}
	if opt.Presenter == nil {
		opt.Presenter = func(string) live.Admission { return live.Admission{Code: "unknown"} }
	}
	t := &Takeover{opt: opt, asks: make(chan func(*control)), stale: make(chan struct{}, 1), open: make(chan struct{})}
	t.looks.wanted = make(chan struct{}, 1)
	t.status.Store(&Status{State: Unknown})
	return t
}

// EventKind says what happened.
type EventKind string

// What Told is told of.
const (
	Started EventKind = "started" // from the normal mix
	Handed  EventKind = "handed"  // by order, from one stream to another
	Follows EventKind = "failover"
	Ended   EventKind = "ended" // back to the normal mix
	Failed  EventKind = "failed"
)

// Event is a change of what is on the air. Times are epoch milliseconds.
type Event struct {
	Kind      EventKind   `json:"kind"`
	Stream    live.Stream `json:"stream"`           // the one that started, followed, ended or failed
	Before    string      `json:"before,omitempty"` // id of the one that was on the air
	Publisher string      `json:"publisher,omitempty"`
	By        string      `json:"by,omitempty"`
	Mode      live.Mode   `json:"mode,omitempty"`
	Why       string      `json:"why,omitempty"`
	At        int64       `json:"at"`
	Since     int64       `json:"since,omitempty"` // of an end: when it had started
	// Recording is the name of the recording of what was on the air until now; empty where
	// none is known.
	Recording string `json:"recording,omitempty"`
}

// The states that Status tells.
const (
	NormalMix = "normal mix"
	Beginning = "starting" // ordered; its first audio has not come
	OnLive    = "live"
	HandOver  = "handing over"
	Unknown   = "unknown" // nothing is heard of the desk
)

// Status is what is on the air, and what is known of it.
type Status struct {
	State string `json:"state"`
	// Order is the state that was ordered; State, unless that is unknown.
	Order     string                `json:"order"`
	Active    *Active               `json:"active"`
	HandingTo string                `json:"handingTo,omitempty"` // id
	Sources   []live.SourceReport   `json:"sources" nullable:"false"`
	Ended     *live.Ending          `json:"ended"`
	Show      *live.Show            `json:"show"`
	Recording *live.RecordingReport `json:"recording"`
	Counters  live.Counters         `json:"counters"`
	// WouldFollow is what would be on the air if the active stream died now: a title, or
	// "rotation".
	WouldFollow string `json:"wouldFollow"`
	// Next is the id of that stream; in the normal mix, of the one that a start without id
	// begins with. Empty: none.
	Next     string `json:"next"`
	WrapUpAt int64  `json:"wrapUpAt"` // epoch milliseconds; 0: no sign is given
	// Waiting are publishers that are connected and not on the air.
	Waiting []Waiting `json:"waiting" nullable:"false"`
	// Encoders are those that are connected, on the air or not.
	Encoders []live.Encoder `json:"encoders" nullable:"false"`
	// ReportedAt is when the desk was last heard of, epoch milliseconds.
	ReportedAt int64 `json:"reportedAt"`
	// Harbor: the engine takes what the desk sends.
	Harbor bool `json:"harbor"`

	on, out    map[string]bool // streams that are sent, and those of whom the studio disconnected
	report     live.Report
	quiet      bool      // as Announced has it, of the stream on the air
	quietUntil time.Time // and of the one before
}

// Report returns the desk's last report, and whether the desk is heard of now. Sources
// have redacted addresses.
func (t *Takeover) Report() (r live.Report, known bool) {
	s := t.Status()
	s.report.Sources = s.Sources
	return s.report, s.State != Unknown
}

// Announced reports whether listeners who asked for it are to be told of what has just gone
// live. A phone's presenter says whether; encoders and the studio are announced, and so is
// what reaches the engine without the desk.
func (t *Takeover) Announced() bool {
	s := t.status.Load()
	return !s.quiet && !t.opt.Now().Before(s.quietUntil)
}

// Active is the stream that has the air.
type Active struct {
	ID      string     `json:"id"`
	Title   string     `json:"title"`
	Creator string     `json:"creator"`
	Mode    live.Mode  `json:"mode"`
	By      string     `json:"by"`
	Since   int64      `json:"since"`
	State   live.State `json:"state"`
	// OnAir is true only when the engine itself says that live is on the air and the desk
	// sends it this stream. A talk-over, for which the engine has no marker, is on the air
	// when the engine takes the desk's audio.
	OnAir     bool   `json:"onAir"`
	Publisher string `json:"publisher"` // id; empty: none
}

// Waiting is a publisher that is connected and not on the air.
type Waiting struct {
	ID        string `json:"id"` // of the stream
	Publisher string `json:"publisher"`
	Name      string `json:"name"`
	Session   string `json:"session"`
	Since     int64  `json:"since"`
	Auto      bool   `json:"auto"`
	// HeldUntil is until when it may not take the air by itself, as it came and went too
	// often or the studio stopped or disconnected it; epoch milliseconds, 0: it may.
	HeldUntil int64 `json:"heldUntil"`

	takenUntil int64 // as HeldUntil, where the studio has taken the air back from it
}

// Presence is how a stream is doing, for whoever sends it.
//
//	off         nothing comes of it
//	connecting  it has the air, and nobody can say yet whether it is heard; or it comes
//	waiting     it is connected, and the studio may put it on the air
//	called      it has the air from its first sound on
//	on air      it is heard, as the engine says
//	grace       it has the air, and nothing comes of it
//	taken back  as waiting: the studio has ended its turn
//	held        as waiting, until FreeAt
type Presence struct {
	State string
	Since int64
	// Called: somebody else has put it on the air, as the studio does.
	Called bool
	// Held: it does not take the air by itself for now, whoever sends it. FreeAt is from when
	// this one does, if that is free then; 0: at no time.
	Held    bool
	FreeAt  int64
	TakenBy string // who is on the air instead
}

// Status returns the present state. Sources have redacted addresses.
func (t *Takeover) Status() Status { return t.seen(*t.status.Load()) }

// Refresh says that the ranking may have changed.
func (t *Takeover) Refresh() {
	select {
	case t.stale <- struct{}{}:
	default:
	}
}
