package words_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/athir-radio/athir/internal/audience/chat/words"
)

func TestNamesAndTextsKeepWhatCanBeSeen(t *testing.T) {
	for in, want := range map[string]string{
		"  أحمد   سامي ": "أحمد سامي", "مُحَمَّد": "مُحَمَّد", "a\tb\nc": "a b c", "José": "José", "👩🏽‍🚀 رائدة": "👩🏽‍🚀 رائدة",
		"علی‌رضا": "علی‌رضا", "ad\u200bmin": "admin", "ad\u200cmin": "admin", "\u202eniмda\u202c": "niмda", "\u2066x\u2069": "x", "x\ufeff\u00ad": "x",
		"\u200fسلمى\u200f": "سلمى", "H\u0334\u0335\u0336\u0337\u0338": "H\u0334\u0335\u0336\u0337", "\xffz\xff": "z", "a\x00b\x1b[31m": "ab[31m", "x\U000e0061\U000e007f": "x", "🏴󠁧󠁢󠁥󠁮󠁧󠁿": "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
		"❤": "❤", "❤️": "❤️", "™": "™", "ا\u0301\u0301\u0301\u0301\u0301\u0301\u0301": "ا\u0301\u0301\u0301\u0301",
	} {
		if got, ok := words.Name(in); !ok || got != want {
			t.Errorf("name %q: %q %v, want %q", in, got, ok, want)
		}
	}
	for what, in := range map[string]string{
		"nothing": "", "spaces": " \t\u3000", "fillers": "\u3164\u3164", "braille blank": "\u2800", "marks of direction": "\u200f\u200e", "zero width": "\u200b\u200d",
		"marks alone": "\u064b\u064c", "41 letters": strings.Repeat("م", 41), "private use": "\ue000", "long": strings.Repeat("a", 20000),
	} {
		if got, ok := words.Name(in); ok {
			t.Errorf("%s is the name %q", what, got)
		}
	}
	if _, ok := words.Name(strings.Repeat("👩🏽‍🚀", 12)); !ok {
		t.Error("twelve astronauts are too long a name")
	}
	for in, want := range map[string]string{
		"واحد\r\nاثنان\u2028ثلاثة": "واحد\nاثنان\nثلاثة", "a\n\n\n\n\nb": "a\n\nb", " a \n  b ": "a\nb", "\u200b\n\n": "",
		"قال \u200fabc\u200f 12": "قال \u200fabc\u200f 12", "a\u202eb": "ab", "<b>&amp;": "<b>&amp;",
	} {
		if got, ok := words.Text(in); !ok || strings.ReplaceAll(got, "\u200f", "") != strings.ReplaceAll(want, "\u200f", "") {
			t.Errorf("text %q: %q %v, want %q", in, got, ok, want)
		}
	}
	if got, _ := words.Text(strings.Repeat("a\n", 400)); strings.Count(got, "\n") > 20 {
		t.Errorf("%d line breaks", strings.Count(got, "\n"))
	}
	if _, ok := words.Text(strings.Repeat("م", 1001)); ok {
		t.Error("1001 letters are a text")
	}
	if _, ok := words.Text(strings.Repeat("م", 1000)); !ok {
		t.Error("1000 letters are no text")
	}
	if _, ok := words.Text(strings.Repeat("👩🏽‍🚀", 300)); ok {
		t.Error("4500 bytes are a text")
	}
}

func FuzzCleanTextIsCleanAndStaysSo(f *testing.F) {
	for _, s := range []string{"سلام", "a\u202eb\u200d\u200c", "👩🏽‍🚀", "1️⃣", "\r\n\n\n", "e\u0301\u0301", "🇪🇬🇪", "ـــ", "\u200f \u200f", "☂\ufe0e\u200d☂", "\U000e0061"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, one := range []struct {
			kind  string
			clean func(string) (string, bool)
		}{{"name", words.Name}, {"text", words.Text}} {
			got, ok := one.clean(s)
			if !ok {
				continue
			}
			if again, ok := one.clean(got); !ok || again != got {
				t.Errorf("%s %q becomes %q, then %q %v", one.kind, s, got, again, ok)
			}
			if !utf8.ValidString(got) || len(got) > 4000 || uniseg.GraphemeClusterCount(got) > 1000 || strings.TrimSpace(got) != got {
				t.Errorf("%s %q", one.kind, got)
			}
			for _, r := range got {
				if (unicode.IsControl(r) && (r != '\n' || one.kind == "name")) || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069) || r == 0x200b || r == 0xfeff || unicode.In(r, unicode.Co, unicode.Zl, unicode.Zp) {
					t.Errorf("%s %q keeps %U", one.kind, got, r)
				}
			}
		}
	})
}

