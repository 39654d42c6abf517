// Package filename makes names of music files out of what people call them.
package filename

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Longest is the most bytes of a name. File systems allow 255; but 120 entries share a
// playlist file of 32768 bytes, which leaves about 270 for an entry with its folders and
// annotation.
const Longest = 120

// Of makes the name of a file with an ending (".mp3") out of texts from outside, in whatever
// script: no separators, no control or direction marks, no name that a scan takes for hidden
// or unfinished, none that a program takes for an option, none that other systems refuse.
// Where there is no title the name is the fallback's.
func Of(artist, title, fallback, ext string) string {
	stem := clean(title)
	if by := clean(artist); by != "" && stem != "" {
		stem = by + " - " + stem
	}
	if stem == "" {
		stem = clean(fallback)
	}
	stem = cut(stem, Longest-len(ext))
	for _, unfinished := range []string{".part", ".partial", ".tmp", ".temp", ".crdownload", ".download", ".!qb", ".filepart"} {
		if strings.HasSuffix(strings.ToLower(stem), unfinished) {
			stem = stem[:len(stem)-len(unfinished)] + "_" + unfinished[1:]
		}
	}
	if stem == "" {
		stem = "untitled"
	}
	return stem + ext
}

// Numbered is the n-th name like name; the first is name itself.
func Numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	ext := path.Ext(name)
	mark := " (" + strconv.Itoa(n) + ")"
	return cut(strings.TrimSuffix(name, ext), Longest-len(mark)-len(ext)) + mark + ext
}

// noEdge is what a name does not end with.
const noEdge = ".~ \u200c"

func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return -1
		case strings.ContainsRune(`/\:*?"<>|`, r), unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.C, r) && r != '\u200c': // control, format; the non-joiner belongs to Persian
			return -1
		}
		return r
	}, norm.NFC.String(strings.ToValidUTF8(s, "")))
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimRight(strings.TrimLeft(s, "-"+noEdge), noEdge)
}

// cut shortens to at most n bytes, at a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], noEdge)
}
