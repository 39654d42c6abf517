package api

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/station"
)

// LiveRecordings are the recordings of live broadcasts, which lie on the node.
// Errors: station.ErrNotFound; station.ErrConflict for the one under way.
type LiveRecordings interface {
	// List has the newest first.
	List(ctx context.Context) ([]LiveRecording, error)
	// Fetch asks for a recording's bytes, with the ranges and conditions of h; the
	// caller closes the body.
	Fetch(ctx context.Context, name string, h http.Header) (*http.Response, error)
	Delete(ctx context.Context, name string) error
	// Take puts a copy into the content pipeline's inbox for a category, and returns the
	// name it has there.
	Take(ctx context.Context, name string, as station.Category, title, artist string) (inbox string, err error)
}

// LiveRecording is one recorded broadcast.
type LiveRecording struct {
	Name       string         `json:"name" doc:"File name; it is the path of the other routes"`
	Stream     string         `json:"stream" doc:"Id of the live stream"`
	Title      string         `json:"title"`
	Creator    string         `json:"creator" doc:"Presenter"`
	StartedAt  int64          `json:"startedAt" doc:"Epoch milliseconds"`
	DurationMS int64          `json:"durationMs"`
	Bytes      int64          `json:"bytes"`
	Running    bool           `json:"running" doc:"It is being recorded"`
	Problem    string         `json:"problem" doc:"Why it is not whole; empty when it is"`
	Listeners  *LiveListeners `json:"listeners,omitempty" doc:"Missing where nobody counted"`
}

// LiveListeners is how many heard a broadcast.
type LiveListeners struct {
	Average float64 `json:"average"`
	Most    int     `json:"most" doc:"At once"`
}

// liveRecordings returns the rows of recordings. None is in the mission.
func (s *Server) liveRecordings() []route {
	const at, one = "/api/station/live/recordings", "/api/station/live/recordings/{name}"
	return []route{
		{get, at, inside, operating, "Recordings of live broadcasts, the newest first", typed(s.listRecordings, may(503))},
		{get, one, inside, operating, "A recording; download=1 as a file to save", raw(s.recording, recordingFile)},
		{http.MethodDelete, one, programmes, operating, "Delete a recording", typed(s.removeRecording, may(409))},
		{post, one + "/ticket", inside, operating, "An address at which a browser can play or save a recording for six hours without the key", typed(s.recordingTicket, noOrder)},
		{post, one + "/category", programmes, operating, "Take a recording into the library: it is checked and mastered like any file of the inbox", typed(s.keepRecording, may(409))},
		{get, "/api/live/recordings/{name}", open, reading, "A recording, with a ticket of the operator's in the query", raw(s.ticketedRecording, recordingFile, recordingTicketAsked)},
	}
}

// recordingFile documents the rows that serve a recording.
func recordingFile(op *huma.Operation) {
	asks("path", "name", "As the list names it", huma.Schema{Type: huma.TypeString})(op)
	asks("query", "download", "1: as a file to save", huma.Schema{Type: huma.TypeString, Enum: []any{"", "1"}})(op)
	servesRanges(op, "audio/mpeg", "audio/flac", "multipart/byteranges")
	may(http.StatusServiceUnavailable)(op)
}

func recordingTicketAsked(op *huma.Operation) {
	asks("query", "ticket", "From the route …/ticket", huma.Schema{Type: huma.TypeString})(op)
	may(http.StatusUnauthorized)(op)
}

type recordingsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Recordings []LiveRecording `json:"recordings" nullable:"false" doc:"Newest first"`
	}
}

func (s *Server) listRecordings(ctx context.Context, _ *struct{}) (*recordingsAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	all, err := parts.Recordings.List(ctx)
	if err != nil {
		return nil, err
	}
	out := &recordingsAnswer{CacheControl: "no-store"}
	if out.Body.Recordings = all; all == nil {
		out.Body.Recordings = []LiveRecording{}
	}
	return out, nil
}

// RecordingName is the path of a recording.
type RecordingName struct {
	Name string `path:"name" maxLength:"255"`
}

func (s *Server) removeRecording(ctx context.Context, in *RecordingName) (*struct{}, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	return nil, parts.Recordings.Delete(ctx, in.Name)
}

type keptAnswer struct {
	Body struct {
		Inbox    string `json:"inbox" doc:"File in the inbox; GET /api/content/status tells what becomes of it"`
		Category string `json:"category"`
	}
}

