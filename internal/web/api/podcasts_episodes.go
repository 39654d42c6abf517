package api

import (
	"cmp"
	"context"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/podcast"
)

// OwnEpisodes changes episodes. Errors: station.ErrNotFound; station.ErrInvalid, naming the field;
// station.ErrConflict; station.ErrUnavailable where the origin of a show does not answer.
type OwnEpisodes interface {
	// Episodes has all, the newest first.
	Episodes(ctx context.Context, slug string) ([]podcast.Episode, error)
	Episode(ctx context.Context, slug, id string) (podcast.Episode, error)
	// Offers lists what can become an episode of a show and is none yet.
	Offers(ctx context.Context, slug string) ([]podcast.Raw, error)
	Add(ctx context.Context, slug string, from podcast.Source) (podcast.Episode, error)
	Edit(ctx context.Context, slug, id string, e podcast.Edit) (podcast.Episode, error)
	RemoveEpisode(ctx context.Context, slug, id string) error
	RestoreEpisode(ctx context.Context, slug, id string) error
	// Retry makes one again that could not be made.
	Retry(ctx context.Context, slug, id string) error
	// SoundOf has the file of an episode that is made, whoever may hear it.
	SoundOf(ctx context.Context, slug, id string) (path string, e podcast.Episode, err error)
}

// podcastOrders returns the rows by which operators keep episodes.
func (s *Server) podcastOrders() []route {
	const of = "/api/station/podcasts/{show}"
	const all, one = of + "/episodes", of + "/episodes/{id}"
	return []route{
		{get, all, inside, operating, "All episodes of a show, the newest first", typed(s.ownEpisodes)},
		{get, one, inside, operating, "An episode, whole, as operators see it", typed(s.ownEpisode)},
		{get, of + "/offers", inside, operating, "What can become an episode of a show and is none yet, the newest first", typed(s.podcastOffers, may(503))},
		{post, all, programmes, operating, "Make an episode of something by hand", typed(s.addEpisode, creates, namesKey, may(409, 503, 507))},
		{put, one, programmes, operating, "Change what is said of an episode, publish or hide it", typed(s.editEpisode, may(409))},
		{http.MethodDelete, one, programmes, operating, "Remove an episode; it can be brought back for seven days", typed(s.removeEpisode, may(409))},
		{post, one + "/restore", programmes, operating, "Bring a removed episode back", typed(s.restoreEpisode, may(409))},
		{post, one + "/retry", programmes, operating, "Try again to make an episode", typed(s.retryEpisode, may(409))},
		{get, "/api/podcasts/{show}/episodes/{id}/audio", open, reading, "An episode that listeners may not hear yet, with a ticket of the operator's in the query", raw(s.episodeSound, ticketedEpisode)},
	}
}

// OwnEpisode is an episode as operators see it.
type OwnEpisode struct {
	PodcastEpisode
	State     podcast.State `json:"state" enum:"making,failed,held,published,hidden,removed"`
	Problem   string        `json:"problem" doc:"Why it could not be made"`
	ProblemAr string        `json:"problemAr" doc:"The same in Arabic; empty where there are no words for it"`
	Source    EpisodeSource `json:"source"`
	Downloads int64         `json:"downloads" doc:"By listeners, each counted once a day"`
	Listeners float64       `json:"listeners" doc:"Who heard it live, on average; -1: nobody counted"`
	Pinned    bool          `json:"pinned" doc:"It is kept whatever the show keeps"`
	RemovedAt int64         `json:"removedAt" doc:"Epoch milliseconds; 0: it is there"`
	Listen    string        `json:"listen" doc:"Path at which a browser can play it for six hours without the key; empty: it is not made"`
}

// EpisodeSource names what an episode is made of.
type EpisodeSource struct {
	Kind podcast.Kind `json:"kind" enum:"live,bulletins,posts,library"`
	Key  string       `json:"key" doc:"A recording's or a bulletin's file, a post's id, a path in the library"`
}

// ofEpisode is what a ticket for an episode names.
func ofEpisode(show, id string) string { return "episode\n" + show + "\n" + id }

