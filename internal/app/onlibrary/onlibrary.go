// Package onlibrary wires the library: the media folder, what an operator says of its tracks,
// their on-air copies and the decks, and what the studio does with them. It decides nothing.
package onlibrary

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/import/desk"
	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/art"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/covers"
	"github.com/athir-radio/athir/internal/library/deck"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/library/lists"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/library/overlay"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// Options of Open. All are required.
type Options struct {
	Config *config.Config
	Log    *slog.Logger
	// Content is the log of what happens to files.
	Content *slog.Logger
	DB      *store.DB
	Version string // of the program
	// Hold returns once work that nobody waits for may go on.
	Hold func(context.Context) error
}

// Library is the parts.
type Library struct {
	log    *slog.Logger
	Files  *media.Library
	Notes  *overlay.Overlay
	Master *mastering.Master
	Rack   *aircopy.Rack
	Decks  *deck.Deck
	Covers *covers.Covers
	Art    *art.Art
	// Catalog and Lists are whole once OnAir was called.
	Catalog *catalog.Catalog
	Lists   *lists.Lists
	source  *source
	// Arrivals and Uploads are there after OpenIntake.
	Arrivals *intake.Intake
	Uploads  *resume.Uploads
	Imports  *desk.Desk
}

// Open opens them.
func Open(ctx context.Context, o Options) (l *Library, err error) {
	l = &Library{log: o.Log}
	if l.Files, err = media.Open(ctx, o.DB, media.Options{
		Root: o.Config.MediaDir(), Log: o.Content, Rescan: time.Duration(o.Config.Library.RescanMinutes) * time.Minute, Hold: o.Hold,
	}); err != nil {
		return nil, err
	}
	if l.Covers, err = covers.Open(o.Config.CoversDir()); err != nil {
		return nil, err
	}
	if l.Art, err = art.Open(ctx, art.Options{
		Log: o.Content, DB: o.DB, Root: o.Config.MediaDir(), Registry: inMedia{l.Files}, Whole: l.whole, Covers: l.Covers, Beside: l.Files.ReadBeside, Hold: o.Hold,
	}); err != nil {
		return nil, err
	}
	if l.Notes, err = overlay.Open(ctx, overlay.Options{Log: o.Log, DB: o.DB, Registry: inMedia{l.Files}, Whole: l.whole, Changed: l.changed, Pictured: l.Covers.Keep}); err != nil {
		return nil, err
	}
	if l.Master, err = openMastering(ctx, o.DB, o.Log); err != nil {
		return nil, err
	}
	if l.Rack, err = openRack(ctx, o, l.Notes, l.Master); err != nil {
		return nil, err
	}
	l.Decks = deck.New(l.Files, l.Rack)
	if err := l.openImports(o); err != nil {
		return nil, err
	}
	return l, l.openLists(ctx, o)
}

// whole reports that the registry lists all there is, and each file at one place.
func (l *Library) whole() bool {
	s := l.Files.Snapshot()
	return !s.Scanning && !s.Passing && !s.ScannedAt.IsZero() && s.Problem == ""
}

// changed has what an operator says of a track heard soon, where it takes another copy.
func (l *Library) changed(paths, fields []string) {
	if slices.ContainsFunc(fields, func(f string) bool { return f == "category" || f == "cueInMs" || f == "cueOutMs" }) {
		l.Rack.Soon(paths...)
	}
}

// OnTheAir is what the library is told of it.
type OnTheAir struct {
	// InUse reports that a file is on the air, was last, or is to come.
	InUse func(path string) bool
	// Near are the tracks that are on the air, come or were; Subscribe tells that it changes.
	Near      func() []string
	Subscribe func() (changed <-chan struct{}, cancel func())
}

// Run keeps them up to date until ctx ends.
func (l *Library) Run(ctx context.Context, air OnTheAir) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		changed, cancel := air.Subscribe()
		defer cancel()
		return l.Art.Run(ctx, air.Near, changed)
	})
	g.Go(func() error { return l.Files.Run(ctx) })
	g.Go(func() error { return l.Notes.Run(ctx) })
	g.Go(func() error { return l.Lists.Run(ctx) })
	g.Go(func() error { return l.Rack.Run(ctx, air.InUse) })
	g.Go(func() error { return l.forget(ctx) })
	g.Go(func() error { return l.Arrivals.Run(ctx) })
	g.Go(func() error { return l.Uploads.Run(ctx) })
	g.Go(func() error { return l.Imports.Run(ctx) })
	return g.Wait()
}

// inMedia shows the media folder to what stands on it.
type inMedia struct{ lib *media.Library }

func (r inMedia) Tracks() []station.Track { return r.lib.Snapshot().Tracks }

func (r inMedia) Subscribe() (<-chan struct{}, func()) { return r.lib.Subscribe() }

// CoverOf is the id of a track's picture, an operator's before its file's; empty: there is none.
func (l *Library) CoverOf(t station.Track) string {
	if t.Own != nil && t.Own.Cover != "" {
		return t.Own.Cover
	}
	return l.Art.Of(t.Path).Cover
}
