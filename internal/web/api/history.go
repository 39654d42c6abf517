package api

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// mostOfTrack bounds the airings that one track's page lists.
	mostOfTrack = 20
)

// heardByListeners returns the rows of what was on the air, for listeners; none is in the mission.
func (s *Server) heardByListeners() []route {
	return []route{
		{get, "/api/history", open, searching, "What was on the air in the last seven days, newest first", polled(typed(s.history), s.ofHistory)},
		{get, "/api/tracks/{id}", open, reading, "A track: when it aired, when it comes next, whether it may be asked for", typed(s.track)},
		{get, "/api/oembed", open, reading, "How other sites embed the station (https://oembed.com)", typed(s.oembed, may(404))},
	}
}

type historyQuery struct {
	Before int64  `query:"before" minimum:"0" maximum:"253402300799999" doc:"Epoch milliseconds: what began earlier than that; missing for the newest"`
	After  int64  `query:"after" minimum:"0" maximum:"253402300799999" doc:"Epoch milliseconds: what began next after that, instead of before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Q      string `query:"q" maxLength:"100" doc:"Words of title, artist and album, in Arabic or Latin letters whichever the tags have; the last one may be unfinished"`
}

type historyOfAir struct {
	Body struct {
		Tracks []Track `json:"tracks" nullable:"false" doc:"Newest first, with startedAt; imaging is left out. What has no file, as a live show, has no id"`
		Next   int64   `json:"next" doc:"The next part's before, or its after where that was asked for; 0: there is none"`
		From   int64   `json:"from" doc:"Epoch milliseconds: how far back this looks"`
	}
}

type heardState struct {
	air   any
	heard *telemetry.Heard
}

// ofHistory is the state of answers about what was on the air.
func (s *Server) ofHistory() any { return heardState{s.opt.Library(), s.opt.Telemetry.Heard()} }

func (s *Server) history(_ context.Context, in *historyQuery) (*historyOfAir, error) {
	heard := s.opt.Telemetry.Heard()
	out := &historyOfAir{}
	out.Body.Tracks = []Track{}
	out.Body.From = s.opt.Now().Add(-telemetry.HeardFor).Truncate(time.Hour).UnixMilli()
	lib := s.opt.Library()
	var all []*telemetry.Aired
	take := func(a *telemetry.Aired) {
		at := a.StartedAt.UnixMilli()
		if at < out.Body.From || in.Before > 0 && at >= in.Before || in.After > 0 && at <= in.After {
			return
		}
		if _, post := station.PostOf(a.Path); post { // one that was taken away is not told of any longer
			if _, there := lib.Find(a.Path); !there {
				return
			}
		}
		all = append(all, a)
	}
	if strings.TrimSpace(in.Q) != "" {
		for _, i := range heard.Search(in.Q) {
			take(&heard.Airings[i])
		}
	} else {
		for i := range heard.Airings {
			take(&heard.Airings[i])
		}
	}
	part := partOf(all, in.Limit, in.After > 0 && in.Before == 0)
	for _, a := range part.airings {
		out.Body.Tracks = append(out.Body.Tracks, s.aired(a))
	}
	out.Body.Next = part.next
	return out, nil
}

type partOfHistory struct {
	airings []*telemetry.Aired
	next    int64
}

// partOf cuts one part off what is left, from its old end where what comes after a moment is
// wanted. What began in the same moment is not torn apart: the next part would not have it.
func partOf(all []*telemetry.Aired, limit int, oldest bool) partOfHistory {
	if len(all) <= limit {
		return partOfHistory{airings: all}
	}
	at := func(i int) int64 { return all[i].StartedAt.UnixMilli() }
	if oldest {
		first := len(all) - limit
		for first > 0 && at(first-1) == at(first) {
			first--
		}
		if first == 0 {
			return partOfHistory{airings: all}
		}
		return partOfHistory{all[first:], at(first)}
	}
	end := limit
	for end < len(all) && at(end) == at(end-1) {
		end++
	}
	if end == len(all) {
		return partOfHistory{airings: all}
	}
	return partOfHistory{all[:end], at(end - 1)}
}

// aired is an airing as pages show it, in the words that it aired by. What the library has of
// the same recording is added.
func (s *Server) aired(a *telemetry.Aired) Track {
	t, there := s.opt.Library().Find(a.Path)
	if !there || t.Title != a.Title || t.Artist != a.Artist {
		t = station.Track{Path: a.Path, Category: station.Category(a.Category), Title: a.Title, Artist: a.Artist, Album: a.Album}
		if !a.EndedAt.IsZero() {
			t.Duration = max(0, a.EndedAt.Sub(a.StartedAt))
		}
	}
	out := s.trackOf(t, a.Type)
	if a.Kind == "live" {
		out.Type = a.Kind
	}
	if a.Path == "" {
		out.ID = ""
	}
	out.File, out.StartedAt = asShown(a.Path), a.StartedAt.UnixMilli()
	return out
}

type trackPageAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Track       Track   `json:"track"`
		Airings     []int64 `json:"airings" nullable:"false" doc:"Epoch milliseconds: when it began, newest first, the last 20 times within 400 days"`
		NextAt      int64   `json:"nextAt,omitempty" doc:"Epoch milliseconds: when it is expected next; missing while that is unknown"`
		Requestable bool    `json:"requestable" doc:"Whether a listener who has not asked for a song of late may ask for it now"`
	}
}

func (s *Server) track(ctx context.Context, in *struct {
	ID string `path:"id" minLength:"1" maxLength:"64" doc:"As in id of a track"`
}) (*trackPageAnswer, error) {
	t, airings, err := s.addressed(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &trackPageAnswer{CacheControl: "no-cache"}
	b := &out.Body
	b.Track = s.trackOf(t, "")
	if len(airings) > 0 {
		b.Track.Type = airings[0].Type
	}
	b.Track.File, b.Airings = asShown(t.Path), []int64{}
	for _, a := range airings {
		b.Airings = append(b.Airings, a.StartedAt.UnixMilli())
	}
	for _, it := range s.opt.Air().Upcoming() {
		if it.Track.Path == t.Path && !it.ExpectedAt.IsZero() {
			b.NextAt = it.ExpectedAt.UnixMilli()
			break
		}
	}
	if s.opt.Requests != nil {
		b.Requestable, err = s.opt.Requests.Free(ctx, t.Path)
	}
	return out, err
}

// addressed returns the track of an id with its airings: as the library has it, or as it last aired
// where its file is no longer there. Errors: station.ErrNotFound.
func (s *Server) addressed(ctx context.Context, id string) (station.Track, []telemetry.Aired, error) {
	none := fmt.Errorf("this track: %w", station.ErrNotFound)
	if !station.IsTrackID(id) {
		return station.Track{}, nil, none
	}
	t, there := s.opt.Library().ByID(id)
	if !there {
		path, known, err := s.opt.Telemetry.PathOf(ctx, id)
		if err != nil {
			return t, nil, err
		}
		// A listener's post that was taken away has no page any longer.
		if _, post := station.PostOf(path); !known || post {
			return t, nil, none
		}
		t.Path = path
	}
	airings, err := s.opt.Telemetry.Played(ctx, t.Path, mostOfTrack)
	if err != nil || there {
		return t, airings, err
	}
	if len(airings) == 0 {
		return t, nil, none
	}
	a := airings[0]
	t.Title, t.Artist, t.Album, t.Category = a.Title, a.Artist, a.Album, station.Category(a.Category)
	if !a.EndedAt.IsZero() {
		t.Duration = max(0, a.EndedAt.Sub(a.StartedAt))
	}
	return t, airings, nil
}

// namedWithin bounds how long a page waits for the name of its track.
const namedWithin = 2 * time.Second

// Named returns title and artist of the track of an id, for the head of its page. Errors:
// station.ErrNotFound, which is known without reading the database; others say that it cannot be
// told now.
func (s *Server) Named(ctx context.Context, id string) (title, artist string, err error) {
	// What the library has is named from memory: any page may be asked for without end.
	if t, there := s.opt.Library().ByID(id); there {
		return t.Title, t.Artist, nil
	}
	ctx, cancel := context.WithTimeout(ctx, namedWithin)
	defer cancel()
	t, _, err := s.addressed(ctx, id)
	return t.Title, t.Artist, err
}