func TestNamesOfTheStaffAreTheirsHoweverTheyAreSpelt(t *testing.T) {
	r := words.NewReserved("أثير", []string{"سماح", "DJ Nile", "منى الشاذلي"})
	for _, name := range []string{
		"admin", "Admin", "ADMIN", "Аdmin", "аdміп", "ádmin", "adm1n", "4dmin", "@dmin", "adm!n", "ad_min", "a d m i n", "a.d.m.i.n", "A-D-M-I-N", "admin1", "admin 2", "_admin_", "xX admin Xx",
		"аdmin ✔", "The Admin", "ａｄｍｉｎ", "𝐚𝐝𝐦𝐢𝐧", "ⓐⓓⓜⓘⓝ", "🅐🅓🅜🅘🅝", "🅰🅳🅼🅸🅽", "🇦 🇩 🇲 🇮 🇳", "adrnin", "admln", "admiin", "αdmin", "ᴀᴅᴍɪɴ",
		"إدارة", "ادارة", "الإدارة", "إِدَارَة", "إدارـــة", "اداره", "ا د ا ر ة", "ادار٥", "إدارة المحطة", "مدير", "المدير", "مــديــر", "مُدير", "والمدير", "مديـر 1",
		"studio", "Studio", "ѕtudio", "STUD10", "أثير", "اثير", "الأثير", "أثـير", "راديو أثير", "إذاعة أثير", "أثير FM", "أثير ✅", "Athir admin", "admin أثير", "سماح", "سماح!", "dj nile", "DJ.Nile", "djnile",
	} {
		if !r.Taken(name) {
			t.Errorf("a listener is called %q", name)
		}
	}
	for _, name := range []string{
		"Athir", "ATHIR", "Atheer", "Athyr", "Áthir", "Аthіr", "4thir", "@thir", "A t h i r", "Radio Athir", "Athir FM", "athir official", "Athir ✅", "ａｔｈｉｒ", "Samah", "Samaah Ali", "el samah",
		"Mona Elshazly", "Mona El Shazly", "mona alshazli", "Modir", "mudir", "Idara", "ᗩᗪᗰIᑎ", "ꓮꓓꓟꓲꓠ", "𐌀𐌃𐌌𐌉𐌍", "Ꭺdmin", "aɗmin", "ADΜIN", "ADMIΝ", "ꜱtaff", "staƒf", "админ",
		"Admins", "mods", "Support", "أدمين", "المشرفون", "مشرفين", "أﺛﯾر", "أثیر", "أَثِيـر",
	} {
		if !r.Taken(name) {
			t.Errorf("a listener is called %q", name)
		}
	}
	for _, name := range []string{
		"Tahir", "Athar", "Aser", "Asir", "Arthur", "Thor", "Atheer Ahmed", "Samer", "Sami", "Samia", "Shazly", "Mona", "Maha", "Madian", "Adham", "Said", "Theodore", "Мария", "Γιάννης", "ⲙⲁⲣⲕⲟⲥ", "太郎",
		"أحمد", "أثير محمد", "Admiral", "Adam", "Mina", "مديحة", "ماجد", "إدريس", "Modi", "Amin", "Nadim", "سماحة", "Nile", "Ali 1", "👍", "Latif", "١٢٣", "Modern", "Damien", "نادر", "أ", "Z",
	} {
		if r.Taken(name) {
			t.Errorf("%q is taken", name)
		}
	}
}

