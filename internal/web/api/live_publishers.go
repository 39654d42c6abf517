package api

import (
	"context"
	"net/http"
)

// LivePublishers are the people who go live, as the station knows them.
// Errors: station.ErrInvalid, as "field: what it must be"; station.ErrNotFound.
type LivePublishers interface {
	List(ctx context.Context) ([]LivePublisher, error)
	// Add makes a publisher; the answer has its secret, which is kept as a hash alone.
	Add(ctx context.Context, p LivePublisher) (LivePublisher, error)
	// Change replaces all that an operator sets.
	Change(ctx context.Context, p LivePublisher) (LivePublisher, error)
	// Remove also ends what the publisher sends.
	Remove(ctx context.Context, id string) error
	// Revoke ends what the publisher sends, and refuses it from now on.
	Revoke(ctx context.Context, id string) (LivePublisher, error)
	// NewSecret makes another secret; the old one ends, and with it a revocation.
	NewSecret(ctx context.Context, id string) (LivePublisher, error)
}

// LivePublisher is somebody who may go live.
type LivePublisher struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Show       string     `json:"show" doc:"What the broadcast is called unless its sender says otherwise"`
	From       int64      `json:"from" doc:"Epoch milliseconds before which it is refused; 0: none"`
	Until      int64      `json:"until" doc:"Epoch milliseconds after which it is refused; 0: none"`
	Slots      []LiveSlot `json:"slots" nullable:"false" doc:"When it may go live; none: at any time"`
	Grace      int        `json:"grace" doc:"Minutes that it may come before a slot, and stay after it"`
	Auto       bool       `json:"auto" doc:"It takes the air by itself within its slots; others wait for the studio"`
	Revoked    bool       `json:"revoked"`
	CreatedAt  int64      `json:"createdAt" doc:"Epoch milliseconds"`
	LastLiveAt int64      `json:"lastLiveAt" doc:"Epoch milliseconds; 0: never yet"`
	Secret     string     `json:"secret,omitempty" doc:"Shown once: when it is made"`
}

// LiveSlot is a time of the week, in the station's time zone. One whose end is not after
// its beginning ends on the next day.
type LiveSlot struct {
	Day  string `json:"day" enum:"sun,mon,tue,wed,thu,fri,sat"`
	From string `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" maxLength:"5" examples:"20:00" doc:"HH:MM"`
	To   string `json:"to" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" maxLength:"5" examples:"22:00" doc:"HH:MM"`
}

// livePublishers returns the rows of publishers. None is in the mission.
func (s *Server) livePublishers() []route {
	const at, one = "/api/station/live/publishers", "/api/station/live/publishers/{id}"
	return []route{
		{get, at, inside, operating, "Accounts of people who go live, and where they come in", typed(s.listPublishers, may(503))},
		{post, at, programmes, operating, "Make a publisher; only this answer shows its secret", typed(s.addPublisher, creates, may(409))},
		{put, one, programmes, operating, "Change a publisher: what is missing goes back to its default", typed(s.changePublisher)},
		{http.MethodDelete, one, programmes, operating, "Delete a publisher, and end what it sends", typed(s.removePublisher)},
		{post, one + "/revoke", programmes, operating, "Refuse a publisher from now on, and end what it sends", typed(s.revokePublisher)},
		{post, one + "/secret", programmes, operating, "Make a new secret, which only this answer shows; the old one ends", typed(s.newPublisherSecret)},
	}
}

type publishersAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Publishers []LivePublisher `json:"publishers" nullable:"false" doc:"Oldest first"`
		Entrances  LiveEntrances   `json:"entrances"`
	}
}

func (s *Server) listPublishers(ctx context.Context, _ *struct{}) (*publishersAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	all, err := parts.Publishers.List(ctx)
	if err != nil {
		return nil, err
	}
	out := &publishersAnswer{CacheControl: "no-store"}
	out.Body.Publishers, out.Body.Entrances = []LivePublisher{}, parts.Entrances
	for _, p := range all {
		out.Body.Publishers = append(out.Body.Publishers, shownPublisher(p, false))
	}
	return out, nil
}

// shownPublisher is a publisher as answers show it.
func shownPublisher(p LivePublisher, secret bool) LivePublisher {
	if !secret {
		p.Secret = ""
	}
	if p.Slots == nil {
		p.Slots = []LiveSlot{}
	}
	return p
}

type publisherAnswer struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         LivePublisher
}

func published(status int, p LivePublisher, secret bool, err error) (*publisherAnswer, error) {
	if err != nil {
		return nil, inField(err)
	}
	return &publisherAnswer{status, "no-store", shownPublisher(p, secret)}, nil
}

// PublisherOrder is what an operator sets of a publisher.
type PublisherOrder struct {
	Name  string     `json:"name" minLength:"1" maxLength:"100"`
	Show  string     `json:"show,omitempty" maxLength:"300"`
	From  int64      `json:"from,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Epoch milliseconds"`
	Until int64      `json:"until,omitempty" minimum:"0" maximum:"9007199254740991" doc:"Epoch milliseconds"`
	Slots []LiveSlot `json:"slots,omitempty" maxItems:"50" nullable:"false"`
	Grace int        `json:"grace,omitempty" minimum:"0" maximum:"240"`
	Auto  bool       `json:"auto,omitempty"`
}

// publisher checks what the schema cannot.
func (o PublisherOrder) publisher(id string) (LivePublisher, error) {
	if o.Until != 0 && o.Until <= o.From {
		return LivePublisher{}, fieldError("body.until", "must be after from")
	}
	return LivePublisher{ID: id, Name: o.Name, Show: o.Show, From: o.From, Until: o.Until, Slots: o.Slots, Grace: o.Grace, Auto: o.Auto}, nil
}

func (s *Server) addPublisher(ctx context.Context, in *struct{ Body PublisherOrder }) (*publisherAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	publisher, err := in.Body.publisher("")
	if err != nil {
		return nil, err
	}
	p, err := parts.Publishers.Add(ctx, publisher)
	return published(http.StatusCreated, p, true, err)
}

// PublisherID is the path of a publisher.
type PublisherID struct {
	ID string `path:"id" maxLength:"64"`
}

func (s *Server) changePublisher(ctx context.Context, in *struct {
	PublisherID
	Body PublisherOrder
}) (*publisherAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	publisher, err := in.Body.publisher(in.ID)
	if err != nil {
		return nil, err
	}
	p, err := parts.Publishers.Change(ctx, publisher)
	return published(http.StatusOK, p, false, err)
}

func (s *Server) removePublisher(ctx context.Context, in *PublisherID) (*struct{}, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	return nil, parts.Publishers.Remove(ctx, in.ID)
}

func (s *Server) revokePublisher(ctx context.Context, in *PublisherID) (*publisherAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	p, err := parts.Publishers.Revoke(ctx, in.ID)
	return published(http.StatusOK, p, false, err)
}

func (s *Server) newPublisherSecret(ctx context.Context, in *PublisherID) (*publisherAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	p, err := parts.Publishers.NewSecret(ctx, in.ID)
	return published(http.StatusOK, p, true, err)
}
