package api

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/carts"
)

// LiveCarts is the cart wall: a *carts.Carts.
type LiveCarts interface {
	// Shown is the wall, with what the desk reports of it.
	Shown(r live.CartReport) (version int64, pages []carts.ShownPage)
	// Set replaces the wall of a version. Errors: station.ErrInvalid, naming the field;
	// station.ErrConflict where another change came first.
	Set(ctx context.Context, version int64, pages []carts.Page) error
	// Fire lets a cart be heard; a request that comes again is heard once. Errors:
	// station.ErrNotFound, station.ErrConflict, station.ErrUnavailable.
	Fire(ctx context.Context, page, slot int, request string) (live.CartPlaying, error)
	// Stop ends one that is heard, or all without an id, and tells how many it were.
	Stop(ctx context.Context, id string) (int, error)
}

// cartWall returns the rows of the cart wall.
func (s *Server) cartWall() []route {
	const at = "/api/station/carts"
	return []route{
		{get, at, inside, operating, "The cart wall, and which of its carts are heard", typed(s.carts, may(503))},
		{put, at, programmes, operating, "Replace the cart wall", typed(s.setCarts, may(409, 503))},
		{post, at + "/fire", airs, operating, "Let a cart be heard over the live mix", typed(s.fireCart, may(404, 409, 503))},
		{post, at + "/stop", airs, operating, "Fade out a cart that is heard, or all without an id", typed(s.stopCarts, may(503))},
	}
}

type cartsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Version int64              `json:"version" doc:"Of the wall: who sets it names the one it was made of"`
		Pages   []carts.ShownPage  `json:"pages" nullable:"false"`
		Live    bool               `json:"live" doc:"Something live is on the air, so carts are heard"`
		Desk    bool               `json:"desk" doc:"The live desk answers"`
		Playing []live.CartPlaying `json:"playing" nullable:"false" doc:"The oldest first; page counts from 0"`
		Now     int64              `json:"now" doc:"Epoch milliseconds"`
	}
}

func (s *Server) carts(ctx context.Context, _ *struct{}) (*cartsAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	r, known := parts.Takeover.Look(ctx)
	if !known {
		r.Carts = live.CartReport{}
	}
	out := &cartsAnswer{CacheControl: "no-store"}
	b := &out.Body
	b.Version, b.Pages = parts.Carts.Shown(r.Carts)
	b.Live, b.Desk, b.Playing, b.Now = r.Carts.Open, known, r.Carts.Playing, time.Now().UnixMilli()
	if b.Playing == nil {
		b.Playing = []live.CartPlaying{}
	}
	return out, nil
}

func (s *Server) setCarts(ctx context.Context, in *struct {
	Body struct {
		Version int64        `json:"version" minimum:"0" doc:"That it is of; 0 before the wall was ever set"`
		Pages   []carts.Page `json:"pages" nullable:"false" maxItems:"8"`
	}
}) (*cartsAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	if err := parts.Carts.Set(ctx, in.Body.Version, in.Body.Pages); err != nil {
		return nil, at("body.", err)
	}
	return s.carts(ctx, nil)
}

type cartFired struct {
	Body struct {
		ID         string `json:"id" doc:"Of what is heard now, for stop"`
		StartedAt  int64  `json:"startedAt" doc:"Epoch milliseconds"`
		DurationMS int64  `json:"durationMs"`
	}
}

func (s *Server) fireCart(ctx context.Context, in *struct {
	Body struct {
		Page    int    `json:"page" minimum:"0" maximum:"7" doc:"From 0"`
		Slot    int    `json:"slot" minimum:"0" maximum:"19"`
		Request string `json:"request,omitempty" maxLength:"64" doc:"Names this press: one that is sent again by it is heard once. Two presses have two names, or none"`
	}
}) (*cartFired, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	p, err := parts.Carts.Fire(ctx, in.Body.Page, in.Body.Slot, in.Body.Request)
	if err != nil {
		return nil, err
	}
	out := &cartFired{}
	out.Body.ID, out.Body.StartedAt, out.Body.DurationMS = p.ID, p.StartedAt, p.DurationMS
	return out, nil
}

type cartsStopped struct {
	Body struct {
		Stopped int `json:"stopped" doc:"How many were heard"`
	}
}

func (s *Server) stopCarts(ctx context.Context, in *struct {
	Body *struct {
		ID string `json:"id,omitempty" maxLength:"64" doc:"As fire answers it; without one, all"`
	}
}) (*cartsStopped, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	id := ""
	if in.Body != nil {
		id = in.Body.ID
	}
	out := &cartsStopped{}
	out.Body.Stopped, err = parts.Carts.Stop(ctx, id)
	return out, err
}
