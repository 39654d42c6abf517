package api

import (
	"context"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// Entry is one entry of the rotation.
type Entry struct {
	Track
	Position   int      `json:"position" doc:"0 is the head of the rotation"`
	OnAir      bool     `json:"onAir"`
	Aired      bool     `json:"aired"`
	Failed     string   `json:"failed,omitempty" doc:"Why it could not be aired, of an entry that was passed over"`
	ExpectedAt int64    `json:"expectedAt,omitempty" doc:"Epoch milliseconds, of entries to come"`
	Due        int64    `json:"due,omitempty" doc:"Epoch milliseconds: when a timed event of a clock should start; after news, when the news should"`
	AfterNews  bool     `json:"afterNews,omitempty" doc:"A bulletin belongs before it and is made in the five minutes before, for the time at which it is expected"`
	Clock      string   `json:"clock,omitempty" doc:"Name of the clock that laid it out"`
	Guest      string   `json:"guest,omitempty" enum:"post,request" doc:"Who put it on the air: a listener, by a post or by a request; absent for the station's own"`
	List       int64    `json:"list,omitempty" doc:"Playlist that it is of; absent for none"`
	ListName   string   `json:"listName,omitempty" doc:"Name of that playlist when the entry was planned"`
	Held       bool     `json:"held,omitempty" doc:"Held by hand: no rebuild takes its place"`
	Hand       bool     `json:"hand,omitempty" doc:"Somebody put it there"`
	Relaxed    []string `json:"relaxed,omitempty" doc:"Rules that had to give way for it"`
	Votes      int      `json:"votes" doc:"Listeners' votes for and against, of entries to come"`
	Why        *Why     `json:"why,omitempty" doc:"With explain"`
}

// Why explains how an entry was chosen.
type Why struct {
	Reason     string   `json:"reason"`
	Wanted     string   `json:"wanted" doc:"Category that was due"`
	Considered int      `json:"considered" doc:"Tracks looked at"`
	PassedOver []Passed `json:"passedOver" doc:"Tracks that were worse, by the weightiest rule they break"`
}

// Passed counts the tracks that one rule excluded.
type Passed struct {
	Rule    string `json:"rule"`
	Count   int    `json:"count"`
	Example string `json:"example,omitempty" doc:"File of one of them"`
}

func whyOf(w rotation.Why) *Why {
	out := &Why{Reason: w.Reason, Wanted: string(w.Wanted), Considered: w.Considered, PassedOver: make([]Passed, len(w.PassedOver))}
	for i, p := range w.PassedOver {
		out.PassedOver[i] = Passed{string(p.Rule), p.Count, p.Example}
	}
	return out
}

func (s *Server) entryOf(it scheduler.Item) Entry {
	e := Entry{
		Track: s.trackOf(it.Track, it.Type), Position: it.Index, OnAir: it.OnAir, Aired: it.Aired, Failed: it.Failed, Clock: it.Clock, AfterNews: it.AfterNews,
		Guest: string(it.Guest), List: it.List, ListName: it.ListName, Held: it.Held, Hand: it.Hand,
	}
	for _, r := range it.Relaxed {
		e.Relaxed = append(e.Relaxed, string(r))
	}
	if !it.ExpectedAt.IsZero() {
		e.ExpectedAt = it.ExpectedAt.UnixMilli()
	}
	if !it.Due.IsZero() {
		e.Due = it.Due.UnixMilli()
	}
	return e
}

// entries returns the whole rotation.
func (s *Server) entries(air *scheduler.View, explain bool) []Entry {
	items, votes := air.Items(), s.opt.Votes.Counts()
	out := make([]Entry, len(items))
	for i, it := range items {
		out[i] = s.entryOf(it)
		if i >= air.Consumed {
			out[i].Votes = votes[it.Track.Path]
		}
		if explain {
			out[i].Why = whyOf(it.Why)
		}
	}
	return out
}

// queue returns the part of the rotation still to come.
func (s *Server) queue(air *scheduler.View) []Entry {
	all := s.entries(air, false)
	return all[min(air.Consumed, len(all)):]
}

type scheduleAnswer struct {
	Body struct {
		Rotation []Entry `json:"rotation"`
		Length   int     `json:"length"`
		Consumed int     `json:"consumed" doc:"Entries heard or failed"`
	}
}

// schedule is open, explanations included: they name only files of the library,
// which /api/library shows to everyone.
func (s *Server) schedule(_ context.Context, in *explained) (*scheduleAnswer, error) {
	air := s.opt.Air()
	out := &scheduleAnswer{}
	out.Body.Rotation, out.Body.Consumed = s.entries(air, in.Explain), air.Consumed
	out.Body.Length = len(out.Body.Rotation)
	return out, nil
}

type upnextAnswer struct {
	Body struct {
		Queue []Entry `json:"queue" doc:"Next first"`
	}
}

func (s *Server) upnext(_ context.Context, in *struct {
	Limit int `query:"limit" minimum:"1" maximum:"120" default:"30"`
}) (*upnextAnswer, error) {
	out := &upnextAnswer{}
	out.Body.Queue = s.queue(s.opt.Air())
	out.Body.Queue = out.Body.Queue[:min(in.Limit, len(out.Body.Queue))]
	return out, nil
}

type nextTracksAnswer struct{ Body []Entry }

func (s *Server) nextTracks(context.Context, *struct{}) (*nextTracksAnswer, error) {
	return &nextTracksAnswer{Body: s.queue(s.opt.Air())}, nil
}
