package api

import (
	"cmp"
	"context"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// Queue changes by hand what comes. See scheduler.Scheduler for the errors.
type Queue interface {
	Weigh(ctx context.Context, e scheduler.Edit) (scheduler.Weighing, error)
	Edit(ctx context.Context, e scheduler.Edit) (scheduler.Deed, scheduler.Weighing, error)
	Undo(ctx context.Context, id, by string) error
}

// queueByHand returns the rows of the queue by hand.
func (s *Server) queueByHand() []route {
	const at = "/api/station/queue"
	return []route{
		{get, at, looks, operating, "What comes, what of it is held by hand, and the last change that can be taken back", typed(s.handQueue)},
		{post, at + "/check", looks, operating, "Which rules a change of the queue would break, and which it would mend", typed(s.checkQueue, noOrder, may(404, 409, 503))},
		{post, at + "/edit", airs, operating, "Move, remove, insert, lock or release what comes", typed(s.editQueue, may(404, 409, 503))},
		{post, at + "/undo", airs, operating, "Take a change of the queue back, and those after it", typed(s.undoQueue, may(404, 409, 503))},
	}
}

// HandEntry is one entry of what comes.
type HandEntry struct {
	Position   int          `json:"position" doc:"In the rotation that version names; it stays the same while others are heard"`
	File       string       `json:"file"`
	Title      string       `json:"title"`
	Artist     string       `json:"artist"`
	Category   string       `json:"category"`
	Type       string       `json:"type"`
	DurationMS int64        `json:"durationMs"`
	ExpectedAt int64        `json:"expectedAt,omitempty" doc:"Epoch milliseconds; absent while it is unknown, as during a takeover"`
	Hand       bool         `json:"hand" doc:"Somebody put it there"`
	Locked     bool         `json:"locked" doc:"It is held: no rebuild takes its place"`
	Opened     bool         `json:"opened,omitempty" doc:"The playout engine has opened it: it can be changed no more"`
	Guest      string       `json:"guest,omitempty" enum:"post,request" doc:"A listener put it on the air"`
	List       int64        `json:"list,omitempty" doc:"Playlist that it is of"`
	ListName   string       `json:"listName,omitempty"`
	Due        int64        `json:"due,omitempty" doc:"Epoch milliseconds: when a timed event should start"`
	AfterNews  bool         `json:"afterNews,omitempty" doc:"A bulletin is made for the place before it"`
	Relaxed    []handBroken `json:"relaxed" nullable:"false" doc:"Rules that gave way for it"`
}

type handBroken struct {
	Rule string `json:"rule"`
}

// HandDeed is a change of the queue that can be taken back.
type HandDeed struct {
	ID   string `json:"id"`
	What string `json:"what" enum:"move,remove,insert,lock,release"`
	Of   string `json:"title,omitempty" doc:"Of the track"`
	At   int64  `json:"at" doc:"Epoch milliseconds"`
	By   string `json:"by"`
}

// HandQueue is what comes, as it can be changed.
type HandQueue struct {
	Version string      `json:"version" doc:"Names the rotation on air; send it with a change"`
	Held    int         `json:"held" doc:"How many entries, from the first, are held"`
	HeldBy  string      `json:"heldBy,omitempty" doc:"Who last changed what is held; for those who work at the station"`
	Most    int         `json:"most" doc:"How many can be held"`
	Undo    *HandDeed   `json:"undo,omitempty" doc:"The newest change that can be taken back; for those who work at the station"`
	Entries []HandEntry `json:"entries" nullable:"false" doc:"Still to come, next first"`
}

// HandBreak is a rule that a change breaks or mends.
type HandBreak struct {
	Position int    `json:"position" doc:"Where the entry stands now; of an inserted one, where it would"`
	File     string `json:"file"`
	Title    string `json:"title"`
	Artist   string `json:"artist,omitempty"`
	Rule     string `json:"rule" doc:"One of /api/station/rules, or playlist-order, or bulletin-time: a bulletin that would tell a wrong time, and drops out"`
	Detail   string `json:"detail" doc:"In words, with times"`
	LateMS   *int64 `json:"lateMs,omitempty" doc:"How much after its time a timed event or a bulletin would be; negative is before"`
	Due      int64  `json:"due,omitempty" doc:"Epoch milliseconds: its time"`
	AfterMS  int64  `json:"afterMs,omitempty" doc:"Of a gap or a rest: how long it would begin after the airing to which it is too near"`
	Other    string `json:"other,omitempty" doc:"Title of that, unless it is the same track"`
}

// handQueueNow is what comes; who changed it is for those who work at the station.
func (s *Server) handQueueNow(ctx context.Context) HandQueue {
	air := s.opt.Air()
	out := HandQueue{Version: air.Version(), Most: rotation.MostHeld, Entries: []HandEntry{}}
	out.Held, out.HeldBy = air.Held()
	if d, there := air.LastDeed(); there {
		out.Undo = deedOf(d)
	}
	if !forOperator(ctx) {
		out.HeldBy, out.Undo = "", nil
	}
	opened := air.Opened(time.Now())
	for i, it := range air.Queue() {
		t := s.trackOf(it.Track, it.Type)
		e := HandEntry{
			Position: it.Index, File: t.File, Title: t.Title, Artist: t.Artist, Category: t.Category, Type: t.Type, DurationMS: t.DurationMS,
			Hand: it.Hand, Locked: it.Held, Opened: i < opened, Guest: string(it.Guest), List: it.List, ListName: it.ListName, AfterNews: it.AfterNews, Relaxed: []handBroken{},
		}
		for _, r := range it.Relaxed {
			e.Relaxed = append(e.Relaxed, handBroken{string(r)})
		}
		if !it.ExpectedAt.IsZero() {
			e.ExpectedAt = it.ExpectedAt.UnixMilli()
		}
		if !it.Due.IsZero() {
			e.Due = it.Due.UnixMilli()
		}
		out.Entries = append(out.Entries, e)
	}
	return out
}

func deedOf(d scheduler.Deed) *HandDeed {
	return &HandDeed{ID: d.ID, What: string(d.Op), Of: asShown(d.Title), At: d.At.UnixMilli(), By: d.By}
}

func (s *Server) breaksOf(all []scheduler.Broken) []HandBreak {
	out := make([]HandBreak, len(all))
	for i, b := range all {
		t := s.trackOf(b.Track, "")
		out[i] = HandBreak{Position: b.Position, File: t.File, Title: t.Title, Artist: t.Artist, Rule: string(b.Rule), Detail: asShown(b.Detail), AfterMS: b.After.Milliseconds(), Other: asShown(cmp.Or(b.Other.Title, b.Other.Path))}
		if !b.Due.IsZero() {
			late := b.Late.Milliseconds()
			out[i].LateMS, out[i].Due = &late, b.Due.UnixMilli()
		}
	}
	return out
}

type handQueueAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         HandQueue
}

