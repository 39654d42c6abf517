package playlistfile

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"
)

func encoded(t *testing.T, e interface{ String(string) (string, error) }, text string) string {
	t.Helper()
	out, err := e.String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Files as programs write them; what is expected is each entry as location|creator|title|seconds.
func TestFilesOfOtherProgramsAreRead(t *testing.T) {
	arabic := "#EXTM3U\n#EXTENC:windows-1256\n#EXTINF:246,فيروز - نسم علينا الهوى\nC:\\أغاني\\فيروز\\نسم.mp3\n"
	fairuz := []string{`C:\أغاني\فيروز\نسم.mp3|فيروز|نسم علينا الهوى|246`}
	utf16 := func(e unicode.Endianness, bom unicode.BOMPolicy) string {
		return encoded(t, unicode.UTF16(e, bom).NewEncoder(), strings.ReplaceAll(arabic, "#EXTENC:windows-1256\n", ""))
	}
	for _, c := range []struct {
		name, file, text string
		want             []string
		format           Format
		title            string
		live             bool
	}{
		{name: "VLC", file: "vlc.m3u", text: "#EXTM3U\n#EXTINF:264,Fairuz - Nassam Alayna\n#EXTVLCOPT:network-caching=1000\nfile:///home/dj/%D9%86%D8%B3%D9%85.mp3\n#EXTINF:-1,Talk\n../talk.ogg\n",
			want: []string{"file:///home/dj/%D9%86%D8%B3%D9%85.mp3|Fairuz|Nassam Alayna|264", "../talk.ogg||Talk|0"}},
		{name: "Winamp's M3U", file: "w.m3u", text: "#EXTM3U\r\n#EXTINF:123,AC/DC - T.N.T.\r\n\\\\nas\\music\\tnt.mp3\r\n\r\nD:\\a b.mp3\r\n",
			want: []string{`\\nas\music\tnt.mp3|AC/DC|T.N.T.|123`, `D:\a b.mp3|||0`}},
		{name: "iTunes, CR alone", file: "it.m3u", text: "#EXTM3U\r#EXTINF:269,Habibi - Amr Diab\r/Volumes/Musik/Habibi.m4a\r", want: []string{"/Volumes/Musik/Habibi.m4a|Habibi|Amr Diab|269"}},
		{name: "AzuraCast's M3U", file: "p.m3u", text: "#EXTM3U\n#EXTINF:201.36,Wegz - ElBakht\nmusic/ElBakht.mp3", want: []string{"music/ElBakht.mp3|Wegz|ElBakht|201.36"}},
		{name: "AzuraCast's PLS", file: "p.pls", text: "[playlist]\nFile1=music/a.mp3\nTitle1=A - B\nLength1=10\n\nFile2=music/b.mp3\nTitle2=C\nLength2=20\n\nNumberOfEntries=2\nVersion=2\n",
			want: []string{"music/a.mp3|A|B|10", "music/b.mp3||C|20"}, format: PLS},
		{name: "PLS without NumberOfEntries, out of order, with gaps, keys in any case", file: "p.pls", text: "; made by hand\r\n[Playlist]\r\ntitle10=Ten\r\nFILE10 = ten.mp3\r\nfile2=two.mp3\r\nFile2=never.mp3\r\nLength2=-1\r\nTitle3=no file\r\nX-GNOME-Title=Morning\r\n[other]\r\nFile1=x\r\n",
			want: []string{"two.mp3|||0", "ten.mp3||Ten|0"}, format: PLS, title: "Morning"},
		{name: "PLS by its name alone", file: "p.PLS", text: "File1=a=b.mp3\n", want: []string{"a=b.mp3|||0"}, format: PLS},
		{name: "M3U that is called PLS", file: "p.pls", text: "\n#extm3u\na.mp3\n", want: []string{"a.mp3|||0"}},
		{name: "bare M3U", file: "p.m3u", text: "a.mp3\n# a comment\n b.mp3 \n", want: []string{"a.mp3|||0", "b.mp3|||0"}},
		{name: "UTF-8 with BOM", file: "p.m3u8", text: "\ufeff#EXTM3U\n#EXTINF:246,فيروز - نسم علينا الهوى\nنسم.mp3\n", want: []string{"نسم.mp3|فيروز|نسم علينا الهوى|246"}},
		{name: "Windows-1256 that says so", file: "p.m3u", text: encoded(t, charmap.Windows1256.NewEncoder(), arabic), want: fairuz},
		{name: "Windows-1256 that does not say so", file: "p.m3u", text: strings.ReplaceAll(encoded(t, charmap.Windows1256.NewEncoder(), arabic), "#EXTENC:windows-1256\n", ""), want: fairuz},
		{name: "ISO 8859-6", file: "p.m3u", text: "#EXTM3U\n#EXTENC: ISO-8859-6\n" + encoded(t, charmap.ISO8859_6.NewEncoder(), "نسم.mp3\n"), want: []string{"نسم.mp3|||0"}},
		{name: "UTF-8 that is said to be Windows-1256", file: "p.m3u", text: arabic, want: fairuz},
		{name: "Windows-1252", file: "p.m3u", text: encoded(t, charmap.Windows1252.NewEncoder(), "Beyoncé/Déjà Vu.mp3\n"), want: []string{"Beyoncé/Déjà Vu.mp3|||0"}},
		{name: "UTF-16 LE with BOM", file: "p.m3u", text: utf16(unicode.LittleEndian, unicode.UseBOM), want: fairuz},
		{name: "UTF-16 BE with BOM", file: "p.m3u", text: utf16(unicode.BigEndian, unicode.UseBOM), want: fairuz},
		{name: "UTF-16 LE without BOM", file: "p.m3u", text: utf16(unicode.LittleEndian, unicode.IgnoreBOM), want: fairuz},
		{name: "UTF-16 BE without BOM", file: "p.m3u", text: utf16(unicode.BigEndian, unicode.IgnoreBOM), want: fairuz},
		{name: "attributes with commas", file: "p.m3u", text: "#EXTM3U\n#PLAYLIST:Mix\n#EXTINF:-1 tvg-name=\"a, b\" group=\"c\",One - Two\nhttps://x.example/a.mp3\nb.mp3\n", want: []string{"https://x.example/a.mp3|One|Two|0", "b.mp3|||0"}, title: "Mix"},
		{name: "a quote that is not closed", file: "p.m3u", text: "#EXTM3U\n#EXTINF:12 x=\"y,12\" Remix\na.mp3\n", want: []string{`a.mp3||12" Remix|12`}},
		{name: "EXTART before and after", file: "p.m3u", text: "#EXTM3U\n#EXTART:A - B\n#EXTINF:1,A - B - C\na.mp3\n#EXTINF:2,X - Y\n#EXTART:Z\nb.mp3\n", want: []string{"a.mp3|A - B|C|1", "b.mp3|Z|X - Y|2"}},
		{name: "VLC's XSPF", file: "v.xspf", text: `<?xml version="1.0" encoding="UTF-8"?>
<playlist xmlns="http://xspf.org/ns/0/" xmlns:vlc="http://www.videolan.org/vlc/playlist/ns/0/" version="1">
	<title>Playlist</title>
	<trackList>
		<track>
			<location>file:///C:/Music/%D9%86%D8%B3%D9%85%20%26.mp3</location>
			<title>Tom &amp; Jerry &#39;x&#39;</title><creator><![CDATA[<A>]]></creator>
			<duration>123456</duration>
			<extension application="http://www.videolan.org/vlc/playlist/0"><vlc:id>0</vlc:id><title>no</title></extension>
			<location>http://elsewhere.example/</location>
		</track>
	</trackList>
	<extension application="http://www.videolan.org/vlc/playlist/0"><vlc:item tid="0"/></extension>
</playlist>`, want: []string{"file:///C:/Music/%D9%86%D8%B3%D9%85%20%26.mp3|<A>|Tom & Jerry 'x'|123.456"}, format: XSPF, title: "Playlist"},
		{name: "XSPF in Windows-1256", file: "v.xspf", text: encoded(t, charmap.Windows1256.NewEncoder(), `<?xml version="1.0" encoding="windows-1256"?><playlist><trackList><track><location>a.mp3</location><title>نسم</title></track></trackList></playlist>`), want: []string{"a.mp3||نسم|0"}, format: XSPF},
		{name: "JSPF with one location as a text", file: "j.jspf", text: `{"playlist":{"title":"T","track":[{"location":"a.mp3","duration":1000.5},{"location":["b.mp3","c.mp3"],"title":"B"},{"title":"none"}]}}`,
			want: []string{"a.mp3|||1", "b.mp3||B|0"}, format: JSPF, title: "T"},
		{name: "a station's M3U", file: "listen.m3u", text: "http://radio.example:8000/stream.mp3\n", want: []string{"http://radio.example:8000/stream.mp3|||0"}, live: true},
		{name: "a station's PLS", file: "listen.pls", text: "[playlist]\nNumberOfEntries=1\nFile1=https://radio.example/listen\nTitle1=Radio\nLength1=-1\nVersion=2\n", want: []string{"https://radio.example/listen||Radio|0"}, format: PLS, live: true},
		{name: "HLS", file: "live.m3u8", text: "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:6\n#EXTINF:6.0,\na.ts\n#EXTINF:6.0,\nb.ts\n", want: []string{"a.ts|||6", "b.ts|||6"}, live: true},
		{name: "one file on the network with a length", file: "a.m3u", text: "#EXTM3U\n#EXTINF:10,A\nhttp://x.example/a.mp3\n", want: []string{"http://x.example/a.mp3||A|10"}},
		{name: "impossible lengths", file: "a.m3u", text: "#EXTM3U\n#EXTINF:NaN,\na\n#EXTINF:1e300,\nb\n#EXTINF:-5,\nc\n#EXTINF:Inf\nd\n", want: []string{"a|||0", "b|||0", "c|||0", "d|||0"}},
		{name: "an empty playlist", file: "a.m3u", text: "#EXTM3U\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(c.text), c.file)
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, e := range got.Entries {
				all = append(all, fmt.Sprintf("%s|%s|%s|%v", e.Location, e.Creator, e.Title, e.Duration.Seconds()))
			}
			if c.format == "" {
				c.format = M3U
			}
			if !reflect.DeepEqual(all, c.want) || got.Format != c.format || got.Title != c.title || got.Live != c.live {
				t.Errorf("got %q as %s, title %q, live %v; want %q as %s, title %q, live %v", all, got.Format, got.Title, got.Live, c.want, c.format, c.title, c.live)
			}
		})
	}
}

