package input_test

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/live/desk/input"
)

// playlists are all forms of HLS that lead to a tone, and the server's own address as %s.
func playlists(t *testing.T) (dir string) {
	dir = t.TempDir()
	hls := func(name string, args ...string) {
		made(t, append(append([]string{"-c:a", "aac", "-f", "hls", "-t", "2", "-hls_time", "1", "-hls_list_size", "0"}, args...), filepath.Join(dir, name+".m3u8"))...)
	}
	hls("plain")
	hls("parts", "-hls_flags", "single_file")
	hls("mp4", "-hls_segment_type", "fmp4", "-hls_fmp4_init_filename", "init.mp4")
	key := filepath.Join(dir, "its.key")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("its.key", "0123456789abcdef")
	write("info", "its.key?token=1\n"+key+"\n00112233445566778899aabbccddeeff\n")
	hls("encrypted", "-hls_key_info_file", filepath.Join(dir, "info"))
	text, err := os.ReadFile(filepath.Join(dir, "plain.m3u8"))
	if err != nil {
		t.Fatal(err)
	}
	plain := string(text)
	write("crlf.m3u8", "\ufeff"+strings.ReplaceAll(plain, "\n", "\r\n"))
	write("root.m3u8", strings.ReplaceAll(plain, "\nplain", "\n/plain"))
	write("host.m3u8", strings.ReplaceAll(plain, "\nplain", "\n//%s/plain"))
	write("whole.m3u8", strings.ReplaceAll(plain, "\nplain", "\nscheme://%s/moved/plain"))
	write("unnamed", plain)
	write("query.m3u8", strings.ReplaceAll(plain, "\nplain", "\nget.php?file=plain"))
	write("master.m3u8", "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a:1\",NAME=\"x\",DEFAULT=YES,URI=\"unnamed?x=1\"\n"+
		"#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS=\"mp4a.40.2\",AUDIO=\"a:1\"\n/plain.m3u8\n")
	return dir
}

func served(dir, scheme string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to, ok := strings.CutPrefix(r.URL.Path, "/moved"); ok {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		if file := r.URL.Query().Get("file"); file != "" {
			r.URL.Path = "/" + file
		}
		if text, err := os.ReadFile(filepath.Join(dir, filepath.Base(r.URL.Path))); err == nil && strings.HasPrefix(strings.TrimPrefix(string(text), "\ufeff"), "#EXTM3U") {
			_, _ = io.WriteString(w, strings.ReplaceAll(strings.ReplaceAll(string(text), "%s", r.Host), "scheme:", scheme+":"))
			return
		}
		http.FileServer(http.Dir(dir)).ServeHTTP(w, r)
	})
}

// Every form of HLS is heard, by http and by https: an address that was not rewritten, or
// rewritten to what it does not name, is silence.
func TestEveryFormOfPlaylistIsHeard(t *testing.T) {
	dir := playlists(t)
	plain, secure := httptest.NewServer(served(dir, "http")), httptest.NewTLSServer(served(dir, "https"))
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	ours := fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: roots})
	for base, paths := range map[string][]string{
		plain.URL:  {"plain.m3u8", "parts.m3u8", "mp4.m3u8", "encrypted.m3u8", "crlf.m3u8", "root.m3u8", "host.m3u8", "whole.m3u8", "query.m3u8", "unnamed", "master.m3u8", "moved/plain.m3u8"},
		secure.URL: {"encrypted.m3u8", "host.m3u8", "whole.m3u8", "master.m3u8"},
	} {
		scheme, _, _ := strings.Cut(base, ":")
		for _, path := range paths {
			t.Run(scheme+" "+path, func(t *testing.T) {
				t.Parallel()
				heardWhole(t, base+"/"+path, ours)
			})
		}
	}
}

