package edge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/live/injection"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
)

// Station is the Desk of the control plane: it carries out the requests of Asks.
type Station struct {
	opt      StationOptions
	hub      *events.Hub
	feedback *feedback.Feedback
	chat     *chat.Chat
	live     *injection.Desk
	table    map[string]func(ctx context.Context, from Client, ask Ask) (any, error)
}

// StationOptions are the slices that carry out the requests.
type StationOptions struct {
	Hub      *events.Hub
	Feedback *feedback.Feedback
	Chat     *chat.Chat
	Live     *injection.Desk
	Operator func(key, address string, foreign bool) (people.Caller, error) // see Options.Staff
	People   *people.People                                                 // knows whether who connected may still do that; nil where there are none
	Refused  func(err error) json.RawMessage                                // makes the answer to a refused request
}

// NewStation makes a Station.
func NewStation(o StationOptions) *Station {
	a := &Station{opt: o, hub: o.Hub, feedback: o.Feedback, chat: o.Chat, live: o.Live}
	a.table = map[string]func(context.Context, Client, Ask) (any, error){
		"send_comment": withBody(a.comment),
		"interaction":  withBody(a.vibe),
		"join":         withBody(a.join),
		"sendMessage":  withBody(a.message),
		"reaction":     withBody(a.reaction),
		"start_stream": a.startStream,
		"audio_data":   a.audioData,
		"stop_stream":  a.stopStream,
		operatorEvent: withBody(func(_ context.Context, from Client, in operatorAsk) (any, error) {
			who, err := o.Operator(in.Key, from.Address, in.Foreign)
			return answerOf(who), err
		}),
	}
	return a
}

// Do carries out one request. What its answer confirms is on disk.
func (a *Station) Do(ctx context.Context, ask Ask) json.RawMessage {
	do, ok := a.table[ask.Event]
	if !ok {
		return a.opt.Refused(fmt.Errorf("event %q: %w", ask.Event, station.ErrNotFound))
	}
	who, err := a.still(&ask.From, ask.Event)
	if err != nil {
		return a.opt.Refused(err)
	}
	done := func(int, string) {}
	if ask.Event == "start_stream" && a.opt.People != nil {
		done = a.opt.People.Ordered(who, people.Order{Order: "event start_stream", Address: ask.From.Address})
	}
	result, err := do(ctx, ask.From, ask)
	if err != nil {
		done(station.Status(err), "")
		return a.opt.Refused(err)
	}
	done(http.StatusOK, "")
	return a.agreed(result)
}

// still looks whether who connected by a session or a key may still do what that opened: users
// are locked, log out and change their roles while they are connected. What began on the air
// may be ended in any case.
func (a *Station) still(from *Client, event string) (people.Caller, error) {
	if from.Of == "" || a.opt.People == nil {
		return people.Caller{Way: people.ByStationKey}, nil
	}
	who, _ := a.opt.People.ByID(from.Of)
	from.Staff = from.Staff && who.Rights.Has(people.Moderate)
	from.Speaks = from.Speaks && who.Rights.Has(people.Air)
	if !from.Speaks && (event == "start_stream" || event == "audio_data") {
		return who, fmt.Errorf("%s: you are logged out, or may not speak on the air any more: %w", event, station.ErrUnauthentic)
	}
	return who, nil
}

// agreed encodes a result as an object that begins with ok.
func (a *Station) agreed(result any) json.RawMessage {
	data, err := events.Encode(result)
	if err != nil {
		return a.opt.Refused(err)
	}
	if rest := strings.TrimPrefix(string(data), "{"); rest != "}" && rest != string(data) {
		return json.RawMessage(`{"ok":true,` + rest)
	}
	return json.RawMessage(`{"ok":true}`)
}

// withBody makes the row of an event that carries a body of type I.
func withBody[I any](fn func(context.Context, Client, I) (any, error)) func(context.Context, Client, Ask) (any, error) {
	return func(ctx context.Context, from Client, ask Ask) (any, error) {
		var in I
		if err := json.Unmarshal(ask.Body, &in); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", ask.Event, plain(err), station.ErrInvalid)
		}
		return fn(ctx, from, in)
	}
}

// plain says what is wrong with a body in terms of JSON, not of Go.
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

func (a *Station) vibe(ctx context.Context, from Client, in vibeAsk) (any, error) {
	if in.Type != "vibe_vote" {
		return nil, fmt.Errorf("type: must be vibe_vote: %w", station.ErrInvalid)
	}
	return a.feedback.Vibes.Vote(ctx, feedback.Client{Address: from.Address, Device: from.Device, Staff: from.Staff}, feedback.VibeIn{Vibe: in.Vibe, ID: in.ID})
}

// The studio's live audio. The edge lets in only connections that sent the station
// key, and names the connection: only the one that began the audio ends it.

type startAsk struct {
	Type string `json:"type"`
}

func (a *Station) startStream(_ context.Context, from Client, ask Ask) (any, error) {
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

func (a *Station) audioData(_ context.Context, from Client, ask Ask) (any, error) {
	total, err := a.live.Data(from.Socket, ask.Audio)
	return heardAnswer{total}, err
}

func (a *Station) stopStream(ctx context.Context, from Client, _ Ask) (any, error) {
	return struct{}{}, a.live.Stop(ctx, from.Socket)
}

// Newest names the newest record of each kind that followers may have missed.
func (a *Station) Newest(ctx context.Context) (map[string]string, error) { return a.chat.Newest(ctx) }

// Since returns the payloads of a kind of event after an id.
func (a *Station) Since(ctx context.Context, event, after string) ([]any, error) {
	return a.chat.Since(ctx, event, after)
}

func chatter(from Client) chat.Client {
	return chat.Client{Address: from.Address, Device: from.Device, Staff: from.Staff}
}

type commented struct {
	Comment chat.Comment `json:"comment"`
}

func (a *Station) comment(ctx context.Context, from Client, in chat.CommentIn) (any, error) {
	c, err := a.chat.Comment(ctx, chatter(from), in)
	return commented{c}, err
}

type messaged struct {
	Message chat.Message `json:"message"`
}

// message takes room and name from the room that the client joined, where its message
// names none.
func (a *Station) message(ctx context.Context, from Client, in chat.SayIn) (any, error) {
	seat := from.seat(in.Room)
	in.Room, in.User = cmp.Or(in.Room, seat.Room), cmp.Or(in.User, seat.Name)
	if in.User == "" {
		return nil, fmt.Errorf("user: join the room first, or give the name here: %w", station.ErrInvalid)
	}
	m, err := a.chat.Say(ctx, chatter(from), in)
	return messaged{m}, err
}

func (a *Station) join(ctx context.Context, from Client, in chat.JoinIn) (any, error) {
	mark := a.hub.Mark() // read before what the answer shows
	out, err := a.chat.Join(ctx, chatter(from), in)
	if err != nil {
		return nil, err
	}
	return Joined{Room: out.Room, Name: out.Name, Mark: mark, Who: a.chat.Keys(chatter(from)), Answer: a.agreed(out)}, nil
}

func (a *Station) reaction(ctx context.Context, from Client, in chat.ReactIn) (any, error) {
	return a.chat.React(ctx, chatter(from), in)
}
