package api

import (
	"bytes"
	"context"
	"encoding/csv"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/audience/telemetry"
)

// Telemetry keeps the counts of past listeners.
type Telemetry interface {
	// History returns points that begin from from up to to, oldest first.
	History(ctx context.Context, by telemetry.By, from, to time.Time) ([]telemetry.Point, error)
	// Airings returns what began from from up to to, newest first.
	Airings(ctx context.Context, from, to time.Time, limit int) ([]telemetry.Aired, error)
	// Tracks sums up what began from from up to to by file, of one category or of all where it
	// is empty; total is how many files there are.
	Tracks(ctx context.Context, from, to time.Time, category string, sort telemetry.TrackSort, limit int) (tracks []telemetry.Track, total int, err error)
	// Audience returns who listened from from up to to.
	Audience(ctx context.Context, from, to time.Time) (telemetry.Audience, error)
	// Used sums up the music of a month by recording; Music calls fn with each time that it
	// aired, the oldest first.
	Used(ctx context.Context, m telemetry.Month) (telemetry.Uses, error)
	Music(ctx context.Context, m telemetry.Month, fn func(*telemetry.Aired) error) error
	// Heard returns what was on the air of late.
	Heard() *telemetry.Heard
	// PathOf returns the path of a file that has aired, by the id of its track.
	PathOf(ctx context.Context, id string) (path string, known bool, err error)
	// Played returns at most limit airings of one path, newest first.
	Played(ctx context.Context, path string, limit int) ([]telemetry.Aired, error)
}

// Span is a period in a query; the default is all that is kept.
type Span struct {
	From int64 `query:"from" minimum:"0" maximum:"253402300799999" doc:"Epoch milliseconds"`
	To   int64 `query:"to" minimum:"0" maximum:"253402300799999" doc:"Epoch milliseconds, not included; now when missing"`
}

func (s Span) times() (from, to time.Time, err error) {
	from, to = time.UnixMilli(s.From), time.UnixMilli(s.To)
	if s.To == 0 {
		to = time.Now().Add(time.Second)
	}
	if to.Before(from) {
		return from, to, fieldError("query.to", "must not be before from")
	}
	return from, to, nil
}

type historyInput struct {
	Span
	By string `query:"by" enum:"minute,hour,day" default:"minute" doc:"Minutes are kept a day, hours 60 days, days two years"`
}

type historyAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		By       string            `json:"by"`
		Timezone string            `json:"timezone" doc:"Whose hours and days these are"`
		Points   []telemetry.Point `json:"points" doc:"Oldest first; what was not counted is absent"`
	}
}

// listenersHistory is open like the status: its numbers identify nobody.
func (s *Server) listenersHistory(ctx context.Context, in *historyInput) (*historyAnswer, error) {
	from, to, err := in.times()
	if err != nil {
		return nil, err
	}
	out := &historyAnswer{CacheControl: "public, max-age=30"}
	out.Body.By, out.Body.Timezone = in.By, s.opt.Zone.String()
	out.Body.Points, err = s.opt.Telemetry.History(ctx, telemetry.By(in.By), from, to)
	return out, err
}

// airing is one airing and its listeners, which are absent if they were not counted.
type airing struct {
	StartedAt     int64         `json:"startedAt" doc:"Epoch milliseconds"`
	EndedAt       int64         `json:"endedAt,omitempty" doc:"Epoch milliseconds; missing while it is on air"`
	Seconds       float64       `json:"seconds" doc:"How long it was on air, so far"`
	Title         string        `json:"title"`
	Artist        string        `json:"artist"`
	File          string        `json:"file"`
	Category      string        `json:"category"`
	Type          string        `json:"type"`
	Kind          string        `json:"kind" enum:"rotation,live,emergency"`
	Listeners     *airListeners `json:"listeners,omitempty"`
	TuneIns       int           `json:"tuneIns" doc:"Listeners who came meanwhile"`
	TuneOuts      int           `json:"tuneOuts" doc:"Listeners who left meanwhile; an HLS listener is noticed up to 45 s late"`
	ListenerHours float64       `json:"listenerHours" doc:"Listeners on average times hours"`
}

type airListeners struct {
	Start   int     `json:"start"`
	Average float64 `json:"average"`
	End     int     `json:"end"`
}

func airingOf(a telemetry.Aired, now time.Time) airing {
	out := airing{
		StartedAt: a.StartedAt.UnixMilli(), Title: a.Title, Artist: a.Artist, File: asShown(a.Path), Category: a.Category, Type: a.Type, Kind: a.Kind,
		TuneIns: a.Came, TuneOuts: a.Went,
		Seconds: round(a.Length(now).Seconds(), 1000), ListenerHours: round(a.ListenerHours(now), 10_000),
	}
	if !a.EndedAt.IsZero() {
		out.EndedAt = a.EndedAt.UnixMilli()
	}
	if a.Counted {
		out.Listeners = &airListeners{a.Start, round(a.Average(), 100), a.End}
	}
	return out
}

