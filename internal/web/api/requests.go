package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
)

// requesting returns the rows of listeners' requests. None is in the mission.
func (s *Server) requesting() []route {
	const at, studio = "/api/requests", "/api/station/requests"
	return []route{
		{get, at + "/search", open, searching, "Songs that may be asked for, and why one may not now", typed(s.searchRequests, may(409))},
		{get, at, open, reading, "The queue of requests, one's own, and how often one may ask", typed(s.requests)},
		{post, at, open, writing, "Ask for a song", typed(s.request, creates, may(404, 409))},
		{http.MethodDelete, at + "/{id}", open, writing, "Take a request back: one's own, or any with the station key", typed(s.cancelRequest, may(401, 404, 409))},
		{get, studio, inside, operating, "The queue with notes, what is over, and what was done by hand", typed(s.requestsOfStudio, may(409))},
		{put, studio + "/open", answersRequests, operating, "Take requests, or none", typed(s.openRequests, may(409))},
		{post, studio + "/{id}/refuse", answersRequests, operating, "Refuse a request; the asker is told why", typed(s.refuseRequest, may(404, 409))},
	}
}

func (s *Server) queueOfRequests() (*requests.Requests, error) {
	if s.opt.Requests == nil {
		return nil, fmt.Errorf("requests are switched off at this station: %w", station.ErrConflict)
	}
	return s.opt.Requests, nil
}

func (l *Listener) asker() requests.Client {
	return requests.Client{Address: l.from.Address, Device: l.from.Device}
}

// Verdict says whether a track may be asked for.
type Verdict struct {
	Allowed bool   `json:"allowed"`
	Code    string `json:"code,omitempty" enum:"closed,full,interval,day,network,asked,coming,aired,artist_asked,artist_aired,daypart,limits" doc:"The rule that stands against it"`
	En      string `json:"en,omitempty" doc:"The rule in words"`
	Ar      string `json:"ar,omitempty"`
	At      int64  `json:"at,omitempty" doc:"Epoch milliseconds: from when it may be asked for, or when it comes; missing while that is unknown"`
}

// RequestableTrack is a song that a listener has found.
type RequestableTrack struct {
	File     string  `json:"file"`
	Title    string  `json:"title"`
	Artist   string  `json:"artist"`
	Category string  `json:"category"`
	Duration int64   `json:"duration" doc:"Milliseconds"`
	Request  Verdict `json:"request"`
}

type searchRequestsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Tracks []RequestableTrack `json:"tracks" nullable:"false" doc:"The best fit first, at most 20; without a query what may be asked for now, then the rest, each by artist"`
		Total  int                `json:"total"`
		Offset int                `json:"offset"`
	}
}

func (s *Server) searchRequests(ctx context.Context, in *struct {
	Listener
	Q      string `query:"q" maxLength:"200" doc:"Words of title and artist, in Arabic or Latin letters whichever the tags have; the last one may be unfinished"`
	Offset int    `query:"offset" minimum:"0" maximum:"1000000"`
}) (*searchRequestsAnswer, error) {
	q, err := s.queueOfRequests()
	if err != nil {
		return nil, err
	}
	found, total, err := q.Search(ctx, in.asker(), in.Q, in.Offset)
	if err != nil {
		return nil, err
	}
	out := &searchRequestsAnswer{CacheControl: "no-store"}
	out.Body.Tracks, out.Body.Total, out.Body.Offset = []RequestableTrack{}, total, in.Offset
	for _, f := range found {
		t := RequestableTrack{
			File: asShown(f.Track.Path), Title: f.Track.Title, Artist: f.Track.Artist, Category: string(f.Track.Category), Duration: f.Track.Duration.Milliseconds(),
			Request: Verdict{Allowed: f.Refusal == nil},
		}
		if no := f.Refusal; no != nil {
			t.Request = Verdict{Code: string(no.Code), En: no.En, Ar: no.Ar, At: epoch(no.At)}
		}
		out.Body.Tracks = append(out.Body.Tracks, t)
	}
	return out, nil
}

// epoch is a time in epoch milliseconds; 0 for none.
func epoch(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// ListenersRequest is a request as everybody sees it, and more for its asker.
type ListenersRequest struct {
	requests.Shown
	Mine bool   `json:"mine"`
	Note string `json:"note,omitempty" doc:"Of one's own"`
	Word string `json:"word,omitempty" doc:"Of the studio, with a refusal of one's own"`
}

// RequestLimits are the limits of one listener.
type RequestLimits struct {
	EveryMs int64 `json:"everyMs" doc:"Between two requests"`
	PerDay  int   `json:"perDay"`
	Queue   int   `json:"queue" doc:"How many may wait"`
	NextAt  int64 `json:"nextAt" doc:"Epoch milliseconds from which this listener may ask again; 0 for now"`
}

type requestsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Enabled  bool               `json:"enabled" doc:"Whether this station has requests at all"`
		Open     bool               `json:"open" doc:"Whether the studio takes them now"`
		Requests []ListenersRequest `json:"requests" nullable:"false" doc:"Those that wait, oldest first, and those that aired of late; then one's own of the last day that are over otherwise"`
		Limits   RequestLimits      `json:"limits"`
	}
}

