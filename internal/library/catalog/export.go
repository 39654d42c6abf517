package catalog

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/playlistfile"
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
		list, err := playlistfile.NewWriter(w, playlistfile.M3U, "")
		if err != nil {
			return err
		}
		out = lines{playlist{list}}
	case JSPF:
		list, err := playlistfile.NewWriter(w, playlistfile.JSPF, "")
		if err != nil {
			return err
		}
		out = playlist{list}
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
	_ = t.Write(strings.Fields("path title artist album genre category seconds added aired plays_72h state reason license bytes isrc label composer"))
	return t
}

func (t table) row(r Row) error {
	text := []string{r.Path, r.Title, r.Artist, r.Album, r.Genre, string(r.Category), strconv.FormatFloat(r.Duration.Seconds(), 'f', 3, 64), stamp(r.AddedAt), stamp(r.Aired.Last),
		strconv.Itoa(r.Aired.Plays), string(r.State), r.Reason, r.License, strconv.FormatInt(r.Size, 10), r.ISRC, r.Label, r.Composer}
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

// playlist writes rows with a writer of playlists.
type playlist struct{ *playlistfile.Writer }

func (p playlist) row(r Row) error {
	return p.Add(playlistfile.Entry{Location: r.Path, Title: r.Title, Creator: r.Artist, Album: r.Album, Duration: r.Duration})
}

func (p playlist) end() error { return p.Close() }

// lines leaves out albums, which old players take for comments at best.
type lines struct{ playlist }

func (l lines) row(r Row) error {
	r.Album = ""
	return l.playlist.row(r)
}
