package source_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// play makes a program that plays yt-dlp: it writes down its arguments and
// environment, then does what the shell lines say.
func play(t *testing.T, lines string) (y *source.YTDLP, said func() string) {
	t.Helper()
	dir := t.TempDir()
	program, log := filepath.Join(dir, "yt-dlp"), filepath.Join(dir, "log")
	script := "#!/bin/sh\n{ printf '<%s>\\n' \"$@\"; pwd; env; } >>'" + log + "'\n" + lines
	testkit.Executable(t, program, []byte(script))
	return &source.YTDLP{Client: client(t), Program: program}, func() string {
		b, _ := os.ReadFile(log)
		_ = os.Remove(log)
		return string(b)
	}
}

func TestWithoutYTDLPTheRemedyIsNamed(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"", "yt-dlp-that-is-not-here", "/nowhere/yt-dlp"} {
		y := &source.YTDLP{Client: client(t), Program: program}
		_, err := y.Search(t.Context(), source.Want{Category: station.English, Target: 1, Queries: []string{"x"}})
		_, fetched := y.Fetch(t.Context(), source.Candidate{URL: "http://example.org/"}, t.TempDir(), nil)
		for _, err := range []error{err, fetched} {
			if !errors.Is(err, station.ErrUnavailable) || !strings.Contains(err.Error(), "install") {
				t.Errorf("%q: %v", program, err)
			}
		}
	}
}

func TestASearchByYTDLPIsASearchWhateverTheWordsAre(t *testing.T) {
	t.Parallel()
	y, said := play(t, `cat <<'JSON'
{"_type":"playlist","entries":[null,
 {"_type":"url","ie_key":"Youtube","id":"abc","url":"https://www.youtube.com/watch?v=abc","title":"Song \u202eone","channel":"The Channel","duration":200,"live_status":null,"availability":null},
 {"_type":"url","ie_key":"Youtube","id":"liv","url":"https://www.youtube.com/watch?v=liv","title":"Live","live_status":"is_live"},
 {"_type":"url","ie_key":"Youtube","id":"prv","url":"https://www.youtube.com/watch?v=prv","title":"Private","availability":"private"},
 {"_type":"url","ie_key":"X","id":"file","url":"file:///etc/passwd","title":"File"},
 {"_type":"url","ie_key":"X","id":"lan","url":"http://192.168.1.1/","title":"Router"},
 {"_type":"url","ie_key":"Youtube","id":"lng","url":"https://www.youtube.com/watch?v=lng","title":"Long","duration":90000},
 {"_type":"playlist","id":"pl","url":"https://www.youtube.com/playlist?list=pl","title":"List"},
 {"_type":"url","ie_key":"Youtube","id":"abc","url":"https://www.youtube.com/watch?v=abc","title":"again"},
 {"_type":"url","id":"","url":"https://www.youtube.com/","title":"nothing"}]}
JSON`)
	evil := []string{"--exec=touch /tmp/x", "-o/tmp/x", "$(touch /tmp/x)", "a\nb\x00c", "ytsearch99999:x", "file:///etc/passwd", "/etc/passwd", "@/etc/passwd", "; reboot"}
	found := search(t, y, source.Want{Category: station.English, Singers: evil[:5], Queries: evil[5:], Longest: time.Hour})
	if len(found) != 1 || found[0].Title != "Song one" || found[0].ID != "youtube:abc" || found[0].Duration != 200*time.Second || found[0].Licensor != "The Channel" || found[0].Page == "" || found[0].Category != station.English {
		t.Errorf("got %+v", found)
	}
	log := said()
	for _, words := range []string{"--exec=touch /tmp/x", "-o/tmp/x", "$(touch /tmp/x)", "a b c", "ytsearch99999:x", "file:///etc/passwd", "/etc/passwd", "@/etc/passwd", "; reboot"} {
		if !strings.Contains(log, "<-->\n<ytsearch20:"+words+">\n") {
			t.Errorf("%q did not arrive as words", words)
		}
	}
	for _, must := range []string{"<--ignore-config>", "<--no-exec>", "<--no-playlist>", "<--flat-playlist>", "<--dump-single-json>", "<--proxy=http://127.0.0.1:", "\nno_proxy=\n", "\nYTDLP_NO_PLUGINS=1\n"} {
		if strings.Count(log, must) != len(evil) {
			t.Errorf("%q stands %d times in\n%s", must, strings.Count(log, must), log)
		}
	}
	if found := search(t, y, source.Want{Category: station.English, Queries: []string{"x"}, Known: func(_, id string) bool { return id == "youtube:abc" }, Longest: time.Hour}); len(found) > 0 {
		t.Errorf("known, but offered: %+v", found)
	}
	said()
	if _, err := y.Search(t.Context(), source.Want{Category: station.English, Target: 5, Queries: []string{"http://10.0.0.1/list", "https://user:pass@example.org/"}}); err == nil || said() != "" {
		t.Errorf("an address of the network was given to the program: %v", err)
	}
}

