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
	"testing"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// The bed of a show is pulled once for as long as it plays, nothing is kept of it then, nor
// of one whose desk was killed, and no name leads out of the folder.
func TestTheBedOfAShowIsPulledToANodeElsewhere(t *testing.T) {
	pulls := 0
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	for round := 1; round <= 2; round++ {
		for range 2 { // the decoder broke off meanwhile
			path, _, err := b.Fetch(t.Context(), "music/سرير.mp3")
			text, failed := os.ReadFile(path)
			if err != nil || failed != nil || string(text) != "audio "+strconv.Itoa(round) {
				t.Errorf("show %d: %q, %v, %v", round, text, err, failed)
			}
		}
		path, done, err := b.Fetch(t.Context(), "music/سرير.mp3")
		if err != nil {
			t.Fatal(err)
		}
		done()
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the bed is kept: %v", err)
		}
	}
	if _, _, err := b.Fetch(t.Context(), "../athir.yaml"); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("out of the library: %v", err)
	}
	if _, _, err := b.Fetch(t.Context(), "music/none.mp3"); err == nil {
		t.Error("a file that is not there is found")
	}
}
