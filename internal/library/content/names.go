package content

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/station"
)

// longestName is the most bytes of a file's name. File systems allow 255; but
// 120 entries share a playlist file of 32768 bytes, which leaves about 270 for
// an entry with its folders and annotation.
const longestName = 120

// FileName makes a file name of texts from outside, in whatever script: no
// separators, no control or direction marks, no name that a scan takes for
// hidden or unfinished, none that other systems refuse.
func FileName(artist, title, fallback string) string {
	stem := cleanName(title)
	if by := cleanName(artist); by != "" && stem != "" {
		stem = by + " - " + stem
	}
	if stem == "" {
		stem = cleanName(fallback)
	}
	stem = cut(stem, longestName-len(".mp3"))
	for _, unfinished := range []string{".part", ".partial", ".tmp", ".temp", ".crdownload", ".download", ".!qb", ".filepart"} {
		if strings.HasSuffix(strings.ToLower(stem), unfinished) {
			stem = stem[:len(stem)-len(unfinished)] + "_" + unfinished[1:]
		}
	}
	if stem == "" {
		stem = "untitled"
	}
	return stem + ".mp3"
}

func cleanName(s string) string {
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
	return strings.Trim(s, ".~ \u200c")
}

// cut shortens to at most n bytes, at a rune.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	for len(s) > 0 && !utf8.ValidString(s[len(s)-min(len(s), utf8.UTFMax):]) && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return strings.TrimRight(s, ".~ \u200c")
}

// numbered is the n-th name like name; the first is name itself.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	ext := path.Ext(name)
	mark := " (" + strconv.Itoa(n) + ")"
	return cut(strings.TrimSuffix(name, ext), longestName-len(mark)-len(ext)) + mark + ext
}

// placeFor is the n-th choice of where a file of a category goes.
func placeFor(category station.Category, name string, n int) string {
	return path.Join("music", string(category), numbered(name, n))
}
