package filename

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestNamesOfFilesAreThoseThatPeopleRead(t *testing.T) {
	for _, c := range []struct{ artist, title, fallback, want string }{
		{"أم كلثوم", "إنت عمري", "", "أم كلثوم - إنت عمري.mp3"},
		{"", "عمرو دياب: تملّي معاك", "", "عمرو دياب تملّي معاك.mp3"},
		{"AC/DC", "T.N.T.", "", "AC DC - T.N.T.mp3"},
		{"", "../../etc/passwd", "", "etc passwd.mp3"},
		{"", "..", "from the id", "from the id.mp3"},
		{"", "\x00\u202egnos", "", "gnos.mp3"},
		{"\u202eevil", "a\x00b\nc", "", "evil - ab c.mp3"},
		{".hidden", "~x", "", "hidden - x.mp3"},
		{"", "~hidden~", "", "hidden.mp3"},
		{"", "-rf /", "", "rf.mp3"},
		{"", "song.part", "", "song_part.mp3"},
		{"", "con: a*b?", "", "con a b.mp3"},
		{"Only an artist", "", "id 7", "id 7.mp3"},
		{"..", "..", "", "untitled.mp3"},
		{"", "\xff\xfe", "", "untitled.mp3"},
		{"", "a\xffb", "", "ab.mp3"},
		{"e\u0301", "x", "", "é - x.mp3"},
		{"", strings.Repeat("ن", 100), "", strings.Repeat("ن", 58) + ".mp3"},
		{"می\u200cخواهم", "زه‌ب", "", "می\u200cخواهم - زه‌ب.mp3"},
	} {
		if got := Of(c.artist, c.title, c.fallback, ".mp3"); got != c.want {
			t.Errorf("%q, %q, %q: got %q, want %q", c.artist, c.title, c.fallback, got, c.want)
		}
	}
}

func TestAnyTextMakesANameThatCanBeMade(t *testing.T) {
	dir := t.TempDir()
	text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("./\\~- :\x00\n\u202e\u200f\u200cab.partmپنص"))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		ext := rapid.SampledFrom([]string{".mp3", ".flac", ".opus"}).Draw(t, "ext")
		name := Numbered(Of(text.Draw(t, "artist"), text.Draw(t, "title"), text.Draw(t, "fallback"), ext), rapid.IntRange(1, 1000).Draw(t, "n"))
		stem := strings.TrimSuffix(name, ext)
		if len(name) > Longest || !utf8.ValidString(name) || path.Ext(name) != ext || path.Base(name) != name || stem == "" || strings.ContainsAny(name[:1], ".~-") ||
			strings.ContainsFunc(name, unicode.IsControl) || strings.ContainsAny(name, "/\\\u202e\u200f") || strings.HasSuffix(strings.ToLower(stem), ".part") {
			t.Fatalf("%q", name)
		}
		full := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(full, nil, 0o600), os.Remove(full)); err != nil {
			t.Fatal(err)
		}
	})
}