func round(v, parts float64) float64 { return float64(int64(v*parts+0.5)) / parts }

// Form is in which an answer is asked for.
type Form struct {
	Format string `query:"format" enum:"json,csv" doc:"csv is a table for spreadsheets; Accept: text/csv asks for it as well"`
	Accept string `header:"Accept"`
}

func (f Form) table() bool {
	return f.Format == "csv" || f.Format == "" && strings.HasPrefix(f.Accept, "text/csv")
}

type formedAnswer struct {
	CacheControl string `header:"Cache-Control"`
	ContentType  string `header:"Content-Type"`
	Disposition  string `header:"Content-Disposition"`
	Body         any
}

// asJSON and asTable are the two forms; name is that of the table's file.
func asJSON(body any) *formedAnswer {
	return &formedAnswer{CacheControl: "no-store", ContentType: "application/json", Body: body}
}

func asTable(name string, table []byte) *formedAnswer {
	return &formedAnswer{"no-store", "text/csv; charset=utf-8", `attachment; filename="` + name + `"`, table}
}

// twoForms is an endpoint that answers with a Body as JSON, or with a table.
func twoForms[Body, Input any](what string, answer func(context.Context, *Input) (*formedAnswer, error), notes ...note) endpoint {
	return func(s *Server, _ *http.ServeMux, api huma.API, op huma.Operation) {
		op.Responses = map[string]*huma.Response{"200": {Description: what, Content: map[string]*huma.MediaType{
			"application/json": {Schema: api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Body](), true, "")},
			"text/csv":         {Schema: &huma.Schema{Type: "string"}},
		}}}
		op = noted(api, op, reflect.TypeFor[Input](), notes)
		op.Middlewares = slices.Concat(compressing(op), op.Middlewares)
		huma.Register(api, op, func(ctx context.Context, in *Input) (*formedAnswer, error) {
			out, err := answer(ctx, in)
			return out, s.answered(op, err)
		})
	}
}

// sheet writes a table that spreadsheets read. Cells are as given: texts from outside go
// through cell.
func sheet(head []string, rows func(row func(...string)) error) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("\ufeff") // otherwise Excel reads Arabic as Latin
	w := csv.NewWriter(&out)
	_ = w.Write(head) // writing to a buffer cannot fail
	err := rows(func(cells ...string) { _ = w.Write(cells) })
	w.Flush()
	return out.Bytes(), err
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

type airingsInput struct {
	Span
	Form
	Limit int `query:"limit" minimum:"1" maximum:"20000" default:"100"`
}

type airingList struct {
	Airings []airing `json:"airings" doc:"Newest first"`
}

func (s *Server) listAirings(ctx context.Context, in *airingsInput) (*formedAnswer, error) {
	from, to, err := in.times()
	if err != nil {
		return nil, err
	}
	aired, err := s.opt.Telemetry.Airings(ctx, from, to, in.Limit)
	if err != nil {
		return nil, err
	}
	list, now := airingList{make([]airing, len(aired))}, time.Now()
	for i, a := range aired {
		list.Airings[i] = airingOf(a, now)
	}
	if !in.table() {
		return asJSON(list), nil
	}
	return asTable("airings.csv", s.airingsTable(list.Airings)), nil
}

// airingsTable has the station's own times.
func (s *Server) airingsTable(all []airing) []byte {
	head := []string{
		"started", "seconds", "artist", "title", "file", "category", "type", "kind",
		"listeners_start", "listeners_average", "listeners_end", "tune_ins", "tune_outs", "listener_hours",
	}
	out, _ := sheet(head, func(row func(...string)) error {
		for _, a := range all {
			cells := []string{
				time.UnixMilli(a.StartedAt).In(s.opt.Zone).Format(time.RFC3339), number(a.Seconds),
				cell(a.Artist), cell(a.Title), cell(a.File), a.Category, a.Type, a.Kind, "", "", "", "", "", "",
			}
			if l := a.Listeners; l != nil {
				copy(cells[8:], []string{
					strconv.Itoa(l.Start), number(l.Average), strconv.Itoa(l.End),
					strconv.Itoa(a.TuneIns), strconv.Itoa(a.TuneOuts), number(a.ListenerHours),
				})
			}
			row(cells...)
		}
		return nil
	})
	return out
}

// cell escapes a title that a spreadsheet would run as a formula.
func cell(text string) string {
	if text != "" && strings.ContainsAny(text[:1], "=+-@\t\r") {
		return "'" + text
	}
	return text
}
