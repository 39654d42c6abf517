package playout_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/kit/testkit"
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
	entries = append(entries, music(9, 10*second))
	r.push(r.list(entries...))

	var mu sync.Mutex // an engine that gives up on an answer asks again meanwhile
	tries := map[int64]int{}
	slow, answer := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(answer) })
	t.Cleanup(release) // the server waits for its answers
	r.control.answer(func(m playout.Marker) int {
		mu.Lock()
		tries[m.Seq]++
		try := tries[m.Seq]
		mu.Unlock()
		switch {
		case m.Seq == 1 && try < 3:
			return http.StatusServiceUnavailable
		case m.Seq == 2 && try == 1:
			close(slow)
			<-answer
		case m.Seq == 3 && try == 1:
			return http.StatusTooManyRequests
		case m.Seq == 4:
			return http.StatusBadRequest
		case m.Seq == 5 && try == 1: // the token is being replaced
			return http.StatusUnauthorized
		}
		return http.StatusOK
	})
	r.o.Emergency = filepath.Join(r.dir, "none.wav") // no blip of it at the beginning: markers are counted
	o := r.offline()
	o.playUntil("the second entry", entered(2))
	testkit.Receive(t, "the second marker", slow)
	o.playUntil("entries while a marker is not answered", entered(4))
	release()
	testkit.Eventually(t, "the markers so far", func() bool { return o.status().PendingMarkers == 0 })
	// Gone altogether: connections are refused until it is back.
	r.control.server.Close()
	o.playUntil("entries while the control plane is away", entered(7))
	if n := o.status().PendingMarkers; n < 2 {
		t.Errorf("%d markers wait for the control plane", n)
	}
	r.control.listen()
	o.playUntil("the last entry", entered(len(entries)))
	o.play(second)
	report := o.heard(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	want := []string{}
	for i, e := range entries {
		if i != 3 {
			want = append(want, filepath.Base(e.file(r.dir)))
		}
	}
	if got := r.control.rotation(); !slices.Equal(got, want) {
		t.Errorf("markers %v, want %v", got, want)
	}
	markers := r.control.markers()
	for i, m := range markers[1:] {
		if before := markers[i]; m.Seq <= before.Seq || m.StartedAt < before.StartedAt {
			t.Errorf("marker %+v came after %+v", m, before)
		}
	}
	unbroken(t, report)
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
		if err := aircheck.WriteMP3(t.Context(), plain, aircheck.Track{ID: i, Duration: 2500 * time.Millisecond, Title: title, Artist: title}); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(plain, file); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, file)
	}
	r.push(pad("#EXTM3U\n" + strings.Join(lines, "\n") + "\n"))
	o := r.offline()
	o.playUntil("the last entry", entered(len(lines)))
	o.end()
	markers := slices.DeleteFunc(r.control.markers(), func(m playout.Marker) bool { return m.Kind != playout.KindRotation })
	if len(markers) < len(lines) {
		t.Fatalf("%d markers for %d files", len(markers), len(lines))
	}
	for i, m := range markers[:len(lines)] {
		if m.File != lines[i] || m.Seq != markers[0].Seq+int64(i) {
			t.Errorf("marker %d: file %q, kind %q, seq %d", i, m.File, m.Kind, m.Seq)
		}
		if utf8.ValidString(titles[i]) && m.Title != strings.TrimSpace(titles[i]) {
			t.Errorf("title %q arrives as %q", titles[i], m.Title)
		}
	}
	if len(r.control.broken) > 0 {
		t.Errorf("markers that are no JSON: %q", r.control.broken)
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
