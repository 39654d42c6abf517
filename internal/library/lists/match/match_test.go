package match

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/kit/playlistfile"
	"github.com/athir-radio/athir/internal/station"
)

func track(path, artist, title string, seconds int) station.Track {
	return station.Track{Path: path, Artist: artist, Title: title, Duration: time.Duration(seconds) * time.Second}
}

func shelf() []station.Track {
	return []station.Track{
		track("music/arabic/فيروز/نسم علينا الهوى.mp3", "فيروز", "نسم علينا الهوى", 246),
		track("music/arabic/أم كلثوم - إنت عمري.mp3", "أم كلثوم", "إنت عمري", 3500),
		track("music/english/AC DC/T.N.T..mp3", "AC/DC", "T.N.T.", 214),
		track("music/english/One/01.mp3", "Band", "First", 100),
		track("music/english/Two/01.mp3", "Band", "Second", 200),
		track("music/english/Only Here/07.mp3", "Solo", "Alone", 300),
		track("music/english/100%25 love.mp3", "Percent", "Love", 50),
		track("music/mashups/Double (a).mp3", "Twin", "Same", 120),
		track("music/mashups/Double (b).mp3", "Twin", "Same", 180),
		track("music/mashups/copy/Twice.mp3", "X", "Twice", 60),
		track("music/mashups/Twice.mp3", "X", "Twice", 60),
		track("music/english/Café.mp3", "Wegz & Disco Misr", "Café", 90),
		track("Root.mp3", "", "Root", 77),
		track("music/english/Case.mp3", "", "", 0),
		track("music/english/case.mp3", "", "", 0),
	}
}

func TestAnEntryIsTheTrackThatItMeans(t *testing.T) {
	m := New(shelf())
	for name, c := range map[string]struct {
		e    playlistfile.Entry
		want string
	}{
		"the path itself":                  {playlistfile.Entry{Location: "music/english/One/01.mp3"}, "music/english/One/01.mp3"},
		"a Windows path":                   {playlistfile.Entry{Location: `D:\Radio\music\ENGLISH\one\01.MP3`}, "music/english/One/01.mp3"},
		"a share":                          {playlistfile.Entry{Location: `\\nas\radio\Two\01.mp3`}, "music/english/Two/01.mp3"},
		"a path above":                     {playlistfile.Entry{Location: `..\..\Two\01.mp3`}, "music/english/Two/01.mp3"},
		"a file URI":                       {playlistfile.Entry{Location: "file:///srv/" + strings.ReplaceAll(url.PathEscape("فيروز/نسم علينا الهوى.mp3"), "%2F", "/")}, "music/arabic/فيروز/نسم علينا الهوى.mp3"},
		"a file URI of Windows":            {playlistfile.Entry{Location: "FILE:///C:/m/T.N.T..mp3"}, "music/english/AC DC/T.N.T..mp3"},
		"a file URI with a host":           {playlistfile.Entry{Location: "file://localhost/x/Two/01.mp3"}, "music/english/Two/01.mp3"},
		"a file URI with one slash":        {playlistfile.Entry{Location: "file:/x/Two/01.mp3"}, "music/english/Two/01.mp3"},
		"an escaped path":                  {playlistfile.Entry{Location: "./english/Only%20Here/07.mp3"}, "music/english/Only Here/07.mp3"},
		"a path with its own percent":      {playlistfile.Entry{Location: "music/english/100%25 love.mp3"}, "music/english/100%25 love.mp3"},
		"that escaped":                     {playlistfile.Entry{Location: "music/english/100%2525%20love.mp3"}, "music/english/100%25 love.mp3"},
		"decomposed as on macOS":           {playlistfile.Entry{Location: norm.NFD.String("/Volumes/x/Café.mp3")}, "music/english/Café.mp3"},
		"a file at the root":               {playlistfile.Entry{Location: "/srv/media/Root.mp3"}, "Root.mp3"},
		"case that matters":                {playlistfile.Entry{Location: "music/english/case.mp3"}, "music/english/case.mp3"},
		"case that could be either":        {playlistfile.Entry{Location: "music/english/CASE.mp3"}, ""},
		"a folder more on both sides":      {playlistfile.Entry{Location: "/x/Twice.mp3"}, ""},
		"of two the whole path":            {playlistfile.Entry{Location: "/x/music/mashups/Twice.mp3"}, "music/mashups/Twice.mp3"},
		"a name in every album":            {playlistfile.Entry{Location: `C:\07.mp3`}, ""},
		"a number of two, told by title":   {playlistfile.Entry{Location: `C:\01.mp3`, Creator: "Band", Title: "Second"}, "music/english/Two/01.mp3"},
		"a path of another track's length": {playlistfile.Entry{Location: "/x/Only Here/07.mp3", Duration: 99 * time.Second}, ""},
		"an address":                       {playlistfile.Entry{Location: "https://x.example/media/Two/01.mp3?a=b"}, "music/english/Two/01.mp3"},
		"an address with a file's name":    {playlistfile.Entry{Location: "https://x.example/Root2.mp3"}, ""},
		"an address, by its title":         {playlistfile.Entry{Location: "https://x.example/9.mp3", Creator: "فَيروز", Title: "نسّم علينا الهوي"}, "music/arabic/فيروز/نسم علينا الهوى.mp3"},
		"Arabic without hamza":             {playlistfile.Entry{Creator: "ام كلثوم", Title: "انت عمرى"}, "music/arabic/أم كلثوم - إنت عمري.mp3"},
		"Latin in another case":            {playlistfile.Entry{Creator: "ac/dc", Title: "t.n.t"}, "music/english/AC DC/T.N.T..mp3"},
		"title before artist":              {playlistfile.Entry{Creator: "Alone", Title: "Solo"}, "music/english/Only Here/07.mp3"},
		"guests in another order":          {playlistfile.Entry{Creator: "Disco Misr feat. Wegz", Title: "Cafe"}, "music/english/Café.mp3"},
		"a title that two have":            {playlistfile.Entry{Creator: "Twin", Title: "Same"}, ""},
		"a title that two have, by length": {playlistfile.Entry{Creator: "Twin", Title: "Same", Duration: 181 * time.Second}, "music/mashups/Double (b).mp3"},
		"another artist's":                 {playlistfile.Entry{Creator: "Someone", Title: "Alone"}, ""},
		"a title alone":                    {playlistfile.Entry{Title: "Alone"}, ""},
		"a title alone of that length":     {playlistfile.Entry{Title: "alone", Duration: 301 * time.Second}, "music/english/Only Here/07.mp3"},
		"a name of a file":                 {playlistfile.Entry{Location: "/x/03. Solo - Alone.flac"}, "music/english/Only Here/07.mp3"},
		"a name of a file with _":          {playlistfile.Entry{Location: "/x/Solo_-_Alone.ogg"}, "music/english/Only Here/07.mp3"},
		"a name of a file with escapes":    {playlistfile.Entry{Location: "/x/Solo%20-%20Alone.ogg"}, "music/english/Only Here/07.mp3"},
		"another track":                    {playlistfile.Entry{Location: "/x/y.mp3", Creator: "A", Title: "B"}, ""},
		"nothing":                          {playlistfile.Entry{}, ""},
		"dots":                             {playlistfile.Entry{Location: "../.."}, ""},
	} {
		if got, ok := m.Find(c.e); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, ok, c.want)
		}
	}
	if got, ok := New(nil).Find(playlistfile.Entry{Location: "a", Title: "b"}); ok {
		t.Errorf("without tracks %q is found", got)
	}
}

