package onpodcast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
)

// mostOffered is how many files of the library are offered, the newest: all others are found by
// their paths.
const mostOffered = 500

// shelf is the library.
type shelf struct {
	library func() *media.Snapshot
	root    string
	cover   func(station.Track) string // id of a track's picture
}

// Offers implements podcast.Origin.
func (s shelf) Offers(context.Context) ([]podcast.Raw, error) {
	all := slices.Clone(s.library().Tracks)
	slices.SortFunc(all, func(a, b station.Track) int { return cmp.Or(b.AddedAt.Compare(a.AddedAt), cmp.Compare(a.Path, b.Path)) })
	out := make([]podcast.Raw, min(len(all), mostOffered))
	for i := range out {
		out[i] = s.raw(all[i])
	}
	return out, nil
}

func (s shelf) raw(t station.Track) podcast.Raw {
	return podcast.Raw{
		Source: podcast.Source{Kind: podcast.Library, Key: t.Path}, Title: t.Title, Artist: t.Artist, Began: t.AddedAt, Duration: t.Duration, Listeners: -1, Cover: s.cover(t),
	}
}

// Find implements podcast.Origin.
func (s shelf) Find(_ context.Context, key string) (podcast.Raw, error) {
	t, ok := s.library().Find(key)
	if !ok {
		return podcast.Raw{}, fmt.Errorf("file %.200q of the library: %w", key, station.ErrNotFound)
	}
	return s.raw(t), nil
}

// Fetch implements podcast.Origin.
func (s shelf) Fetch(ctx context.Context, key, to string) error {
	if _, err := s.Find(ctx, key); err != nil { // what the library does not name is not read
		return err
	}
	return copyFile(ctx, "file", key, filepath.Join(s.root, key), to)
}

// Standing implements podcast.Origin.
func (s shelf) Standing(context.Context, string) (podcast.Standing, error) {
	return podcast.Free, nil
}

// missing says of what kind the error is with which a file cannot be opened.
func missing(what, key string, err error) error {
	if os.IsNotExist(err) {
		return fmt.Errorf("%s %.200q: %w: %w", what, key, os.ErrNotExist, station.ErrNotFound)
	}
	return fmt.Errorf("open %s %.200q: %w: %w", what, key, err, station.ErrUnavailable)
}

// copyFile copies a file to where none is, or leaves none there.
func copyFile(ctx context.Context, what, key, from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return missing(what, key, err)
	}
	defer in.Close() //nolint:errcheck // only read
	if stat, err := in.Stat(); err != nil || !stat.Mode().IsRegular() {
		return fmt.Errorf("%s %.200q is no file: %w", what, key, station.ErrNotFound)
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copy %s: %w", what, err)
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
		if err != nil {
			_ = os.Remove(to)
		}
	}()
	const piece = 8 << 20
	for {
		n, err := io.CopyN(out, in, piece)
		switch {
		case n < piece && (err == nil || errors.Is(err, io.EOF)):
			return nil
		case err != nil:
			return fmt.Errorf("copy %s: %w", what, err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}