// A live playlist is asked for again and again, and what is new in it is heard.
func TestALivePlaylistGoesOn(t *testing.T) {
	dir := t.TempDir()
	made(t, "-c:a", "aac", "-f", "hls", "-hls_time", "1", "-hls_list_size", "0", filepath.Join(dir, "live.m3u8"))
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/live" {
			http.FileServer(http.Dir(dir)).ServeHTTP(w, r)
			return
		}
		n := min(asked.Add(1)-1, 1) // two of three segments
		fmt.Fprintf(w, "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:%d\n#EXTINF:1,\nlive%d.ts\n#EXTINF:1,\nlive%d.ts\n", n, n, n+1)
		if n == 1 {
			fmt.Fprint(w, "#EXT-X-ENDLIST\n")
		}
	}))
	defer s.Close()
	ours := fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	in, err := input.New(s.URL+"/live", input.Options{Fetch: ours})
	if err != nil {
		t.Fatal(err)
	}
	var out sink
	if err := in.Run(t.Context(), &out); !errors.Is(err, io.EOF) {
		t.Errorf("ended with %v", err)
	}
	if pcm := out.left(); len(pcm) < 48000*5/2 || asked.Load() < 2 {
		t.Errorf("%d frames; asked for %d times", len(pcm), asked.Load())
	}
}

// A segment or a stream by https is not heard unless its certificate is one to trust.
func TestACertificateThatIsNotTrustedIsRefused(t *testing.T) {
	dir := t.TempDir()
	made(t, "-c:a", "aac", "-f", "hls", "-hls_list_size", "0", filepath.Join(dir, "plain.m3u8"))
	secure := httptest.NewUnstartedServer(served(dir, "https"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/segment":
			fmt.Fprintf(w, "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n%s/plain0.ts\n#EXT-X-ENDLIST\n", secure.URL)
		case "/variant":
			fmt.Fprintf(w, "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n%s/plain.m3u8\n", secure.URL)
		}
	}))
	defer plain.Close()
	ours := fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for _, address := range []string{plain.URL + "/segment", plain.URL + "/variant", secure.URL + "/plain.m3u8"} {
		in, err := input.New(address, input.Options{Fetch: ours})
		if err != nil {
			t.Fatal(err)
		}
		var out sink
		err = in.Run(t.Context(), &out)
		if !errors.As(err, new(x509.UnknownAuthorityError)) || out.len() > 0 {
			t.Errorf("%s: %v, %d bytes", address, err, out.len())
		}
	}
}

// The doorway answers for nothing but what a playlist led to, and for nobody but ffmpeg: a
// page in a browser on this machine or another user's program knows no path.
func TestTheDoorwayAnswersForNothingElse(t *testing.T) {
	base, asked := addresses(t)
	ours := fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	d, entrance, err := input.Doorway(t.Context(), ours, base+"/live.m3u8", "#EXTM3U\n#EXTINF:1,\nstream\n")
	if err != nil {
		t.Fatal(err)
	}
	get := func(method, address, host, proxy string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			req.Host = host
		}
		transport := &http.Transport{DisableKeepAlives: true}
		if through, _ := url.Parse(proxy); proxy != "" {
			transport.Proxy = http.ProxyURL(through)
		}
		answer, err := (&http.Client{Transport: transport}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close() //nolint:errcheck // read
		text, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text)
	}
	_, list := get("GET", entrance, "", "")
	u, _ := url.Parse(entrance)
	lines := strings.Split(strings.TrimSpace(list), "\n")
	segment := lines[len(lines)-1]
	if !strings.HasPrefix(segment, "http://"+u.Host+"/") {
		t.Fatalf("%q", list)
	}
	at := "http://" + u.Host
	for _, address := range []string{at, at + "/", at + "/2", at + "/" + strings.Repeat("A", 26) + "/2", segment + "x", strings.TrimSuffix(segment, "2") + "9", at + "/" + base + "/stream"} {
		if code, text := get("GET", address, "", ""); code != http.StatusNotFound {
			t.Errorf("%s: %d %.80q", address, code, text)
		}
	}
	for name, code := range map[string]func() (int, string){
		"a page of another name": func() (int, string) { return get("GET", segment, "evil.example", "") },
		"a proxy":                func() (int, string) { return get("GET", base+"/stream", "", at) },
		"another method":         func() (int, string) { return get("POST", segment, "", "") },
	} {
		if code, text := code(); code != http.StatusNotFound {
			t.Errorf("%s: %d %.80q", name, code, text)
		}
	}
	if asked("/stream") > 0 {
		t.Error("something was fetched")
	}
	if code, text := get("GET", segment, "", ""); code != http.StatusOK || len(text) < 40_000 {
		t.Errorf("its own: %d, %d bytes", code, len(text))
	}
	_ = d.Close()
	if conn, err := net.Dial("tcp", u.Host); err == nil {
		_ = conn.Close()
		t.Error("it is open after its end")
	}
}
