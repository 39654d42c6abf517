package art

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestWordsAreReadWithTheirTimes(t *testing.T) {
	for _, c := range []struct{ text, plain, synced string }{
		{"", "", "[]"},
		{"one\r\ntwo\rthree", "one\ntwo\nthree", "[]"},
		{"\n\n a \n\n\n\nb\n\n", "a\n\nb", "[]"},
		{"[ar:Fairuz]\n[00:02.50]b\n[00:01]a", "b\na", "[{1000 a} {2500 b}]"},
		{"[00:01.00][00:05.123]again\n[00:03:50]", "again", "[{1000 again} {3500 } {5123 again}]"},
		{"[offset:-250]\n[00:01.0]a\n[99:00.00]z", "a\nz", "[{1250 a} {5940250 z}]"},
		{"[offset:9000]\n[00:01.0]a\n[00:20]z", "a\nz", "[{0 a} {11000 z}]"},
		{"[00:01.00]<00:01.00>word <00:01.50> by <00:02>word\n[00:04]<3", "word by word\n<3", "[{1000 word by word} {4000 <3}]"},
		{"[Chorus]\nla [x2]\n[00:99]no\n[1:2:3]", "[Chorus]\nla [x2]\n[00:99]no\n[1:2:3]", "[]"},
		{"[00:01.00]only", "only", "[]"}, // one time is none
	} {
		got := parseLyrics(c.text)
		if got.Text != c.plain || fmt.Sprint(got.Synced) != c.synced {
			t.Errorf("%q:\n%q\n%v", c.text, got.Text, got.Synced)
		}
	}
}

func TestWordsWithTimesComeFirst(t *testing.T) {
	timed := "[00:01]a\n[00:02]b"
	for name, c := range map[string]struct {
		beside string
		tags   map[string]string
		want   string
	}{
		"none":        {"", map[string]string{"title": "x", "comment": "y"}, ""},
		"beside":      {"own", map[string]string{"lyrics": "tag"}, "own"},
		"timed":       {"own", map[string]string{"lyrics-eng": timed}, "a\nb"},
		"arabic":      {"", map[string]string{"lyrics-eng": "x", "lyrics-ara": "ع"}, "ع"},
		"utf-16":      {"\xff\xfeh\x00i\x00", nil, "hi"},
		"with a mark": {"\xef\xbb\xbfhi", nil, "hi"},
	} {
		if got := lyricsOf([]byte(c.beside), c.tags); got.Text != c.want {
			t.Errorf("%s: %q", name, got.Text)
		}
	}
}

func FuzzLyrics(f *testing.F) {
	for _, text := range []string{"[00:01.00]a\n[offset:5]\n[00:00]<00:01>b", "[[[[00:01]", "[offset:-2147483648]\n[00:01]a\n[00:02]b", "\xff\xfe", "[9999:59.999]x\n[00:00]y", strings.Repeat("[00:01]", 500)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := parseLyrics(text)
		size := 0
		for _, l := range got.Synced {
			size += len(l.Text)
			if l.AtMS < 0 || l.AtMS > latest || strings.Contains(l.Text, "\n") {
				t.Errorf("%+v", l)
			}
		}
		if len(got.Text) > mostLyrics || size > mostLyrics || len(got.Synced) > mostLines {
			t.Errorf("%d and %d bytes, %d lines", len(got.Text), size, len(got.Synced))
		}
		if !utf8.ValidString(got.Text) || strings.ContainsFunc(got.Text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Errorf("%q", got.Text)
		}
		if !slices.IsSortedFunc(got.Synced, func(a, b Line) int { return int(a.AtMS - b.AtMS) }) {
			t.Errorf("%v", got.Synced)
		}
	})
}
