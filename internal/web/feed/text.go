package feed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"html"
	"strings"
	"unicode/utf8"
)

// clean makes a text fit for XML 1.0: what no document may hold is left out, and lines end as
// parsers would have them end. All else stays as it is, marks of direction and letters of any
// script included.
func clean(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r == '\n', r == '\t':
			return r
		case r < ' ', r >= 0x7f && r <= 0x9f, r == 0xfffe, r == 0xffff:
			return -1
		case r&0xfffe == 0xfffe: // no characters of any plane
			return -1
		}
		return r
	}, text)
}

// line is a text on one line.
func line(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// cut shortens to at most so many bytes, at a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const more = "…"
	most -= len(more)
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimSpace(text[:most]) + more
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// writer writes an XML document. What it is given as text or attribute is escaped.
type writer struct {
	bytes.Buffer
	deep int
}

// escape escapes what a text or an attribute may hold, ]]> among it: what HTML escapes is XML's, too.
func escape(text string) string { return html.EscapeString(text) }

// tag writes a start tag; attributes are names and values by turns. One whose value is empty is
// left out.
func (w *writer) tag(name string, attributes []string, end string) {
	for range w.deep {
		w.WriteByte(' ')
	}
	w.WriteString("<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		if value := clean(attributes[i+1]); value != "" {
			value = strings.ReplaceAll(strings.ReplaceAll(escape(value), "\n", "&#10;"), "\t", "&#9;") // else they would be spaces
			w.WriteString(" " + attributes[i] + `="` + value + `"`)
		}
	}
	w.WriteString(end)
}

func (w *writer) open(name string, attributes ...string) {
	w.tag(name, attributes, ">\n")
	w.deep++
}

func (w *writer) close(name string) {
	w.deep--
	for range w.deep {
		w.WriteByte(' ')
	}
	w.WriteString("</" + name + ">\n")
}

func (w *writer) empty(name string, attributes ...string) { w.tag(name, attributes, "/>\n") }

// text writes an element with a text; none where the text is empty.
func (w *writer) text(name, text string, attributes ...string) {
	if text = clean(text); text == "" {
		return
	}
	w.tag(name, attributes, ">")
	w.WriteString(escape(text) + "</" + name + ">\n")
}
