package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/covers"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/library/lists"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/library/overlay"
	"github.com/athir-radio/athir/internal/library/peaks"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Shelf is the library as the studio works with it. All parts are required.
type Shelf struct {
	Catalog *catalog.Catalog
	Views   *catalog.Views
	Lists   *lists.Lists
	Notes   *overlay.Overlay
	Peaks   *peaks.Drawer
	Covers  *covers.Covers
	Intake  *intake.Intake
	Uploads http.Handler // tus, at ShelfUploads
	Archive ShelfArchive
	// Registered is the media folder, with what cannot air of it.
	Registered func() *media.Snapshot
	// Again reads files once more that could not air.
	Again func(ctx context.Context, paths []string) error
	// Explain says how a track stands for the next place on the air.
	Explain func(ctx context.Context, path string) (rotation.Standing, error)
	// Airings are the latest airings of a track.
	Airings func(ctx context.Context, path string, most int) ([]telemetry.Aired, error)
	// Sound is what airs of a track; false where nothing does yet.
	Sound func(path string) (ShelfSound, bool)
}

// ShelfArchive is the archive. It never replaces a file.
type ShelfArchive interface {
	Archive(ctx context.Context, paths []string, reason string) (content.Moved, error)
	RestoreFiles(ctx context.Context, paths []string) (content.Restored, error)
	Archived(ctx context.Context, text string, offset, limit int) ([]content.Archived, int, error)
}

// ShelfSound is what airs of a track.
type ShelfSound struct {
	LUFS     float64 `json:"lufs" doc:"Integrated loudness"`
	TruePeak float64 `json:"truePeak" doc:"dBTP"`
	Airs     string  `json:"airs" enum:"copy,file" doc:"A mastered copy, or the file itself"`
	Length   int64   `json:"durationMs"`
}

// shelf returns the rows of the library in the studio. None is in the mission.
func (s *Server) shelf() []route {
	const at = "/api/station/library"
	return []route{
		{get, at, looks, searching, "Tracks by search, facets and sort: a part of the list", typed(s.browse)},
		{get, at + "/export", inside, searching, "All tracks that match, as a file", raw(s.exportShelf, exported)},
		{get, at + "/views", looks, operating, "Searches that are kept by name", typed(s.shelfViews)},
		{put, at + "/views", programmes, operating, "Replace the searches that are kept by name", typed(s.setShelfViews, may(503))},
		{get, at + "/track", looks, operating, "One track: what is said of it, when it aired, how it stands", typed(s.shelfTrack, may(404))},
		{http.MethodPatch, at, programmes, operating, "Say something of tracks, or take it back with null (RFC 7396)", typed(s.sayOfTracks, may(503))},
		{get, at + "/deeds", inside, operating, "What was said of tracks, by whom, the newest first", typed(s.shelfDeeds)},
		{post, at + "/deeds/{id}/undo", programmes, operating, "Take a deed back; what was changed again since stays", typed(s.undoDeed, may(404, 409, 503))},
		{get, at + "/peaks", inside, searching, "A track's waveform", typed(s.shelfPeaks, may(404, 503))},
		{post, at + "/audio/ticket", inside, operating, "An address at which a browser can play a track for six hours without the key", typed(s.shelfTicket, noOrder, may(404))},
		{get, "/api/library/audio", open, reading, "A track, with a ticket of the operator's in the query", raw(s.shelfAudio, shelfFile)},
		{post, at + "/archive", programmes, operating, "Take tracks off the air into the archive", typed(s.archiveTracks, may(409, 503))},
		{post, at + "/restore", programmes, operating, "Bring files back from the archive", typed(s.restoreTracks, may(409, 503))},
		{get, at + "/archived", inside, searching, "Files of the archive, the newest first", typed(s.archivedTracks)},
		{get, at + "/quarantine", inside, searching, "Files that cannot air, and why", typed(s.quarantined)},
		{post, at + "/retry", programmes, operating, "Read files again that could not air", typed(s.retryFiles, may(503))},
	}
}

// ShelfQuery is a query of the catalogue, as an address has it.
type ShelfQuery struct {
	Q        string   `query:"q" maxLength:"200" doc:"Words of title, artist, album, genre, other spellings or path, in Arabic or Latin letters"`
	Category []string `query:"category,explode" maxItems:"10"`
	Artist   []string `query:"artist,explode" maxItems:"50"`
	Album    []string `query:"album,explode" maxItems:"50"`
	Genre    []string `query:"genre,explode" maxItems:"50"`
	State    []string `query:"state,explode" maxItems:"10" doc:"One of them: airs, waiting, refused, archived-soon, edited, cut, limited, never"`
	Sort     string   `query:"sort" doc:"Without: the best fit first where there is a text, else by artist" enum:"title,artist,album,genre,category,duration,added,aired,plays,path"`
	Order    string   `query:"order" enum:"asc,desc"`
}

func (q *ShelfQuery) query() catalog.Query {
	out := catalog.Query{Text: q.Q, Category: q.Category, Artist: q.Artist, Album: q.Album, Genre: q.Genre, Sort: catalog.Sort(q.Sort), Order: q.Order}
	for _, s := range q.State {
		out.State = append(out.State, catalog.State(s))
	}
	return out
}

