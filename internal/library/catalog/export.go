package catalog

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Format is one in which a list is written.
type Format string

// The formats: RFC 4180, extended M3U, and XSPF as JSON.
const (
	CSV  Format = "csv"
	M3U  Format = "m3u"
	JSPF Format = "jspf"
)

// MediaType is that of a format; empty for one that there is not.
func (f Format) MediaType() string {
	switch f {
	case CSV:
		return "text/csv; charset=utf-8"
	case M3U:
		return "audio/x-mpegurl; charset=utf-8"
	case JSPF:
		return "application/jspf+json"
	}
	return ""
}

// Export writes all that match. Paths are relative to the media folder.
func (c *Catalog) Export(w io.Writer, f Format, q Query) error {
	var out interface {
		row(Row) error
		end() error
	}
	switch f {
	case CSV:
		out = newTable(w)
	case M3U:
		out = &lines{w: w}
	case JSPF:
		out = &tracklist{w: w}
	default:
		return fmt.Errorf("format: must be csv, m3u or jspf: %w", station.ErrInvalid)
	}
	var failed error
	if err := c.Each(q, func(r Row) bool {
		failed = out.row(r)
		return failed == nil
	}); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	return out.end()
}

type table struct{ *csv.Writer }

func newTable(w io.Writer) table {
	t := table{csv.NewWriter(w)}
	t.UseCRLF = true
	_, _ = io.WriteString(w, "\ufeff") // spreadsheets take it for UTF-8 by this alone
	_ = t.Write(strings.Fields("path title artist album genre category seconds added aired plays_72h state reason license bytes"))
	return t
}

func (t table) row(r Row) error {
	text := []string{r.Path, r.Title, r.Artist, r.Album, r.Genre, string(r.Category), strconv.FormatFloat(r.Duration.Seconds(), 'f', 3, 64), stamp(r.AddedAt), stamp(r.Aired.Last),
		strconv.Itoa(r.Aired.Plays), string(r.State), r.Reason, r.License, strconv.FormatInt(r.Size, 10)}
	for i := range text {
		text[i] = harmless(text[i])
	}
	return t.Write(text)
}

func (t table) end() error {
	t.Flush()
	return t.Error()
}

// harmless keeps a spreadsheet from taking a text for a formula.
func harmless(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

type lines struct {
	w     io.Writer
	begun bool
}

func (l *lines) row(r Row) error {
	if !l.begun {
		l.begun = true
		if _, err := io.WriteString(l.w, "#EXTM3U\n"); err != nil {
			return err
		}
	}
	name := r.Title
	if r.Artist != "" {
		name = r.Artist + " - " + name
	}
	_, err := fmt.Fprintf(l.w, "#EXTINF:%d,%s\n%s\n", int(r.Duration.Round(time.Second).Seconds()), oneLine(name), oneLine(r.Path))
	return err
}

func (l *lines) end() error {
	if l.begun {
		return nil
	}
	_, err := io.WriteString(l.w, "#EXTM3U\n")
	return err
}

// oneLine is a text without line breaks: a registered path has none.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

type tracklist struct {
	w io.Writer
	n int
}

func (l *tracklist) row(r Row) error {
	one, err := json.Marshal(struct {
		Location []string `json:"location"`
		Title    string   `json:"title,omitempty"`
		Creator  string   `json:"creator,omitempty"`
		Album    string   `json:"album,omitempty"`
		Duration int64    `json:"duration"` // milliseconds
	}{[]string{r.Path}, r.Title, r.Artist, r.Album, r.Duration.Milliseconds()})
	if err != nil {
		return err
	}
	before := ",\n"
	if l.n == 0 {
		before = "{\"playlist\":{\"track\":[\n"
	}
	l.n++
	_, err = io.WriteString(l.w, before+string(one))
	return err
}

func (l *tracklist) end() error {
	before := ""
	if l.n == 0 {
		before = "{\"playlist\":{\"track\":["
	}
	_, err := io.WriteString(l.w, before+"\n]}}\n")
	return err
}
