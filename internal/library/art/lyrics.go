package art

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/sound/audiofile"
)

const (
	// mostLyrics bounds the words of a track, in bytes, mostLines their lines; longestLine is cut.
	mostLyrics  = 64 << 10
	mostLines   = 2000
	longestLine = 1000
	// latest is the last time that a line may have, in milliseconds.
	latest = 24 * 60 * 60 * 1000
)

// Lyrics are the words of a track.
type Lyrics struct {
	Text   string
	Synced []Line // in the order of time; empty: no times are known
}

// Line is a line with the time at which it begins.
type Line struct {
	AtMS int64  `json:"atMs"`
	Text string `json:"text"`
}

// lyricsOf are the words among the texts that a file and what is beside it have: those with
// times before those without, then the text beside the file, then by the tags' names.
func lyricsOf(beside []byte, tags map[string]string) Lyrics {
	texts := []string{audiofile.Lines(beside)}
	names := slices.Collect(maps.Keys(tags))
	slices.SortFunc(names, func(a, b string) int {
		if d := lyricsTag(a) - lyricsTag(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		if lyricsTag(name) < notLyrics {
			texts = append(texts, audiofile.Mended(tags[name]))
		}
	}
	var first Lyrics
	for _, text := range texts {
		l := parseLyrics(text)
		if len(l.Synced) > 0 {
			return l
		}
		if first.Text == "" {
			first = l
		}
	}
	return first
}

const notLyrics = 9

// lyricsTag ranks the names of tags that hold words, in small letters: as ffprobe shows USLT
// (lyrics-ara), those of Vorbis comments and of MP4, and what programs write into TXXX.
func lyricsTag(name string) int {
	switch {
	case name == "syncedlyrics", name == "synced lyrics", name == "synchronised lyrics", name == "synchronized lyrics":
		return 0
	case name == "lyrics":
		return 1
	case name == "unsyncedlyrics", name == "unsynced lyrics", name == "unsynchronised lyrics", name == "unsynchronized lyrics":
		return 2
	case strings.HasPrefix(name, "lyrics-ara"):
		return 3
	case strings.HasPrefix(name, "lyrics-"):
		return 4
	}
	return notLyrics
}

// parseLyrics reads words, with the times of LRC where they have them: [mm:ss.xx] before a
// line, several where it comes again, and [offset:ms]. Times within a line are left out.
func parseLyrics(text string) Lyrics {
	if len(text) > 4*mostLyrics {
		text = text[:4*mostLyrics]
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\x00", "").Replace(text)
	var plain []string
	var synced []Line
	var offset int64
	size := 0
	for line := range strings.SplitSeq(text, "\n") {
		line = cleanLine(line)
		times, rest, about := stamps(line)
		if ms, ok := strings.CutPrefix(about, "offset:"); ok {
			if n, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(ms), "+"), 10, 32); err == nil {
				offset = n
			}
		}
		if about != "" {
			continue
		}
		if rest == "" && (len(plain) == 0 || plain[len(plain)-1] == "") && len(times) == 0 {
			continue
		}
		if size += (len(rest) + 1) * max(1, len(times)); size > mostLyrics || len(plain)+len(synced) >= 2*mostLines {
			break
		}
		for _, at := range times {
			synced = append(synced, Line{at, rest})
		}
		if rest != "" || len(plain) > 0 && plain[len(plain)-1] != "" {
			plain = append(plain, rest)
		}
	}
	out := Lyrics{Text: strings.TrimSpace(strings.Join(plain, "\n"))}
	if len(synced) < 2 || out.Text == "" {
		return out
	}
	for i := range synced {
		synced[i].AtMS = min(max(synced[i].AtMS-offset, 0), latest)
	}
	slices.SortStableFunc(synced, func(a, b Line) int { return int(a.AtMS - b.AtMS) })
	out.Synced = synced[:min(len(synced), mostLines)]
	return out
}

// stamps takes the times off a line. about is what a line says of the whole, as [ar:…].
func stamps(line string) (times []int64, rest, about string) {
	for strings.HasPrefix(line, "[") {
		inside, after, closed := strings.Cut(line[1:], "]")
		if !closed {
			break
		}
		at, ok := timeOf(inside)
		if !ok {
			key, _, tagged := strings.Cut(inside, ":")
			if tagged && after == "" && len(times) == 0 && key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz#") == "" {
				return nil, "", inside
			}
			break
		}
		times = append(times, at)
		line = strings.TrimSpace(after)
	}
	if len(times) > 0 {
		line = withoutWordTimes(line)
	}
	return times, line, ""
}

// timeOf reads mm:ss, mm:ss.xx and mm:ss:xx.
func timeOf(text string) (ms int64, ok bool) {
	minutes, rest, ok := strings.Cut(text, ":")
	if !ok || len(minutes) == 0 || len(minutes) > 4 || len(rest) < 2 || len(rest) > 6 {
		return 0, false
	}
	seconds, part := rest[:2], ""
	if len(rest) > 2 {
		if rest[2] != '.' && rest[2] != ':' || len(rest) == 3 {
			return 0, false
		}
		part = rest[3:]
	}
	m, err1 := strconv.ParseUint(minutes, 10, 16)
	s, err2 := strconv.ParseUint(seconds, 10, 8)
	f, err3 := strconv.ParseUint((part + "000")[:3], 10, 16)
	if err1 != nil || err2 != nil || err3 != nil || s > 59 {
		return 0, false
	}
	ms = int64(m)*60_000 + int64(s)*1000 + int64(f) //nolint:gosec // of few digits
	return ms, ms <= latest
}

// withoutWordTimes leaves out the times of words, <mm:ss.xx>.
func withoutWordTimes(line string) string {
	var out strings.Builder
	for {
		before, after, opened := strings.Cut(line, "<")
		out.WriteString(before)
		if !opened {
			break
		}
		inside, rest, closed := strings.Cut(after, ">")
		if _, ok := timeOf(inside); closed && ok {
			line = rest
			continue
		}
		out.WriteByte('<')
		line = after
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// cleanLine makes a line printable: no controls, and nothing that turns what follows it round.
func cleanLine(line string) string {
	if len(line) > longestLine {
		cut := longestLine
		for cut > 0 && !utf8.RuneStart(line[cut]) {
			cut--
		}
		line = line[:cut]
	}
	line = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\ufeff':
			return -1
		}
		return r
	}, strings.ToValidUTF8(line, "\ufffd"))
	return strings.TrimSpace(line)
}
