package api

import (
	"context"
	"fmt"

	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// Plan describes the rotation as a whole.
type Plan struct {
	Length   int    `json:"length"`
	Consumed int    `json:"consumed" doc:"Entries heard or passed over"`
	Daypart  string `json:"daypart" doc:"Key of the window it was built in"`
	BuiltAt  int64  `json:"builtAt" doc:"Epoch milliseconds; 0 before the first"`
	Reason   string `json:"reason" doc:"Why it was last rebuilt"`
	Problem  string `json:"problem" doc:"Why it could not be renewed; empty when all is well"`
}

func planOf(air *scheduler.View) Plan {
	p := Plan{
		Length: len(air.Rotation.Entries), Consumed: air.Consumed,
		Daypart: air.Rotation.Daypart, Reason: air.Reason, Problem: air.Problem,
	}
	if !air.Rotation.BuiltAt.IsZero() {
		p.BuiltAt = air.Rotation.BuiltAt.UnixMilli()
	}
	return p
}

// State is the answer of GET /api/station/state.
type State struct {
	Rotation   []Entry            `json:"rotation"`
	Queue      []Entry            `json:"queue" doc:"Of the rotation, what is to come"`
	Decks      map[string]Deck    `json:"decks"`
	Config     policy.Document    `json:"config"`
	Saved      bool               `json:"saved" doc:"Whether a restart would bring config"`
	Mood       string             `json:"mood" doc:"Preset in force; empty is none"`
	Moods      []string           `json:"moods" doc:"All presets"`
	Live       LiveState          `json:"live"`
	State      string             `json:"state" enum:"music,live,emergency,starting,off"`
	NowPlaying station.NowPlaying `json:"nowPlaying"`
	Track      *Track             `json:"track,omitempty" doc:"On air"`
	Plan       Plan               `json:"plan"`
}

type stateAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         State
}

type explained struct {
	Explain bool `query:"explain" doc:"Say why each entry was chosen"`
}

func (s *Server) state(ctx context.Context, in *explained) (*stateAnswer, error) {
	out := &stateAnswer{CacheControl: "no-store"}
	b, air := &out.Body, s.opt.Air()
	b.Rotation = s.entries(air, in.Explain)
	b.Queue = b.Rotation[min(air.Consumed, len(b.Rotation)):]
	b.Decks = decks(s.opt.Library())
	b.Config, b.Saved = document(s.opt.Policy.Current()), s.opt.Policy.Saved()
	b.Mood, b.Moods = b.Config.Mood, policy.Moods()
	b.Plan = planOf(air)
	_, sounding, _ := s.node(ctx)
	var now Status
	s.statusOnAir(&now, air, sounding)
	b.State, b.NowPlaying, b.Track = now.State, now.NowPlaying, now.Track
	var view LiveView
	if s.opt.Live != nil {
		view = s.opt.Live.Takeover.View()
	}
	b.Live = liveState(view, now)
	return out, nil
}

// nextShown is how much of the queue the answer to an order shows.
const nextShown = 10

// Done is the answer to an order: what is on air after it.
type Done struct {
	Plan Plan    `json:"plan"`
	Next []Entry `json:"next" doc:"The head of the queue"`
}

type doneAnswer struct{ Body Done }

func (s *Server) done() Done {
	air := s.opt.Air()
	next := s.queue(air)
	return Done{planOf(air), next[:min(nextShown, len(next))]}
}

func (s *Server) rebuild(ctx context.Context, _ *struct{}) (*doneAnswer, error) {
	if err := s.opt.Desk.Rebuild(ctx); err != nil {
		return nil, err
	}
	return &doneAnswer{s.done()}, nil
}

func (s *Server) skip(ctx context.Context, _ *struct{}) (*doneAnswer, error) {
	if err := s.opt.Desk.Skip(ctx); err != nil {
		return nil, err
	}
	return &doneAnswer{s.done()}, nil
}

type playInput struct {
	Body struct {
		Category string `json:"category,omitempty" enum:"arabic_hits,english,mashups,ads,jingles,sweepers,sfx,shorts,news,social" doc:"May be left out beside a file"`
		File     string `json:"file,omitempty" maxLength:"16384" doc:"Path relative to the media root; without it the planner's choice of the category"`
	}
}

type playAnswer struct {
	Body struct {
		Done
		Track Track `json:"track" doc:"What was put at the head"`
	}
}

func (s *Server) play(ctx context.Context, in *playInput) (*playAnswer, error) {
	wish := scheduler.Wish{Category: station.Category(in.Body.Category)}
	switch {
	case in.Body.File != "":
		// Only files of the library are found, so no path leads out of it.
		t, err := s.find(wish.Category, in.Body.File)
		if err != nil {
			return nil, err
		}
		wish.Path = t.Path
	case wish.Category == "":
		return nil, fieldError("body", "must contain category or file")
	}
	track, err := s.opt.Desk.Play(ctx, wish)
	if err != nil {
		return nil, err
	}
	out := &playAnswer{}
	out.Body.Done, out.Body.Track = s.done(), s.trackOf(track, "")
	if !track.Category.Music() {
		out.Body.Track.Type = string(track.Category)
	}
	return out, nil
}

// find looks up a track of a category by its path as answers show it.
func (s *Server) find(category station.Category, file string) (station.Track, error) {
	lib := s.opt.Library()
	t, known := lib.Find(file)
	for i := 0; i < len(lib.Tracks) && !known; i++ {
		t = lib.Tracks[i]
		known = asShown(t.Path) == file
	}
	switch {
	case !known:
		return t, fmt.Errorf("track %q: %w", cut(file), station.ErrNotFound)
	case category != "" && t.Category != category:
		return t, fieldError("body.category", "must be "+string(t.Category)+", the track's category, or left out")
	}
	return t, nil
}

// asShown returns a path as JSON shows it: invalid UTF-8 is replaced.
func asShown(path string) string { return string([]rune(path)) }

type rulesAnswer struct {
	Body struct {
		Rules []rotation.RuleInfo `json:"rules" doc:"The least important first: it is relaxed first"`
	}
}

func (s *Server) rules(context.Context, *struct{}) (*rulesAnswer, error) {
	out := &rulesAnswer{}
	out.Body.Rules = rotation.Rules()
	return out, nil
}

type logInput struct {
	File  string `query:"file" enum:"content,server" default:"server"`
	Lines int    `query:"lines" minimum:"1" maximum:"2000" default:"200"`
}

type logAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		File  string   `json:"file"`
		Lines []string `json:"lines" doc:"Oldest first"`
	}
}

func (s *Server) log(_ context.Context, in *logInput) (*logAnswer, error) {
	lines, err := s.opt.Logs[in.File](in.Lines)
	if err != nil {
		return nil, err
	}
	out := &logAnswer{CacheControl: "no-store"}
	if out.Body.File, out.Body.Lines = in.File, lines; lines == nil {
		out.Body.Lines = []string{}
	}
	return out, nil
}
