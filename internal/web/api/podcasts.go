package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/library/find"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
)

// Podcasts is what the station offers on demand.
type Podcasts struct {
	Shows PodcastShows
	// Live reports whether what a show is made of is on the air.
	Live func(slug string) bool

	words podcastWords
}

// PodcastShows are the shows and their episodes: a *podcast.Podcasts.
type PodcastShows interface {
	HeardPodcasts
	OwnPodcasts
	OwnEpisodes
}

// HeardPodcasts is what listeners get, from memory; what is returned is shared and never changed.
// Errors: station.ErrNotFound.
type HeardPodcasts interface {
	// Shows has all by title, also those that are off or were removed a short while ago.
	Shows() []*podcast.Show
	Show(slug string) (*podcast.Show, error)
	// Heard has the episodes that listeners see now, the newest first.
	Heard(slug string) ([]podcast.Episode, error)
}

// podcastRows returns the rows of what is offered on demand. None is in the mission.
func (s *Server) podcastRows() []route {
	const at, one = "/api/podcasts", "/api/podcasts/{show}"
	return slices.Concat([]route{
		{get, at, open, reading, "The shows that listeners can hear on demand", polled(typed(s.podcasts), s.ofPodcasts)},
		{get, one, open, reading, "A show", tagged(typed(s.podcast), s.podcastTag)},
		{get, one + "/episodes", open, searching, "Episodes of a show, the newest first: a part", tagged(typed(s.podcastEpisodes), s.podcastTag)},
		{get, one + "/episodes/{id}", open, reading, "An episode, whole, with its neighbours", tagged(typed(s.podcastEpisode), s.podcastTag)},
	}, s.podcastShows(), s.podcastOrders())
}

