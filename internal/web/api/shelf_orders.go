package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/find"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/library/overlay"
	"github.com/athir-radio/athir/internal/station"
)

// ShelfPaths name tracks in a body.
type ShelfPaths struct {
	Paths []string `json:"paths" nullable:"false" minItems:"1" maxItems:"1000" doc:"Relative to the media folder"`
}

type deedAnswer struct {
	Body struct {
		Deed    *overlay.Deed     `json:"deed,omitempty" doc:"Missing where nothing was to be changed"`
		Changed int               `json:"changed" doc:"Tracks"`
		Refused []overlay.Refused `json:"refused" nullable:"false" doc:"Tracks that stay as they were, and why"`
		Kept    []string          `json:"kept,omitempty" doc:"Changed again since: they stay"`
	}
}

func deedDone(out overlay.Outcome, kept []string) *deedAnswer {
	answer := &deedAnswer{}
	b := &answer.Body
	b.Deed, b.Changed, b.Refused, b.Kept = out.Deed, out.Changed, out.Refused, kept
	if b.Refused == nil {
		b.Refused = []overlay.Refused{}
	}
	return answer
}

// sayOfTracks changes notes. It is what the studio edits by.
func (s *Server) sayOfTracks(ctx context.Context, in *struct {
	Body struct {
		Paths []string        `json:"paths,omitempty" maxItems:"1000" doc:"Tracks; or query"`
		Query *catalog.Query  `json:"query,omitempty" doc:"All tracks that match, 20,000 at most"`
		Set   json.RawMessage `json:"set" doc:"Fields of what is said of a track; null takes one back"`
	}
}) (*deedAnswer, error) {
	shelf, paths := s.opt.Shelf, in.Body.Paths
	switch {
	case (len(paths) > 0) == (in.Body.Query != nil):
		return nil, fieldError("body.paths", "send paths or a query, one of the two")
	case in.Body.Query != nil:
		err := shelf.Catalog.Each(*in.Body.Query, func(r catalog.Row) bool {
			paths = append(paths, r.Path)
			return len(paths) <= overlay.MostTracks
		})
		if err != nil {
			return nil, err
		}
	}
	out, err := shelf.Notes.Change(ctx, overlay.Order{Who: callerOf(ctx).Who(), Paths: paths, Set: in.Body.Set})
	if err != nil {
		return nil, noteError(err)
	}
	return deedDone(out, nil), nil
}

type deedsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Deeds []overlay.Deed `json:"deeds" nullable:"false"`
	}
}

