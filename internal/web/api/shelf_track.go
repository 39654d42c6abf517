package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/overlay"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// ShelfPath is a path in a query.
type ShelfPath struct {
	Path string `query:"path" required:"true" maxLength:"4096" doc:"Relative to the media folder"`
}

// ShelfFile is what a file and its folder say.
type ShelfFile struct {
	Title      string `json:"title"`
	Artist     string `json:"artist"`
	Album      string `json:"album"`
	Genre      string `json:"genre"`
	Category   string `json:"category"`
	License    string `json:"license"`
	ISRC       string `json:"isrc"`
	Label      string `json:"label"`
	Composer   string `json:"composer"`
	ModifiedAt int64  `json:"modifiedAt"`
}

// ShelfAiring is one airing, and who heard it.
type ShelfAiring struct {
	At        int64 `json:"at"`
	Listeners int   `json:"listeners" doc:"When it began; -1 where nobody counted"`
	Left      int   `json:"left" doc:"How many went during it"`
	Came      int   `json:"came"`
}

// ShelfStanding is how a track stands for the next place.
type ShelfStanding struct {
	At     int64           `json:"at" doc:"When that place begins"`
	Broken []rotation.Rule `json:"broken" nullable:"false" doc:"Rules that it would break there, the most important first"`
	Turns  int             `json:"turns" doc:"That it has had in its deck"`
	Fewest int             `json:"fewest" doc:"That others have had"`
	Before int             `json:"before" doc:"Tracks of its deck that had fewer, and come first"`
	Size   int             `json:"size" doc:"Tracks of its deck"`
	Weight float64         `json:"weight" doc:"Share of its category in the music now, 0 to 1"`
}

type trackAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Track    ShelfTrack     `json:"track"`
		Note     *overlay.Note  `json:"note,omitempty" doc:"What is said of it; missing: nothing"`
		File     ShelfFile      `json:"file"`
		Sound    *ShelfSound    `json:"sound,omitempty" doc:"What airs; missing where nothing does yet"`
		Airings  []ShelfAiring  `json:"airings" nullable:"false" doc:"The newest first, 50 at most"`
		Standing *ShelfStanding `json:"standing,omitempty" doc:"Missing where it cannot air now"`
		Deeds    []overlay.Deed `json:"deeds" nullable:"false" doc:"The newest first, 20 at most; none for who may only look"`
	}
}

const (
	mostAirings = 50
	mostDeeds   = 20
)

func (s *Server) shelfTrack(ctx context.Context, in *ShelfPath) (*trackAnswer, error) {
	shelf := s.opt.Shelf
	row, there := shelf.Catalog.Row(in.Path)
	file, registered := shelf.Notes.File(in.Path)
	if !there || !registered {
		return nil, errNoTrack(in.Path)
	}
	out := &trackAnswer{CacheControl: "no-store"}
	b := &out.Body
	b.Track = shelfTrack(ctx, row)
	if note, said := shelf.Notes.Note(in.Path); said {
		b.Note = &note
	}
	b.File = ShelfFile{file.Title, file.Artist, file.Album, file.Genre, string(file.Category), file.License, file.ISRC, file.Label, file.Composer, file.ModTime.UnixMilli()}
	if sound, airs := shelf.Sound(in.Path); airs {
		sound.LUFS, sound.TruePeak = math.Round(10*sound.LUFS)/10, math.Round(10*sound.TruePeak)/10
		b.Sound = &sound
	}
	airings, err := shelf.Airings(ctx, in.Path, mostAirings)
	if err != nil {
		return nil, err
	}
	b.Airings = []ShelfAiring{}
	for _, a := range airings {
		one := ShelfAiring{At: a.StartedAt.UnixMilli(), Listeners: a.Start, Left: a.Went, Came: a.Came}
		if !a.Counted {
			one.Listeners, one.Left, one.Came = -1, 0, 0
		}
		b.Airings = append(b.Airings, one)
	}
	standing, err := shelf.Explain(ctx, in.Path)
	switch {
	case err == nil:
		b.Standing = &ShelfStanding{standing.At.UnixMilli(), append([]rotation.Rule{}, standing.Broken...), standing.Turns, standing.Fewest, standing.Before, standing.Size, math.Round(standing.Weight*1000) / 1000}
	case !errors.Is(err, station.ErrNotFound):
		return nil, err
	}
	b.Deeds = []overlay.Deed{}
	if forOperator(ctx) {
		if b.Deeds, err = shelf.Notes.Deeds(ctx, in.Path, 0, mostDeeds); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func errNoTrack(path string) error {
	return fmt.Errorf("track %q: %w", cut(path), station.ErrNotFound)
}

type peaksAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		DurationMS int64  `json:"durationMs"`
		Peaks      string `json:"peaks" doc:"Base64: two bytes for each of 2,000 parts at most, its lowest and its highest sample, 128 for silence"`
	}
}

