package onpodcast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
)

// goesOn is how long after an interruption a broadcast may go on in its recording, and a bit:
// see live/record.
const goesOn = 2 * time.Minute

// marked is how many of the newest offers have chapters; older ones have them once they are asked
// for by name.
const marked = 50

// recordings are those of the node: wire.Recordings.
type recordings interface {
	List(ctx context.Context) ([]wire.Recording, error)
	Save(ctx context.Context, name, dir, as string) (path string, err error)
	Titles(ctx context.Context, name string) ([]wire.Title, error)
}

// broadcasts are what was live, as the node has recorded it.
type broadcasts struct {
	node recordings
	now  func() time.Time

	mu     sync.Mutex
	chaped map[string][]podcast.Chapter // of recordings that are over, by name
}

// Offers implements podcast.Origin.
func (b *broadcasts) Offers(ctx context.Context) ([]podcast.Raw, error) {
	all, err := b.over(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]podcast.Raw, len(all))
	names := map[string]bool{}
	for i, r := range all {
		names[r.Name] = true
		if out[i] = rawOf(r); i < marked {
			if out[i].Chapters, err = b.chapters(ctx, r); err != nil {
				return nil, err
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range b.chaped {
		if !names[name] {
			delete(b.chaped, name)
		}
	}
	return out, nil
}

// Find implements podcast.Origin.
func (b *broadcasts) Find(ctx context.Context, key string) (podcast.Raw, error) {
	all, err := b.over(ctx)
	if err != nil {
		return podcast.Raw{}, err
	}
	i := slices.IndexFunc(all, func(r wire.Recording) bool { return r.Name == key })
	if i < 0 {
		return podcast.Raw{}, fmt.Errorf("recording %.80q: it is not there, or under way: %w", key, station.ErrNotFound)
	}
	raw := rawOf(all[i])
	raw.Chapters, err = b.chapters(ctx, all[i])
	return raw, err
}

// over lists the recordings to which nothing is added any more, the newest first.
func (b *broadcasts) over(ctx context.Context) ([]wire.Recording, error) {
	all, err := b.node.List(ctx)
	if err != nil {
		return nil, away("list recordings", err)
	}
	now := b.now()
	return slices.DeleteFunc(all, func(r wire.Recording) bool {
		return r.Ended == 0 || r.Interrupted && now.Sub(time.UnixMilli(r.Ended)) < goesOn || r.DurationMS <= 0
	}), nil
}

func rawOf(r wire.Recording) podcast.Raw {
	raw := podcast.Raw{
		Source: podcast.Source{Kind: podcast.Live, Key: r.Name}, Stream: r.StreamID, Title: cmp.Or(r.Title, r.Presenter), Creator: r.Presenter,
		Began: time.UnixMilli(r.Began), Duration: time.Duration(r.DurationMS) * time.Millisecond, Listeners: -1,
	}
	if r.Listeners != nil {
		raw.Listeners = *r.Listeners
	}
	return raw
}

// Fetch implements podcast.Origin. What breaks off begins anew: the owner tries again.
func (b *broadcasts) Fetch(ctx context.Context, key, to string) error {
	path, err := b.node.Save(ctx, key, filepath.Dir(to), filepath.Base(to))
	switch {
	case err != nil:
		return away("fetch recording", err)
	case path != to:
		return fmt.Errorf("fetch recording: %s is there already: %w", filepath.Base(to), station.ErrConflict)
	}
	return nil
}

// Standing implements podcast.Origin: an episode outlives its recording.
func (b *broadcasts) Standing(context.Context, string) (podcast.Standing, error) {
	return podcast.Free, nil
}

// away says of what kind an error is where the node or the way to it is the reason: it may pass.
func away(what string, err error) error {
	if errors.Is(err, station.ErrNotFound) || errors.Is(err, station.ErrUnavailable) || errors.Is(err, context.Canceled) || file.Full(err) {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w: %w", what, err, station.ErrUnavailable)
}

// chapters are what the source said that it played.
func (b *broadcasts) chapters(ctx context.Context, r wire.Recording) ([]podcast.Chapter, error) {
	b.mu.Lock()
	known, ok := b.chaped[r.Name]
	b.mu.Unlock()
	if ok {
		return known, nil
	}
	titles, err := b.node.Titles(ctx, r.Name)
	if err != nil && !errors.Is(err, station.ErrNotFound) { // an older node keeps none
		return nil, away("read the titles of a recording", err)
	}
	out := chaptersOf(r, titles)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.chaped == nil {
		b.chaped = map[string][]podcast.Chapter{}
	}
	b.chaped[r.Name] = out
	return out, nil
}

// chaptersOf begin with what the recording itself is named after.
func chaptersOf(r wire.Recording, titles []wire.Title) []podcast.Chapter {
	out := []podcast.Chapter{{Title: cmp.Or(r.Title, r.Presenter)}}
	for _, t := range titles {
		if t.Title == "" || t.AtMS < out[len(out)-1].StartMS || t.AtMS >= r.DurationMS {
			continue
		}
		c := podcast.Chapter{StartMS: t.AtMS, Title: t.Title, Artist: t.Creator}
		if c.Artist == r.Presenter { // it named a title alone
			c.Artist = ""
		}
		if out[len(out)-1].StartMS == c.StartMS {
			out = out[:len(out)-1]
		}
		out = append(out, c)
	}
	if len(out) == 1 {
		return nil // it names nothing that could be chosen
	}
	return out
}
