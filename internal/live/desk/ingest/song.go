package ingest

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostText bounds a title, in characters.
const mostText = 200

// songOf is what an encoder tells of what it plays: artist and title apart, or together as
// "artist - title".
func songOf(q url.Values) (title, creator string) {
	latin := strings.EqualFold(q.Get("charset"), "ISO-8859-1") || strings.EqualFold(q.Get("charset"), "LATIN1")
	text := func(name string) string { return clean(q.Get(name), latin) }
	if title = text("title"); title != "" {
		return title, text("artist")
	}
	song := text("song")
	if artist, rest, ok := strings.Cut(song, " - "); ok && rest != "" {
		return rest, artist
	}
	return song, text("artist")
}

// clean is text from outside as it may be shown: valid, on one line, without characters
// that steer how others are written, and not too long.
func clean(text string, latin bool) string {
	if latin || !utf8.ValidString(text) { // most old encoders: ISO 8859-1
		runes := make([]rune, 0, len(text))
		for _, b := range []byte(text) {
			runes = append(runes, rune(b))
		}
		text = string(runes)
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d', r == utf8.RuneError:
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > mostText {
		text = strings.TrimSpace(string(runes[:mostText]))
	}
	return text
}