func (s *Server) keepRecording(ctx context.Context, in *struct {
	RecordingName
	Body struct {
		Category string `json:"category" enum:"arabic_hits,english,mashups,ads,jingles,sweepers,sfx,shorts,news,social"`
		Title    string `json:"title,omitempty" maxLength:"300"`
		Artist   string `json:"artist,omitempty" maxLength:"300"`
	}
}) (*keptAnswer, error) {
	parts, err := s.live()
	if err != nil {
		return nil, err
	}
	b := in.Body
	name, err := parts.Recordings.Take(ctx, in.Name, station.Category(b.Category), b.Title, b.Artist)
	if err != nil {
		return nil, inField(err)
	}
	out := &keptAnswer{}
	out.Body.Inbox, out.Body.Category = name, b.Category
	return out, nil
}

// recordingStall is how long a client may take nothing of a recording: a player that is
// paused keeps its connection.
const recordingStall = 10 * time.Minute

// passedHeaders are those of a node's answer that a client needs.
func passedHeaders() []string {
	return []string{"Accept-Ranges", "Content-Length", "Content-Range", "Content-Type", "Etag", "Last-Modified"}
}

func (s *Server) recording(w http.ResponseWriter, r *http.Request) error {
	parts, err := s.live()
	if err != nil {
		return err
	}
	asked := http.Header{}
	for _, name := range []string{"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		if values := r.Header.Values(name); len(values) > 0 {
			asked[name] = values
		}
	}
	name := r.PathValue("name")
	answer, err := parts.Recordings.Fetch(r.Context(), name, asked)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	passed := []int{http.StatusOK, http.StatusPartialContent, http.StatusNotModified, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable}
	if !slices.Contains(passed, answer.StatusCode) {
		return fmt.Errorf("recording %q: the node answers %d: %w", cut(name), answer.StatusCode, station.KindOf(answer.StatusCode))
	}
	for _, header := range passedHeaders() {
		if values := answer.Header.Values(header); len(values) > 0 {
			w.Header()[header] = values
		}
	}
	w.Header().Set("Cache-Control", "private, no-cache")
	if r.URL.Query().Get("download") == "1" {
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	}
	w.WriteHeader(answer.StatusCode)
	if r.Method != http.MethodHead {
		_, _ = io.Copy(deadline.Writer(w, recordingStall), answer.Body) // the client may have left
	}
	return nil
}

// A browser's player and its downloads send no key, and a recording of hours does not fit
// into a page's memory. A ticket stands for the key at one recording, for a while: it is
// signed with a secret that lives as long as this process, and nothing is stored.

// ticketLasts is longer than what is recorded takes to hear.
const ticketLasts = 6 * time.Hour

type tickets struct{ secret []byte }

func newTickets() tickets {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	return tickets{secret}
}

func (t tickets) sign(name string, until int64) string {
	mac := hmac.New(sha256.New, t.secret)
	_, _ = fmt.Fprintf(mac, "%d %s", until, name)
	return strconv.FormatInt(until, 36) + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (t tickets) valid(ticket, name string, now time.Time) bool {
	stamp, _, _ := strings.Cut(ticket, ".")
	until, err := strconv.ParseInt(stamp, 36, 64)
	return err == nil && now.UnixMilli() < until && equal(ticket, t.sign(name, until))
}

type ticketAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Path  string `json:"path" doc:"With the ticket; append &download=1 to save it"`
		Until int64  `json:"until" doc:"Epoch milliseconds"`
	}
}

func (s *Server) recordingTicket(_ context.Context, in *RecordingName) (*ticketAnswer, error) {
	if _, err := s.live(); err != nil {
		return nil, err
	}
	out := &ticketAnswer{CacheControl: "no-store"}
	out.Body.Until = s.opt.Now().Add(ticketLasts).UnixMilli()
	out.Body.Path = "/api/live/recordings/" + url.PathEscape(in.Name) + "?ticket=" + s.tickets.sign(in.Name, out.Body.Until)
	return out, nil
}

func (s *Server) ticketedRecording(w http.ResponseWriter, r *http.Request) error {
	if err := s.ticketed(w, r, r.PathValue("name"), "recording", inside); err != nil {
		return err
	}
	return s.recording(w, r)
}
