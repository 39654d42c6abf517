package api

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/problem"
)

// ShelfUploads is where staff send files to.
const ShelfUploads = "/api/station/library/uploads/"

// shelfIntake returns the rows of files on their way into the library.
func (s *Server) shelfIntake() []route {
	const at, one = "/api/station/library/intake", "/api/station/library/intake/{id}"
	return []route{
		{get, at, inside, operating, "Files that were uploaded, and what is asked about them", tagged(typed(s.arrivals), s.arrivalsTag)},
		{put, one, programmes, operating, "Change what an uploaded file is taken as", typed(s.changeArrival, may(404, 409, 503))},
		{post, at + "/take", programmes, operating, "Take uploaded files into the library as they are", typed(s.takeArrivals, may(503, 507))},
		{post, one + "/again", programmes, operating, "Look at a refused file again", typed(s.arrivalAgain, may(404, 409, 503))},
		{post, one + "/undo", programmes, operating, "Take an uploaded file back: it goes to the archive, and what it replaced comes back", typed(s.undoArrival, may(404, 409, 503))},
		{http.MethodDelete, one, programmes, operating, "Drop an uploaded file; of one that is taken only the line goes", typed(s.dropArrival, may(404, 409, 503))},
		{post, one + "/ticket", inside, operating, "An address at which a browser can play an uploaded file for six hours without the key", typed(s.arrivalTicket, noOrder, may(404))},
		{get, "/api/library/intake/audio", open, reading, "An uploaded file, with a ticket of the operator's in the query", raw(s.arrivalAudio, shelfFile)},
	}
}

// shelfUploads serves resumable uploads of staff, which are a protocol of their own (tus 1.0)
// and not rows of the table. What is dropped together has a line in the log of orders.
func (s *Server) shelfUploads(mux *http.ServeMux) {
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions { // what the protocol offers
			s.opt.Shelf.Uploads.ServeHTTP(w, r)
			return
		}
		c, err := s.need(people.Programme, r)
		if err != nil {
			writeGuarded(w, programmes, err)
			return
		}
		if r.Method == http.MethodPost {
			seen := &statused{ResponseWriter: w, status: http.StatusInternalServerError} // of a handler that panics
			w = seen
			defer s.uploadBegun(c, r)(seen)
		}
		s.opt.Shelf.Uploads.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
	mux.Handle(ShelfUploads, serve)
	mux.Handle(strings.TrimSuffix(ShelfUploads, "/"), serve)
}

// uploadBegun writes into the log of orders that a file is being sent, by its name; of what was
// dropped together only the first that is let in.
func (s *Server) uploadBegun(c people.Caller, r *http.Request) (done func(*statused)) {
	meta := func(key string) string { return resume.Said(r.Header.Values("Upload-Metadata"), key) }
	batch := ""
	if b := meta("batch"); b != "" {
		if batch = c.Who() + "\n" + b; !s.batches.first(batch) {
			return func(*statused) {}
		}
	}
	name := []rune(meta("filename"))
	end := s.opt.People.Ordered(c, people.Order{Order: "POST " + ShelfUploads, Target: string(name[:min(len(name), longestTarget)]), Address: client.Address(r)})
	return func(seen *statused) {
		if seen.status >= http.StatusBadRequest {
			s.batches.forget(batch)
		}
		end(seen.status, "")
	}
}

// batches are what was dropped together of late, the latest last.
type batches struct {
	mu  sync.Mutex
	all []string
}

const mostBatches = 200

// first reports that a batch has just begun.
func (b *batches) first(batch string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.all, batch) {
		return false
	}
	if b.all = append(b.all, batch); len(b.all) > mostBatches {
		b.all = slices.Delete(b.all, 0, 1)
	}
	return true
}

func (b *batches) forget(batch string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = slices.DeleteFunc(b.all, func(one string) bool { return one == batch })
}

// statused is an answer that notes its status.
type statused struct {
	http.ResponseWriter
	status int
}

