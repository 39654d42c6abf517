package onlive

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// The bed of a show is pulled once for as long as anybody plays it, and nothing is kept of it
// then: a later show would play what the library had before. Nor is it of a show whose desk
// was killed. No name leads out of the folder, and one that is too long says what helps.
func TestTheBedOfAShowIsPulledToANodeElsewhere(t *testing.T) {
	pulls := 0
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("rel") == "music/long.flac" {
			w.Header().Set("Content-Length", strconv.Itoa(2<<30))
			return
		}
		if q := r.URL.Query(); r.URL.Path != "/api/sync/media" || q.Get("token") != "sesame" || q.Get("rel") != "music/سرير.mp3" {
			http.NotFound(w, r)
			return
		}
		pulls++
		w.Header().Set("ETag", `"`+strconv.Itoa(pulls)+`"`)
		_, _ = w.Write([]byte("audio " + strconv.Itoa(pulls)))
	}))
	t.Cleanup(control.Close)
	_, port, _ := net.SplitHostPort(control.Listener.Addr().String())
	cfg := &config.Config{DataDir: t.TempDir(), SyncToken: "sesame"}
	cfg.Ports.Control, _ = strconv.Atoi(port)
	left := filepath.Join(cfg.BedDir(), "_", "music", "سرير.mp3")
	if err := errors.Join(os.MkdirAll(filepath.Dir(left), 0o755), os.WriteFile(left, []byte("outdated"), 0o600)); err != nil {
		t.Fatal(err)
	}
	log, _ := testkit.Log(t)
	b, err := openBeds(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.store.Close)
	const name = "music/سرير.mp3"
	plays := func(show int) (done func()) {
		t.Helper()
		path, done, err := b.Fetch(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "audio "+strconv.Itoa(show) {
			t.Errorf("show %d: %q, %v", show, text, err)
		}
		return done
	}
	gone := func() {
		t.Helper()
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the bed is kept: %v", err)
		}
	}
	first := plays(1)
	again := plays(1) // the decoder broke off meanwhile
	first()
	first()
	next := plays(1) // the next show begins before the end of the one before is through
	again()
	plays(1)()
	next()
	gone()
	plays(2)()
	gone()
	if err := os.WriteFile(left, []byte("could not be removed"), 0o600); err != nil {
		t.Fatal(err)
	}
	plays(3)()
	if _, _, err := b.Fetch(t.Context(), "../athir.yaml"); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("out of the library: %v", err)
	}
	if _, _, err := b.Fetch(t.Context(), "music/none.mp3"); err == nil {
		t.Error("a file that is not there is found")
	}
	if _, _, err := b.Fetch(t.Context(), "music/long.flac"); !errors.Is(err, station.ErrTooLarge) || !strings.Contains(err.Error(), "use a shorter file") {
		t.Errorf("a bed of 2 GiB: %v", err)
	}
	if len(b.users) != 0 {
		t.Errorf("in use: %v", b.users)
	}
}
