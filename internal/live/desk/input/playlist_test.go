package input

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// read are the addresses that ffmpeg would take from a playlist: it ends lines at CR, LF and
// NUL, and takes a backslash for an escape within quotes, as no standard says.
func read(text string) (out []string) {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' || r == 0 }) {
		if !strings.HasPrefix(line, "#") {
			out = append(out, line)
			continue
		}
		_, rest, _ := strings.Cut(line, ":")
		for {
			rest = strings.TrimLeft(rest, ", \t\v\f")
			key, after, ok := strings.Cut(rest, "=")
			if !ok {
				break
			}
			value := ""
			if strings.HasPrefix(after, `"`) {
				at := 1
				for at < len(after) && after[at] != '"' {
					if after[at] == '\\' && at+1 < len(after) {
						at++
					}
					value += after[at : at+1]
					at++
				}
				rest = after[min(at+1, len(after)):]
			} else {
				end := strings.IndexAny(after, ", \t\v\f")
				if end < 0 {
					end = len(after)
				}
				value, rest = after[:end], after[end:]
			}
			if key == "URI" {
				out = append(out, value)
			}
		}
	}
	return out
}

const doors = "http://127.0.0.1:9/s/"

func issuing(into *[]string) func(string) string {
	return func(address string) string {
		*into = append(*into, address)
		return doors + strconv.Itoa(len(*into))
	}
}

// A playlist's own words for an address lead where the standard says, through the doorway.
func TestAddressesOfAPlaylistAreResolved(t *testing.T) {
	from, _ := url.Parse("https://radio.example/a/b/live.m3u8?token=1")
	for text, want := range map[string]string{
		"#EXTM3U\n#EXTINF:3,title\nx.ts\n":                                                   "https://radio.example/a/b/x.ts",
		"#EXTM3U\n#EXTINF:3\n/x.ts\n":                                                        "https://radio.example/x.ts",
		"#EXTM3U\n#EXTINF:3,\n//cdn.example/x.ts?y=1\n":                                      "https://cdn.example/x.ts?y=1",
		"#EXTM3U\n#EXTINF:3,\n../x.ts\n":                                                     "https://radio.example/a/x.ts",
		"\ufeff#EXTM3U\r\n#EXTINF:3,\r\n?part=2\r\n":                                         "https://radio.example/a/b/live.m3u8?part=2",
		"\r\n#EXTM3U\r#EXTINF:3,\rHTTP://Cdn.example:8000/x\r":                               "http://Cdn.example:8000/x",
		"#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,IV=0x01,URI=\"k,1\"\n":                           "https://radio.example/a/b/k,1",
		"#EXTM3U\n#EXT-X-MAP:URI=\"init.mp4\",BYTERANGE=\"7@0\"\n":                           "https://radio.example/a/b/init.mp4",
		"#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,NAME=\"a=b, \",URI=\"de/a.m3u8\",GROUP-ID=\"a\"\n": "https://radio.example/a/b/de/a.m3u8",
		"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\n#x\nlow.m3u8\n":                 "https://radio.example/a/b/low.m3u8",
	} {
		var led []string
		out, err := rewritten([]byte(text), from, issuing(&led))
		if err != nil || len(led) != 1 || led[0] != want {
			t.Errorf("%q leads to %q, %v", text, led, err)
		}
		if got := read(string(out)); len(got) != 1 || got[0] != doors+"1" {
			t.Errorf("%q became %q", text, out)
		}
	}
	text := "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:3\n#EXT-X-MEDIA-SEQUENCE:18446744073709551615\n#EXT-X-KEY:METHOD=AES-128,IV=0x0F\n" +
		"#EXT-X-MAP:BYTERANGE=\"7@0\"\n#EXTINF:2.5,\n#EXT-X-BYTERANGE:5@7\n#EXT-X-DISCONTINUITY\n#EXT-X-ENDLIST\n"
	if out, err := rewritten([]byte(text), from, nil); err != nil || string(out) != text {
		t.Errorf("%q became %q, %v", text, out, err)
	}
}

// What is no address for a browser is none for the decoder, nor is a playlist without bounds read.
func TestAPlaylistThatLeadsElsewhereIsRefused(t *testing.T) {
	from, _ := url.Parse("http://radio.example/live.m3u8?token=hush")
	for _, address := range []string{
		"httpproxy://127.0.0.1:80/x", "HTTPPROXY://127.0.0.1/", "crypto+http://127.0.0.1/x", "crypto:http://127.0.0.1/x", "file:///etc/passwd", "data:audio/aac;base64,AAAA",
		"tcp://127.0.0.1:1", "concat:http://a/|http://b/", "subfile,,start,0,end,1,,:x", "rtmp://h/a", "skd://key", "http://[::1", strings.Repeat("a", 9<<10),
	} {
		for _, text := range []string{
			"#EXTINF:3,\n" + address, "#EXT-X-STREAM-INF:BANDWIDTH=1\n" + address, `#EXT-X-KEY:METHOD=AES-128,URI="` + address + `"`, "#EXT-X-KEY:METHOD=AES-128,URI=" + strings.ReplaceAll(address, ",", "") + "/",
			`#EXT-X-MAP:URI="` + address + `"`, `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",URI="` + address + `"`,
		} {
			var led []string
			if out, err := rewritten([]byte("#EXTM3U\n"+text+"\n"), from, issuing(&led)); err == nil || strings.Contains(err.Error(), "hush") {
				t.Errorf("%.80q: %v, %.200q", text, err, out)
			}
		}
	}
	entry := "#EXTINF:1,\na\n"
	many := "#EXTM3U\n" + strings.Repeat(entry, 20_000)
	if _, err := rewritten([]byte(many), from, issuing(new([]string))); err != nil {
		t.Errorf("20,000 addresses: %v", err)
	}
	for _, size := range []int{2 << 20, 2<<20 + 1} {
		if text, err := readList(strings.NewReader(strings.Repeat("\n", size)), ""); (err == nil) != (size == 2<<20) {
			t.Errorf("%d bytes: %v, of %d", len(text), err, size)
		}
	}
	for _, text := range []string{"", "ffconcat version 1.0\nfile /etc/passwd\n", "x\n#EXTM3U\n", many + entry} {
		if _, err := rewritten([]byte(text), from, issuing(new([]string))); err == nil {
			t.Errorf("%.40q is taken", text)
		}
	}
}

