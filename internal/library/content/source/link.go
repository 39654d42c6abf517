package source

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/station"
)

// sizeLimit is the largest file fetched when a source is not told otherwise.
const sizeLimit = 200 << 20

// Link is a sound an operator gives the address of. Its search takes the
// addresses among Want.Queries.
type Link struct {
	Client *fetch.Client // required
	Limit  int64         // largest file in bytes; 200 MB when 0
}

// Name is NameURL.
func (l *Link) Name() string { return NameURL }

// Candidate makes one of an address; the error is lasting.
func (l *Link) Candidate(address string, category station.Category) (Candidate, error) {
	u, err := l.Client.Check(address)
	if err != nil {
		return Candidate{}, err
	}
	c := Candidate{Source: NameURL, ID: shortID(u.String()), URL: u.String(), Licensor: u.Hostname(), Category: category}
	c.Artist, c.Title = titleOf(u.Path)
	return c, nil
}

// Search offers the addresses w.Queries names.
func (l *Link) Search(_ context.Context, w Want) ([]Candidate, error) {
	var found []Candidate
	var failed []error
	for _, q := range w.Queries {
		if !address(q) || len(found) >= w.Target || w.Category == "" {
			continue
		}
		c, err := l.Candidate(q, w.Category)
		switch {
		case err != nil:
			failed = append(failed, err)
		case !w.known(NameURL, c.ID):
			found = append(found, c)
		}
	}
	return found, errors.Join(failed...)
}

// Fetch downloads the file.
func (l *Link) Fetch(ctx context.Context, c Candidate, dir string, progress func(done, total int64)) (Fetched, error) {
	got, file, err := bring(ctx, l.Client.OwnFile, c, dir, l.Limit, progress)
	if err != nil {
		return Fetched{}, err
	}
	if got.Name != "" {
		c.Artist, c.Title = titleOf(path.Base(got.Name))
	}
	return Fetched{File: file, Candidate: c}, nil
}

// Settle does nothing: what lies at an address stays there.
func (l *Link) Settle(context.Context, Candidate, Outcome) error { return nil }

// address tells an address from words to search for.
func address(query string) bool {
	u, err := url.Parse(query)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// getter is Client.File, or Client.OwnFile where the operator named the address.
type getter func(ctx context.Context, r fetch.Request, to string, progress func(done, total int64)) (fetch.File, error)

// bring downloads c.URL into dir under a name made here.
func bring(ctx context.Context, get getter, c Candidate, dir string, limit int64, progress func(done, total int64)) (fetch.File, string, error) {
	if limit <= 0 {
		limit = sizeLimit
	}
	file := filepath.Join(dir, workName(c, "sound"))
	got, err := get(ctx, fetch.Request{URL: c.URL, Accept: "audio/*,video/*;q=0.5,*/*;q=0.1", Limit: limit, Inspect: inspect}, file, progress)
	if err != nil {
		return fetch.File{}, "", err
	}
	hint := got.Name
	if u, err := url.Parse(got.URL); err == nil && hint == "" {
		hint = u.Path
	}
	to, err := named(file, hint, c)
	if err != nil {
		_ = os.Remove(file)
		return fetch.File{}, "", fmt.Errorf("name the download: %w", err)
	}
	return got, to, nil
}
