package audiofile

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// maxText is the longest text kept of a field, in bytes.
const maxText = 512

// Text makes valid, printable UTF-8 of bytes in an unknown encoding: UTF-8,
// else Windows-1256 where that reads as Arabic, else Latin-1. Old Arabic files
// are full of Windows-1256 that calls itself Latin-1.
func Text(b []byte) string {
	return clean(decode(b))
}

// Lines is the text of a file in an unknown encoding, with its lines and its controls: UTF-16
// where it begins with its mark, else as Text takes it.
func Lines(b []byte) string {
	if len(b) >= 2 && (b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff) {
		return utf16Text(b, binary.LittleEndian)
	}
	return strings.TrimPrefix(decode(b), "\ufeff")
}

// Mended is a text that another reader took for Latin-1, where it reads as Arabic of
// Windows-1256; any other stays as it is.
func Mended(text string) string {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return text
		}
		b = append(b, byte(r))
	}
	if utf8.Valid(b) {
		return text // ASCII, or as good as certainly meant so
	}
	return decode(b)
}

func decode(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	if arabic, err := charmap.Windows1256.NewDecoder().Bytes(b); err == nil && readsAsArabic(arabic) {
		return string(arabic)
	}
	latin, err := charmap.Windows1252.NewDecoder().Bytes(b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return string(latin)
}

// readsAsArabic tells Arabic from a Western text that happens to decode: in Arabic
// most words consist of Arabic letters; in French or German single accented letters
// stand among ASCII ones.
func readsAsArabic(text []byte) bool {
	arabic, other, run, longest := 0, 0, 0, 0
	for _, r := range string(text) {
		switch {
		case unicode.Is(unicode.Arabic, r):
			arabic++
			run++
			longest = max(longest, run)
			continue
		case unicode.IsLetter(r):
			other++
		}
		run = 0
	}
	return longest >= 3 || (arabic >= 2 && arabic > other)
}

// utf16Text decodes UTF-16; a byte order mark overrides the given order.
func utf16Text(b []byte, order binary.ByteOrder) string {
	if len(b) >= 2 {
		switch {
		case b[0] == 0xff && b[1] == 0xfe:
			b, order = b[2:], binary.LittleEndian
		case b[0] == 0xfe && b[1] == 0xff:
			b, order = b[2:], binary.BigEndian
		}
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// clean drops control characters, runs of spaces, and characters that would change
// the direction of the text that follows on a page.
func clean(s string) string {
	if len(s) > 4*maxText {
		s = s[:4*maxText]
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029', r == '\ufeff':
			return ' '
		case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1 // embeddings, overrides, isolates; the marks U+200E and U+200F reach no further than themselves
		}
		return r
	}, s)
	return capped(strings.Join(strings.Fields(s), " "))
}

// capped cuts s to maxText bytes between two characters.
func capped(s string) string {
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.TrimSpace(s[:cut])
}
