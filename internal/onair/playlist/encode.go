package playlist

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	pageSize = 4096 // the kernel's unit of copying

	headerFormat = "#EXTM3U athir:1 entries:%05d sum:%s\n"
	headerSize   = len("#EXTM3U athir:1 entries:00000 sum:\n") + 2*sumSize
	sumSize      = 16 // bytes of the SHA-256 that the header keeps

	annotation = "annotate:type="
	crossKey   = ",liq_cross_duration="
	crossed    = "annotate:liq_cross_duration="
	gained     = `annotate:athir_gain="`
	alsoGained = `,athir_gain="`
	gainedEnd  = `":`
	escaped    = "File:x://"
)

// Encode returns the file for items, exactly Size bytes, and how many of them
// are in it: where not all fit, the tail is left out (kept < len(items)). The
// same items always give the same bytes.
//
// No items is ErrEmpty. Items that no list can carry are a *RefusedError which
// names all of them; nothing is encoded then, so that the list on the node and
// the rotation never differ in the middle.
func Encode(items []Item) (data []byte, kept int, err error) {
	if len(items) == 0 {
		return nil, 0, ErrEmpty
	}
	lines := make([]string, 0, len(items))
	var refused []Refusal
	for i, item := range items {
		if err := Check(item); err != nil {
			refused = append(refused, Refusal{Index: i, Path: item.Path, Err: err})
			continue
		}
		lines = append(lines, line(item))
	}
	if len(refused) > 0 {
		return nil, 0, &RefusedError{Items: refused}
	}
	body, kept := layout(lines, pageSize)
	if kept < len(lines) {
		body, kept = layout(lines, Size)
	}
	return seal(body, kept), kept, nil
}

// Blank returns a whole file with no entries. It is for creating the file
// before the first push and for nothing else: an empty list is never pushed.
func Blank() []byte {
	body, _ := layout(nil, Size)
	return seal(body, 0)
}

// layout sets the lines one after another, none across a multiple of page
// unless it is longer than that, and pads with line feeds to the file's end.
func layout(lines []string, page int) (body []byte, kept int) {
	body = make([]byte, 0, Size-headerSize)
	for _, l := range lines {
		at := headerSize + len(body)
		pad := 0
		if room := page - at%page; len(l)+1 > room && len(l)+1 <= page {
			pad = room
		}
		if at+pad+len(l)+1 > Size {
			break
		}
		body = append(body, bytes.Repeat([]byte{'\n'}, pad)...)
		body = append(body, l...)
		body = append(body, '\n')
		kept++
	}
	return append(body, bytes.Repeat([]byte{'\n'}, Size-headerSize-len(body))...), kept
}

func seal(body []byte, entries int) []byte {
	return append(fmt.Appendf(make([]byte, 0, Size), headerFormat, entries, sum(body)), body...)
}

func sum(body []byte) string {
	h := sha256.Sum256(body)
	return hex.EncodeToString(h[:sumSize])
}

func line(item Item) string {
	gain, seconds := hundredths(item.Gain), strconv.FormatFloat(item.Cross.Seconds(), 'f', -1, 64)
	decibels := strconv.FormatFloat(gain, 'f', -1, 64)
	switch {
	case item.Type == "" && gain == 0 && item.Cross == 0:
		return uri(item.Path, false)
	case item.Type == "" && item.Cross == 0:
		return gained + decibels + gainedEnd + uri(item.Path, true)
	case item.Type == "" && gain == 0:
		return crossed + seconds + ":" + uri(item.Path, true)
	case item.Type == "":
		return crossed + seconds + alsoGained + decibels + gainedEnd + uri(item.Path, true)
	}
	return annotation + item.Type + crossKey + seconds + ":" + uri(item.Path, true)
}

// hundredths rounds a gain to what a list can say. The quotient of two whole
// numbers is the value that their decimal notation reads back as.
func hundredths(gain float64) float64 { return math.Round(gain*100) / 100 }

// uri returns the path as the engine takes it: as it is, wherever possible.
func uri(path string, inAnnotation bool) string {
	if !strings.ContainsAny(path, "\r\n") && (!inAnnotation || utf8.ValidString(path)) {
		return path
	}
	var b strings.Builder
	b.WriteString(escaped)
	for i := range len(path) {
		if c := path[i]; unreserved(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// unreserved follows RFC 3986 §2.3, plus the slash.
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("/-._~", c) >= 0
}