func (s *Server) shelfDeeds(ctx context.Context, in *struct {
	Path   string `query:"path" maxLength:"4096" doc:"Of one track; without: of all"`
	Before int64  `query:"before" minimum:"0" doc:"Id: those before it"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}) (*deedsAnswer, error) {
	list, err := s.opt.Shelf.Notes.Deeds(ctx, in.Path, in.Before, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &deedsAnswer{CacheControl: "no-store"}
	out.Body.Deeds = list
	return out, nil
}

func (s *Server) undoDeed(ctx context.Context, in *struct {
	ID int64 `path:"id" minimum:"1"`
}) (*deedAnswer, error) {
	out, kept, err := s.opt.Shelf.Notes.Undo(ctx, in.ID, callerOf(ctx).Who())
	if err != nil {
		return nil, err
	}
	return deedDone(out, kept), nil
}

// Left is a file that an order left where it was, and why.
type Left struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

type archivedAnswer struct {
	Body struct {
		Archived []string `json:"archived" nullable:"false"`
		Kept     []string `json:"kept" nullable:"false" doc:"On the air or about to be: archived afterwards"`
		Left     []Left   `json:"left" nullable:"false"`
	}
}

// byHand is the reason of what an operator archives.
const byHand = "by hand"

func (s *Server) archiveTracks(ctx context.Context, in *struct{ Body ShelfPaths }) (*archivedAnswer, error) {
	moved, err := s.opt.Shelf.Archive.Archive(ctx, in.Body.Paths, byHand)
	if err != nil {
		return nil, err
	}
	out := &archivedAnswer{}
	out.Body.Archived, out.Body.Kept, out.Body.Left = append([]string{}, moved.Archived...), append([]string{}, moved.Kept...), []Left{}
	for path, reason := range moved.Left {
		out.Body.Left = append(out.Body.Left, Left{path, reason})
	}
	slices.SortFunc(out.Body.Left, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

type restoredAnswer struct {
	Body struct {
		Restored int      `json:"restored"`
		Missing  []string `json:"missing" nullable:"false" doc:"Not in the archive"`
		InTheWay []string `json:"inTheWay" nullable:"false" doc:"Another file has that path: the archived one stays"`
	}
}

func (s *Server) restoreTracks(ctx context.Context, in *struct{ Body ShelfPaths }) (*restoredAnswer, error) {
	done, err := s.opt.Shelf.Archive.RestoreFiles(ctx, in.Body.Paths)
	if err != nil {
		return nil, err
	}
	out := &restoredAnswer{}
	out.Body.Restored, out.Body.Missing, out.Body.InTheWay = done.Total, done.Missing, done.InTheWay
	return out, nil
}

// ShelfPart asks for a part of a list.
type ShelfPart struct {
	Q      string `query:"q" maxLength:"200" doc:"Words of the path"`
	Offset int    `query:"offset" minimum:"0"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"100"`
}

// ArchivedFile is a file of the archive.
type ArchivedFile struct {
	Path     string `json:"path" doc:"That it had in the media folder"`
	Category string `json:"category"`
	Reason   string `json:"reason"`
	Code     string `json:"code,omitempty" enum:"by_hand,replaced_by_upload,undone,replaced,outdated,retired,junk,duplicate" doc:"The reason for programs; missing where it is none of these"`
	At       int64  `json:"at"`
	Size     int64  `json:"size" doc:"Bytes"`
}

// archiveCode is the code of a reason for which files are archived; empty where it has none.
func archiveCode(reason string) string {
	switch {
	case reason == byHand:
		return "by_hand"
	case reason == intake.ReasonReplaced:
		return "replaced_by_upload"
	case reason == intake.ReasonUndone:
		return "undone"
	case slices.Contains(content.Reasons(), reason):
		return reason
	}
	return ""
}

type archiveAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Total int            `json:"total"`
		Files []ArchivedFile `json:"files" nullable:"false"`
	}
}

func (s *Server) archivedTracks(ctx context.Context, in *ShelfPart) (*archiveAnswer, error) {
	list, total, err := s.opt.Shelf.Archive.Archived(ctx, in.Q, in.Offset, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &archiveAnswer{CacheControl: "no-store"}
	out.Body.Total, out.Body.Files = total, []ArchivedFile{}
	for _, a := range list {
		out.Body.Files = append(out.Body.Files, ArchivedFile{a.Path, string(a.Category), a.Reason, archiveCode(a.Reason), a.At.UnixMilli(), a.Size})
	}
	return out, nil
}

type quarantineAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Total int           `json:"total"`
		Files []Quarantined `json:"files" nullable:"false"`
	}
}

func (s *Server) quarantined(_ context.Context, in *ShelfPart) (*quarantineAnswer, error) {
	list := s.opt.Shelf.Registered().Quarantined
	places := make([]int, len(list))
	for i := range list {
		places[i] = i
	}
	if in.Q != "" {
		places, _ = s.refused.index(list).Search(in.Q, 0, len(list), nil)
	}
	out := &quarantineAnswer{CacheControl: "no-store"}
	out.Body.Total, out.Body.Files = len(places), []Quarantined{}
	from := min(in.Offset, len(places))
	for _, i := range places[from:min(from+in.Limit, len(places))] {
		out.Body.Files = append(out.Body.Files, quarantinedOf(list[i]))
	}
	return out, nil
}

// quarantineOf is the index of the files that cannot air, made once for each state of them.
type quarantineOf struct {
	mu    sync.Mutex
	list  []media.Quarantine
	found *find.Index
}

func (f *quarantineOf) index(list []media.Quarantine) *find.Index {
	f.mu.Lock()
	defer f.mu.Unlock()
	same := len(list) == len(f.list) && (len(list) == 0 || &list[0] == &f.list[0])
	if f.found == nil || !same {
		names := make([]find.Track, len(list))
		for i, q := range list {
			names[i] = find.Track{Title: q.Path, Also: []string{q.Reason}}
		}
		f.list, f.found = list, find.New(names)
	}
	return f.found
}

func quarantinedOf(q media.Quarantine) Quarantined {
	return Quarantined{q.Path, q.Reason, q.Since.UnixMilli()}
}

// readingPatience bounds how long files are read again for one request: a scan that is under way
// stands still meanwhile.
const readingPatience = time.Minute

type retryAnswer struct {
	Body struct {
		Registered []string `json:"registered" nullable:"false" doc:"They can air, some once their copies are made"`
		Refused    []Left   `json:"refused" nullable:"false"`
		Gone       []string `json:"gone" nullable:"false" doc:"No such file"`
	}
}

func (s *Server) retryFiles(ctx context.Context, in *struct {
	Body struct {
		Paths []string `json:"paths" nullable:"false" minItems:"1" maxItems:"200"`
	}
}) (*retryAnswer, error) {
	waits, cancel := context.WithTimeout(ctx, readingPatience)
	defer cancel()
	if err := s.opt.Shelf.Again(waits, in.Body.Paths); err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("not all of them could be read within %v: try again with fewer: %w", readingPatience, station.ErrUnavailable)
		}
		return nil, err
	}
	out := &retryAnswer{}
	b := &out.Body
	b.Registered, b.Refused, b.Gone = []string{}, []Left{}, []string{}
	lib := s.opt.Shelf.Registered()
	for _, path := range in.Body.Paths {
		i, refused := slices.BinarySearchFunc(lib.Quarantined, path, func(q media.Quarantine, p string) int { return cmp.Compare(q.Path, p) })
		_, registered := s.opt.Shelf.Notes.File(path)
		switch {
		case refused:
			b.Refused = append(b.Refused, Left{path, lib.Quarantined[i].Reason})
		case registered:
			b.Registered = append(b.Registered, path)
		default:
			b.Gone = append(b.Gone, path)
		}
	}
	return out, nil
}

var _ ShelfArchive = (*content.Content)(nil)

// noteError names the field of a note in the body.
func noteError(err error) error {
	var wrong *station.FieldError
	if !errors.As(err, &wrong) {
		return err
	}
	at := "body.set." + wrong.Field
	if wrong.Field == "set" || wrong.Field == "paths" {
		at = "body." + wrong.Field
	}
	return reasoned(err, fieldError(at, wrong.Want))
}
