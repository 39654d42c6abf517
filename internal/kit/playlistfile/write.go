package playlistfile

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// Writer writes a playlist entry by entry, however many there are.
type Writer struct {
	w      io.Writer
	format Format
	title  string
	n      int
	err    error // the first; later calls return it
}

// NewWriter makes one; nothing is written before the first entry. A title may be empty.
func NewWriter(w io.Writer, f Format, title string) (*Writer, error) {
	if f.MediaType() == "" {
		return nil, fmt.Errorf("format %.20q: %w", f, ErrFormat)
	}
	return &Writer{w: w, format: f, title: title}, nil
}

// Add writes an entry.
func (w *Writer) Add(e Entry) error {
	w.begin()
	w.n++
	switch w.format {
	case M3U:
		album := ""
		if e.Album != "" {
			album = "#EXTALB:" + oneLine(e.Album) + "\n"
		}
		w.say("#EXTINF:%d,%s\n%s%s\n", length(e, 0), oneLine(joined(e)), album, line(e.Location))
	case PLS:
		w.say("File%d=%s\nTitle%d=%s\nLength%d=%d\n", w.n, oneLine(e.Location), w.n, oneLine(joined(e)), w.n, length(e, -1))
	case XSPF:
		w.say("    <track>\n")
		w.element("      ", "location", uri(e.Location))
		w.element("      ", "title", e.Title)
		w.element("      ", "creator", e.Creator)
		w.element("      ", "album", e.Album)
		if e.Duration > 0 {
			w.say("      <duration>%d</duration>\n", e.Duration.Milliseconds())
		}
		w.say("    </track>\n")
	case JSPF:
		if w.n > 1 {
			w.say(",")
		}
		w.say("\n")
		w.json(jsonTrack{[]string{e.Location}, e.Title, e.Creator, e.Album, e.Duration.Milliseconds()})
	}
	return w.err
}

// Close writes what stands at the end. It does not close what is written to.
func (w *Writer) Close() error {
	w.begin()
	switch w.format {
	case M3U:
	case PLS:
		w.say("NumberOfEntries=%d\nVersion=2\n", w.n)
	case XSPF:
		w.say("  </trackList>\n</playlist>\n")
	case JSPF:
		w.say("\n]}}\n")
	}
	return w.err
}

// begin writes what stands at the beginning, once.
func (w *Writer) begin() {
	if w.n > 0 {
		return
	}
	switch w.format {
	case M3U:
		w.say("#EXTM3U\n")
		if w.title != "" {
			w.say("#PLAYLIST:%s\n", oneLine(w.title))
		}
	case PLS:
		w.say("[playlist]\n")
		if w.title != "" {
			w.say("X-GNOME-Title=%s\n", oneLine(w.title))
		}
	case XSPF:
		w.say("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<playlist version=\"1\" xmlns=\"http://xspf.org/ns/0/\">\n")
		w.element("  ", "title", w.title)
		w.say("  <trackList>\n")
	case JSPF:
		w.say(`{"playlist":{`)
		if w.title != "" {
			w.say(`"title":`)
			w.json(w.title)
			w.say(",")
		}
		w.say(`"track":[`)
	}
}

func (w *Writer) say(form string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, form, args...)
	}
}

func (w *Writer) json(v any) {
	b, err := json.Marshal(v)
	if w.err == nil {
		w.err = err
	}
	w.say("%s", b)
}

// element writes one of XSPF, unless it is empty.
func (w *Writer) element(indent, name, text string) {
	if text == "" {
		return
	}
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes all
	w.say("%s<%s>%s</%s>\n", indent, name, b.String(), name)
}

// length is that of an entry in whole seconds.
func length(e Entry, unknown int) int {
	if e.Duration <= 0 {
		return unknown
	}
	return int(e.Duration.Round(time.Second).Seconds())
}

// line is a location as a line of M3U, where a name that begins with # would be a comment.
func line(location string) string {
	location = oneLine(location)
	if strings.HasPrefix(location, "#") {
		return "./" + location
	}
	return location
}

// uri is a location as XSPF has it: an address stays, the parts of a path are escaped.
func uri(location string) string {
	if u, err := url.Parse(location); err == nil && len(u.Scheme) > 1 && strings.Contains(location, "://") {
		return u.String()
	}
	if strings.HasPrefix(location, "//") { // of a URI that is a host
		location = "/" + strings.TrimLeft(location, "/")
	}
	return (&url.URL{Path: location}).String()
}