func TestWhatIsNoPlaylistIsRefusedWithItsReason(t *testing.T) {
	inXSPF := func(s string) string { return "<playlist><trackList>" + s + "</trackList></playlist>" }
	for name, c := range map[string]struct {
		file, text string
		want       error
	}{
		"another text":           {"a.txt", "hello", ErrFormat},
		"nothing":                {"a", "", ErrFormat},
		"a page":                 {"a.xspf", "<html><body/></html>", ErrFormat},
		"other JSON":             {"a.json", `{"a":1}`, ErrFormat},
		"entities":               {"a.xspf", `<!DOCTYPE p [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>` + inXSPF("<track><title>&c;</title></track>"), ErrDamaged},
		"an entity undeclared":   {"a.xspf", inXSPF("<track><title>&lol;</title></track>"), ErrDamaged},
		"depth":                  {"a.xspf", inXSPF(strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100)), ErrDamaged},
		"XML that breaks off":    {"a.xspf", "<playlist><trackList><track>", ErrDamaged},
		"XML and nothing in it":  {"a.xspf", "<?xml version='1.0'?>", ErrDamaged},
		"JSON that breaks off":   {"a.jspf", `{"playlist":{"track":[`, ErrDamaged},
		"JSON of great depth":    {"a.jspf", `{"playlist":` + strings.Repeat("[", 100_000), ErrDamaged},
		"a long line":            {"a.m3u", strings.Repeat("x", MostText+1), ErrLarge},
		"a long line of PLS":     {"a.pls", "[playlist]\nFile1=" + strings.Repeat("x", MostText), ErrLarge},
		"a long text of XSPF":    {"a.xspf", inXSPF("<track><location>" + strings.Repeat("x", MostText+1) + "</location></track>"), ErrLarge},
		"a long text of JSPF":    {"a.jspf", `{"playlist":{"track":[{"location":["` + strings.Repeat("x", MostText+1) + `"]}]}}`, ErrLarge},
		"many entries":           {"a.m3u", strings.Repeat("x\n", MostEntries+1), ErrLarge},
		"many entries of PLS":    {"a.pls", numbered(MostEntries + 1), ErrLarge},
		"many entries of XSPF":   {"a.xspf", inXSPF(strings.Repeat("<track><location>x</location></track>", MostEntries+1)), ErrLarge},
		"many bytes":             {"a.m3u", strings.Repeat("# comment\n", MostBytes/10+1), ErrLarge},
		"a damaged JSPF element": {"a.jspf", `{"playlist":{"track":[{"location":7}]}}`, ErrDamaged},
	} {
		if got, err := Read(strings.NewReader(c.text), c.file); !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), c.file) {
			t.Errorf("%s: %v with %d entries, want %v", name, err, len(got.Entries), c.want)
		}
	}
	if got, err := Read(strings.NewReader(strings.Repeat("x\n", MostEntries)), "a.m3u"); err != nil || len(got.Entries) != MostEntries {
		t.Errorf("as many entries as there may be: %v, %d", err, len(got.Entries))
	}
	if err := Write(&bytes.Buffer{}, "wpl", Playlist{}); !errors.Is(err, ErrFormat) {
		t.Errorf("a format that there is not: %v", err)
	}
	broken := errors.New("broken")
	if _, err := Read(failing{broken}, "a.m3u"); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
	if err := Write(failing{broken}, M3U, Playlist{}); !errors.Is(err, broken) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "File%d=x\n", i)
	}
	return b.String()
}

