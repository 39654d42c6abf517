package api

import (
	"context"

	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// Entry is one entry of the rotation.
type Entry struct {
	Track
	Position   int      `json:"position" doc:"0 is the head of the rotation"`
	OnAir      bool     `json:"onAir"`
	Aired      bool     `json:"aired"`
	ExpectedAt int64    `json:"expectedAt,omitempty" doc:"Epoch milliseconds, of entries to come"`
	Relaxed    []string `json:"relaxed,omitempty" doc:"Rules that had to give way for it"`
}

func entryOf(it scheduler.Item) Entry {
	e := Entry{
		Track: trackOf(it.Track, it.Type), Position: it.Index, OnAir: it.OnAir, Aired: it.Aired,
	}
	for _, r := range it.Relaxed {
		e.Relaxed = append(e.Relaxed, string(r))
	}
	if !it.ExpectedAt.IsZero() {
		e.ExpectedAt = it.ExpectedAt.UnixMilli()
	}
	return e
}

func entries(items []scheduler.Item) []Entry {
	out := make([]Entry, len(items))
	for i, it := range items {
		out[i] = entryOf(it)
	}
	return out
}

type scheduleAnswer struct {
	Body struct {
		Rotation []Entry `json:"rotation"`
		Length   int     `json:"length"`
		Consumed int     `json:"consumed" doc:"Entries heard or passed over"`
	}
}

func (s *Server) schedule(context.Context, *struct{}) (*scheduleAnswer, error) {
	air := s.opt.Air()
	out := &scheduleAnswer{}
	out.Body.Rotation, out.Body.Consumed = entries(air.Items()), air.Consumed
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
	out.Body.Queue = entries(s.opt.Air().Upcoming())
	out.Body.Queue = out.Body.Queue[:min(in.Limit, len(out.Body.Queue))]
	return out, nil
}

type nextTracksAnswer struct{ Body []Entry }

func (s *Server) nextTracks(context.Context, *struct{}) (*nextTracksAnswer, error) {
	return &nextTracksAnswer{Body: entries(s.opt.Air().Upcoming())}, nil
}
