package api

import (
	"bytes"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/podcast"
)

// OwnPodcasts changes shows. Errors: station.ErrNotFound; station.ErrInvalid, naming the field;
// station.ErrConflict.
type OwnPodcasts interface {
	// Create makes a show, whose feed was first asked for at an address.
	Create(ctx context.Context, own podcast.Own, feed string) (*podcast.Show, error)
	// Set replaces what the operator says of a show, which was made of a version.
	Set(ctx context.Context, slug string, version int64, own podcast.Own) (*podcast.Show, error)
	// SetCover replaces the cover by what was sent. Errors: also station.ErrTooLarge.
	SetCover(ctx context.Context, slug string, data []byte) (*podcast.Show, error)
	RemoveCover(ctx context.Context, slug string) (*podcast.Show, error)
	Remove(ctx context.Context, slug string) error
	Restore(ctx context.Context, slug string) error
	// Bytes are those of all files, and how many there may be; 0: no bound.
	Bytes() (used, most int64)
}

// podcastShows returns the rows by which operators keep shows.
func (s *Server) podcastShows() []route {
	const at, one = "/api/station/podcasts", "/api/station/podcasts/{show}"
	return []route{
		{get, at, looks, operating, "All shows, as operators see them", typed(s.ownShows)},
		{post, at, programmes, operating, "Make a show", typed(s.createShow, creates, may(409, 507))},
		{put, one, programmes, operating, "Replace what is said of a show; its slug and kind stay", typed(s.setShow, may(409))},
		{http.MethodDelete, one, programmes, operating, "Remove a show with its episodes; it can be brought back for seven days", typed(s.removeShow, may(409))},
		{post, one + "/restore", programmes, operating, "Bring a removed show back", typed(s.restoreShow, may(409))},
		{put, one + "/cover", programmes, sending, "Replace the cover: PNG, JPEG or WebP of 1400 pixels a side or more, 8 MiB and 40 million pixels at most", typed(s.setShowCover, may(413, 507))},
		{http.MethodDelete, one + "/cover", programmes, operating, "Take the cover away: one is made of the station's face", typed(s.removeShowCover)},
	}
}

// OwnShow is a show as operators see it.
type OwnShow struct {
	Own       podcast.Own   `json:"own"`
	Version   int64         `json:"version" doc:"Who sets the show names the one that it was made of"`
	GUID      string        `json:"guid" doc:"podcast:guid: it stays for good"`
	Cover     string        `json:"cover" doc:"Path of a square JPEG"`
	OwnCover  bool          `json:"ownCover" doc:"Otherwise it is made of the station's face"`
	Feed      string        `json:"feed" doc:"Path of the RSS feed"`
	Page      string        `json:"page" doc:"Path of its page"`
	Episodes  int           `json:"episodes" doc:"That listeners see"`
	Latest    int64         `json:"latest" doc:"Epoch milliseconds of the newest of them; 0: none"`
	Bytes     int64         `json:"bytes" doc:"Of all its files"`
	CreatedAt int64         `json:"createdAt" doc:"Epoch milliseconds"`
	RemovedAt int64         `json:"removedAt" doc:"Epoch milliseconds; 0: it is there"`
	States    EpisodeStates `json:"states" doc:"How many episodes are how far"`
}

// EpisodeStates counts episodes by their state.
type EpisodeStates struct {
	Making    int `json:"making"`
	Failed    int `json:"failed"`
	Held      int `json:"held"`
	Published int `json:"published"`
	Hidden    int `json:"hidden"`
	Removed   int `json:"removed"`
}

func (n *EpisodeStates) count(state podcast.State) {
	switch state {
	case podcast.Making:
		n.Making++
	case podcast.Failed:
		n.Failed++
	case podcast.Held:
		n.Held++
	case podcast.Published:
		n.Published++
	case podcast.Hidden:
		n.Hidden++
	case podcast.Removed:
		n.Removed++
	}
}