func TestWhatYTDLPLeavesIsCheckedBeforeItIsTaken(t *testing.T) {
	t.Parallel()
	sound := `printf 'fLaC' >sound; head -c 5000 /dev/zero >>sound; `
	for name, try := range map[string]struct {
		do          string
		ok, lasting bool
		says        string
	}{
		"a sound":  {sound + `echo 'athir-progress 10 100'; echo 'athir-progress NA NA'; echo '{"id":"abc","title":"T","artist":"A","license":"Creative Commons","channel":"C","duration":61.5}'; exit 101`, true, false, ""},
		"nothing":  {"exit 0", false, true, "fetched nothing"},
		"a link":   {"ln -s /etc/passwd sound", false, true, "not a plain file"},
		"a page":   {"echo '<!DOCTYPE html><html>' >sound", false, true, "web page"},
		"too much": {"head -c 3000000 /dev/zero >sound", false, true, "larger than"},
		"gone":     {"echo 'ERROR: [youtube] abc: Video unavailable' >&2; exit 1", false, true, "Video unavailable"},
		"broken":   {"echo 'ERROR: https://x.example.org/a?sig=secret Unable to download' >&2; exit 1", false, false, "https://x.example.org/a Unable"},
		"chatter":  {sound + "head -c 20000000 /dev/zero | tr '\\0' x; echo; head -c 100000 /dev/zero >&2", true, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y, said := play(t, try.do)
			y.Limit = 2 << 20
			dir := t.TempDir()
			var last int64
			c := source.Candidate{Source: "yt-dlp", ID: "youtube:abc", URL: "https://www.youtube.com/watch?v=abc", Title: "before"}
			f, err := y.Fetch(t.Context(), c, dir, func(done, total int64) {
				if done > 0 {
					last = done + total
				}
			})
			if (err == nil) != try.ok || source.Lasting(err) != try.lasting || err != nil && (!strings.Contains(err.Error(), try.says) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("got %v", err)
			}
			left, _ := os.ReadDir(dir)
			if (len(left) == 1) != try.ok || try.ok && f.File != filepath.Join(dir, left[0].Name()) {
				t.Errorf("left %v, got %s", left, f.File)
			}
			if name == "a sound" {
				if f.Candidate.Artist != "A" || f.Candidate.License != "Creative Commons" || f.Candidate.Duration != 61500*time.Millisecond || last != 110 || filepath.Ext(f.File) != ".flac" {
					t.Errorf("%+v, progress %d", f, last)
				}
				log := said()
				for _, must := range []string{"<--output=sound>", "<--max-filesize=2097152>", "<--match-filter=!is_live & duration<=?5400>", "<-->\n<https://www.youtube.com/watch?v=abc>", "\nHOME=" + dir} {
					if !strings.Contains(log, must) {
						t.Errorf("%q is not in\n%s", must, log)
					}
				}
			}
		})
	}
}

func TestACancelledYTDLPIsGoneWithItsFiles(t *testing.T) {
	t.Parallel()
	y, _ := play(t, `echo "athir-progress $$ 0"; sleep 600 & wait`)
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	var pid int64
	_, err := y.Fetch(ctx, source.Candidate{Source: "yt-dlp", ID: "x", URL: "https://example.org/"}, dir, func(done, _ int64) { pid = done; cancel() })
	if left, _ := os.ReadDir(dir); !errors.Is(err, context.Canceled) || len(left) > 0 || pid == 0 {
		t.Errorf("%v, left %v", err, left)
	}
	if _, err := os.Stat("/proc/" + strconv.FormatInt(pid, 10)); err == nil {
		t.Error("it still runs")
	}
}

// TestTheRealYTDLP fetches from a server here through its generic extractor.
func TestTheRealYTDLP(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("yt-dlp", "--version").Output(); err != nil || !strings.HasPrefix(string(out), "20") {
		t.Fatalf("%s %v (apt-get install yt-dlp)", out, err)
	}
	wav := filepath.Join(t.TempDir(), "tone.wav")
	if out, err := exec.Command("sox", "-n", "-r", "8000", "-c", "1", wav, "synth", "2", "sine", "440").CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	forbidden := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("yt-dlp reached %s", r.URL)
		http.ServeFile(w, r, wav)
	})}}
	forbidden.Start()
	t.Cleanup(forbidden.Close)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away.wav":
			http.Redirect(w, r, forbidden.URL+"/x.wav", http.StatusFound)
		case "/page":
			_, _ = fmt.Fprintf(w, `<html><title>A page</title><audio src="%s/y.wav" type="audio/wav"></audio></html>`, forbidden.URL)
		default:
			http.ServeFile(w, r, wav)
		}
	})
	y := &source.YTDLP{Client: client(t), Program: "yt-dlp"}
	found := search(t, y, source.Want{Category: station.English, Queries: []string{s.URL + "/tone.wav?key=1"}})
	if len(found) != 1 || found[0].Title != "tone" || found[0].ID != s.URL+"/tone.wav?key=1" {
		t.Fatalf("found %+v", found)
	}
	f, err := y.Fetch(t.Context(), found[0], t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := os.ReadFile(wav)
	if got, _ := os.ReadFile(f.File); !slices.Equal(got, want) || filepath.Ext(f.File) != ".wav" {
		t.Errorf("got %d bytes in %s", len(got), f.File)
	}
	for _, path := range []string{"/away.wav", "/page"} {
		dir := t.TempDir()
		_, err := y.Fetch(t.Context(), source.Candidate{Source: "yt-dlp", ID: path, URL: s.URL + path}, dir, nil)
		if left, _ := os.ReadDir(dir); err == nil || len(left) > 0 {
			t.Errorf("%s: %v, left %v", path, err, left)
		}
		t.Log(err)
	}
	y.Limit = 1000
	if _, err := y.Fetch(t.Context(), found[0], t.TempDir(), nil); !source.Lasting(err) {
		t.Errorf("a file over the limit: %v", err)
	}
}
