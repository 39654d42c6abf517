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

// OnAirEvent is the payload of the event status.
type OnAirEvent struct {
	Channel    string             `json:"channel"`
	NowPlaying station.NowPlaying `json:"nowPlaying"`
	Track      *Track             `json:"track,omitempty"`
	State      string             `json:"state" enum:"music,live,emergency,starting,off"`
	// ProgramTime lets a page show the change when its listener hears it, which is
	// later: HLS carries the same clock as EXT-X-PROGRAM-DATE-TIME.
	ProgramTime int64 `json:"programTime" doc:"Epoch milliseconds at which the encoder sent what this says"`
	// History is bounded: channels.MostHeard.
	History []HeardTrack `json:"history,omitempty" doc:"Of a channel beside main: the last ten tracks of its own, newest first"`
}

// HeardTrack is a track that a channel has played.
type HeardTrack struct {
	station.NowPlaying
	At int64 `json:"at" doc:"Epoch milliseconds at which it began"`
}

// ChannelOnAir is the payload of status for a channel beside the main one: that of
// main, while the channel plays nothing of its own.
func ChannelOnAir(c channels.Channel, main OnAirEvent) OnAirEvent {
	out := main
	out.Channel = c.ID
	if c.Playing != nil && len(c.Heard) > 0 {
		shown := trackOf(*c.Playing, "")
		shown.StartedAt = c.Heard[0].At.UnixMilli()
		out.NowPlaying, out.Track, out.State, out.ProgramTime = playing(*c.Playing), &shown, "music", shown.StartedAt
	}
	for _, h := range c.Heard {
		out.History = append(out.History, HeardTrack{playing(h.Track), h.At.UnixMilli()})
	}
	return out
}

func playing(t station.Track) station.NowPlaying {
	shown := trackOf(t, "")
	return station.NowPlaying{Title: shown.Title, Artist: shown.Artist, File: asShown(shown.File)}
}

// OnAirNow returns the payload of the event status for the main channel.
func (s *Server) OnAirNow(ctx context.Context) OnAirEvent {
	_, sounding, _ := s.node(ctx)
	var b Status
	s.statusOnAir(&b, s.opt.Air(), sounding)
	out := OnAirEvent{Channel: station.MainChannel, NowPlaying: b.NowPlaying, Track: b.Track, State: b.State}
	if b.Track != nil {
		out.ProgramTime = b.Track.StartedAt
	}
	return out
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