func list(t *testing.T, all ...words.Word) *words.List {
	t.Helper()
	l, err := words.NewList(all)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestWordsOfTheListAreFoundHoweverTheyAreSpelt(t *testing.T) {
	l := list(t, words.Word{Word: "كلب", Action: "block"}, words.Word{Word: "badger", Action: "block", Stem: true}, words.Word{Word: "كلام فارغ", Action: "block"},
		words.Word{Word: "ass", Action: "block"}, words.Word{Word: "god", Action: "block"})
	for _, text := range []string{
		"كلب", "يا كلب!", "كَلْب", "كـلـب", "كلللب", "ك ل ب", "ك.ل.ب", "ك_ل_ب", "ك‌لب", "ڪلب", "کلب", "badger", "BADGER", "bаdger", "b4dger", "b@dger", "b a d g e r", "honeybadgers", "bаaаdgеr",
		"هذا كلام فارغ جدا", "كَلام   فارِغ", "كلام\nفارغ", "ass", "a$s", "asssss", "ＡＳＳ", "gooood",
	} {
		if _, blocked := l.Apply(text); !blocked {
			t.Errorf("%q passes", text)
		}
	}
	for _, text := range []string{"", "as", "good", "class", "كلبشات", "كلاب", "كلام جميل فارغ", "انا و انت و هو", "bad germ", "1 2 3", "بدجر", "a b c d", "كل ب"} {
		if _, blocked := l.Apply(text); blocked {
			t.Errorf("%q is blocked", text)
		}
	}
	stars := list(t, words.Word{Word: "كلب", Action: "star"}, words.Word{Word: "darn it", Action: "star"}, words.Word{Word: "مزعج", Action: "star", Stem: true})
	for in, want := range map[string]string{
		"يا كَلْب يا حلو": "يا *** يا حلو", "darn it, darn  it": "**** **, ****  **", "المزعجون هنا": "******** هنا", "لا شيء": "لا شيء", "ك ل ب": "* * *", "كلب كلب": "*** ***",
	} {
		if got, blocked := stars.Apply(in); got != want || blocked {
			t.Errorf("%q: %q %v, want %q", in, got, blocked, want)
		}
	}
	for _, wrong := range []words.Word{{Word: "", Action: "block"}, {Word: "!!", Action: "star"}, {Word: "x", Action: "delete"}, {Word: "x", Action: "block", Stem: true}, {Word: strings.Repeat("x", 201), Action: "block"}} {
		if _, err := words.NewList([]words.Word{wrong}); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
	if text, blocked := (*words.List)(nil).Apply("كلب"); text != "كلب" || blocked {
		t.Error("no list finds words")
	}
}

func FuzzAWordListNeitherPanicsNorLetsItsOwnWordsPass(f *testing.F) {
	f.Add("كلب", "يا كلب")
	f.Add("a b c", "a.b.c d")
	f.Add("ß", "ſs")
	f.Add("@x", "1@x@")
	f.Fuzz(func(t *testing.T, word, text string) {
		word, ok := words.Name(word)
		if !ok {
			return
		}
		block, err := words.NewList([]words.Word{{Word: word, Action: words.Block}})
		if err != nil {
			return
		}
		if _, blocked := block.Apply(word); !blocked {
			t.Errorf("%q is not found in itself", word)
		}
		if _, blocked := block.Apply("x, " + word + ", y"); !blocked && !strings.ContainsAny(word[:1]+word[len(word)-1:], "@$!|*") && uniseg.GraphemeClusterCount(word) > 1 && !strings.ContainsAny(word, " .,-_'") && onlyLetters(word) {
			t.Errorf("%q is not found between others", word)
		}
		text, ok = words.Text(text)
		if !ok {
			return
		}
		star, _ := words.NewList([]words.Word{{Word: word, Action: words.Star, Stem: true}})
		shown, blocked := star.Apply(text)
		if blocked || !utf8.ValidString(shown) || len(shown) > 2*len(text)+16 {
			t.Errorf("%q starred in %q: %q %v", word, text, shown, blocked)
		}
		_ = words.HasLink(text)
		_ = words.NewReserved(word, nil).Taken(text)
	})
}

func onlyLetters(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
}

func TestLinksAreFound(t *testing.T) {
	for _, text := range []string{
		"http://x", "HTTPS://example.org/a", "www.example", "example.com", "see example.com.", "t.me/abc", "wa.me/2010", "موقع.مصر", "example۔com", "example。com", "ｅｘａｍｐｌｅ．ｃｏｍ", "EXAMPLE.COM",
		"mail@example.org", "example dot com", "example [dot] com", "example(.)com", "example نقطة كوم", "example . com", "exa\u200cmple.com", "http://1.2.3.4", "1.2.3.4", "at 10.0.0.1:80",
		"bit.ly/x", "youtu.be/x", "السعودية.السعودية", "example.comتابعوني", "xn--mgbh0fb.com", "magnet:?xt=x", "sub.domain.example.co.uk/path",
	} {
		if !words.HasLink(text) {
			t.Errorf("no link in %q", text)
		}
	}
	for _, text := range []string{
		"", "تمام.شكرا", "الساعة 3.30", "v1.2.3", "...", "ok...yes", "1,000.50", "رائع . جدا", "dot", "نقطة نظام", "a.b", "e.g", "hello:world", "12.5.2024", "أ.د.محمد",
	} {
		if words.HasLink(text) {
			t.Errorf("a link in %q", text)
		}
	}
}
