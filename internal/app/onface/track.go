package onface

import (
	"context"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

// Named returns title and artist of the track of an id in addresses.
type Named func(ctx context.Context, id string) (title, artist string, known bool)

// ofTrack describes the page of a track by its names.
func ofTrack(named Named, station func() string) func(*http.Request) *pages.Description {
	return func(r *http.Request) *pages.Description {
		id, is := pages.TrackOf(r.URL.Path)
		if !is {
			return nil
		}
		title, artist, known := named(r.Context(), id)
		if !known {
			return nil
		}
		return pages.Track{ID: id, Title: title, Artist: artist}.Description(r, station())
	}
}

// namedTime is how long the control plane may take to name a track: a page without its
// description is better than a late one.
const namedTime = 2 * time.Second

// ofTrackOnFront describes it by what the control plane says.
func ofTrackOnFront(control http.Handler, station func() string) func(*http.Request) *pages.Description {
	return func(r *http.Request) *pages.Description {
		return ofTrack(func(_ context.Context, id string) (title, artist string, known bool) {
			var of struct {
				Track struct{ Title, Artist string }
			}
			known = front.Ask(r, control, "/api/tracks/"+id, namedTime, &of)
			return of.Track.Title, of.Track.Artist, known
		}, station)(r)
	}
}