// ShelfTrack is one track of a list.
type ShelfTrack struct {
	Path       string `json:"path"`
	Title      string `json:"title"`
	Artist     string `json:"artist"`
	Album      string `json:"album"`
	Genre      string `json:"genre"`
	Category   string `json:"category"`
	DurationMS int64  `json:"durationMs" doc:"Of the file"`
	AddedAt    int64  `json:"addedAt"`
	AiredAt    int64  `json:"airedAt" doc:"0: never"`
	Plays      int    `json:"plays" doc:"Within 72 hours"`
	License    string `json:"license"`
	ISRC       string `json:"isrc" doc:"Code of the recording, without hyphens; empty when unknown"`
	Label      string `json:"label" doc:"Record label"`
	Composer   string `json:"composer"`
	Size       int64  `json:"size" doc:"Bytes"`
	State      string `json:"state" enum:"airs,waiting,refused,archived-soon"`
	Reason     string `json:"reason" doc:"Why it does not air; empty when it does"`
	Edited     bool   `json:"edited" doc:"Something is said of it"`
	Cut        bool   `json:"cut" doc:"Not all of it airs"`
	Limited    bool   `json:"limited" doc:"It has limits of its own"`
	Cover      string `json:"cover" doc:"Id of a picture"`
}

func shelfTrack(ctx context.Context, r catalog.Row) ShelfTrack {
	out := ShelfTrack{
		Path: r.Path, Title: r.Title, Artist: r.Artist, Album: r.Album, Genre: r.Genre, Category: string(r.Category), DurationMS: r.Duration.Milliseconds(),
		AddedAt: r.AddedAt.UnixMilli(), Plays: r.Aired.Plays, License: r.License, ISRC: r.ISRC, Label: r.Label, Composer: r.Composer, Size: r.Size, State: string(r.State), Reason: r.Reason,
	}
	if !r.Aired.Last.IsZero() {
		out.AiredAt = r.Aired.Last.UnixMilli()
	}
	if own := r.Own; own != nil {
		out.Edited, out.Cover = true, own.Cover
		out.Cut, out.Limited = own.Cut.In > 0 || own.Cut.Out > 0, own.Limits != station.Limits{}
	}
	if !forOperator(ctx) {
		veil(&out.Reason)
	}
	return out
}

type browseAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Generation uint64                     `json:"generation" doc:"Another where the library has changed"`
		Total      int                        `json:"total" doc:"Tracks that match"`
		All        int                        `json:"all" doc:"Tracks of the library"`
		Offset     int                        `json:"offset"`
		DurationMS int64                      `json:"durationMs" doc:"Of all that match"`
		Tracks     []ShelfTrack               `json:"tracks" nullable:"false"`
		Facets     map[string][]catalog.Count `json:"facets,omitempty" doc:"Of each facet the values that most matches have, whatever it is narrowed to itself"`
	}
}

func (s *Server) browse(ctx context.Context, in *struct {
	ShelfQuery
	Offset int  `query:"offset" minimum:"0"`
	Limit  int  `query:"limit" minimum:"1" maximum:"200" default:"100"`
	Facets bool `query:"facets"`
}) (*browseAnswer, error) {
	page, err := s.opt.Shelf.Catalog.Browse(in.query(), in.Offset, in.Limit, in.Facets)
	if err != nil {
		return nil, err
	}
	out := &browseAnswer{CacheControl: "no-store"}
	b := &out.Body
	b.Generation, b.Total, b.All, b.Offset, b.DurationMS = page.Generation, page.Total, page.All, in.Offset, page.Duration.Milliseconds()
	b.Tracks = []ShelfTrack{}
	for _, row := range page.Rows {
		b.Tracks = append(b.Tracks, shelfTrack(ctx, row))
	}
	if in.Facets {
		b.Facets = map[string][]catalog.Count{}
		for facet, counts := range page.Facets {
			b.Facets[string(facet)] = counts
		}
	}
	return out, nil
}

type viewsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         shelfViews
}

type shelfViews struct {
	Views []catalog.View `json:"views" nullable:"false" maxItems:"50"`
}

func (s *Server) shelfViews(ctx context.Context, _ *struct{}) (*viewsAnswer, error) {
	all, err := s.opt.Shelf.Views.List(ctx)
	return &viewsAnswer{"no-store", shelfViews{all}}, err
}

func (s *Server) setShelfViews(ctx context.Context, in *struct{ Body shelfViews }) (*viewsAnswer, error) {
	if err := s.opt.Shelf.Views.Set(ctx, in.Body.Views); err != nil {
		return nil, err
	}
	return s.shelfViews(ctx, nil)
}

// exported documents the export.
func exported(op *huma.Operation) {
	asks("query", "format", "", huma.Schema{Type: huma.TypeString, Enum: []any{"csv", "m3u", "jspf"}})(op)
	for name, doc := range map[string]string{"q": "As in the list", "sort": "As in the list", "order": "As in the list"} {
		asks("query", name, doc, huma.Schema{Type: huma.TypeString})(op)
	}
	for _, name := range strings.Fields("category artist album genre state") {
		asks("query", name, "As in the list; repeatable", huma.Schema{Type: huma.TypeString})(op)
	}
	gives(http.StatusOK, "text/csv", "audio/x-mpegurl", "application/jspf+json")(op)
	may(http.StatusUnprocessableEntity)(op)
}
