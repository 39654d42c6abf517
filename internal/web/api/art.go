package api

import (
	"context"
	"fmt"

	"github.com/athir-radio/athir/internal/library/art"
	"github.com/athir-radio/athir/internal/station"
)

// Art is what files have beside their sound.
type Art interface {
	Of(path string) art.Found
	// Lyrics returns the words of a track; station.ErrNotFound where it has none.
	Lyrics(ctx context.Context, path string) (art.Lyrics, error)
	// Version grows with every change.
	Version() uint64
	// Subscribe returns a channel that receives after every change.
	Subscribe() (changed <-chan struct{}, cancel func())
}

// lyricsRows returns the rows of what is sung.
func (s *Server) lyricsRows() []route {
	return []route{
		{get, "/api/tracks/{id}/lyrics", open, reading, "The words of a track, with times where they are known", typed(s.lyrics, may(404))},
	}
}

func (s *Server) artVersion() uint64 {
	if s.opt.Art == nil {
		return 0
	}
	return s.opt.Art.Version()
}

type lyricsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Lyrics string     `json:"lyrics" doc:"Lines of text"`
		Synced []art.Line `json:"synced" nullable:"false" doc:"Lines in the order of their times; empty where none are known"`
	}
}

func (s *Server) lyrics(ctx context.Context, in *struct {
	ID string `path:"id" minLength:"16" maxLength:"16" pattern:"^[a-z2-7]{16}$" doc:"As a track names itself"`
}) (*lyricsAnswer, error) {
	t, there := s.opt.Library().ByID(in.ID)
	if !there || s.opt.Art == nil {
		return nil, fmt.Errorf("there is no such track: %w", station.ErrNotFound)
	}
	found, err := s.opt.Art.Lyrics(ctx, t.Path)
	if err != nil {
		return nil, err
	}
	out := &lyricsAnswer{CacheControl: "public, max-age=300"}
	out.Body.Lyrics, out.Body.Synced = found.Text, append([]art.Line{}, found.Synced...)
	return out, nil
}