// Whatever is written into a playlist, no address in it leads elsewhere than to the doorway.
func FuzzAPlaylistLeadsToTheDoorwayAlone(f *testing.F) {
	for _, seed := range []string{
		"#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\na.ts\n#EXT-X-ENDLIST\n", "\ufeff#EXTM3U\r\n#EXTINF:3,\r\nhttpproxy://h:1/x\r\n",
		"#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,IV=\"a\\\",URI=\"httpproxy://h/x\"\n#EXTINF:1,\n\x00http://h/\n", "#EXTM3U\n#EXTINF:1,\rhttp://h/\r#EXT-X-MAP:URI=\"x\",BYTERANGE=\"1@0\n",
		"#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g,URI=http://h/\",URI=\"//h/x\"\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=g\nlow.m3u8\n#EXT-X-I-FRAME-STREAM-INF:URI=\"x\"\n",
		"#EXTM3U\n#EXT-X-TARGETDURATION:3 URI=\"http://h/\"\n#EXT-X-PART:URI=\"p\"\n#EXT-X-PRELOAD-HINT:URI=\"p\"\n#EXT-X-SESSION-KEY:URI=\"p\"\n",
	} {
		f.Add(seed, "http://radio.example/a/live.m3u8")
	}
	f.Fuzz(func(t *testing.T, text, from string) {
		base, err := url.Parse(from)
		if err != nil {
			return
		}
		var led []string
		out, err := rewritten([]byte(text), base, issuing(&led))
		if err != nil {
			return
		}
		for _, address := range read(string(out)) {
			if n, err := strconv.Atoi(strings.TrimPrefix(address, doors)); err != nil || !strings.HasPrefix(address, doors) || n < 1 || n > len(led) {
				t.Errorf("%q leads to %q in %q", text, address, out)
			}
		}
		if n := strings.Count(string(out), "://"); n != strings.Count(string(out), doors) || n != len(led) {
			t.Errorf("%q holds another address: %q", text, out)
		}
		for _, address := range led {
			if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || len(address) > mostAddress {
				t.Errorf("%q leads to %q", text, address)
			}
		}
		for line := range strings.Lines(string(out)) {
			if len(line) > 4000 { // ffmpeg cuts what is longer, and the rest is another line
				t.Errorf("a line of %d bytes", len(line))
			}
		}
	})
}

// The addresses that are remembered are bounded, in number and in bytes; the same one keeps
// its name, or ffmpeg would fetch a key again with each reload.
func TestOldAddressesAreForgotten(t *testing.T) {
	var i issued
	first := i.name("http://h/key", "")
	for n := range mostIssued - 1 {
		i.name("http://h/"+strconv.Itoa(n), ".ts")
	}
	if again := i.name("http://h/key", ""); again != first || i.find(first) != "http://h/key" {
		t.Errorf("%q is called %q now", first, again)
	}
	i.name("http://h/one", "")
	if i.find("2.ts") != "" || i.find(first) == "" || i.order.Len() != mostIssued || len(i.byName) != mostIssued || len(i.byTarget) != mostIssued {
		t.Errorf("%d are known", i.order.Len())
	}
	for n := range 2000 {
		i.name("http://h/"+strings.Repeat("a", mostAddress-20)+strconv.Itoa(n), "")
	}
	if i.size > mostIssuedSize || len(i.byName) != i.order.Len() {
		t.Errorf("%d bytes are known", i.size)
	}
}

// A playlist of playlists without end is not followed for ever; one that is asked for again is
// no new one.
func TestPlaylistsWithinPlaylistsAreBounded(t *testing.T) {
	d := doorway{lists: map[string]bool{}}
	for range 2 {
		for n := range 200 {
			if _, err := d.rewrite(strconv.Itoa(n), "http://h/", []byte("#EXTM3U\n")); err != nil {
				t.Fatalf("%d: %v", n, err)
			}
		}
	}
	if _, err := d.rewrite("one more", "http://h/", []byte("#EXTM3U\n")); err == nil || len(d.lists) != 200 {
		t.Errorf("%v; %d playlists", err, len(d.lists))
	}
}