func (s *statused) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (s *statused) Write(p []byte) (int, error) {
	if s.status == http.StatusInternalServerError {
		s.status = http.StatusOK
	}
	return s.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (s *statused) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Sender is who sends a request that a row, or shelfUploads, has let through.
func Sender(r *http.Request) string { return callerOf(r.Context()).Who() }

// ArrivalMatch is a track of the library that an uploaded file looks like.
type ArrivalMatch struct {
	Path       string  `json:"path"`
	Title      string  `json:"title"`
	Artist     string  `json:"artist"`
	Category   string  `json:"category"`
	DurationMS int64   `json:"durationMs"`
	Size       int64   `json:"size" doc:"Bytes"`
	Same       string  `json:"same" enum:"recording,name"`
	Difference float64 `json:"difference" doc:"Of the sound, 0 to 1"`
}

// ArrivalWords say something in both languages.
type ArrivalWords struct {
	En string `json:"en"`
	Ar string `json:"ar"`
}

// ArrivedFile is a file that was uploaded.
type ArrivedFile struct {
	ID         string          `json:"id"`
	Batch      string          `json:"batch" doc:"What was dropped together"`
	Name       string          `json:"name"`
	Folder     string          `json:"folder"`
	Size       int64           `json:"size" doc:"Bytes"`
	At         int64           `json:"at"`
	By         string          `json:"by"`
	State      string          `json:"state" enum:"waiting,looking,asks,taking,taken,refused,undoing,undone"`
	Category   string          `json:"category" doc:"Empty until it was looked at"`
	Guessed    bool            `json:"guessed" doc:"Nobody chose the category"`
	Why        ArrivalWords    `json:"why" doc:"How the category was guessed"`
	Title      string          `json:"title"`
	Artist     string          `json:"artist"`
	Album      string          `json:"album"`
	DurationMS int64           `json:"durationMs"`
	Alike      []ArrivalMatch  `json:"alike" nullable:"false"`
	Asks       []string        `json:"asks" nullable:"false" doc:"category, duplicate"`
	Replace    string          `json:"replace" doc:"Track whose file it takes the place of"`
	Path       string          `json:"path" doc:"In the library, once taken; where it was, once undone"`
	Reason     *problem.Reason `json:"reason,omitempty" doc:"Why it is refused, or not placed yet"`
	AirsAt     int64           `json:"airsAt" doc:"From when it can air; 0: it cannot yet"`
}

func arrivedFile(a intake.Arrival) ArrivedFile {
	out := ArrivedFile{
		ID: a.ID, Batch: a.Batch, Name: a.Name, Folder: a.Folder, Size: a.Size, At: a.At.UnixMilli(), By: a.By, State: string(a.State),
		Category: string(a.Category), Guessed: a.Guessed, Why: ArrivalWords(a.Why), Title: a.Title, Artist: a.Artist, Album: a.Album, DurationMS: a.Duration.Milliseconds(),
		Alike: []ArrivalMatch{}, Asks: []string{}, Replace: a.Replace, Path: a.Path,
	}
	for _, l := range a.Alike {
		same := "name"
		if l.Recording {
			same = "recording"
		}
		out.Alike = append(out.Alike, ArrivalMatch{l.Path, l.Title, l.Artist, string(l.Category), l.Duration.Milliseconds(), l.Size, same, l.Difference})
	}
	for _, q := range a.Asks {
		out.Asks = append(out.Asks, string(q))
	}
	if a.Reason != nil {
		out.Reason = problem.ReasonOf(a.Reason)
	}
	if !a.AirsAt.IsZero() {
		out.AirsAt = a.AirsAt.UnixMilli()
	}
	return out
}

type arrivalsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Files  []ArrivedFile `json:"files" nullable:"false" doc:"The oldest first"`
		Taking bool          `json:"taking" doc:"Some are on their way into the library"`
	}
}