func (s *Server) requests(ctx context.Context, in *struct{ Listener }) (*requestsAnswer, error) {
	out := &requestsAnswer{CacheControl: "no-store"}
	b := &out.Body
	b.Requests = []ListenersRequest{}
	q := s.opt.Requests
	if q == nil {
		return out, nil
	}
	mine, err := q.Mine(ctx, in.asker())
	if err != nil {
		return nil, err
	}
	next, err := q.NextAt(ctx, in.asker())
	if err != nil {
		return nil, err
	}
	b.Enabled, b.Open = true, q.Open()
	l := q.Limits()
	b.Limits = RequestLimits{EveryMs: l.Every.Milliseconds(), PerDay: l.PerDay, Queue: l.Queue, NextAt: epoch(next)}
	own := func(r requests.Request) bool {
		return slices.ContainsFunc(mine, func(m requests.Request) bool { return m.ID == r.ID })
	}
	shown := map[int64]bool{}
	add := func(r requests.Request, mine bool) {
		one := ListenersRequest{Shown: r.Show(), Mine: mine}
		if mine {
			one.Note, one.Word = r.Note, r.Word
		}
		shown[r.ID] = true
		b.Requests = append(b.Requests, one)
	}
	open, recent := q.Queue()
	for _, r := range slices.Concat(open, recent) {
		add(r, own(r))
	}
	for _, r := range mine {
		if !shown[r.ID] {
			add(r, true)
		}
	}
	return out, nil
}

type requestInput struct {
	Listener
	Body struct {
		File string `json:"file" minLength:"1" maxLength:"16384" doc:"Of a song that the search has found"`
		Name string `json:"name,omitempty" maxLength:"640" doc:"Shown to everybody, at most 40 characters"`
		Note string `json:"note,omitempty" maxLength:"3200" doc:"For the studio, at most 200 characters"`
		ID   string `json:"id,omitempty" maxLength:"64" doc:"The client's own for this write, 8 to 64 of A-Z, a-z, 0-9, _ and -: the same one again from the same device asks for nothing more and gets the same answer"`
	}
}

type requestAnswer struct {
	Body struct {
		Request ListenersRequest `json:"request"`
	}
}

func (s *Server) request(ctx context.Context, in *requestInput) (*requestAnswer, error) {
	q, err := s.queueOfRequests()
	if err != nil {
		return nil, err
	}
	r, err := q.Ask(ctx, in.asker(), requests.Ask{Path: in.Body.File, Name: in.Body.Name, Note: in.Body.Note, ID: in.Body.ID})
	if err != nil {
		return nil, inField(err)
	}
	out := &requestAnswer{}
	out.Body.Request = ListenersRequest{Shown: r.Show(), Mine: true, Note: r.Note, Word: r.Word}
	return out, nil
}

// RequestID names a request, for inputs to embed.
type RequestID struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991"`
}

type cancelRequestInput struct {
	RequestID
	Listener
	http *http.Request
}

// Resolve sets the sender.
func (in *cancelRequestInput) Resolve(ctx huma.Context) []error {
	in.http, _ = humago.Unwrap(ctx)
	return in.Listener.Resolve(ctx)
}

func (s *Server) cancelRequest(ctx context.Context, in *cancelRequestInput) (*struct{}, error) {
	q, err := s.queueOfRequests()
	if err != nil {
		return nil, err
	}
	who, loggedIn := s.ownSession(in.http)
	if sentKey(in.http) == "" && (!loggedIn || !who.Rights.Has(people.Requests)) {
		return nil, q.Cancel(ctx, in.asker(), in.ID)
	}
	if _, err := s.need(people.Requests, in.http); err != nil {
		return nil, refusedBy(answersRequests, "", err)
	}
	return nil, q.Remove(ctx, in.ID)
}

// StudioRequest is a request as the studio sees it.
type StudioRequest struct {
	requests.Shown
	Note     string `json:"note"`
	Word     string `json:"word" doc:"Of the studio, with a refusal"`
	ClosedAt int64  `json:"closedAt" doc:"Epoch milliseconds; 0 while it is open"`
}

type studioRequestsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Open     bool            `json:"open" doc:"Whether requests are taken"`
		Requests []StudioRequest `json:"requests" nullable:"false" doc:"Those that wait, oldest first"`
		Closed   []StudioRequest `json:"closed" nullable:"false" doc:"Those that are over, newest first, at most 200"`
		Audit    []requests.Deed `json:"audit" nullable:"false" doc:"What was done by hand, newest first, at most 200"`
	}
}

func (s *Server) requestsOfStudio(ctx context.Context, _ *struct{}) (*studioRequestsAnswer, error) {
	q, err := s.queueOfRequests()
	if err != nil {
		return nil, err
	}
	out := &studioRequestsAnswer{CacheControl: "no-store"}
	b := &out.Body
	open, _ := q.Queue()
	b.Open, b.Requests = q.Open(), studioRequests(open)
	closed, err := q.Closed(ctx)
	if err != nil {
		return nil, err
	}
	b.Closed = studioRequests(closed)
	b.Audit, err = q.Audit(ctx)
	return out, err
}

func studioRequests(all []requests.Request) []StudioRequest {
	out := []StudioRequest{}
	for _, r := range all {
		out = append(out, StudioRequest{r.Show(), r.Note, r.Word, epoch(r.ClosedAt)})
	}
	return out
}

func (s *Server) openRequests(ctx context.Context, in *struct {
	Body struct {
		Open bool `json:"open"`
	}
}) (*studioRequestsAnswer, error) {
	q, err := s.queueOfRequests()
	if err != nil {
		return nil, err
	}
	if err := q.SetOpen(ctx, in.Body.Open); err != nil {
		return nil, err
	}
	return s.requestsOfStudio(ctx, nil)
}

func (s *Server) refuseRequest(ctx context.Context, in *struct {
	RequestID
	Body struct {
		Word string `json:"word,omitempty" maxLength:"3200" doc:"To the asker, at most 200 characters"`
	}
}) (*studioRequestsAnswer, error) {
	q, err := s.queueOfRequests()
	if err != nil {
		return nil, err
	}
	if err := q.Refuse(ctx, in.ID, in.Body.Word); err != nil {
		return nil, inField(err)
	}
	return s.requestsOfStudio(ctx, nil)
}
