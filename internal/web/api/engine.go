package api

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

type marker struct {
	Node string `query:"node" maxLength:"64" doc:"Id of the broadcast node, where it is another machine"`
	Body struct {
		Channel string `json:"channel" doc:"Channel the engine plays" default:"main"`
		Engine  string `json:"engine" minLength:"1" maxLength:"64" doc:"Boot id of the engine"`
		Seq     uint64 `json:"seq" doc:"Counts the markers of one boot"`
		Fence   uint64 `json:"fence,omitempty" doc:"By which the node had the station as this began to be heard"`
		File    string `json:"file" maxLength:"16384" doc:"Absolute path as played, as text"`
		// A string, not bytes: the validator refuses empty base64.
		FileBase64 string `json:"file_b64,omitempty" maxLength:"8192" doc:"The same path in base64, byte for byte: it may hold bytes that are no text"`
		Title      string `json:"title,omitempty"`
		Artist     string `json:"artist,omitempty"`
		Type       string `json:"type,omitempty"`
		Kind       string `json:"kind" enum:"rotation,live,emergency,boot" doc:"boot: the engine is about to start, nothing is heard yet"`
		StartedAt  int64  `json:"started_at" doc:"Epoch milliseconds, as heard"`
	}
}

type markerAnswer struct {
	Body struct {
		Outcome string `json:"outcome" doc:"What the marker did to the cursor"`
	}
}

// metadata takes the engine's report of the track on air. A successful answer means
// that cursor, cooldown and history are on disk.
func (s *Server) metadata(ctx context.Context, in *marker) (*markerAnswer, error) {
	b := in.Body
	if b.Channel != station.MainChannel {
		return nil, fmt.Errorf("channel %q: %w", b.Channel, station.ErrNotFound)
	}
	if s.opt.Admit != nil {
		if err := s.opt.Admit(in.Node, b.Fence); err != nil {
			return nil, err
		}
	}
	file := b.File
	if b.FileBase64 != "" {
		raw, err := base64.StdEncoding.DecodeString(b.FileBase64)
		if err != nil {
			return nil, fmt.Errorf("file_b64: %w: %w", err, station.ErrInvalid)
		}
		file = string(raw)
	}
	outcome, err := s.opt.Completed(ctx, scheduler.Marker{
		Engine: b.Engine, Seq: b.Seq, File: file,
		// A marker is never refused for its texts: the track is on air anyway.
		Title: short(b.Title), Artist: short(b.Artist), Type: short(b.Type),
		Kind: scheduler.Kind(b.Kind), At: time.UnixMilli(b.StartedAt),
	})
	if err != nil {
		return nil, fmt.Errorf("record track marker of %q: %w", file, err)
	}
	out := &markerAnswer{}
	out.Body.Outcome = outcome
	return out, nil
}

// maxText is how much of a text is kept, in bytes.
const maxText = 1000

func short(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "")
}

// faults lists what keeps the control plane from its work.
func (s *Server) faults() []string {
	if s.opt.Faults == nil {
		return nil
	}
	return s.opt.Faults()
}

type healthAnswer struct {
	Status int
	Body   struct {
		OK    bool   `json:"ok"`
		State string `json:"state" doc:"As in /api/status"`
		OnAir bool   `json:"onAir"`
	}
}

// health answers for the control plane, 503 while it cannot do its work; monitoring of
// the air reads onAir.
func (s *Server) health(ctx context.Context, _ *struct{}) (*healthAnswer, error) {
	if faults := s.faults(); len(faults) > 0 {
		return nil, fmt.Errorf("%s: %w", strings.Join(faults, "; "), station.ErrUnavailable)
	}
	out := &healthAnswer{Status: 200}
	var b Status
	_, sounding, _ := s.node(ctx)
	s.statusOnAir(&b, s.opt.Air(), sounding)
	out.Body.OK, out.Body.State, out.Body.OnAir = true, b.State, b.OnAir
	return out, nil
}