func (s *Server) arrivals(ctx context.Context, _ *struct{}) (*arrivalsAnswer, error) {
	all, taking := s.opt.Shelf.Intake.List(ctx)
	out := &arrivalsAnswer{CacheControl: "private, no-cache"} // kept, and asked about each time
	out.Body.Taking, out.Body.Files = taking, []ArrivedFile{}
	for _, a := range all {
		out.Body.Files = append(out.Body.Files, arrivedFile(a))
	}
	return out, nil
}

// arrivalsTag is the tag of the list: pages ask for it every second while files come.
func (s *Server) arrivalsTag(ctx huma.Context) string {
	return s.opt.Shelf.Intake.Version(ctx.Context())
}

// ArrivalID is the path of an uploaded file.
type ArrivalID struct {
	ID string `path:"id" maxLength:"64"`
}

type arrivalAnswer struct {
	Body ArrivedFile
}

func (s *Server) changeArrival(ctx context.Context, in *struct {
	ArrivalID
	Body struct {
		Category *station.Category `json:"category,omitempty" enum:"arabic_hits,english,mashups,ads,jingles,sweepers,sfx,shorts,news"`
		Title    *string           `json:"title,omitempty" maxLength:"300" doc:"Empty: as the file says"`
		Artist   *string           `json:"artist,omitempty" maxLength:"300" doc:"Empty: as the file says"`
		Replace  *string           `json:"replace,omitempty" maxLength:"4096" doc:"Path of a track; empty: none"`
	}
}) (*arrivalAnswer, error) {
	a, err := s.opt.Shelf.Intake.Change(ctx, in.ID, intake.Change{Category: in.Body.Category, Title: in.Body.Title, Artist: in.Body.Artist, Replace: in.Body.Replace})
	return &arrivalAnswer{arrivedFile(a)}, err
}

type takenAnswer struct {
	Body struct {
		Taken int `json:"taken"`
	}
}

func (s *Server) takeArrivals(ctx context.Context, in *struct {
	Body struct {
		IDs []string `json:"ids,omitempty" maxItems:"5000"`
		All bool     `json:"all,omitempty"`
	}
}) (*takenAnswer, error) {
	if in.Body.All == (len(in.Body.IDs) > 0) {
		return nil, fieldError("body.ids", "send ids, or all: true")
	}
	n, err := s.opt.Shelf.Intake.Take(ctx, slices.Clip(in.Body.IDs))
	out := &takenAnswer{}
	out.Body.Taken = n
	return out, err
}

func (s *Server) arrivalAgain(ctx context.Context, in *ArrivalID) (*arrivalAnswer, error) {
	a, err := s.opt.Shelf.Intake.Again(ctx, in.ID)
	return &arrivalAnswer{arrivedFile(a)}, err
}

func (s *Server) undoArrival(ctx context.Context, in *ArrivalID) (*arrivalAnswer, error) {
	a, err := s.opt.Shelf.Intake.Undo(ctx, in.ID)
	return &arrivalAnswer{arrivedFile(a)}, err
}

func (s *Server) dropArrival(ctx context.Context, in *ArrivalID) (*struct{}, error) {
	return nil, s.opt.Shelf.Intake.Drop(ctx, in.ID)
}

// ofArrival is what a ticket for an uploaded file names.
func ofArrival(id string) string { return "arrival\n" + id }

func (s *Server) arrivalTicket(_ context.Context, in *ArrivalID) (*ticketAnswer, error) {
	if _, err := s.opt.Shelf.Intake.Find(in.ID); err != nil {
		return nil, err
	}
	return s.ticketTo("/api/library/intake/audio", "path", in.ID, ofArrival(in.ID), s.opt.Now().Add(ticketLasts)), nil
}

func (s *Server) arrivalAudio(w http.ResponseWriter, r *http.Request) error {
	id := r.URL.Query().Get("path")
	if err := s.ticketed(w, r, ofArrival(id), "file", inside); err != nil {
		return err
	}
	name, err := s.opt.Shelf.Intake.File(id)
	if err != nil {
		return err
	}
	dir, base := filepath.Split(name)
	return serveTicketed(w, r, dir, base)
}
