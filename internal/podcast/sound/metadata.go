package sound

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/athir-radio/athir/internal/podcast"
)

const (
	// mostChapters is how many a table of contents counts (ID3v2 chapters, 3.2).
	mostChapters = 255
	longestText  = 1000 // bytes; players show less
)

// metadata is what the file says of itself, in ffmpeg's ffmetadata. length is how long it plays.
func metadata(t podcast.Tags, length time.Duration) []byte {
	var out strings.Builder
	out.WriteString(";FFMETADATA1\n")
	put := func(name, value string) {
		if value = oneLine(value); value != "" {
			out.WriteString(name + "=" + escape(value) + "\n")
		}
	}
	put("title", t.Title)
	put("album", t.Show)
	put("artist", cmp.Or(oneLine(t.Artist), t.Show))
	put("genre", "Podcast")
	put("language", threeLetters(t.Language))
	if t.Number > 0 {
		put("track", fmt.Sprint(t.Number))
	}
	if !t.Date.IsZero() {
		put("date", t.Date.UTC().Format(time.DateOnly))
	}
	all := chapters(t.Chapters, length)
	for i, c := range all {
		end := length.Milliseconds()
		if i+1 < len(all) {
			end = all[i+1].StartMS
		}
		fmt.Fprintf(&out, "[CHAPTER]\nTIMEBASE=1/1000\nSTART=%d\nEND=%d\n", c.StartMS, end)
		put("title", named(c))
	}
	return []byte(out.String())
}

// chapters are those that begin within the sound and have a name, in order, one at a time.
func chapters(in []podcast.Chapter, length time.Duration) []podcast.Chapter {
	out := make([]podcast.Chapter, 0, len(in))
	for _, c := range in {
		c.StartMS = max(c.StartMS, 0)
		if c.StartMS < length.Milliseconds() && named(c) != "" {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b podcast.Chapter) int { return cmp.Compare(a.StartMS, b.StartMS) })
	out = slices.CompactFunc(out, func(a, b podcast.Chapter) bool { return a.StartMS == b.StartMS })
	return out[:min(len(out), mostChapters)]
}

// named is how players show a chapter: most of them its title alone.
func named(c podcast.Chapter) string {
	title, artist := oneLine(c.Title), oneLine(c.Artist)
	if title == "" || artist == "" {
		return title + artist
	}
	return oneLine(artist + " – " + title)
}

// escape writes a value as ffmetadata has it: what ends a value or begins a comment stands
// behind a backslash. ffmpeg (5.1) takes the end of a line for a part of the value behind any
// backslash, even one that is escaped: a space keeps them apart.
func escape(value string) string {
	var out strings.Builder
	for _, r := range value {
		if strings.ContainsRune("=;#\\\n", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	if strings.HasSuffix(value, `\`) {
		out.WriteByte(' ')
	}
	return out.String()
}

// oneLine is a text that can be shown in one line, within bounds.
func oneLine(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\ufeff':
			return -1 // what turns the text behind it round
		}
		return r
	}, strings.ToValidUTF8(text, "")))
	if len(text) <= longestText {
		return text
	}
	end := longestText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.TrimSpace(text[:end])
}

// threeLetters is a language as ID3 has it (ISO 639-2); empty where there is none.
func threeLetters(tag string) string {
	parsed, err := language.Parse(tag)
	if err != nil {
		return ""
	}
	base, sure := parsed.Base()
	if sure <= language.Low {
		return ""
	}
	return base.ISO3()
}