func (s *Server) operators(show *podcast.Show, e *podcast.Episode, seen PodcastEpisode) OwnEpisode {
	out := OwnEpisode{
		PodcastEpisode: seen, State: e.State, Problem: e.Problem, ProblemAr: e.ProblemAR, Source: EpisodeSource{e.Source.Kind, e.Source.Key}, Downloads: e.Downloads, Listeners: e.Listeners, Pinned: e.Pinned, RemovedAt: e.Removed,
	}
	if out.Listeners < 0 {
		out.Listeners = -1
	}
	if e.File != "" && e.State != podcast.Making && e.State != podcast.Failed {
		until := s.opt.Now().Add(ticketLasts).UnixMilli()
		out.Listen = "/api/podcasts/" + url.PathEscape(show.Slug) + "/episodes/" + url.PathEscape(e.ID) + "/audio?ticket=" + s.tickets.sign(ofEpisode(show.Slug, e.ID), until)
	}
	return out
}

type ownEpisodesAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Episodes []OwnEpisode `json:"episodes" nullable:"false" doc:"Newest first, without chapters and text"`
	}
}

func (s *Server) ownEpisodes(ctx context.Context, in *PodcastSlug) (*ownEpisodesAnswer, error) {
	show, err := s.opt.Podcasts.Shows.Show(in.Show)
	if err != nil {
		return nil, err
	}
	all, err := s.opt.Podcasts.Shows.Episodes(ctx, in.Show)
	if err != nil {
		return nil, err
	}
	out := &ownEpisodesAnswer{CacheControl: "no-store"}
	out.Body.Episodes = make([]OwnEpisode, len(all))
	for i := range all {
		out.Body.Episodes[i] = s.operators(show, &all[i], listed(show, &all[i]))
	}
	return out, nil
}

type ownEpisodeAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         OwnEpisode
}

func (s *Server) ownEpisode(ctx context.Context, in *PodcastEpisodeID) (*ownEpisodeAnswer, error) {
	e, err := s.opt.Podcasts.Shows.Episode(ctx, in.Show, in.ID)
	return s.wholeEpisode(in.Show, e, err)
}

// wholeEpisode answers with an episode as it stands.
func (s *Server) wholeEpisode(slug string, e podcast.Episode, err error) (*ownEpisodeAnswer, error) {
	if err != nil {
		return nil, err
	}
	show, err := s.opt.Podcasts.Shows.Show(slug)
	if err != nil {
		return nil, err
	}
	return &ownEpisodeAnswer{"no-store", s.operators(show, &e, whole(show, &e))}, nil
}

// PodcastOffer is something that can become an episode.
type PodcastOffer struct {
	Key        string `json:"key" doc:"By which it is made one"`
	Title      string `json:"title"`
	Creator    string `json:"creator"`
	BeganAt    int64  `json:"beganAt" doc:"Epoch milliseconds: when it was on the air, or was made"`
	DurationMS int64  `json:"durationMs"`
}

type podcastOffersAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Offers []PodcastOffer `json:"offers" nullable:"false" doc:"Newest first"`
	}
}

func (s *Server) podcastOffers(ctx context.Context, in *PodcastSlug) (*podcastOffersAnswer, error) {
	all, err := s.opt.Podcasts.Shows.Offers(ctx, in.Show)
	if err != nil {
		return nil, err
	}
	out := &podcastOffersAnswer{CacheControl: "no-store"}
	out.Body.Offers = make([]PodcastOffer, len(all))
	for i, raw := range all {
		out.Body.Offers[i] = PodcastOffer{Key: raw.Source.Key, Title: raw.Title, Creator: cmp.Or(raw.Creator, raw.Artist), BeganAt: epoch(raw.Began), DurationMS: raw.Duration.Milliseconds()}
	}
	return out, nil
}

func (s *Server) addEpisode(ctx context.Context, in *struct {
	PodcastSlug
	Body struct {
		Key  string       `json:"key" minLength:"1" maxLength:"1000" doc:"Of an offer, or the path of a file in the library"`
		Kind podcast.Kind `json:"kind,omitempty" enum:"live,bulletins,posts,library" doc:"What the key names; missing: what the show is made of"`
	}
}) (*ownEpisodeAnswer, error) {
	show, err := s.opt.Podcasts.Shows.Show(in.Show)
	if err != nil {
		return nil, err
	}
	e, err := s.opt.Podcasts.Shows.Add(ctx, in.Show, podcast.Source{Kind: cmp.Or(in.Body.Kind, show.From.Kind), Key: in.Body.Key})
	return s.wholeEpisode(in.Show, e, at("body.", err))
}

