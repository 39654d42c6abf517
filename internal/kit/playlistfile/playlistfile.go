// Package playlistfile reads and writes files of playlists: M3U, PLS, XSPF and JSPF, as
// players write them and not only as they are specified. It opens nothing that a file
// names: a location stays the text that it is.
package playlistfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Format is one in which a playlist is written.
type Format string

// The formats: extended M3U, Winamp's PLS version 2, XSPF 1, and XSPF as JSON.
const (
	M3U  Format = "m3u"
	PLS  Format = "pls"
	XSPF Format = "xspf"
	JSPF Format = "jspf"
)

// MediaType is that of a format; empty for one that there is not.
func (f Format) MediaType() string {
	switch f {
	case M3U:
		return "audio/x-mpegurl; charset=utf-8"
	case PLS:
		return "audio/x-scpls; charset=utf-8"
	case XSPF:
		return "application/xspf+xml"
	case JSPF:
		return "application/jspf+json"
	}
	return ""
}

// Bounds of a file that is read.
const (
	MostBytes   = 8 << 20
	MostEntries = 20_000
	MostText    = 4 << 10 // bytes of a line, or of a text of XSPF and JSPF
)

// Why a file is not read. Errors of Read wrap one of these, or are those of its reader.
var (
	ErrFormat  = errors.New("not a playlist; M3U, PLS, XSPF and JSPF are read")
	ErrDamaged = errors.New("damaged; export the playlist again")
	ErrLarge   = errors.New("too large; split the playlist")
)

// Entry is one of a playlist.
type Entry struct {
	// Location is as written: a path with either separator, or an address. XSPF has URIs,
	// in which a blank is %20.
	Location              string
	Title, Creator, Album string
	Duration              time.Duration // 0: unknown
}

// Playlist is what a file has.
type Playlist struct {
	Title   string
	Entries []Entry
	Format  Format
	// Live says that the file leads to a stream, not to tracks: an HLS playlist, or one
	// address on the network without a length.
	Live bool
}

// Read reads a playlist. Its format is told by its content, and where that says nothing by
// the ending of name; name is what errors call the file.
func Read(r io.Reader, name string) (Playlist, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MostBytes+1))
	if err != nil {
		return Playlist{}, fmt.Errorf("read %s: %w", name, err)
	}
	if len(raw) > MostBytes {
		return Playlist{}, fmt.Errorf("%s has more than %d MiB: %w", name, MostBytes>>20, ErrLarge)
	}
	text := decoded(raw)
	l := &list{}
	if isText(text) { // else it is none, whatever it is called
		l.Format = format(text, name)
	}
	switch l.Format {
	case M3U:
		err = l.m3u(text)
	case PLS:
		err = l.pls(text)
	case XSPF:
		err = l.xspf(text)
	case JSPF:
		err = l.jspf(text)
	default:
		err = ErrFormat
	}
	if err != nil {
		return Playlist{}, fmt.Errorf("%s: %w", name, err)
	}
	l.Live = l.Live || l.stream()
	return l.Playlist, nil
}

// isText reports that a file begins as text does.
func isText(s string) bool {
	return !strings.ContainsFunc(s[:min(len(s), 512)], func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\r\n", r) })
}

// format tells that of a text.
func format(text, name string) Format {
	begin := strings.TrimLeft(text, " \t\r\n")
	low := strings.ToLower(begin[:min(len(begin), 16)])
	switch {
	case strings.HasPrefix(low, "#extm3u"):
		return M3U
	case strings.HasPrefix(low, "[playlist]"):
		return PLS
	case strings.HasPrefix(begin, "<"):
		return XSPF
	case strings.HasPrefix(begin, "{"):
		return JSPF
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".m3u", ".m3u8":
		return M3U
	case ".pls":
		return PLS
	case ".xspf":
		return XSPF
	case ".jspf":
		return JSPF
	}
	return ""
}

// list is a playlist that is being read.
type list struct {
	Playlist
	known bool // of XSPF: its first element was seen
}

// add keeps an entry; one without a location is none.
func (l *list) add(e Entry) error {
	if e.Location == "" {
		return nil
	}
	if len(l.Entries) == MostEntries {
		return fmt.Errorf("it has more than %d entries: %w", MostEntries, ErrLarge)
	}
	l.Entries = append(l.Entries, e)
	return nil
}

// stream reports whether a playlist is one address without a length, as stations hand out.
func (l *list) stream() bool {
	if len(l.Entries) != 1 || l.Entries[0].Duration > 0 {
		return false
	}
	u, err := url.Parse(l.Entries[0].Location)
	return err == nil && u.Host != "" && slices.Contains([]string{"http", "https", "icy", "icyx", "mms", "mmsh", "rtsp", "rtmp"}, strings.ToLower(u.Scheme))
}

// m3u reads lines: addresses, and what tags say of the next.
func (l *list) m3u(text string) error {
	var e Entry
	n := 0
	for line := range splitLines(text) {
		n++
		if line = strings.TrimSpace(line); len(line) > MostText {
			return fmt.Errorf("line %d has more than %d bytes: %w", n, MostText, ErrLarge)
		}
		switch {
		case line == "":
		case line[0] == '#':
			l.tag(&e, line)
		default:
			if strings.HasPrefix(line, "./#") {
				line = line[2:] // so Write keeps it from being a comment
			}
			e.Location = line
			if err := l.add(e); err != nil {
				return err
			}
			e = Entry{}
		}
	}
	return nil
}

// tag keeps what a tag says; those that are not known are comments.
func (l *list) tag(e *Entry, line string) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch strings.ToUpper(name) {
	case "#EXTINF":
		length, shown := extinf(value)
		e.Duration = seconds(length)
		creator := e.Creator
		if e.Creator, e.Title = split(shown); creator != "" {
			e.Creator, e.Title = creator, strings.TrimPrefix(shown, creator+separator)
		}
	case "#EXTART":
		if shown := joined(*e); value != "" {
			e.Creator, e.Title = value, strings.TrimPrefix(shown, value+separator)
		}
	case "#EXTALB":
		e.Album = value
	case "#PLAYLIST":
		l.Title = value
	case "#EXT-X-TARGETDURATION", "#EXT-X-MEDIA-SEQUENCE", "#EXT-X-STREAM-INF":
		l.Live = true
	}
}

