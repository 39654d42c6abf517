package api

import (
	"context"

	"github.com/athir-radio/athir/internal/live"
)

// LiveDoor answers the node's live programs: who may send, who has come and gone, and
// what presenters are shown.
type LiveDoor interface {
	// Admit says whether somebody may send now. A refusal is no error.
	Admit(ctx context.Context, who live.Credentials) (live.Admission, error)
	// Arrived says that audio has begun; it returns the id of its stream.
	Arrived(ctx context.Context, a live.Arrival) (id string, err error)
	Left(ctx context.Context, l live.Leaving) error
	// Roll says who is there.
	Roll(ctx context.Context, r live.Roll) (live.RollAnswer, error)
	Facts(ctx context.Context, publisher, stream string) (live.Facts, error)
}

// liveNode returns the rows that the node's live programs ask.
func (s *Server) liveNode() []route {
	return []route{
		{post, "/api/live/admit", engineOnly, unmetered, "Whether a sender may go live now", typed(s.admitLive)},
		{post, "/api/live/arrived", engineOnly, unmetered, "A sender's audio has begun", typed(s.arrivedLive, may(404, 409))},
		{post, "/api/live/left", engineOnly, unmetered, "A sender's audio has ended", typed(s.leftLive, may(404))},
		{post, "/api/live/roll", engineOnly, unmetered, "All senders of a protocol, every few seconds", typed(s.rollLive)},
		{get, "/api/live/facts", engineOnly, unmetered, "What a presenter's page shows", typed(s.liveFacts, may(404, 503))},
	}
}

type admissionAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         live.Admission
}

func (s *Server) admitLive(ctx context.Context, in *struct{ Body live.Credentials }) (*admissionAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	answer, err := parts.Door.Admit(ctx, in.Body)
	if err != nil {
		return nil, inField(err)
	}
	return &admissionAnswer{"no-store", answer}, nil
}

type arrivedAnswer struct {
	Body struct {
		ID string `json:"id" doc:"Of the stream"`
	}
}

func (s *Server) arrivedLive(ctx context.Context, in *struct{ Body live.Arrival }) (*arrivedAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	id, err := parts.Door.Arrived(ctx, in.Body)
	if err != nil {
		return nil, inField(err)
	}
	out := &arrivedAnswer{}
	out.Body.ID = id
	return out, nil
}

type leftAnswer struct{ Body struct{} }

func (s *Server) leftLive(ctx context.Context, in *struct{ Body live.Leaving }) (*leftAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	if err := parts.Door.Left(ctx, in.Body); err != nil {
		return nil, inField(err)
	}
	return &leftAnswer{}, nil
}

type rollAnswer struct{ Body live.RollAnswer }

func (s *Server) rollLive(ctx context.Context, in *struct{ Body live.Roll }) (*rollAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	answer, err := parts.Door.Roll(ctx, in.Body)
	if err != nil {
		return nil, inField(err)
	}
	return &rollAnswer{answer}, nil
}

type factsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         live.Facts
}

func (s *Server) liveFacts(ctx context.Context, in *struct {
	Publisher string `query:"publisher" maxLength:"64"`
	Stream    string `query:"stream" maxLength:"64"`
}) (*factsAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	facts, err := parts.Door.Facts(ctx, in.Publisher, in.Stream)
	if err != nil {
		return nil, err
	}
	if facts.Next == nil {
		facts.Next = []live.FactsTrack{}
	}
	return &factsAnswer{"no-store", facts}, nil
}
