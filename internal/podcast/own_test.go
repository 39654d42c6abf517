package podcast

import (
	"encoding/xml"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/station"
)

func TestWhatAnOperatorSaysIsRefusedByField(t *testing.T) {
	for _, c := range []struct {
		field  string
		change func(o *Own)
	}{
		{"slug", func(o *Own) { o.Slug = "" }}, {"slug", func(o *Own) { o.Slug = "Morning" }}, {"slug", func(o *Own) { o.Slug = "a--b" }},
		{"slug", func(o *Own) { o.Slug = "-a" }}, {"slug", func(o *Own) { o.Slug = "../etc" }}, {"slug", func(o *Own) { o.Slug = ".aside" }},
		{"slug", func(o *Own) { o.Slug = "صباح" }}, {"slug", func(o *Own) { o.Slug = strings.Repeat("a", 65) }}, {"slug", func(o *Own) { o.Slug = "a\nb" }},
		{"title", func(o *Own) { o.Title = "" }}, {"title", func(o *Own) { o.Title = " \t\x00\u0007 " }}, {"title", func(o *Own) { o.Title = strings.Repeat("ص", 201) }},
		{"description", func(o *Own) { o.Description = strings.Repeat("ص", 4001) }}, {"author", func(o *Own) { o.Author = strings.Repeat("a", 201) }},
		{"copyright", func(o *Own) { o.Copyright = strings.Repeat("a", 201) }},
		{"language", func(o *Own) { o.Language = "" }}, {"language", func(o *Own) { o.Language = "arabic" }}, {"language", func(o *Own) { o.Language = "ar_EG" }},
		{"language", func(o *Own) { o.Language = `ar"` }},
		{"email", func(o *Own) { o.Email = "radio" }}, {"email", func(o *Own) { o.Email = "Radio <a@b.org>" }}, {"email", func(o *Own) { o.Email = "a@b.org, c@d.org" }},
		{"email", func(o *Own) { o.Email = "a@b" }}, {"email", func(o *Own) { o.Email = "a b@c.org" }}, {"email", func(o *Own) { o.Email = "a@b.org\r\nBcc: c@d.org" }},
		{"categories", func(o *Own) { o.Categories = nil }}, {"categories[1]", func(o *Own) { o.Categories = []string{"Music", "Noise"} }},
		{"categories", func(o *Own) { o.Categories = []string{"Music", "News", "Arts", "History"} }}, {"categories[0]", func(o *Own) { o.Categories = []string{"News > Music"} }},
		{"from.kind", func(o *Own) { o.From.Kind = "" }}, {"from.kind", func(o *Own) { o.From.Kind = "noise" }},
		{"from.streams[0]", func(o *Own) { o.From.Streams = []string{""} }}, {"from.types[0]", func(o *Own) { o.From.Types = []string{strings.Repeat("a", 101)} }},
		{"from.shortest", func(o *Own) { o.From.Shortest = -1 }}, {"from.shortest", func(o *Own) { o.From.Shortest = 86401 }},
		{"keep.episodes", func(o *Own) { o.Keep.Episodes = -1 }}, {"keep.episodes", func(o *Own) { o.Keep.Episodes = MostEpisodes + 1 }},
		{"keep.days", func(o *Own) { o.Keep.Days = 3651 }}, {"keep.megabytes", func(o *Own) { o.Keep.Megabytes = -5 }},
	} {
		o := own("morning", Live)
		c.change(&o)
		var wrong *station.FieldError
		if err := o.clean(); !errors.As(err, &wrong) || wrong.Field != c.field || wrong.Want == "" || !strings.ContainsFunc(wrong.Arabic, func(r rune) bool { return unicode.Is(unicode.Arabic, r) }) {
			t.Errorf("%+v: %v, want a wrong %s in both languages", o, err, c.field)
		}
	}
}

func TestWhatAnOperatorSaysIsPutInOrder(t *testing.T) {
	o := own(" morning ", Posts)
	o.Title, o.Description, o.Language, o.Email = " صباح\n الخير\x00 ", "أول\r\nثان\x01  \r\n\r\n", "AR-EG", " radio@example.org "
	o.Categories, o.From.Types = []string{"News > Daily News", "Music", "News > Daily News"}, []string{"song", "voice", "song"}
	given := slices.Clone(o.Categories)
	must(t, o.clean())
	if o.Slug != "morning" || o.Title != "صباح الخير" || o.Description != "أول\nثان" || o.Language != "ar-EG" || o.Email != "radio@example.org" {
		t.Errorf("%+v", o)
	}
	equal(t, "categories, the first is still the first", o.Categories, []string{"News > Daily News", "Music"})
	equal(t, "types", o.From.Types, []string{"song", "voice"})
	equal(t, "what the caller has", given, []string{"News > Daily News", "Music", "News > Daily News"})
	if o.From.Streams == nil {
		t.Error("streams are null in JSON")
	}
}

// Apple's list has 19 with 91 within them, as of 2024.
func TestCategoriesAreApples(t *testing.T) {
	all := Categories()
	within := slices.DeleteFunc(slices.Clone(all), func(c string) bool { return !strings.Contains(c, " > ") })
	if len(all)-len(within) != 19 || len(within) != 91 {
		t.Errorf("%d with %d within them", len(all)-len(within), len(within))
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 110 {
		t.Error("one is there twice")
	}
}

// The vector is of the specification of podcast:guid.
func TestTheGUIDIsThatOfTheSpecification(t *testing.T) {
	for _, feed := range []string{"podnews.net/rss", "https://podnews.net/rss", "http://podnews.net/rss/"} {
		if got := guidOf(feed); got != "9b024349-ccf0-5f69-a609-6b82873eab3c" {
			t.Errorf("%s: %s", feed, got)
		}
	}
	if got := guidOf("mp3s.nashownotes.com/pc20rss.xml"); got != "917393e3-1b1e-5cef-ace4-edaa54e1f810" {
		t.Errorf("%s", got)
	}
}

func FuzzTextsAreSafeForXML(f *testing.F) {
	f.Add("a\x00b\ufffe\xff\u2028", 10)
	f.Add(strings.Repeat("ص", 30), 7)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = 1 + max(0, most)%50
		for _, got := range []string{clip(oneLine(text), most), clip(lines(text), most), clipBytes(lines(text), most)} {
			if !utf8.ValidString(got) || got != strings.TrimSpace(got) && !strings.HasPrefix(lines(text), got) {
				t.Errorf("%q becomes %q", text, got)
			}
			for _, r := range got {
				if unicode.IsControl(r) && r != '\n' || r == utf8.RuneError {
					t.Errorf("%q has %U", got, r)
				}
			}
			var out strings.Builder
			if err := xml.EscapeText(&out, []byte(got)); err != nil || strings.Contains(out.String(), "\ufffd") {
				t.Errorf("XML cannot hold %q: %s", got, out.String())
			}
		}
		if n := utf8.RuneCountInString(clip(text, most)); n > most {
			t.Errorf("%d characters, want %d", n, most)
		}
		if n := len(clipBytes(text, most)); n > most && utf8.ValidString(text) {
			t.Errorf("%d bytes, want %d", n, most)
		}
		if lines(lines(text)) != lines(text) || oneLine(oneLine(text)) != oneLine(text) {
			t.Errorf("%q is changed twice", text)
		}
	})
}
