package ingest

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/live"
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

// clean is text of an encoder as it may be shown: on one line, and not too long.
func clean(text string, latin bool) string {
	if latin || !utf8.ValidString(text) { // most old encoders: ISO 8859-1
		runes := make([]rune, 0, len(text))
		for _, b := range []byte(text) {
			runes = append(runes, rune(b))
		}
		text = string(runes)
	}
	text = live.Line(text)
	if runes := []rune(text); len(runes) > mostText {
		text = strings.TrimSpace(string(runes[:mostText]))
	}
	return text
}