func TestWhatIsWrittenIsReadAsItWas(t *testing.T) {
	text := rapid.OneOf(rapid.StringN(0, 60, 200), rapid.StringOf(rapid.SampledFrom([]rune("ab فيروز#:\\/&<>\"'%,-\n\r;=[]?"))))
	clean := rapid.Map(text, func(s string) string { // what a reader trims, and what XML cannot say
		s = strings.Map(func(r rune) rune {
			if r < ' ' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff || r == '\ufeff' || r == utf8.RuneError {
				return -1
			}
			return r
		}, s)
		return strings.TrimSpace(s)
	})
	location := clean.Filter(func(s string) bool {
		return strings.TrimSpace(oneLine(s)) != "" && !strings.HasPrefix(s, "./") && !strings.HasPrefix(s, "//")
	})
	rapid.Check(t, func(t *rapid.T) {
		p := Playlist{Title: clean.Draw(t, "title"), Format: rapid.SampledFrom([]Format{M3U, PLS, XSPF, JSPF}).Draw(t, "format")}
		for range rapid.IntRange(0, 8).Draw(t, "entries") {
			p.Entries = append(p.Entries, Entry{location.Draw(t, "location"), clean.Draw(t, "title"), clean.Draw(t, "creator"), clean.Draw(t, "album"), time.Duration(rapid.IntRange(0, 1e7).Draw(t, "ms")) * time.Millisecond})
		}
		var b bytes.Buffer
		if err := Write(&b, p.Format, p); err != nil {
			t.Fatal(err)
		}
		got, err := Read(bytes.NewReader(b.Bytes()), "x")
		if err != nil || got.Format != p.Format || len(got.Entries) != len(p.Entries) {
			t.Fatalf("%v: %d of %d entries as %s, from\n%s", err, len(got.Entries), len(p.Entries), got.Format, b.String())
		}
		lines := p.Format == M3U || p.Format == PLS
		one := func(s string) string {
			if lines {
				return strings.TrimSpace(oneLine(s))
			}
			return s
		}
		if got.Title != one(p.Title) {
			t.Fatalf("title %q, want %q", got.Title, p.Title)
		}
		for i, want := range p.Entries {
			e := got.Entries[i]
			if where := place(p.Format, e.Location); where != one(want.Location) && where != want.Location {
				t.Fatalf("location %q as %q, read as %q", want.Location, e.Location, where)
			}
			if lines {
				if shown := strings.TrimSpace(oneLine(joined(want))); normal(joined(e)) != normal(shown) || e.Duration != want.Duration.Round(time.Second) {
					t.Fatalf("%q, %v, want %q, %v", joined(e), e.Duration, shown, want.Duration)
				}
			} else if e.Title != want.Title || e.Creator != want.Creator || e.Album != want.Album || e.Duration != want.Duration {
				t.Fatalf("%+v, want %+v", e, want)
			}
		}
	})
}

