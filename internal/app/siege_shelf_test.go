package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/desk"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/covers"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/library/lists"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/library/overlay"
	"github.com/athir-radio/athir/internal/library/peaks"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// besiegedShelf is the library of a besieged station: what is said of tracks, searches, covers
// and uploads are real; nothing moves files.
func besiegedShelf(t *testing.T, log *slog.Logger, db *store.DB, lib *media.Snapshot, mediaDir string, explain func(context.Context, string) (rotation.Standing, error), airings func(context.Context, string, int) ([]telemetry.Aired, error)) *api.Shelf {
	t.Helper()
	dir := t.TempDir()
	notes, err := overlay.Open(t.Context(), overlay.Options{Log: log, DB: db, Registry: stillLibrary{lib}, Whole: func() bool { return true }})
	must(t, err)
	views, err := catalog.OpenViews(t.Context(), db)
	must(t, err)
	pictures, err := covers.Open(filepath.Join(dir, "covers"))
	must(t, err)
	arrivals, err := intake.Open(t.Context(), db, intake.Options{
		Dir: filepath.Join(dir, "files"), Media: mediaDir, Library: arrivalLibrary{stillLibrary{lib}}, Prints: noPrints{}, Archive: oneArchive{}, Log: log,
	})
	must(t, err)
	o := arrivals.UploadOptions()
	o.Dir, o.Base, o.Name, o.Problem = filepath.Join(dir, "tus"), api.ShelfUploads, api.Sender, api.Problem
	uploads, err := resume.Open(o)
	must(t, err)
	books := catalog.New(catalog.Options{Source: besiegedSource{notes}})
	own, err := lists.Open(t.Context(), lists.Options{
		Log: log, DB: db, Registry: notes, Whole: func() bool { return true }, Standing: besiegedSource{notes}.Standing, Config: rotation.DefaultConfig, Zone: time.UTC,
		Find: func(q catalog.Query, with func(string) bool) error {
			return books.Each(q, func(row catalog.Row) bool { return with(row.Path) })
		},
		Aired: func(int64) time.Time { return time.Time{} }, Fetch: nothingThere{},
	})
	must(t, err)
	return &api.Shelf{
		Catalog: books, Lists: own, Views: views, Notes: notes, Peaks: peaks.New(t.Context()), Covers: pictures,
		Intake: arrivals, Uploads: uploads, Archive: stillArchive{}, Registered: func() *media.Snapshot { return lib },
		Again: func(context.Context, []string) error { return nil }, Explain: explain, Airings: airings,
		Sound: func(string) (api.ShelfSound, bool) { return api.ShelfSound{}, false },
	}
}

// nothingThere is what every address of a playlist leads to.
type nothingThere struct{}

func (nothingThere) Document(context.Context, fetch.Request) (fetch.Document, error) {
	return fetch.Document{}, &fetch.StatusError{Code: http.StatusNotFound}
}

func (nothingThere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, errors.New("no such host")
}

func (nothingThere) dial(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("connection refused")
}

// besiegedImports brings over what is uploaded into a station that does not answer.
func besiegedImports(t *testing.T, log *slog.Logger) *desk.Desk {
	t.Helper()
	return desk.Open(desk.Options{
		Dir: t.TempDir(), Log: log, Station: func() apply.Station { return apply.Station{Base: "http://127.0.0.1:1"} },
		Fetch: fetch.New(fetch.Options{Resolver: nothingThere{}, Dial: nothingThere{}.dial, Attempts: 1}),
	})
}

// stillLibrary never changes.
type stillLibrary struct{ lib *media.Snapshot }

func (s stillLibrary) Tracks() []station.Track              { return s.lib.Tracks }
func (s stillLibrary) Subscribe() (<-chan struct{}, func()) { return nil, func() {} }

type arrivalLibrary struct{ stillLibrary }

func (a arrivalLibrary) Find(path string) (station.Track, bool)  { return a.lib.Find(path) }
func (arrivalLibrary) Register(context.Context, ...string) error { return nil }
func (arrivalLibrary) Airs(string) bool                          { return false }
func (a arrivalLibrary) Tracks() int                             { return len(a.lib.Tracks) }

type noPrints struct{}

func (noPrints) Alike(context.Context, []fingerprint.Print, string, string) ([]intake.Match, error) {
	return nil, nil
}
func (noPrints) Add(context.Context, string, string, string, string) error { return nil }

// stillArchive moves nothing.
type stillArchive struct{}

func (stillArchive) Archive(_ context.Context, paths []string, _ string) (content.Moved, error) {
	return content.Moved{Kept: paths}, nil
}
func (stillArchive) RestoreFiles(_ context.Context, paths []string) (content.Restored, error) {
	return content.Restored{Missing: append([]string{}, paths...), InTheWay: []string{}}, nil
}
func (stillArchive) Archived(context.Context, string, int, int) ([]content.Archived, int, error) {
	return nil, 0, nil
}

// oneArchive is the archive as the intake knows it.
type oneArchive struct{}

func (oneArchive) Archive(context.Context, string, string) error { return station.ErrConflict }
func (oneArchive) Restore(context.Context, string, string) error { return station.ErrConflict }

type besiegedSource struct{ notes *overlay.Overlay }

func (b besiegedSource) Tracks() []station.Track { return b.notes.Tracks() }
func (besiegedSource) Standing([]station.Track) func(int) (catalog.State, string) {
	return func(int) (catalog.State, string) { return catalog.Airs, "" }
}
func (besiegedSource) Aired() func(string) catalog.Aired {
	return func(string) catalog.Aired { return catalog.Aired{} }
}