func (s *Server) ownShow(ctx context.Context, show *podcast.Show) (OwnShow, error) {
	path := podcastPath(show.Slug)
	own := show.Own // lists of the memory are copied: what is null there is none here
	own.Categories, own.From.Streams, own.From.Types = append([]string{}, own.Categories...), append([]string{}, own.From.Streams...), append([]string{}, own.From.Types...)
	out := OwnShow{
		Own: own, Version: show.Version, GUID: show.GUID, Cover: podcastCover(show), OwnCover: show.Cover != "", Feed: path + "/feed.xml", Page: path,
		Episodes: show.Episodes, Latest: show.Latest, Bytes: show.Bytes, CreatedAt: show.Created, RemovedAt: show.Removed,
	}
	all, err := s.opt.Podcasts.Shows.Episodes(ctx, show.Slug)
	for i := range all {
		out.States.count(all[i].State)
	}
	return out, err
}

type ownShowsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Shows      []OwnShow      `json:"shows" nullable:"false" doc:"By title, also those that were removed and can come back"`
		Categories []string       `json:"categories" nullable:"false" doc:"That a show can be of"`
		Bytes      int64          `json:"bytes" doc:"Of the files of all shows"`
		MostBytes  int64          `json:"mostBytes" doc:"That they may take; 0: no bound"`
		Kinds      []podcast.Kind `json:"kinds" nullable:"false"`
	}
}

func (s *Server) ownShows(ctx context.Context, _ *struct{}) (*ownShowsAnswer, error) {
	out := &ownShowsAnswer{CacheControl: "no-store"}
	b := &out.Body
	b.Shows, b.Categories, b.Kinds = []OwnShow{}, podcast.Categories(), podcast.Kinds()
	b.Bytes, b.MostBytes = s.opt.Podcasts.Shows.Bytes()
	for _, show := range s.opt.Podcasts.Shows.Shows() {
		own, err := s.ownShow(ctx, show)
		if err != nil {
			return nil, err
		}
		b.Shows = append(b.Shows, own)
	}
	return out, nil
}

type ownShowAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         OwnShow
}

// shown answers an order with the show as it stands.
func (s *Server) shown(ctx context.Context, show *podcast.Show, err error) (*ownShowAnswer, error) {
	if err != nil {
		return nil, err
	}
	own, err := s.ownShow(ctx, show)
	return &ownShowAnswer{"no-store", own}, err
}

type newShow struct {
	Body struct {
		Own podcast.Own `json:"own"`
	}

	origin string
}

// Resolve notes under which address the station was asked.
func (in *newShow) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	in.origin = client.Origin(r)
	return nil
}

func (s *Server) createShow(ctx context.Context, in *newShow) (*ownShowAnswer, error) {
	show, err := s.opt.Podcasts.Shows.Create(ctx, in.Body.Own, in.origin+podcastPath(in.Body.Own.Slug)+"/feed.xml")
	return s.shown(ctx, show, at("body.own.", err))
}

func (s *Server) setShow(ctx context.Context, in *struct {
	PodcastSlug
	Body struct {
		Version int64       `json:"version" minimum:"0" doc:"That it was made of"`
		Own     podcast.Own `json:"own"`
	}
}) (*ownShowAnswer, error) {
	show, err := s.opt.Podcasts.Shows.Set(ctx, in.Show, in.Body.Version, in.Body.Own)
	return s.shown(ctx, show, at("body.own.", err))
}

func (s *Server) removeShow(ctx context.Context, in *PodcastSlug) (*struct{}, error) {
	err := s.opt.Podcasts.Shows.Remove(ctx, in.Show)
	s.opt.Podcasts.words.forget(in.Show)
	return nil, err
}

func (s *Server) restoreShow(ctx context.Context, in *PodcastSlug) (*ownShowAnswer, error) {
	if err := s.opt.Podcasts.Shows.Restore(ctx, in.Show); err != nil {
		return nil, err
	}
	show, err := s.opt.Podcasts.Shows.Show(in.Show)
	return s.shown(ctx, show, err)
}

func (s *Server) setShowCover(ctx context.Context, in *struct {
	PodcastSlug
	RawBody []byte `contentType:"image/png"`
}) (*ownShowAnswer, error) {
	show, err := s.opt.Podcasts.Shows.SetCover(ctx, in.Show, bytes.Clone(in.RawBody)) // huma reuses the buffer
	return s.shown(ctx, show, at("", err))
}

func (s *Server) removeShowCover(ctx context.Context, in *PodcastSlug) (*ownShowAnswer, error) {
	show, err := s.opt.Podcasts.Shows.RemoveCover(ctx, in.Show)
	return s.shown(ctx, show, err)
}