// normal is a text with each run of blanks as one.
func normal(s string) string { return strings.Join(strings.Fields(s), " ") }

// place is the path that a location of a format means.
func place(f Format, location string) string {
	if f != XSPF {
		return location
	}
	u, err := url.Parse(location)
	if err != nil || u.Host != "" || u.Scheme != "" {
		return location
	}
	return strings.TrimPrefix(u.Path, "./")
}

func TestFilesAreWrittenAsProgramsExpectThem(t *testing.T) {
	p := Playlist{Title: "صباح", Entries: []Entry{{"#1/أ & b.mp3", "Title", "Artist", "Album", 61500 * time.Millisecond}, {"http://x.example/a?b=c&d", "", "", "", 0}}}
	for f, want := range map[Format]string{
		M3U: "#EXTM3U\n#PLAYLIST:صباح\n#EXTINF:62,Artist - Title\n#EXTALB:Album\n./#1/أ & b.mp3\n#EXTINF:0,\nhttp://x.example/a?b=c&d\n",
		PLS: "[playlist]\nX-GNOME-Title=صباح\nFile1=#1/أ & b.mp3\nTitle1=Artist - Title\nLength1=62\nFile2=http://x.example/a?b=c&d\nTitle2=\nLength2=-1\nNumberOfEntries=2\nVersion=2\n",
		XSPF: `<?xml version="1.0" encoding="UTF-8"?>
<playlist version="1" xmlns="http://xspf.org/ns/0/">
  <title>صباح</title>
  <trackList>
    <track>
      <location>%231/%D8%A3%20&amp;%20b.mp3</location>
      <title>Title</title>
      <creator>Artist</creator>
      <album>Album</album>
      <duration>61500</duration>
    </track>
    <track>
      <location>http://x.example/a?b=c&amp;d</location>
    </track>
  </trackList>
</playlist>
`,
		JSPF: `{"playlist":{"title":"صباح","track":[` + "\n" + `{"location":["#1/أ \u0026 b.mp3"],"title":"Title","creator":"Artist","album":"Album","duration":61500},` + "\n" +
			`{"location":["http://x.example/a?b=c\u0026d"],"duration":0}` + "\n]}}\n",
	} {
		var b bytes.Buffer
		if err := Write(&b, f, p); err != nil || b.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", f, err, b.String(), want)
		}
		if f.MediaType() == "" {
			t.Errorf("%s has no media type", f)
		}
	}
	var b bytes.Buffer
	if err := Write(&b, JSPF, Playlist{}); err != nil || b.String() != "{\"playlist\":{\"track\":[\n]}}\n" {
		t.Errorf("an empty one: %v, %q", err, b.String())
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"#EXTM3U\n#EXTINF:1 a=\"b\",c - d\n./#e\r\rf\r\n", "[playlist]\nFile1=a\nTitle99=b\nLength1=-1\n", "\xff\xfe#\x00", "\x00<\x00a",
		"<?xml version='1.0' encoding='cp1256'?><playlist><title>\xc7\xe1</title><trackList><track><location>a%20b</location></track></trackList></playlist>",
		`{"playlist":{"track":[{"location":["a"],"duration":1}]}}`, "#EXTENC:latin1\n\xe9"} {
		f.Add([]byte(s), "a.m3u")
	}
	f.Add([]byte("File1=x"), "a.pls")
	f.Fuzz(func(t *testing.T, raw []byte, name string) {
		p, err := Read(bytes.NewReader(raw), name)
		if err != nil {
			return
		}
		for _, e := range p.Entries {
			for _, s := range []string{e.Location, e.Title, e.Creator, e.Album} {
				if !utf8.ValidString(s) || strings.ContainsRune(s, 0) && p.Format != JSPF {
					t.Fatalf("%q", s)
				}
			}
			if e.Location == "" || e.Duration < 0 || e.Duration > mostLength {
				t.Fatalf("%+v", e)
			}
		}
		for _, format := range []Format{M3U, PLS, XSPF, JSPF} {
			var b bytes.Buffer
			if err := Write(&b, format, p); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(&b, "x"); err != nil && !errors.Is(err, ErrLarge) { // escapes make texts longer
				t.Fatalf("%s that was written is not read: %v", format, err)
			}
		}
	})
}
