package check_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/audience/chat/words"
	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
)

// chat is the judge that the station uses.
func chat(t testing.TB) check.Words {
	t.Helper()
	list, err := words.NewList([]words.Word{{Word: "خنزير", Action: words.Block}, {Word: "idiot", Action: words.Block}, {Word: "damn", Action: words.Star}})
	if err != nil {
		t.Fatal(err)
	}
	return check.Words{
		Blocked: func(s string) bool { _, blocked := list.Apply(s); return blocked },
		Linked:  words.HasLink,
	}
}

func TestNamesAreKeptAsTheyCanBeSeen(t *testing.T) {
	for in, want := range map[string]string{
		"  أنت   عمري ": "أنت عمري", "e\u0301te": "éte", "a\nb\tc\u2028d": "a b c d", "x\x00\x1b[31my": "x[31my",
		"\u202egpj.exe\u202c": "gpj.exe", "\u2066abc\u2069": "abc", "ad\u200b\ufeffmin": "admin", "\u200fعربي\u200f": "عربي",
		"قال abc\u200f 12": "قال abc\u200f 12", "\xff\xfeok": "ok", "x\U000e0041": "x", "علی\u200cرضا": "علی\u200cرضا",
		"🎵 لحن": "🎵 لحن", "AC/DC – Back in Black (Live)": "AC/DC – Back in Black (Live)", "Mr. Saxo Beat": "Mr. Saxo Beat", "No. 1": "No. 1",
		"R.E.M.": "R.E.M.", "email @ home": "email @ home", "H\u0334\u0335\u0336\u0337\u0338\u0334": "H\u0334\u0335\u0336\u0337",
	} {
		got, r := check.Names{Title: in}.Clean(chat(t))
		if r != nil || got.Title != want {
			t.Errorf("%q: %q, %v; want %q", in, got.Title, r, want)
		}
	}
	n, r := check.Names{Title: "x", Description: " one \r\n\r\n two\u202e \n", Tags: []string{"#طرب", "طرب", "", "oud "}, By: "@samir_99"}.Clean(chat(t))
	if r != nil || n.Description != "one\ntwo" || !slices.Equal(n.Tags, []string{"طرب", "oud"}) || n.By != "@samir_99" {
		t.Errorf("%+v, %v", n, r)
	}
}

func TestNamesAreRefusedByField(t *testing.T) {
	title := func(s string) check.Names { return check.Names{Title: s} }
	for what, c := range map[string]struct {
		in    check.Names
		code  refusal.Code
		field refusal.Field
	}{
		"nothing":             {title(""), refusal.NamesMissing, refusal.Title},
		"blanks":              {title(" \u3164\u2800\u200b\u202e\u200f "), refusal.NamesMissing, refusal.Title},
		"long title":          {title(strings.Repeat("م", check.LongestTitle+1)), refusal.NamesLong, refusal.Title},
		"long artist":         {check.Names{Title: "x", Artist: strings.Repeat("a", check.LongestArtist+1)}, refusal.NamesLong, refusal.Artist},
		"vast description":    {check.Names{Title: "x", Description: strings.Repeat("a b ", 1<<20)}, refusal.NamesLong, refusal.Description},
		"eleven tags":         {check.Names{Title: "x", Tags: strings.Fields("a b c d e f g h i j k")}, refusal.NamesLong, refusal.Tags},
		"long tag":            {check.Names{Title: "x", Tags: []string{strings.Repeat("a", check.LongestTag+1)}}, refusal.NamesLong, refusal.Tags},
		"long sender":         {check.Names{Title: "x", By: strings.Repeat("a", check.LongestBy+1)}, refusal.NamesLong, refusal.CreatedBy},
		"address":             {title("listen on http://example.com"), refusal.NamesLinks, refusal.Title},
		"www":                 {title("www.example"), refusal.NamesLinks, refusal.Title},
		"bare domain":         {title("my music at example.com"), refusal.NamesLinks, refusal.Title},
		"telegram":            {title("t.me/x"), refusal.NamesLinks, refusal.Title},
		"hidden telegram":     {title("t\u200b.\u202em\u202ce/x"), refusal.NamesLinks, refusal.Title},
		"arabic full stop":    {title("example۔com"), refusal.NamesLinks, refusal.Title},
		"spelt dot":           {title("example نقطة com"), refusal.NamesLinks, refusal.Title},
		"numbers":             {title("٩٩ http٠ 1.2.3.4"), refusal.NamesLinks, refusal.Title},
		"wide letters":        {title("ｅｘａｍｐｌｅ．ｃｏｍ"), refusal.NamesLinks, refusal.Title},
		"account":             {check.Names{Title: "x", Description: "تابعوني @samir_99"}, refusal.NamesLinks, refusal.Description},
		"account by the tags": {check.Names{Title: "x", Tags: []string{"@samir"}}, refusal.NamesLinks, refusal.Tags},
		"address of a sender": {check.Names{Title: "x", By: "samir.com"}, refusal.NamesLinks, refusal.CreatedBy},
		"word":                {title("You idiot"), refusal.NamesWords, refusal.Title},
		"word in Arabic":      {check.Names{Title: "x", Artist: "خــنزير"}, refusal.NamesWords, refusal.Artist},
	} {
		_, r := c.in.Clean(chat(t))
		if r == nil || r.Code != c.code || r.Field != c.field {
			t.Errorf("%s: %+v, want %s of %s", what, r, c.code, c.field)
		}
	}
}

// Whatever is sent: what is kept is valid, bounded and clean already.
func TestKeptNamesAreClean(t *testing.T) {
	alphabet := []rune("ab م\u0627\u064b\u0301\u200b\u200f\u202e\u200d\u3164\n\r\t\x00\ufeff🎵👩\U000e0020@.")
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.SampledFrom(alphabet), rapid.Rune()))
		in := check.Names{Title: text.Draw(rt, "title"), Description: text.Draw(rt, "description"), Tags: rapid.SliceOfN(text, 0, 4).Draw(rt, "tags"), By: text.Draw(rt, "by")}
		got, r := in.Clean(check.Words{})
		if r != nil {
			return
		}
		again, r := got.Clean(check.Words{})
		if r != nil || again.Title != got.Title || again.Description != got.Description || again.By != got.By || !slices.Equal(again.Tags, got.Tags) {
			rt.Fatalf("%q became %q (%v)", got, again, r)
		}
		for _, s := range append([]string{got.Title, got.Description, got.By}, got.Tags...) {
			hidden := strings.ContainsFunc(s, func(r rune) bool {
				return unicode.Is(unicode.Cc, r) && r != '\n' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
			})
			if !utf8.ValidString(s) || !norm.NFC.IsNormalString(s) || hidden || strings.TrimSpace(s) != s {
				rt.Fatalf("kept %q", s)
			}
		}
		if got.Title == "" || strings.Contains(got.Title+got.By, "\n") {
			rt.Fatalf("kept %q", got)
		}
	})
}