func (s *Server) handQueue(ctx context.Context, _ *struct{}) (*handQueueAnswer, error) {
	return &handQueueAnswer{"no-store", s.handQueueNow(ctx)}, nil
}

type handEdit struct {
	Body struct {
		Version  string `json:"version" minLength:"1" maxLength:"64" doc:"Of the queue that was looked at"`
		Op       string `json:"op" enum:"move,remove,insert,lock,release" doc:"lock holds what comes up to and with a position; release gives what is held back to the planner, from a position on"`
		Position *int   `json:"position,omitempty" minimum:"0" maximum:"100000" doc:"Of move, remove, lock, and release; release without one releases all"`
		To       *int   `json:"to,omitempty" minimum:"0" maximum:"100000" doc:"Of move and insert: the position before which it goes; insert without one is heard next"`
		File     string `json:"file,omitempty" maxLength:"16384" doc:"Of insert: path relative to the media root"`
	}
}

// edit is a body as the scheduler takes it.
func (s *Server) edit(ctx context.Context, in *handEdit) (scheduler.Edit, error) {
	b := in.Body
	e := scheduler.Edit{Version: b.Version, Op: scheduler.Op(b.Op), Position: scheduler.None, To: scheduler.None, By: callerOf(ctx).Who()}
	switch {
	case b.Position != nil:
		e.Position = *b.Position
	case e.Op != scheduler.Insert && e.Op != scheduler.Release:
		return e, fieldError("body.position", "must be the position of an entry, for "+b.Op)
	}
	switch {
	case b.To != nil:
		e.To = *b.To
	case e.Op == scheduler.Move:
		return e, fieldError("body.to", "must be the position before which the entry goes")
	}
	if e.Op != scheduler.Insert {
		return e, nil
	}
	if b.File == "" {
		return e, fieldError("body.file", "must be a file of the library, for insert")
	}
	t, err := s.find("", b.File)
	e.Path = t.Path
	return e, err
}

type checkAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Breaks []HandBreak `json:"breaks" nullable:"false" doc:"What the change breaks and the present order does not"`
		Lifts  []HandBreak `json:"lifts" nullable:"false" doc:"What the present order breaks and the change does not"`
	}
}

func (s *Server) checkQueue(ctx context.Context, in *handEdit) (*checkAnswer, error) {
	e, err := s.edit(ctx, in)
	if err != nil {
		return nil, err
	}
	w, err := s.opt.Queue.Weigh(ctx, e)
	if err != nil {
		return nil, err
	}
	out := &checkAnswer{CacheControl: "no-store"}
	out.Body.Breaks, out.Body.Lifts = s.breaksOf(w.Breaks), s.breaksOf(w.Lifts)
	return out, nil
}

type editAnswer struct {
	Body struct {
		HandQueue
		Breaks []HandBreak `json:"breaks" nullable:"false" doc:"What the change has broken"`
		Deed   HandDeed    `json:"deed" doc:"To take it back"`
	}
}

func (s *Server) editQueue(ctx context.Context, in *handEdit) (*editAnswer, error) {
	e, err := s.edit(ctx, in)
	if err != nil {
		return nil, err
	}
	deed, w, err := s.opt.Queue.Edit(ctx, e)
	if err != nil {
		return nil, err
	}
	out := &editAnswer{}
	out.Body.HandQueue, out.Body.Breaks, out.Body.Deed = s.handQueueNow(ctx), s.breaksOf(w.Breaks), *deedOf(deed)
	return out, nil
}

func (s *Server) undoQueue(ctx context.Context, in *struct {
	Body struct {
		ID string `json:"id" minLength:"1" maxLength:"64" doc:"Of the change"`
	}
}) (*handQueueAnswer, error) {
	if err := s.opt.Queue.Undo(ctx, in.Body.ID, callerOf(ctx).Who()); err != nil {
		return nil, err
	}
	return &handQueueAnswer{"", s.handQueueNow(ctx)}, nil
}
