package onface

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/feed"
	"github.com/athir-radio/athir/internal/web/pages"
)

// Shows are the station's shows.
type Shows interface {
	feed.Shows
	// Shows lists all, by title.
	Shows() []*podcast.Show
}

// feedsOf are the feeds of the shows that listeners find.
func feedsOf(shows []*podcast.Show) (out []pages.Feed) {
	for _, s := range shows {
		if s.Public() {
			out = append(out, pages.Feed{Title: s.Title, Path: feed.Address(s.Slug)})
		}
	}
	return out
}

// ofShow describes the pages of shows and episodes. It reads memory alone.
func ofShow(shows Shows, name func() string) func(*http.Request) *pages.Description {
	return func(r *http.Request) *pages.Description {
		slug, id, is := pages.ShowOf(r.URL.Path)
		if !is {
			return nil // of all shows
		}
		s, err := shows.Show(slug)
		if err == nil && !s.Public() {
			err = station.ErrNotFound
		}
		if err != nil {
			return undescribed(err)
		}
		of := pages.Show{
			Title: s.Title, Text: s.Description, Author: cmp.Or(s.Author, name()), Language: s.Language,
			Page: feed.Page(slug), Cover: feed.Cover(s), Feed: feed.Address(slug),
		}
		if id == "" {
			return of.Description(r, name())
		}
		heard, err := shows.Heard(slug)
		if err != nil {
			return undescribed(err)
		}
		i := slices.IndexFunc(heard, func(e podcast.Episode) bool { return e.ID == id })
		if i < 0 {
			return pages.Missing()
		}
		e := &heard[i]
		page := feed.EpisodePage(slug, id)
		return pages.Episode{
			Title: e.Title, Text: e.Summary, Page: page, Audio: page + "/audio.mp3", Number: e.Number,
			Published: time.UnixMilli(e.Published), Duration: time.Duration(e.DurationMS) * time.Millisecond, Bytes: e.Bytes,
		}.Description(r, of, name())
	}
}

// shownShow and shownEpisode are what the control plane says of them.
type shownShow struct {
	Title, Description, Author, Language, Page, Cover, Feed string
}

func (s shownShow) page(station string) pages.Show {
	return pages.Show{Title: s.Title, Text: s.Description, Author: cmp.Or(s.Author, station), Language: s.Language, Page: s.Page, Cover: s.Cover, Feed: s.Feed}
}

type shownEpisode struct {
	Title, Summary, Page, Audio    string
	Number                         int
	PublishedAt, DurationMS, Bytes int64
}

// ofShowOnFront describes them by what the control plane says.
func ofShowOnFront(control http.Handler, name func() string) func(*http.Request) *pages.Description {
	return func(r *http.Request) *pages.Description {
		slug, id, is := pages.ShowOf(r.URL.Path)
		if !is {
			return nil
		}
		at := "/api/podcasts/" + slug
		if id == "" {
			var s shownShow
			if err := ask(r, control, at, &s); err != nil {
				return undescribed(err)
			}
			return s.page(name()).Description(r, name())
		}
		var one struct {
			Show    shownShow
			Episode shownEpisode
		}
		if err := ask(r, control, at+"/episodes/"+id, &one); err != nil {
			return undescribed(err)
		}
		e := &one.Episode
		return pages.Episode{
			Title: e.Title, Text: e.Summary, Page: e.Page, Audio: e.Audio, Number: e.Number,
			Published: time.UnixMilli(e.PublishedAt), Duration: time.Duration(e.DurationMS) * time.Millisecond, Bytes: e.Bytes,
		}.Description(r, one.Show.page(name()), name())
	}
}

const (
	// feedsEvery is how often a front asks which shows there are.
	feedsEvery = time.Minute
	// mostShows bounds what the control plane says of all shows, in bytes.
	mostShows = 4 << 20
)

// feeds are those that the control plane last named: the player's page waits for nobody.
type feeds struct {
	base string
	ask  http.RoundTripper
	last atomic.Pointer[[]pages.Feed]
}

// Now are the feeds that are known.
func (f *feeds) Now() []pages.Feed {
	if known := f.last.Load(); known != nil {
		return *known
	}
	return nil
}

// Run asks until ctx ends. What was known stays while the control plane is away.
func (f *feeds) Run(ctx context.Context) error {
	tick := time.NewTicker(feedsEvery)
	defer tick.Stop()
	for {
		_ = f.Pull(ctx) // the face's follower says that the control plane is away
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Pull asks once.
func (f *feeds) Pull(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, namedTime)
	defer cancel()
	at := &url.URL{Scheme: "http", Host: f.base, Path: "/api/podcasts"}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return fmt.Errorf("ask for the shows: %w", err)
	}
	answer, err := f.ask.RoundTrip(r)
	if err != nil {
		return fmt.Errorf("ask for the shows: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("ask for the shows: %s", answer.Status)
	}
	var said struct{ Shows []shownShow }
	if err := json.NewDecoder(io.LimitReader(answer.Body, mostShows)).Decode(&said); err != nil {
		return fmt.Errorf("read the shows: %w", err)
	}
	out := make([]pages.Feed, 0, len(said.Shows))
	for _, s := range said.Shows {
		out = append(out, pages.Feed{Title: s.Title, Path: s.Feed})
	}
	f.last.Store(&out)
	return nil
}
