package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// Reactions are the station's reactions.
type Reactions interface {
	// Counts returns how often each emoji was sent. The map must not be changed.
	Counts() map[string]int64
	React(ctx context.Context, from feedback.Client, in feedback.ReactionIn) (feedback.Reacted, error)
}

// Vibes are the votes on the vibe.
type Vibes interface {
	// Counts returns the votes for every vibe, also those without votes.
	Counts() map[string]int
	// Mine returns a client's vote; empty when it has none.
	Mine(from feedback.Client) string
	Vote(ctx context.Context, from feedback.Client, in feedback.VibeIn) (feedback.Vibed, error)
}

// Listener is the sender of a request, for inputs to embed.
type Listener struct {
	Device string `header:"X-Athir-Device" doc:"Random id that the browser keeps, 8 to 64 of A-Z, a-z, 0-9, _ and -: tells listeners of one address apart"`

	from feedback.Client
}

// Resolve sets the sender.
func (l *Listener) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	l.from = listener(r)
	return nil
}

// listener is who sends a request. Malformed ids of devices are ignored.
func listener(r *http.Request) feedback.Client {
	from := feedback.Client{Address: client.Address(r)}
	if device := r.Header.Get("X-Athir-Device"); client.PlainID(device) {
		from.Device = device
	}
	return from
}

type reactionsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         map[string]int64
}

func (s *Server) reactions(context.Context, *struct{}) (*reactionsAnswer, error) {
	return &reactionsAnswer{"no-store", s.opt.Reactions.Counts()}, nil
}

type reactInput struct {
	Listener
	Body struct {
		Emoji string `json:"emoji" minLength:"1" maxLength:"64" doc:"One emoji"`
		Delta int    `json:"delta,omitempty" minimum:"1" maximum:"10" default:"1" doc:"Clicks"`
		ID    string `json:"id,omitempty" maxLength:"64" doc:"The client's own for this write, 8 to 64 of A-Z, a-z, 0-9, _ and -: the same one again from the same device, for a day, counts nothing and gets the same answer"`
	}
}

type reactAnswer struct{ Body feedback.Reacted }

func (s *Server) react(ctx context.Context, in *reactInput) (*reactAnswer, error) {
	done, err := s.opt.Reactions.React(ctx, in.from, feedback.ReactionIn{Emoji: in.Body.Emoji, Delta: in.Body.Delta, ID: in.Body.ID})
	if err != nil {
		return nil, inField(err)
	}
	return &reactAnswer{done}, nil
}

type vibeAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Counts map[string]int `json:"counts" doc:"Votes of the last 30 minutes for each vibe"`
		Mine   string         `json:"mine,omitempty" enum:"chill,romantic,tarab,party,energy,focus" doc:"This client's vote, while it counts"`
	}
}

func (s *Server) vibe(_ context.Context, in *struct{ Listener }) (*vibeAnswer, error) {
	out := &vibeAnswer{CacheControl: "no-store"}
	out.Body.Counts, out.Body.Mine = s.opt.Vibes.Counts(), s.opt.Vibes.Mine(in.from)
	return out, nil
}

type vibeInput struct {
	Listener
	Body struct {
		Vibe string `json:"vibe" enum:"chill,romantic,tarab,party,energy,focus"`
		ID   string `json:"id,omitempty" maxLength:"64" doc:"The client's own for this write, as of a reaction"`
	}
}

type vibedAnswer struct{ Body feedback.Vibed }

func (s *Server) voteVibe(ctx context.Context, in *vibeInput) (*vibedAnswer, error) {
	done, err := s.opt.Vibes.Vote(ctx, in.from, feedback.VibeIn{Vibe: in.Body.Vibe, ID: in.Body.ID})
	if err != nil {
		return nil, inField(err)
	}
	return &vibedAnswer{done}, nil
}

// inField turns a slice's error "field: what it must be" into a problem of that field.
func inField(err error) error {
	if !errors.Is(err, station.ErrInvalid) {
		return err
	}
	text := station.Reason(err)
	if field, must, ok := strings.Cut(text, ": "); ok && !strings.Contains(field, " ") {
		return reasoned(err, fieldError("body."+field, must))
	}
	return err
}
