package api

import (
	"bytes"
	"context"

	"github.com/athir-radio/athir/internal/face"
)

// Face is the station's own: a *face.Owner.
type Face interface {
	Now() *face.State
	// Set replaces what the operator says, which was made of a version. Errors:
	// station.ErrInvalid, naming the field; station.ErrConflict where another change came first.
	Set(ctx context.Context, version int64, own face.Own) error
	// SetPicture replaces a picture by what was sent. Errors: station.ErrInvalid,
	// station.ErrTooLarge.
	SetPicture(ctx context.Context, kind face.Kind, data []byte) error
	RemovePicture(ctx context.Context, kind face.Kind) error
}

// faces returns the rows of the station's face.
func (s *Server) faces() []route {
	const at = "/api/station/face"
	rows := []route{
		{get, "/api/face", open, reading, "How the station looks to listeners: name, texts, colour, links", polled(typed(s.face), s.ofFace)},
		{get, at, looks, operating, "What the operator says of the station, with the style sheet", typed(s.ownFace)},
		{put, at, programmes, operating, "Replace what the operator says of the station", typed(s.setFace, may(409))},
	}
	for _, kind := range []face.Kind{face.Logo, face.Icon} {
		rows = append(rows,
			route{put, at + "/" + string(kind), programmes, sending, "Replace the " + string(kind) + ": PNG, JPEG or WebP, 4 MiB at most", typed(s.setPicture(kind), may(413, 422))},
			route{"DELETE", at + "/" + string(kind), programmes, operating, "Take the " + string(kind) + " away", typed(s.removePicture(kind))},
		)
	}
	return rows
}

// name is the station's, as its face has it.
func (s *Server) name() string {
	if s.opt.Face == nil {
		return s.opt.Name
	}
	f := s.opt.Face.Now().Face()
	return f.Title()
}

// ofFace is the state of answers about the face.
func (s *Server) ofFace() any {
	if s.opt.Face == nil {
		return nil
	}
	return s.opt.Face.Now()
}

type faceAnswer struct{ Body face.Face }

func (s *Server) face(context.Context, *struct{}) (*faceAnswer, error) {
	return &faceAnswer{s.opt.Face.Now().Face()}, nil
}

type ownFaceAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Version  int64         `json:"version" doc:"Who sets the face names the one that it was made of"`
		Face     face.Own      `json:"face"`
		Logo     string        `json:"logo" doc:"Address of the picture; empty: there is none"`
		Icon     string        `json:"icon" doc:"Address of the picture; empty: icons are made of the logo, or are the program's"`
		Defaults face.Defaults `json:"defaults" doc:"What stands where the face says nothing"`
	}
}

func (s *Server) ownFace(context.Context, *struct{}) (*ownFaceAnswer, error) {
	now := s.opt.Face.Now()
	out := &ownFaceAnswer{CacheControl: "no-store"}
	b := &out.Body
	b.Version, b.Face, b.Defaults = now.Version, now.Own, now.Defaults
	if now.Logo != nil {
		b.Logo = now.Address(face.LogoPath)
	}
	if now.Icon != nil {
		b.Icon = now.Address(face.IconPath(512))
	}
	return out, nil
}

func (s *Server) setFace(ctx context.Context, in *struct {
	Body struct {
		Version int64    `json:"version" minimum:"0" doc:"That it was made of; 0 before anything was ever set"`
		Face    face.Own `json:"face"`
	}
}) (*ownFaceAnswer, error) {
	if err := s.opt.Face.Set(ctx, in.Body.Version, in.Body.Face); err != nil {
		return nil, at("body.face.", err)
	}
	return s.ownFace(ctx, nil)
}

// facePicture is a picture as it was sent.
type facePicture struct {
	RawBody []byte `contentType:"image/png"`
}

func (s *Server) setPicture(kind face.Kind) func(context.Context, *facePicture) (*ownFaceAnswer, error) {
	return func(ctx context.Context, in *facePicture) (*ownFaceAnswer, error) {
		if err := s.opt.Face.SetPicture(ctx, kind, bytes.Clone(in.RawBody)); err != nil { // huma reuses the buffer
			return nil, at("", err)
		}
		return s.ownFace(ctx, nil)
	}
}

func (s *Server) removePicture(kind face.Kind) func(context.Context, *struct{}) (*ownFaceAnswer, error) {
	return func(ctx context.Context, _ *struct{}) (*ownFaceAnswer, error) {
		if err := s.opt.Face.RemovePicture(ctx, kind); err != nil {
			return nil, err
		}
		return s.ownFace(ctx, nil)
	}
}
