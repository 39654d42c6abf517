package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/problem"
)

// OnAirEvent is the payload of the event status: all that pages for listeners show of
// GET /api/status, but what stats_update and alert tell.
type OnAirEvent struct {
	Channel    string             `json:"channel"`
	Station    Identity           `json:"station"`
	OnAir      bool               `json:"onAir" doc:"Whether listeners hear anything"`
	NowPlaying station.NowPlaying `json:"nowPlaying"`
	Track      *Track             `json:"track,omitempty"`
	State      string             `json:"state" enum:"music,live,emergency,starting,off"`
	Reason     string             `json:"reason" doc:"What is wrong, as in /api/status"`
	HLS        Renditions         `json:"hls"`
	// Library moves with each file: it is told while pages show it.
	Library *Intake `json:"library,omitempty" doc:"While the library is taken in for the first time (reason beginning)"`
	// ProgramTime lets a page show the change when its listener hears it, which is
	// later: HLS carries the same clock as EXT-X-PROGRAM-DATE-TIME.
	ProgramTime int64 `json:"programTime" doc:"Epoch milliseconds at which the encoder sent what this says"`
	// History is bounded: keptHistory, and channels.MostHeard.
	History []HeardTrack `json:"history,omitempty" doc:"The last ten tracks before, newest first; of a channel beside main those of its own, with what it plays"`
}

// Identity is how the station names itself.
type Identity struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	Timezone string `json:"timezone"`
}

// Renditions are those of HLS.
type Renditions struct {
	Renditions []int `json:"renditions" nullable:"false" doc:"Bitrates of HLS in kbit/s, the main one first"`
}

// Intake is how much of the library can air.
type Intake struct {
	Ready   int `json:"ready" doc:"Files that can air"`
	Unready int `json:"unready" doc:"Files that are still to be looked at and cannot air yet"`
}

// HeardTrack is a track that a channel has played.
type HeardTrack struct {
	Track
	At int64 `json:"at" doc:"Epoch milliseconds at which it began"`
}

func heardOf(t Track, at int64) HeardTrack {
	t.StartedAt = at
	return HeardTrack{t, at}
}

// ChannelOnAir is the payload of status for a channel beside the main one: that of
// main, while the channel plays nothing of its own.
func (s *Server) ChannelOnAir(c channels.Channel, main OnAirEvent) OnAirEvent {
	out := main
	out.Channel, out.History = c.ID, nil
	if c.Playing != nil && len(c.Heard) > 0 {
		shown := s.trackOf(*c.Playing, "")
		shown.StartedAt = c.Heard[0].At.UnixMilli()
		out.NowPlaying, out.Track, out.State, out.ProgramTime = playing(*c.Playing), &shown, "music", shown.StartedAt
		out.OnAir, out.Reason, out.Library = true, "", nil
	}
	for _, h := range c.Heard {
		out.History = append(out.History, heardOf(s.trackOf(h.Track, ""), h.At.UnixMilli()))
	}
	return out
}

func playing(t station.Track) station.NowPlaying {
	return station.NowPlaying{Title: t.Title, Artist: t.Artist, File: asShown(t.Path)}
}

// OnAirNow returns the payload of the event status for the main channel.
func (s *Server) OnAirNow(ctx context.Context) OnAirEvent {
	b := Status{Guard: s.guardStatus()}
	node, sounding, err := s.node(ctx)
	s.statusOnAir(&b, s.opt.Air(), sounding)
	b.blame(node, err)
	out := OnAirEvent{
		Channel: station.MainChannel, Station: s.identity(), HLS: s.renditions(),
		OnAir: b.OnAir, NowPlaying: b.NowPlaying, Track: b.Track, State: b.State, Reason: b.Reason,
	}
	if b.Reason == "beginning" {
		copies := s.opt.Mastering()
		out.Library = &Intake{Ready: copies.Ready, Unready: copies.Silent}
	}
	if b.Track != nil {
		out.ProgramTime = b.Track.StartedAt
	}
	for _, t := range b.History {
		out.History = append(out.History, heardOf(t, t.StartedAt))
	}
	return out
}

func (s *Server) renditions() Renditions {
	return Renditions{append([]int{}, s.opt.Renditions...)} // never null
}

func (s *Server) identity() Identity {
	return Identity{s.name(), s.opt.Language, s.opt.Zone.String()}
}

// shownQueue is how many entries of the queue the event timeline_update holds, the
// same as /api/upnext by default.
const shownQueue = 30

// Timeline returns the payload of the event timeline_update.
func (s *Server) Timeline() []Entry {
	queue := s.queue(s.opt.Air())
	return queue[:min(shownQueue, len(queue))]
}

// Staff returns who connects with a key, or with the ticket of a session; nobody for one that
// is wrong. It fails with *client.LimitError when that address has tried too many keys, and on
// an open station with station.ErrForbidden where another site made the browser connect.
func (s *Server) Staff(key, address string, foreign bool) (c people.Caller, err error) {
	switch {
	case s.opt.StationKey.Set():
		err = s.guesses.TakeIf(address, func() bool {
			known := false
			if c, known = s.ticketHolder(key); !known {
				c, known = s.holder(key)
			}
			return !known
		})
		return c, err
	case foreign:
		return c, fmt.Errorf("%w: %w", errForeign, station.ErrForbidden)
	}
	return people.Caller{Rights: people.All}, nil // whoever it is: a role restricts nobody here
}

// People are who works at the station.
func (s *Server) People() *people.People { return s.opt.People }

// refused is the acknowledgement of an event that was not carried out.
type refused struct {
	OK    bool       `json:"ok"`
	Error eventFault `json:"error"`
}

type eventFault struct {
	Title      string              `json:"title"`
	Status     int                 `json:"status"`
	Detail     string              `json:"detail"`
	Errors     []*huma.ErrorDetail `json:"errors,omitempty"`
	RetryAfter int                 `json:"retryAfter,omitempty"`
}

// Refused returns an error as acknowledgements carry it: {ok: false, error}, where
// error is a problem document.
func Refused(err error) json.RawMessage {
	out := refused{Error: eventFault{Title: "Internal Server Error", Status: 500, Detail: problem.OurFault}}
	var doc huma.StatusError
	if errors.As(refusal(err), &doc) {
		model := modelOf(doc)
		out.Error.Title, out.Error.Status, out.Error.Detail, out.Error.Errors = model.Title, model.Status, model.Detail, model.Errors
	}
	var limit *client.LimitError
	if errors.As(err, &limit) {
		out.Error.RetryAfter = limit.Seconds()
	}
	data, merr := json.Marshal(out)
	if merr != nil {
		return json.RawMessage(`{"ok":false,"error":{"title":"Internal Server Error","status":500,"detail":""}}`)
	}
	return data
}
