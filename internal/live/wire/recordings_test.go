package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/station"
)

// handled answers requests by a handler, without a network.
type handled struct {
	http.Handler
	longest int // answer so far
}

func (h *handled) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	h.longest = max(h.longest, w.Body.Len())
	return w.Result(), nil
}

// A recording comes whole and in ranges, also over a way that bounds each answer, and is
// saved under a name that is not taken.
func TestARecordingComesWholeAlsoPieceByPiece(t *testing.T) {
	whole := make([]byte, 100_003)
	for i := range whole {
		whole[i] = byte(i * 7)
	}
	node := &handled{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/recordings/LIVE_1.mp3" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "audio/mpeg")
		http.ServeContent(w, r, "LIVE_1.mp3", time.Time{}, bytes.NewReader(whole))
	})}
	for _, piece := range []int64{0, 4096} {
		r := wire.Recordings{RoundTripper: node, Piece: piece}
		for asked, want := range map[string][]byte{"": whole, "bytes=5-9": whole[5:10], "bytes=99000-": whole[99000:], "bytes=10-9999999": whole[10:]} {
			h := http.Header{}
			if asked != "" {
				h.Set("Range", asked)
			}
			node.longest = 0
			resp, err := r.Fetch(t.Context(), "LIVE_1.mp3", h)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			status := http.StatusOK
			if asked != "" {
				status = http.StatusPartialContent
			}
			if err != nil || !bytes.Equal(got, want) || resp.StatusCode != status || resp.Header.Get("Content-Type") != "audio/mpeg" {
				t.Errorf("pieces of %d, range %q: %d bytes of %d, %d, %v", piece, asked, len(got), len(want), resp.StatusCode, err)
			}
			if piece > 0 && int64(node.longest) > piece {
				t.Errorf("an answer of %d bytes where %d are the most", node.longest, piece)
			}
		}
		if _, err := r.Fetch(t.Context(), "other.mp3", nil); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("a recording that is not there: %v", err)
		}
		dir := filepath.Join(t.TempDir(), "inbox", "english")
		for _, name := range []string{"سارة - برنامج.mp3", "سارة - برنامج (2).mp3"} {
			path, err := r.Save(t.Context(), "LIVE_1.mp3", dir, "سارة - برنامج.mp3")
			if err != nil || filepath.Base(path) != name {
				t.Errorf("saved as %q, %v", path, err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, whole) {
				t.Errorf("saved %d bytes, %v", len(got), err)
			}
		}
		if left, _ := os.ReadDir(dir); len(left) != 2 {
			t.Errorf("files left: %v", left)
		}
	}
}

// More recordings than one answer holds are listed all the same.
func TestEveryRecordingIsListed(t *testing.T) {
	const all = 5000
	node := &handled{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most, _ := strconv.Atoi(r.FormValue("most"))
		from := 0
		if name := r.FormValue("name"); name != "" {
			_, _ = fmt.Sscanf(name, "LIVE_%d.mp3", &from)
			from++
		}
		_, _ = io.WriteString(w, "[")
		for i, n := from, 2; i < all; i++ {
			text := fmt.Sprintf(`{"name":"LIVE_%d.mp3","began":%d,"title":%q}`, i, all-i, strings.Repeat("x", 400))
			if n += len(text) + 1; n > most {
				break
			}
			if i > from {
				_, _ = io.WriteString(w, ",")
			}
			_, _ = io.WriteString(w, text)
		}
		_, _ = io.WriteString(w, "]")
	})}
	for _, piece := range []int64{0, 64 << 10} {
		node.longest = 0
		got, err := wire.Recordings{RoundTripper: node, Piece: piece}.List(t.Context())
		if err != nil || len(got) != all || got[all-1].Name != "LIVE_4999.mp3" {
			t.Errorf("pieces of %d: %d recordings, %v", piece, len(got), err)
		}
		if piece > 0 && int64(node.longest) > piece {
			t.Errorf("an answer of %d bytes where %d are the most", node.longest, piece)
		}
	}
}

// What the control plane tells and asks of the node beside recordings' sound.
func TestTheNodeIsToldOfListenersAndAskedForItsRelay(t *testing.T) {
	var told []string
	node := &handled{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told = append(told, r.Method+" "+r.URL.Path+" "+string(body))
		switch r.URL.Path {
		case "/recordings/LIVE_1.mp3/listeners":
			w.WriteHeader(http.StatusNoContent)
		case "/turn":
			_, _ = io.WriteString(w, `{"allocations":2,"bytesUp":5,"overQuota":7}`)
		default:
			http.NotFound(w, r)
		}
	})}
	r := wire.Recordings{RoundTripper: node}
	if err := r.SetListeners(t.Context(), "LIVE_1.mp3", 12.5, 20); err != nil {
		t.Error(err)
	}
	if err := r.SetListeners(t.Context(), "../x", 1, 1); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	if got, err := (wire.Phones{RoundTripper: node}).Relay(t.Context()); err != nil || got.Allocations != 2 || got.BytesUp != 5 || got.OverQuota != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	if told[0] != `PUT /recordings/LIVE_1.mp3/listeners {"average":12.5,"most":20}` {
		t.Errorf("told %q", told)
	}
	if _, err := (wire.Phones{RoundTripper: &handled{Handler: http.NotFoundHandler()}}).Relay(t.Context()); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("a node without a relay: %v", err)
	}
}
