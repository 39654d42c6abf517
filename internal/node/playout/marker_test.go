package playout_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// The control plane errs, is slow, refuses one marker and is away for a while:
// every other marker still arrives, once and in order, and the audio has not
// noticed.
func TestMarkersSurviveTheControlPlanesTroubles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var entries []entry
	for id := range 9 {
		entries = append(entries, entry{id, "jingles", "0.5", 2 * second, 0, ""})
	}
	last := music(9, 30*second)
	r.push(r.list(append(entries, last)...))

	tries := map[int64]int{}
	r.control.answer(func(m playout.Marker) int {
		tries[m.Seq]++ // one at a time, by the order that is being tested
		switch {
		case m.Seq == 1 && tries[1] < 3:
			return http.StatusServiceUnavailable
		case m.Seq == 2 && tries[2] == 1:
			time.Sleep(3 * second) // longer than the track
			return http.StatusOK
		case m.Seq == 3 && tries[3] == 1:
			return http.StatusTooManyRequests
		case m.Seq == 4:
			return http.StatusBadRequest
		}
		return http.StatusOK
	})
	r.boot()
	r.heard(5, 0)
	// Gone altogether: connections are refused until it is back.
	addr := r.control.server.Listener.Addr().String()
	r.control.server.Close()
	r.heard(7, 0)
	r.control.restart(t, addr)
	end := r.heard(last.id, 0)
	r.recorded(end.Start + second)
	want := []string{}
	for i, e := range append(entries, last) {
		if i != 3 {
			want = append(want, "rotation "+filepath.Base(e.file(r.dir)))
		}
	}
	r.eventually(func() error {
		if got := r.control.files(); !slices.Equal(got, want) {
			return fmt.Errorf("markers %v, want %v", got, want)
		}
		return nil
	})
	for i, m := range r.control.markers()[1:] {
		if before := r.control.markers()[i]; m.Seq <= before.Seq || m.StartedAt < before.StartedAt {
			t.Errorf("marker %+v came after %+v", m, before)
		}
	}
	if gap := aircheck.Analyse(r.rec.PCM(), 0).Gap.Length(); gap > 100*time.Millisecond {
		t.Errorf("the audio has a gap of %s", gap)
	}
}

func (c *control) restart(t *testing.T, addr string) {
	t.Helper()
	c.server = newServerAt(t, addr, c)
}

// Tags and paths with any bytes: the marker is valid JSON with exactly the
// fields it should have, and the path arrives as it is.
func TestMarkersCarryAnyTagAndPath(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	titles := []string{
		`quote " and back\slash`, "تتر \u200fأغنية\u202e", `","kind":"live","x":"`, `#{shutdown()}`,
		"\xd8\",\"kind\":\"live\",\"x\":\"", "tab\tand\x01control", strings.Repeat("طويل ", 200),
	}
	names := []string{"plain", "أغنية طويلة", `q"uote's`, "#{x}", "latin\xe9", "sp ace", "dash-é"}
	var lines []string
	for i, title := range titles {
		file := filepath.Join(r.dir, names[i]+".mp3")
		plain := filepath.Join(r.dir, "new.mp3")
		if err := aircheck.WriteMP3(t.Context(), plain, aircheck.Track{ID: i, Duration: 1500 * time.Millisecond, Title: title, Artist: title}); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(plain, file); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, file)
	}
	r.push(pad("#EXTM3U\n" + strings.Join(lines, "\n") + "\n"))
	r.boot()
	r.eventually(func() error {
		if n := len(r.control.markers()); n < len(titles) {
			return fmt.Errorf("%d markers, %d refused", n, r.control.refused)
		}
		return nil
	})
	for i, m := range r.control.markers()[:len(titles)] {
		if m.File != lines[i] || m.Kind != playout.KindRotation || m.Seq != int64(i+1) {
			t.Errorf("marker %d: file %q, kind %q, seq %d", i, m.File, m.Kind, m.Seq)
		}
		if utf8.ValidString(titles[i]) && m.Title != strings.TrimSpace(titles[i]) {
			t.Errorf("title %q arrives as %q", titles[i], m.Title)
		}
	}
	if r.control.refused > 0 {
		t.Errorf("%d markers were not JSON", r.control.refused)
	}
}

func TestMarkerFromElsewhereMayLackTheEncodedPath(t *testing.T) {
	var m playout.Marker
	if err := json.Unmarshal([]byte(`{"file":"/m/a.mp3","title":" t "}`), &m); err != nil || m.File != "/m/a.mp3" || m.Title != "t" {
		t.Errorf("%+v, %v", m, err)
	}
	if err := json.Unmarshal([]byte(`{"file_b64":"%%"}`), &m); err == nil {
		t.Error("a broken encoded path passes")
	}
}

func TestClientOfAnEngineThatIsAway(t *testing.T) {
	c := playout.Client{Socket: filepath.Join(t.TempDir(), "none.sock")}
	if err := c.Skip(t.Context()); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("no socket: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Skip(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	c.Socket = "/" + strings.Repeat("x", 120)
	if err := c.Skip(t.Context()); err == nil || !strings.Contains(err.Error(), "107") {
		t.Errorf("a path too long for a socket: %v", err)
	}
}
