package onface

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/front"
	"github.com/athir-radio/athir/internal/web/pages"
)

// Named returns title and artist of the track of an id in addresses. Errors: station.ErrNotFound;
// every other says that nobody knows now.
type Named func(ctx context.Context, id string) (title, artist string, err error)

// ofTrack describes the page of a track by its names.
func ofTrack(named Named, station func() string) func(*http.Request) *pages.Description {
	return func(r *http.Request) *pages.Description {
		id, is := pages.TrackOf(r.URL.Path)
		if !is {
			return nil
		}
		title, artist, err := named(r.Context(), id)
		if err != nil {
			return undescribed(err)
		}
		return pages.Track{ID: id, Title: title, Artist: artist}.Description(r, station())
	}
}

// undescribed is the description of a page for which there is none: that it is missing, or, where
// that cannot be said now, the station's.
func undescribed(err error) *pages.Description {
	if errors.Is(err, station.ErrNotFound) {
		return pages.Missing()
	}
	return nil
}

// namedTime is how long the control plane may take to name a track: a page without its
// description is better than a late one.
const namedTime = 2 * time.Second

// ofTrackOnFront describes it by what the control plane says.
func ofTrackOnFront(control http.Handler, station func() string) func(*http.Request) *pages.Description {
	return func(r *http.Request) *pages.Description {
		return ofTrack(func(_ context.Context, id string) (title, artist string, err error) {
			var of struct {
				Track struct{ Title, Artist string }
			}
			err = ask(r, control, "/api/tracks/"+id, &of)
			return of.Track.Title, of.Track.Artist, err
		}, station)(r)
	}
}

// ask asks the control plane. Errors: station.ErrNotFound, and that it did not say.
func ask(r *http.Request, control http.Handler, path string, into any) error {
	switch status := front.Ask(r, control, path, namedTime, into); status {
	case http.StatusOK:
		return nil
	case http.StatusNotFound:
		return fmt.Errorf("%s: %w", path, station.ErrNotFound)
	default:
		return fmt.Errorf("%s: the control plane answers %d: %w", path, status, station.ErrUnavailable)
	}
}