// extinf splits what EXTINF says: a length, attributes that some write after it, and after
// the first comma outside of quotes the text to show.
func extinf(value string) (length, shown string) {
	quoted := false
	for i, c := range value {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			length, shown = value[:i], strings.TrimSpace(value[i+1:])
			length, _, _ = strings.Cut(strings.TrimSpace(length), " ")
			return length, shown
		}
	}
	length, shown, _ = strings.Cut(value, ",") // a quote that is not closed
	length, _, _ = strings.Cut(strings.TrimSpace(length), " ")
	return length, strings.TrimSpace(shown)
}

// separator stands between a creator and a title where a format has one text for both.
const separator = " - "

func split(shown string) (creator, title string) {
	if creator, title, ok := strings.Cut(shown, separator); ok && strings.TrimSpace(creator) != "" && strings.TrimSpace(title) != "" {
		return strings.TrimSpace(creator), strings.TrimSpace(title)
	}
	return "", shown
}

func joined(e Entry) string {
	if e.Creator != "" {
		return e.Creator + separator + e.Title
	}
	return e.Title
}

// mostLength bounds a duration that a file states: what is longer is a mistake.
const mostLength = 30 * 24 * time.Hour

// seconds is a duration as M3U and PLS write it; 0 for -1, and what is no number.
func seconds(s string) time.Duration {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(f > 0 && f <= mostLength.Seconds()) { //nolint:staticcheck // false for NaN
		return 0
	}
	return time.Duration(f * float64(time.Second)).Round(time.Millisecond)
}

// pls reads an INI file: its keys may come in any order, and numbers may be left out.
func (l *list) pls(text string) error {
	type numbered struct {
		Entry
		known map[string]bool
	}
	entries := map[int]*numbered{}
	inside, n := true, 0 // some files have no section
	for line := range splitLines(text) {
		n++
		if line = strings.TrimSpace(line); len(line) > MostText {
			return fmt.Errorf("line %d has more than %d bytes: %w", n, MostText, ErrLarge)
		}
		if strings.HasPrefix(line, "[") {
			inside = strings.EqualFold(line, "[playlist]")
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !inside || !found || line[0] == ';' || line[0] == '#' {
			continue
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if key == "x-gnome-title" || key == "playlistname" {
			l.Title = value
			continue
		}
		kind := strings.TrimRight(key, "0123456789")
		i, err := strconv.Atoi(key[len(kind):])
		if err != nil || !slices.Contains([]string{"file", "title", "length"}, kind) {
			continue
		}
		e := entries[i]
		if e == nil {
			if len(entries) == MostEntries {
				return fmt.Errorf("it has more than %d entries: %w", MostEntries, ErrLarge)
			}
			e = &numbered{known: map[string]bool{}}
			entries[i] = e
		}
		if e.known[kind] {
			continue // of two, an INI file means the first
		}
		e.known[kind] = true
		switch kind {
		case "file":
			e.Location = value
		case "title":
			e.Creator, e.Title = split(value)
		case "length":
			e.Duration = seconds(value)
		}
	}
	order := make([]int, 0, len(entries))
	for i := range entries {
		order = append(order, i)
	}
	slices.Sort(order)
	for _, i := range order {
		if err := l.add(entries[i].Entry); err != nil {
			return err
		}
	}
	return nil
}

// splitLines yields lines that end with LF, CR LF or CR.
func splitLines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for text != "" {
			line, rest := text, ""
			if i := strings.IndexAny(text, "\r\n"); i >= 0 {
				line, rest = text[:i], text[i+1:]
				if text[i] == '\r' && strings.HasPrefix(rest, "\n") {
					rest = rest[1:]
				}
			}
			if !yield(line) {
				return
			}
			text = rest
		}
	}
}

// oneLine is a text without line breaks and NULs.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == 0 }), " ")
}

// Write writes a whole playlist.
func Write(w io.Writer, f Format, p Playlist) error {
	var b bytes.Buffer // a playlist is bounded, and what fails leaves nothing behind
	out, err := NewWriter(&b, f, p.Title)
	if err != nil {
		return err
	}
	for _, e := range p.Entries {
		if err := out.Add(e); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}
