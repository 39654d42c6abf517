package intake

import (
	"path"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/kit/filename"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/station"
)

func TestEveryCodeHasItsWordsInBothLanguages(t *testing.T) {
	seen := map[string]Code{}
	ours := (&Refusal{Code: OurFault}).Words()
	for _, code := range Codes() {
		r := &Refusal{Code: code, Limit: 2 << 30, Found: 247 * time.Second, Category: station.Jingles}
		w := r.Words()
		if code != OurFault && (w.En == ours.En || w.Ar == ours.Ar) {
			t.Errorf("%s has no words of its own", code)
		}
		for _, s := range []string{w.En, w.Ar} {
			if other, twice := seen[s]; twice || !strings.HasSuffix(s, ".") {
				t.Errorf("%s and %s: %q", code, other, s)
			}
			seen[s] = code
		}
		arabic := func(r rune) bool { return unicode.Is(unicode.Arabic, r) }
		if strings.ContainsFunc(w.En, arabic) || !strings.ContainsFunc(w.Ar, arabic) || strings.ContainsAny(w.Ar, ",;?%") {
			t.Errorf("%s: %+v", code, w)
		}
		said, en, ar, _ := r.Spoken()
		if said != string(code) || en != w.En || ar != w.Ar || r.Error() != w.En {
			t.Errorf("%s: %s %s", code, en, ar)
		}
		if (station.Status(r) == 500) != (code == OurFault) {
			t.Errorf("%s has the status %d", code, station.Status(r))
		}
	}
	if w := (&Refusal{Code: TooLong, Found: 247 * time.Second, Category: station.Jingles}).Words(); !strings.Contains(w.En, "4:07") || !strings.Contains(w.En, "jingles") || !strings.Contains(w.Ar, "4:07") {
		t.Errorf("%+v", w)
	}
}

func TestFoldersSpeakOfCategories(t *testing.T) {
	for folder, want := range map[string]station.Category{
		"ads": station.Ads, "Commercials 2024": station.Ads, "إعلانات": station.Ads, "اعلانات رمضان": station.Ads, "فواصل": station.Sweepers, "الفواصل": station.Sweepers,
		"SFX": station.SFX, "sound_effects": station.SFX, "مؤثرات صوتية": station.SFX, "News": station.News, "أخبار": station.News, "نشرات": station.News,
		"Arabic-Hits": station.ArabicHits, "أغاني عربية": station.ArabicHits, "english": station.English, "أجنبي": station.English, "Remixes": station.Mashups,
		"jingles": station.Jingles, "شارات": station.Jingles, "shorts": station.Shorts, "social": "", "Summer": "", "": "", "Adele": "", "newsroom": "", "---": "",
	} {
		if got := categoryOf(folder); got != want {
			t.Errorf("%q: %q, want %q", folder, got, want)
		}
	}
	for _, c := range station.Categories() {
		if c != station.Social && categoryOf(string(c)) != c {
			t.Errorf("%s does not name itself", c)
		}
	}
}

func TestACategoryThatAFileDoesNotFitIsNotGuessed(t *testing.T) {
	for _, c := range []struct {
		folder string
		length time.Duration
		title  string
		want   station.Category
	}{
		{"jingles", 20 * time.Second, "x", station.Jingles}, {"jingles", 20 * time.Minute, "x", station.English},
		{"music/english/ads", 30 * time.Second, "x", station.Ads}, {"ads/english", 200 * time.Second, "x", station.English},
		{"", 59 * time.Second, "عيون", station.Shorts}, {"", 61 * time.Second, "عيون", station.ArabicHits}, {"", 4 * time.Hour, "x", station.Mashups},
		{`Radio\فواصل`, 5 * time.Second, "x", station.Sweepers},
	} {
		track := station.Track{Title: c.title, Duration: c.length}
		got, why := guess(c.folder, &track, &audiofile.Info{Duration: c.length, SampleRate: 44100})
		if got != c.want || why.En == "" || why.Ar == "" {
			t.Errorf("%+v: %s, %+v", c, got, why)
		}
	}
}

func TestAnyNamesMakeANameThatAScanTakes(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("./\\-~ \u202e\u200f\u200cصa.part\x00\n:")), 0, 300, -1))
	rapid.Check(t, func(t *rapid.T) {
		ext := rapid.SampledFrom([]string{".mp3", ".flac", ".opus"}).Draw(t, "ext")
		name := filename.Numbered(filename.Of(text.Draw(t, "artist"), text.Draw(t, "title"), "", ext), rapid.IntRange(1, 300).Draw(t, "n"))
		if len(name) > filename.Longest || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\\x00\n\r\u202e\u200f") || !media.Playable(name) ||
			strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || path.Ext(name) != ext || path.Base(name) != name {
			t.Fatalf("%q", name)
		}
	})
}
