package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/live/injection"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/edge"
)

// asks carries out what clients of events ask: the station's side of edge.Asks.
type asks struct {
	hub   *events.Hub
	said  *feedback.Feedback
	chat  *chat.Chat
	live  *injection.Desk
	table map[string]func(ctx context.Context, from edge.Client, ask edge.Ask) (any, error)
}

func newAsks(hub *events.Hub, said *feedback.Feedback, talk *chat.Chat, live *injection.Desk, operator func(key, address string) (bool, error)) *asks {
	a := &asks{hub: hub, said: said, chat: talk, live: live}
	a.table = map[string]func(context.Context, edge.Client, edge.Ask) (any, error){
		"send_comment": told(a.comment),
		"interaction":  told(a.vibe),
		"join":         told(a.join),
		"sendMessage":  told(a.message),
		"reaction":     told(a.reaction),
		"start_stream": a.startStream,
		"audio_data":   a.audioData,
		"stop_stream":  a.stopStream,
		operatorEvent: told(func(_ context.Context, from edge.Client, in operatorAsk) (any, error) {
			staff, err := operator(in.Key, from.Address)
			return operatorAnswer{staff}, err
		}),
	}
	return a
}

// Do carries out one event. What it returns is on disk.
func (a *asks) Do(ctx context.Context, ask edge.Ask) json.RawMessage {
	do, ok := a.table[ask.Event]
	if !ok {
		return api.Refused(fmt.Errorf("event %q: %w", ask.Event, station.ErrNotFound))
	}
	result, err := do(ctx, ask.From, ask)
	if err != nil {
		return api.Refused(err)
	}
	return agreed(result)
}

// agreed is the object of a result with ok in front.
func agreed(result any) json.RawMessage {
	data, err := events.Encode(result)
	if err != nil {
		return api.Refused(err)
	}
	if rest := strings.TrimPrefix(string(data), "{"); rest != "}" && rest != string(data) {
		return json.RawMessage(`{"ok":true,` + rest)
	}
	return json.RawMessage(`{"ok":true}`)
}

// told is a row whose event carries a body of type I.
func told[I any](fn func(context.Context, edge.Client, I) (any, error)) func(context.Context, edge.Client, edge.Ask) (any, error) {
	return func(ctx context.Context, from edge.Client, ask edge.Ask) (any, error) {
		var in I
		if err := json.Unmarshal(ask.Body, &in); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", ask.Event, plain(err), station.ErrInvalid)
		}
		return fn(ctx, from, in)
	}
}

// plain says what is wrong with a body in words of JSON, not of Go.
func plain(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Sprintf("%s is a %s", wrong.Field, wrong.Value)
	}
	return "the first argument must be an object"
}

type vibeAsk struct {
	Type string `json:"type"`
	Vibe string `json:"vibe"`
	ID   string `json:"id"`
}

func (a *asks) vibe(ctx context.Context, from edge.Client, in vibeAsk) (any, error) {
	if in.Type != "vibe_vote" {
		return nil, fmt.Errorf("type: must be vibe_vote: %w", station.ErrInvalid)
	}
	return a.said.Vibes.Vote(ctx, feedback.Client{Address: from.Address, Device: from.Device, Staff: from.Staff}, feedback.VibeIn{Vibe: in.Vibe, ID: in.ID})
}

// The studio's live audio. The edge lets only those in who show the station key,
// and says which connection it is: what one has begun only that one ends.

type startAsk struct {
	Type string `json:"type"`
}

func (a *asks) startStream(_ context.Context, from edge.Client, ask edge.Ask) (any, error) {
	var in startAsk
	if len(ask.Body) > 0 {
		if err := json.Unmarshal(ask.Body, &in); err != nil {
			return nil, fmt.Errorf("start_stream: %s: %w", plain(err), station.ErrInvalid)
		}
	}
	return struct{}{}, a.live.Start(from.Socket, in.Type)
}

type heardAnswer struct {
	Bytes int64 `json:"bytes"`
}

func (a *asks) audioData(_ context.Context, from edge.Client, ask edge.Ask) (any, error) {
	total, err := a.live.Data(from.Socket, ask.Audio)
	return heardAnswer{total}, err
}

func (a *asks) stopStream(ctx context.Context, from edge.Client, _ edge.Ask) (any, error) {
	return struct{}{}, a.live.Stop(ctx, from.Socket)
}

// Newest and Since are the records that followers may have missed.
func (a *asks) Newest(ctx context.Context) (map[string]string, error) { return a.chat.Newest(ctx) }

// Since returns the payloads of a kind of event after an id.
func (a *asks) Since(ctx context.Context, event, after string) ([]any, error) {
	return a.chat.Since(ctx, event, after)
}