func (s *Server) editEpisode(ctx context.Context, in *struct {
	PodcastEpisodeID
	Body struct {
		Title    *string           `json:"title,omitempty"`
		Summary  *string           `json:"summary,omitempty"`
		Creator  *string           `json:"creator,omitempty" doc:"Presenter, or who sent the post"`
		Chapters *[]PodcastChapter `json:"chapters,omitempty" nullable:"false" doc:"All of them, in order"`
		Explicit *bool             `json:"explicit,omitempty"`
		Pinned   *bool             `json:"pinned,omitempty" doc:"It is kept whatever the show keeps"`
		State    *podcast.State    `json:"state,omitempty" enum:"published,hidden"`
	}
}) (*ownEpisodeAnswer, error) {
	b := in.Body
	e, err := s.opt.Podcasts.Shows.Edit(ctx, in.Show, in.ID, podcast.Edit{
		Title: b.Title, Summary: b.Summary, Creator: b.Creator, Chapters: b.Chapters, Explicit: b.Explicit, Pinned: b.Pinned, State: b.State,
	})
	return s.wholeEpisode(in.Show, e, at("body.", err))
}

func (s *Server) removeEpisode(ctx context.Context, in *PodcastEpisodeID) (*struct{}, error) {
	return nil, s.opt.Podcasts.Shows.RemoveEpisode(ctx, in.Show, in.ID)
}

func (s *Server) restoreEpisode(ctx context.Context, in *PodcastEpisodeID) (*ownEpisodeAnswer, error) {
	if err := s.opt.Podcasts.Shows.RestoreEpisode(ctx, in.Show, in.ID); err != nil {
		return nil, err
	}
	return s.ownEpisode(ctx, in)
}

func (s *Server) retryEpisode(ctx context.Context, in *PodcastEpisodeID) (*ownEpisodeAnswer, error) {
	if err := s.opt.Podcasts.Shows.Retry(ctx, in.Show, in.ID); err != nil {
		return nil, err
	}
	return s.ownEpisode(ctx, in)
}

// ticketedEpisode documents the row of an episode that listeners may not hear yet.
func ticketedEpisode(op *huma.Operation) {
	asks("path", "show", "Slug of the show", huma.Schema{Type: huma.TypeString})(op)
	asks("path", "id", "Of the episode", huma.Schema{Type: huma.TypeString})(op)
	asks("query", "ticket", "From listen of the episode", huma.Schema{Type: huma.TypeString})(op)
	asks("query", "download", "1: as a file to save", huma.Schema{Type: huma.TypeString, Enum: []any{"", "1"}})(op)
	servesRanges(op, "audio/mpeg", "multipart/byteranges")
	may(http.StatusUnauthorized)(op)
}

func (s *Server) episodeSound(w http.ResponseWriter, r *http.Request) error {
	slug, id := r.PathValue("show"), r.PathValue("id")
	if err := s.ticketed(w, r, ofEpisode(slug, id), "episode", inside); err != nil {
		return err
	}
	path, e, err := s.opt.Podcasts.Shows.SoundOf(r.Context(), slug, id)
	if err != nil {
		return err
	}
	if r.URL.Query().Get("download") == "1" {
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": savedAs(e.Title, id) + ".mp3"}))
	}
	w.Header().Set("Content-Type", "audio/mpeg")
	dir, base := filepath.Split(path)
	return serveTicketed(w, r, dir, base)
}

// longestSaved bounds the characters of a name that a file is saved as.
const longestSaved = 100

// savedAs is a title as the name of a file; without a letter in it, the id.
func savedAs(title, id string) string {
	name := strings.Join(strings.FieldsFunc(title, func(c rune) bool {
		return unicode.IsSpace(c) || !unicode.IsPrint(c) || strings.ContainsRune(`/\:*?"<>|`, c)
	}), " ")
	if text := []rune(name); len(text) > longestSaved {
		name = string(text[:longestSaved])
	}
	return cmp.Or(strings.Trim(name, ". "), id)
}