// PodcastShow is a show as listeners see it.
type PodcastShow struct {
	Slug        string       `json:"slug"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Language    string       `json:"language" doc:"Of the episodes (RFC 5646)"`
	Author      string       `json:"author"`
	Categories  []string     `json:"categories" nullable:"false" doc:"Apple's, as News > Daily News"`
	Explicit    bool         `json:"explicit"`
	Serial      bool         `json:"serial" doc:"To be heard in order, the oldest first"`
	Copyright   string       `json:"copyright"`
	Kind        podcast.Kind `json:"kind" enum:"live,bulletins,posts,library" doc:"What its episodes are made of"`
	Cover       string       `json:"cover" doc:"Path of a square JPEG"`
	Feed        string       `json:"feed" doc:"Path of the RSS feed"`
	Page        string       `json:"page" doc:"Path of its page"`
	Episodes    int          `json:"episodes"`
	Latest      int64        `json:"latest" doc:"Epoch milliseconds of the newest episode; 0: none"`
	Live        bool         `json:"live" doc:"A broadcast of it is on the air"`
}

// PodcastChapter is a part of an episode that has a name.
type PodcastChapter = podcast.Chapter

// PodcastEpisode is an episode as listeners see it.
type PodcastEpisode struct {
	ID          string           `json:"id"`
	Show        string           `json:"show" doc:"Slug"`
	Number      int              `json:"number"`
	Title       string           `json:"title"`
	Summary     string           `json:"summary"`
	Artist      string           `json:"artist" doc:"Of a post or a file of the library"`
	Creator     string           `json:"creator" doc:"Presenter, or who sent the post"`
	PublishedAt int64            `json:"publishedAt" doc:"Epoch milliseconds"`
	BeganAt     int64            `json:"beganAt" doc:"Epoch milliseconds: when it was on the air, or was made"`
	DurationMS  int64            `json:"durationMs"`
	Bytes       int64            `json:"bytes"`
	Audio       string           `json:"audio" doc:"Path of the MP3; append ?download=1 to save it"`
	Page        string           `json:"page" doc:"Path of its page"`
	Cover       string           `json:"cover" doc:"Path of a picture: its own, or the show's"`
	Explicit    bool             `json:"explicit"`
	Chapters    []PodcastChapter `json:"chapters" nullable:"false" doc:"Empty in lists"`
	Text        string           `json:"text" doc:"What is said, word by word, where that is known; empty in lists"`
}

// podcastPath is the path of a show's page, and begins those of its files.
func podcastPath(slug string) string { return "/podcasts/" + url.PathEscape(slug) }

func podcastCover(show *podcast.Show) string {
	path := podcastPath(show.Slug) + "/cover.jpg"
	if show.Cover != "" {
		path += "?v=" + url.QueryEscape(show.Cover)
	}
	return path
}

func (s *Server) podcastShow(show *podcast.Show) PodcastShow {
	path := podcastPath(show.Slug)
	return PodcastShow{
		Slug: show.Slug, Title: show.Title, Description: show.Description, Language: show.Language, Author: cmp.Or(show.Author, s.name()),
		Categories: append([]string{}, show.Categories...), Explicit: show.Explicit, Serial: show.Serial, Copyright: show.Copyright, Kind: show.From.Kind,
		Cover: podcastCover(show), Feed: path + "/feed.xml", Page: path, Episodes: show.Episodes, Latest: show.Latest, Live: s.opt.Podcasts.Live(show.Slug),
	}
}

// listed is an episode without what is long.
func listed(show *podcast.Show, e *podcast.Episode) PodcastEpisode {
	path := podcastPath(show.Slug) + "/" + url.PathEscape(e.ID)
	out := PodcastEpisode{
		ID: e.ID, Show: show.Slug, Number: e.Number, Title: e.Title, Summary: e.Summary, Artist: e.Artist, Creator: e.Creator, PublishedAt: e.Published, BeganAt: e.Began,
		DurationMS: e.DurationMS, Bytes: e.Bytes, Audio: path + "/audio.mp3", Page: path, Cover: podcastCover(show), Explicit: e.Explicit, Chapters: []PodcastChapter{},
	}
	if e.Cover != "" {
		out.Cover = "/api/library/covers/" + url.PathEscape(e.Cover)
	}
	return out
}

func whole(show *podcast.Show, e *podcast.Episode) PodcastEpisode {
	out := listed(show, e)
	out.Chapters, out.Text = append(out.Chapters, e.Chapters...), e.Text
	return out
}

// publicShow returns a show that listeners find.
func (s *Server) publicShow(slug string) (*podcast.Show, error) {
	show, err := s.opt.Podcasts.Shows.Show(slug)
	if err != nil {
		return nil, err
	}
	if !show.Public() {
		return nil, fmt.Errorf("this show: %w", station.ErrNotFound)
	}
	return show, nil
}

// ofPodcasts is the state of answers about the shows: what changes with a show, its episodes, the
// air and the station's name.
func (s *Server) ofPodcasts() any {
	var out strings.Builder
	out.WriteString(s.name())
	for _, show := range s.opt.Podcasts.Shows.Shows() {
		if show.Public() {
			out.WriteByte(0)
			out.WriteString(s.stateOf(show))
		}
	}
	return out.String()
}

// stateOf tells one state of a show from another.
func (s *Server) stateOf(show *podcast.Show) string {
	return fmt.Sprint(show.Slug, "\n", show.Version, show.Changed, show.Episodes, show.Latest, s.opt.Podcasts.Live(show.Slug), show.Cover)
}

type podcastsAnswer struct {
	Body struct {
		Shows []PodcastShow `json:"shows" nullable:"false" doc:"By title"`
	}
}

func (s *Server) podcasts(context.Context, *struct{}) (*podcastsAnswer, error) {
	out := &podcastsAnswer{}
	out.Body.Shows = []PodcastShow{}
	for _, show := range s.opt.Podcasts.Shows.Shows() {
		if show.Public() {
			out.Body.Shows = append(out.Body.Shows, s.podcastShow(show))
		}
	}
	return out, nil
}

// PodcastSlug names a show.
type PodcastSlug struct {
	Show string `path:"show" minLength:"1" maxLength:"100" doc:"Slug of the show"`
}

type podcastAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         PodcastShow
}

func (s *Server) podcast(_ context.Context, in *PodcastSlug) (*podcastAnswer, error) {
	show, err := s.publicShow(in.Show)
	if err != nil {
		return nil, err
	}
	return &podcastAnswer{"no-cache", s.podcastShow(show)}, nil
}

type podcastEpisodesAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Episodes []PodcastEpisode `json:"episodes" nullable:"false" doc:"Newest first, without chapters and text"`
		Next     int64            `json:"next" doc:"The next part's before; 0: there is none"`
	}
}

func (s *Server) podcastEpisodes(_ context.Context, in *struct {
	PodcastSlug
	Before int64  `query:"before" minimum:"0" maximum:"253402300799999" doc:"Epoch milliseconds: what was published earlier than that; missing for the newest"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Q      string `query:"q" maxLength:"100" doc:"Words of title, summary, presenter and artist, in Arabic or Latin letters whichever the episode has; the last one may be unfinished"`
}) (*podcastEpisodesAnswer, error) {
	show, err := s.publicShow(in.Show)
	if err != nil {
		return nil, err
	}
	all, err := s.opt.Podcasts.Shows.Heard(show.Slug)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Q) != "" {
		all = s.opt.Podcasts.words.search(show, all, in.Q)
	}
	if in.Before > 0 {
		all = all[firstBefore(all, in.Before):]
	}
	out := &podcastEpisodesAnswer{CacheControl: "no-cache"}
	part, next := episodesOf(all, in.Limit)
	out.Body.Next, out.Body.Episodes = next, make([]PodcastEpisode, len(part))
	for i := range part {
		out.Body.Episodes[i] = listed(show, &part[i])
	}
	return out, nil
}

