package api_test

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNodePullsMediaAndPlaylistWithTheToken(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) { o.StationKey, o.Now = secret.Of("key"), standing }) // no guess comes back meanwhile
	name := "music/english/أغنية 1 & 2.mp3"
	put(t, filepath.Join(r.files.Media, name), "0123456789")
	r.lib.Tracks = append(r.lib.Tracks, station.Track{Path: name}, station.Track{Path: "link.mp3"}, station.Track{Path: "pipe.mp3"})
	put(t, filepath.Join(r.mastered(), name), "mastered")
	put(t, r.files.Playlist, strings.Repeat("#", 32768))
	put(t, filepath.Join(filepath.Dir(r.files.Media), "athir.yaml"), "secrets")
	if err := os.Symlink("../athir.yaml", filepath.Join(r.files.Media, "link.mp3")); err != nil {
		t.Fatal(err)
	}
	// Both folders hold what no node may have: a link that leads out, and a pipe,
	// whose opening would wait until somebody writes.
	for _, folder := range []string{r.files.Media, r.mastered()} {
		if err := errors.Join(os.Symlink("../athir.yaml", filepath.Join(folder, "out.mp3")), syscall.Mkfifo(filepath.Join(folder, "pipe.mp3"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../athir.yaml", filepath.Join(r.mastered(), "link.mp3")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(r.mastered(), "stray.mp3"), "not registered")
	media := "/api/sync/media?token=sesame&rel="
	code, h, body := r.call(t, "GET", media+url.QueryEscape(name), "")
	if code != http.StatusOK || body != "0123456789" || h.Get("ETag") == "" {
		t.Errorf("a file: %d %q", code, body)
	}
	// A pull that was cut off goes on where it was, and from the start in another file.
	code, _, body = r.call(t, "GET", media+url.QueryEscape(name), "", "Range", "bytes=4-", "If-Range", h.Get("ETag"))
	if code != http.StatusPartialContent || body != "456789" {
		t.Errorf("its rest: %d %q", code, body)
	}
	put(t, filepath.Join(r.files.Media, name), "another file")
	code, _, body = r.call(t, "GET", media+url.QueryEscape(name), "", "Range", "bytes=4-", "If-Range", h.Get("ETag"))
	if code != http.StatusOK || body != "another file" {
		t.Errorf("the rest of another: %d %q", code, body)
	}
	if code, _, body = r.call(t, "GET", media+url.QueryEscape(name)+"&as=air", ""); code != http.StatusOK || body != "mastered" {
		t.Errorf("what airs: %d %q", code, body)
	}
	if code, _, body = r.call(t, "GET", "/api/sync/m3u?token=sesame", ""); code != http.StatusOK || len(body) != 32768 {
		t.Errorf("the playlist: %d, %d bytes", code, len(body))
	}
	for rel, want := range map[string]int{
		"../athir.yaml": 422, "/etc/passwd": 422, "music/../../athir.yaml": 422, "": 422,
		"link.mp3": 404, "out.mp3": 404, "pipe.mp3": 404, "music": 404, "music/none.mp3": 404, "a\x00b": 422,
		"..%2fathir.yaml": 404, strings.Repeat("a/", 5000): 404,
	} {
		for _, as := range []string{"", "&as=air"} {
			if code, _, body := r.call(t, "GET", media+url.QueryEscape(rel)+as, ""); code != want && code != 404 || strings.Contains(body, "secrets") {
				t.Errorf("%q%s: %d, want %d: %s", cutTo(rel, 40), as, code, want, body)
			}
		}
	}
	if code, _, body := r.call(t, "GET", media+"stray.mp3&as=air", ""); code != http.StatusNotFound {
		t.Errorf("what is not registered: %d %s", code, body)
	}
	for _, path := range []string{"/api/sync/m3u", "/api/sync/m3u?token=", "/api/sync/m3u?token=wrong", "/api/sync/media?rel=" + url.QueryEscape(name)} {
		code, h, body := r.call(t, "GET", path, "", "x-station-key", "key", "X-Forwarded-For", "198.51.100.7")
		if code != http.StatusUnauthorized || h.Get("WWW-Authenticate") == "" || strings.Contains(body, "sesame") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	for range 20 { // guesses run out
		code, h, _ = r.call(t, "GET", "/api/sync/m3u?token=wrong", "", "X-Forwarded-For", "198.51.100.7")
	}
	if code != http.StatusTooManyRequests || h.Get("Retry-After") == "" {
		t.Errorf("the 20th guess: %d", code)
	}
}

// A listener behind the same address who guesses at the station key does not cut the
// node off its music.
func TestGuessesAtTheStationKeyKeepNoNodeOut(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) { o.StationKey, o.Now = secret.Of("key"), standing }) // no guess comes back meanwhile
	put(t, r.files.Playlist, "#EXTM3U")
	const shared = "198.51.100.7"
	for range 20 {
		r.call(t, "GET", "/api/status", "", "x-station-key", "guess", "X-Forwarded-For", shared)
	}
	if code, _, _ := r.call(t, "GET", "/api/station/state", "", "x-station-key", "key", "X-Forwarded-For", shared); code != http.StatusTooManyRequests {
		t.Fatalf("the right key after 20 guesses: %d", code)
	}
	if code, _, body := r.call(t, "GET", "/api/sync/m3u?token=sesame", "", "X-Forwarded-For", shared); code != http.StatusOK {
		t.Errorf("the right SYNC_TOKEN after them: %d %s", code, body)
	}
}

func cutTo(s string, n int) string { return s[:min(n, len(s))] }