// Whatever a library has, each of its tracks is found by its own path, however that is written.
func TestEachTrackIsFoundByItsPath(t *testing.T) {
	part := rapid.StringOfN(rapid.SampledFrom([]rune("abA1 %.فé")), 1, 4, -1).Filter(func(s string) bool { return s != "." && s != ".." })
	rapid.Check(t, func(t *rapid.T) {
		var all []station.Track
		for _, p := range rapid.SliceOfNDistinct(rapid.SliceOfN(part, 1, 4), 1, 12, func(p []string) string { return strings.ToLower(strings.Join(p, "/")) }).Draw(t, "paths") {
			all = append(all, track(strings.Join(p, "/"), "", "", 0))
		}
		m := New(all)
		for _, a := range all {
			for _, written := range []string{a.Path, "./" + a.Path, strings.ReplaceAll(a.Path, "/", `\`), "file:///" + (&url.URL{Path: a.Path}).EscapedPath()} {
				if strings.HasPrefix(written, "file") && strings.Contains(a.Path, "%") {
					continue // it may be another's that has the escape in its name
				}
				if got, ok := m.Find(playlistfile.Entry{Location: written}); !ok || got != a.Path {
					t.Fatalf("%q: %q, %v", written, got, ok)
				}
			}
		}
	})
}

func FuzzFind(f *testing.F) {
	m := New(shelf())
	f.Add(`C:\x\01.mp3`, "Band", "First")
	f.Add("file://%zz/%00", "", "")
	f.Add("http://[::1", "a", "")
	f.Fuzz(func(t *testing.T, location, by, title string) {
		if got, ok := m.Find(playlistfile.Entry{Location: location, Creator: by, Title: title}); ok && path.Ext(got) != ".mp3" {
			t.Fatalf("%q", got)
		}
	})
}

func library(n int) []station.Track {
	out := make([]station.Track, n)
	for i := range out {
		artist := fmt.Sprintf("فنان %d", i%2000)
		out[i] = track(fmt.Sprintf("music/arabic/%s/Album %d/%02d أغنية %d.mp3", artist, i%7, i%12, i), artist, fmt.Sprintf("أغنية %d", i), 100+i%200)
	}
	return out
}

// BenchmarkFind prints what 1,000 entries take in 100,000 tracks: found by path, by name, and not.
func BenchmarkFind(b *testing.B) {
	all := library(100_000)
	m := New(all)
	for kind, entry := range map[string]func(station.Track) playlistfile.Entry{
		"path": func(t station.Track) playlistfile.Entry { return playlistfile.Entry{Location: `C:\Radio\` + t.Path} },
		"name": func(t station.Track) playlistfile.Entry {
			return playlistfile.Entry{Location: "x.mp3", Creator: t.Artist, Title: t.Title}
		},
		"missing": func(t station.Track) playlistfile.Entry {
			return playlistfile.Entry{Location: "/x/y/" + t.Title + ".wav", Creator: t.Title, Title: t.Artist + "x"}
		},
	} {
		b.Run(kind, func(b *testing.B) {
			found := 0
			for b.Loop() {
				for i := range 1000 {
					if _, ok := m.Find(entry(all[i*97])); ok {
						found++
					}
				}
			}
			b.ReportMetric(float64(found)/float64(b.N), "found")
		})
	}
}

// BenchmarkNew prints what a matcher of 100,000 tracks takes.
func BenchmarkNew(b *testing.B) {
	all := library(100_000)
	b.ReportAllocs()
	for b.Loop() {
		New(all)
	}
}