// firstBefore is where what was published before a moment begins.
func firstBefore(all []podcast.Episode, before int64) int {
	if i := slices.IndexFunc(all, func(e podcast.Episode) bool { return e.Published < before }); i >= 0 {
		return i
	}
	return len(all)
}

// episodesOf cuts a part off. What was published in the same moment is not torn apart: the next
// part would not have it.
func episodesOf(all []podcast.Episode, limit int) (part []podcast.Episode, next int64) {
	end := min(limit, len(all))
	for end > 0 && end < len(all) && all[end].Published == all[end-1].Published {
		end++
	}
	if end == len(all) {
		return all, 0
	}
	return all[:end], all[end-1].Published
}

type podcastEpisodeAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Show    PodcastShow     `json:"show"`
		Episode PodcastEpisode  `json:"episode"`
		Newer   *PodcastEpisode `json:"newer,omitempty" doc:"Missing of the newest"`
		Older   *PodcastEpisode `json:"older,omitempty" doc:"Missing of the oldest"`
	}
}

// PodcastEpisodeID names an episode.
type PodcastEpisodeID struct {
	PodcastSlug
	ID string `path:"id" minLength:"1" maxLength:"64" doc:"Of the episode"`
}

func (s *Server) podcastEpisode(_ context.Context, in *PodcastEpisodeID) (*podcastEpisodeAnswer, error) {
	show, err := s.publicShow(in.Show)
	if err != nil {
		return nil, err
	}
	all, err := s.opt.Podcasts.Shows.Heard(show.Slug)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(e podcast.Episode) bool { return e.ID == in.ID })
	if i < 0 {
		return nil, fmt.Errorf("this episode: %w", station.ErrNotFound)
	}
	out := &podcastEpisodeAnswer{CacheControl: "no-cache"}
	b := &out.Body
	b.Show, b.Episode = s.podcastShow(show), whole(show, &all[i])
	if i > 0 {
		newer := listed(show, &all[i-1])
		b.Newer = &newer
	}
	if i+1 < len(all) {
		older := listed(show, &all[i+1])
		b.Older = &older
	}
	return out, nil
}

// podcastTag tells one answer about a show from another; empty: there is no such show.
func (s *Server) podcastTag(ctx huma.Context) string {
	show, err := s.publicShow(ctx.Param("show"))
	if err != nil {
		return ""
	}
	all, err := s.opt.Podcasts.Shows.Heard(show.Slug)
	if err != nil {
		return ""
	}
	newest := "" // what was made ahead of its time comes without a change
	if len(all) > 0 {
		newest = all[0].ID
	}
	sum := sha256.Sum256([]byte(fmt.Sprint(s.name(), "\n", s.stateOf(show), "\n", len(all), newest)))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// podcastWords finds episodes by words. An index is made at the first search after a change, of
// one show at a time, and kept.
type podcastWords struct {
	mu   sync.Mutex
	kept map[string]*podcastIndex // by slug
}

type podcastIndex struct {
	of       string
	episodes []podcast.Episode
	index    *find.Index
}

// longestSummary bounds the characters of a summary that are searched.
const longestSummary = 1000

// search returns the episodes that hold every word of a query, the newest first.
func (p *podcastWords) search(show *podcast.Show, all []podcast.Episode, query string) []podcast.Episode {
	if len(all) == 0 {
		return nil
	}
	x := p.indexOf(show.Slug, fmt.Sprint(show.Version, show.Changed, len(all), all[0].ID), all)
	places, _ := x.index.Search(query, 0, len(x.episodes), nil)
	slices.Sort(places)
	out := make([]podcast.Episode, len(places))
	for i, at := range places {
		out[i] = x.episodes[at]
	}
	return out
}

func (p *podcastWords) indexOf(slug, of string, all []podcast.Episode) *podcastIndex {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.kept[slug]; x != nil && x.of == of {
		return x
	}
	names := make([]find.Track, len(all))
	for i, e := range all {
		summary := []rune(e.Summary)
		names[i] = find.Track{Title: e.Title, Artist: e.Artist, Also: []string{e.Creator, string(summary[:min(len(summary), longestSummary)])}}
	}
	x := &podcastIndex{of, all, find.New(names)}
	if p.kept == nil {
		p.kept = map[string]*podcastIndex{}
	}
	p.kept[slug] = x
	return x
}

// forget drops what is kept of shows that are no more.
func (p *podcastWords) forget(slug string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.kept, slug)
}
