package onlibrary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/duplicates"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/library/overlay"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// Production is what finds duplicates, and moves files out.
type Production interface {
	Alike(ctx context.Context, versions []fingerprint.Print, artist, title string) ([]duplicates.Match, error)
	KeepPrint(ctx context.Context, path, file, artist, title string) error
	Content() *content.Content
}

// OpenIntake opens what brings uploads into the media folder.
func (l *Library) OpenIntake(ctx context.Context, o Options, made Production) (err error) {
	l.Arrivals, err = intake.Open(ctx, o.DB, intake.Options{
		Dir: filepath.Join(o.Config.IntakeDir(), "files"), Media: o.Config.MediaDir(), Library: shelves{l}, Prints: prints{made}, Archive: shed{made.Content()},
		Log: o.Content, Hold: o.Hold, Named: l.named, Unnamed: l.unnamed, Moved: l.moved,
		Noted: func(path string) bool { _, said := l.Notes.Note(path); return said },
	})
	if err != nil {
		return err
	}
	uploads := l.Arrivals.UploadOptions()
	uploads.Dir, uploads.Base, uploads.Name, uploads.Problem = filepath.Join(o.Config.IntakeDir(), "tus"), api.ShelfUploads, api.Sender, api.Problem
	l.Uploads, err = resume.Open(uploads)
	return err
}

// moved has what is said of a track, and its places in playlists, go to another path.
func (l *Library) moved(ctx context.Context, from, to string) error {
	return errors.Join(l.Notes.Move(ctx, from, to), l.Lists.Move(ctx, from, to))
}

// named keeps what a person called an upload, where its file says something else.
func (l *Library) named(ctx context.Context, path, by, title, artist string) (deed int64, err error) {
	file, _ := l.Notes.File(path)
	set := map[string]string{}
	if title != "" && title != file.Title {
		set["title"] = title
	}
	if artist != "" && artist != file.Artist {
		set["artist"] = artist
	}
	text, err := json.Marshal(set)
	if err != nil || len(set) == 0 {
		return 0, err
	}
	out, err := l.Notes.Change(ctx, overlay.Order{Who: by, Paths: []string{path}, Set: text})
	if err != nil || out.Deed == nil {
		return 0, err
	}
	return out.Deed.ID, nil
}

// unnamed takes that back. What was said since stays.
func (l *Library) unnamed(ctx context.Context, deed int64, by string) error {
	_, _, err := l.Notes.Undo(ctx, deed, by)
	if errors.Is(err, station.ErrConflict) || errors.Is(err, station.ErrNotFound) {
		return nil
	}
	return err
}

// shelves is the registry as the intake knows it.
type shelves struct{ l *Library }

func (s shelves) Find(path string) (station.Track, bool) { return s.l.Files.Snapshot().Find(path) }

func (s shelves) Register(ctx context.Context, paths ...string) error {
	_, err := s.l.Files.Look(ctx, paths...)
	s.l.Rack.Soon(paths...)
	return err
}

func (s shelves) Airs(path string) bool {
	t, ok := s.l.Files.Snapshot().Find(path)
	return ok && s.l.Rack.AirsAsIs(t)
}

func (s shelves) Tracks() int { return len(s.l.Files.Snapshot().Tracks) }

// prints finds recordings that the library has.
type prints struct{ made Production }

func (p prints) Alike(ctx context.Context, versions []fingerprint.Print, artist, title string) ([]intake.Match, error) {
	found, err := p.made.Alike(ctx, versions, artist, title)
	var out []intake.Match
	for _, m := range found {
		out = append(out, intake.Match{Path: m.ID, Difference: m.Difference})
	}
	return out, err
}

func (p prints) Add(ctx context.Context, path, abs, artist, title string) error {
	return p.made.KeepPrint(ctx, path, abs, artist, title)
}

// shed is the archive, a file at a time.
type shed struct{ content *content.Content }

func (s shed) Archive(ctx context.Context, path, reason string) error {
	moved, err := s.content.Archive(ctx, []string{path}, reason)
	switch {
	case err != nil:
		return err
	case len(moved.Archived) == 1:
		return nil
	case len(moved.Kept) == 1:
		return fmt.Errorf("%q is on the air, or about to be: %w", path, station.ErrConflict)
	}
	return fmt.Errorf("%q cannot be archived: %s: %w", path, moved.Left[path], station.ErrNotFound)
}

func (s shed) Restore(ctx context.Context, path, reason string) error {
	done, err := s.content.RestoreFilesOf(ctx, []string{path}, reason)
	if err == nil && done.Total == 0 {
		err = fmt.Errorf("%q is not in the archive, or another file is in its place: %w", path, station.ErrConflict)
	}
	return err
}
