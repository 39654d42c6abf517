package onlibrary

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/peaks"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// Shelf returns the library as the studio works with it.
func (l *Library) Shelf(ctx context.Context, cfg *config.Config, db *store.DB, onair *scheduler.Scheduler, heard *telemetry.Telemetry, archive *content.Content) (*api.Shelf, error) {
	views, err := catalog.OpenViews(ctx, db)
	if err != nil {
		return nil, err
	}
	hidden := archive.Hidden
	l.source.hidden.Store(&hidden)
	return &api.Shelf{
		Catalog: l.Catalog, Lists: l.Lists, Views: views, Notes: l.Notes, Peaks: peaks.New(ctx), Archive: archive,
		Covers: l.Covers, Intake: l.Arrivals, Uploads: l.Uploads,
		Registered: l.Decks.Snapshot,
		Again:      l.again, Explain: onair.Explain, Airings: heard.AiringsOf, Sound: l.sound,
	}, nil
}

// again reads files once more, and has copies refused for their sound decided anew.
func (l *Library) again(ctx context.Context, paths []string) error {
	if _, err := l.Files.Look(ctx, paths...); err != nil {
		return err
	}
	return l.Rack.Again(ctx, paths)
}

func (l *Library) sound(path string) (api.ShelfSound, bool) {
	s, ok := l.Rack.Sound(path)
	out := api.ShelfSound{LUFS: s.Integrated, TruePeak: s.TruePeak, Airs: "file", Length: s.Duration.Milliseconds()}
	if s.Copied {
		out.Airs = "copy"
	}
	return out, ok
}

// source shows the library to the catalogue.
type source struct {
	lib *Library
	// hidden and view are known once the parts are open that have them.
	hidden atomic.Pointer[func() map[string]bool]
	view   atomic.Pointer[func() *scheduler.View]

	mu   sync.Mutex
	made standings
}

// standings are how the tracks of one state of the library stand.
type standings struct {
	tracks  []station.Track
	copies  *aircopy.Snapshot
	states  []catalog.State
	reasons map[string]string
}

// Tracks implements catalog.Source.
func (s *source) Tracks() []station.Track { return s.lib.Notes.Tracks() }

// Standing implements catalog.Source.
func (s *source) Standing(tracks []station.Track) func(int) (catalog.State, string) {
	made := s.standings(tracks)
	var hidden map[string]bool
	if of := s.hidden.Load(); of != nil {
		hidden = (*of)()
	}
	return func(i int) (catalog.State, string) {
		if path := tracks[i].Path; hidden[path] {
			return catalog.Leaving, ""
		} else if made.states[i] == catalog.Refused {
			return catalog.Refused, made.reasons[path]
		}
		return made.states[i], ""
	}
}

// standings are made once for each state of registry and copies: both lists are sorted.
func (s *source) standings(tracks []station.Track) standings {
	copies := s.lib.Rack.Snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	if station.Same(s.made.tracks, tracks) && s.made.copies == copies {
		return s.made
	}
	made := standings{tracks: tracks, copies: copies, states: make([]catalog.State, len(tracks)), reasons: map[string]string{}}
	for _, r := range copies.Refused {
		made.reasons[r.Path] = r.Reason
	}
	at := 0
	for i := range tracks {
		path := tracks[i].Path
		for at < len(copies.Tracks) && copies.Tracks[at].Path < path {
			at++
		}
		switch _, refused := made.reasons[path]; {
		case at < len(copies.Tracks) && copies.Tracks[at].Path == path:
			made.states[i] = catalog.Airs
		case refused:
			made.states[i] = catalog.Refused
		default:
			made.states[i] = catalog.Waiting
		}
	}
	s.made = made
	return made
}

// Aired implements catalog.Source.
func (s *source) Aired() func(string) catalog.Aired {
	v := s.seen()
	if v == nil {
		return func(string) catalog.Aired { return catalog.Aired{} }
	}
	return func(path string) catalog.Aired {
		last, plays := v.Aired(path)
		return catalog.Aired{Last: last, Plays: plays}
	}
}