// drawingPatience is how long an answer waits for a waveform: most are drawn within a second.
// What takes longer goes on being drawn, and is there for who asks again.
const drawingPatience = 25 * time.Second

func (s *Server) shelfPeaks(ctx context.Context, in *ShelfPath) (*peaksAnswer, error) {
	file, there := s.opt.Shelf.Notes.File(in.Path)
	if !there || !filepath.IsLocal(in.Path) {
		return nil, errNoTrack(in.Path)
	}
	ctx, cancel := context.WithTimeout(ctx, drawingPatience)
	defer cancel()
	wave, err := s.opt.Shelf.Peaks.Of(ctx, filepath.Join(s.opt.Files.Media, in.Path), file.Duration)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("the waveform is not drawn yet, try again: %w", station.ErrUnavailable)
	}
	if err != nil {
		return nil, err
	}
	out := &peaksAnswer{CacheControl: "private, max-age=300"}
	out.Body.DurationMS, out.Body.Peaks = wave.Duration.Milliseconds(), base64.StdEncoding.EncodeToString(wave.Peaks)
	return out, nil
}

func (s *Server) shelfTicket(_ context.Context, in *struct {
	Body struct {
		Path string `json:"path" maxLength:"4096"`
	}
}) (*ticketAnswer, error) {
	if _, there := s.opt.Shelf.Notes.File(in.Body.Path); !there {
		return nil, errNoTrack(in.Body.Path)
	}
	return s.ticketTo("/api/library/audio", "path", in.Body.Path, ofTrack(in.Body.Path), s.opt.Now().Add(ticketLasts)), nil
}

// ofTrack is what a ticket for a track names: it is none for a recording of that name.
func ofTrack(path string) string { return "track\n" + path }

// shelfFile documents the row that serves a track.
func shelfFile(op *huma.Operation) {
	asks("query", "path", "Relative to the media folder", huma.Schema{Type: huma.TypeString})(op)
	asks("query", "ticket", "From …/audio/ticket", huma.Schema{Type: huma.TypeString})(op)
	servesRanges(op, "*/*")
	may(http.StatusUnauthorized, http.StatusNotFound)(op)
}

func (s *Server) shelfAudio(w http.ResponseWriter, r *http.Request) error {
	path := r.URL.Query().Get("path")
	if err := s.ticketed(w, r, ofTrack(path), "track", inside); err != nil {
		return err
	}
	if _, there := s.opt.Shelf.Notes.File(path); !there || !filepath.IsLocal(path) {
		return errNoTrack(path)
	}
	return serveTicketed(w, r, s.opt.Files.Media, path)
}

// exportStall is how long whoever saves a list may take nothing of it.
const exportStall = 30 * time.Second

func (s *Server) exportShelf(w http.ResponseWriter, r *http.Request) error {
	asked := r.URL.Query()
	q := (&ShelfQuery{
		Q: asked.Get("q"), Category: asked["category"], Artist: asked["artist"], Album: asked["album"], Genre: asked["genre"],
		State: asked["state"], Sort: asked.Get("sort"), Order: asked.Get("order"),
	}).query()
	format := catalog.Format(asked.Get("format"))
	if format.MediaType() == "" {
		return fmt.Errorf("format: must be csv, m3u or jspf: %w", station.ErrInvalid)
	}
	if err := q.Check(); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", format.MediaType())
	h.Set("Content-Disposition", `attachment; filename="library.`+string(format)+`"`)
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	_ = s.opt.Shelf.Catalog.Export(deadline.Writer(w, exportStall), format, q) // checked before; the client may have left
	return nil
}
