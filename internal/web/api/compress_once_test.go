package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// Whatever is said and wherever the digits stand, any reader of gzip gets what was written.
func TestDigitsInACompressedBodyAreThoseOfTheMoment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "before"), rapid.IntRange(1, 40).Draw(t, "times"))
		behind := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "behind")
		clock := len(before)
		var s squeezed
		for range 3 {
			digits := fmt.Appendf(nil, "%013d", rapid.Int64Range(0, 9_999_999_999_999).Draw(t, "digits"))
			body := slices.Concat(before, digits, behind)
			r, err := gzip.NewReader(bytes.NewReader(s.bytes(body, clock)))
			if err != nil {
				t.Fatal(err)
			}
			if clock == 0 {
				return // as it is without digits
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%v: %q, want %q", err, got, body)
			}
		}
	})
}

// busy is a station with a whole rotation and ten tracks of the past.
func busy() *Server {
	view := &scheduler.View{Consumed: 37}
	begins := time.Now().Add(-time.Minute)
	draw := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // texts of a test
	words := []string{"ليل", "القاهرة", "يا", "مسافر", "وحدك", "شمس", "الصعيد", "قمر", "على", "الكورنيش", "رمل", "وبحر", "شاي", "بالنعناع", "فيروز", "أم", "كلثوم"}
	text := func(n int) (out string) {
		for range n {
			out += words[draw.IntN(len(words))] + " "
		}
		return out
	}
	for i := range 120 {
		title := text(3)
		track := station.Track{Path: fmt.Sprintf("music/arabic_hits/%d_%s.mp3", i, title), Category: station.ArabicHits, Title: title, Artist: text(2), Duration: time.Duration(180_000+draw.IntN(90_000)) * time.Millisecond, Size: 5_000_000}
		view.Rotation.Entries = append(view.Rotation.Entries, rotation.Entry{Track: track, Type: "music", Cross: 2 * time.Second})
	}
	view.OnAir = scheduler.OnAir{Kind: scheduler.Rotation, Track: view.Rotation.Entries[36].Track, StartedAt: begins, Index: 36}
	for i := range keptHistory {
		view.Past = append(view.Past, scheduler.OnAir{Kind: scheduler.Rotation, Track: view.Rotation.Entries[35-i].Track, StartedAt: begins.Add(-time.Duration(i+1) * 3 * time.Minute)})
	}
	lib := &media.Snapshot{Decks: map[station.Category]media.Deck{}}
	return New(Options{
		Log: slog.New(slog.DiscardHandler), Name: "إذاعة النيل", Language: "ar", Zone: time.UTC, Renditions: []int{256, 128, 64},
		Air: func() *scheduler.View { return view }, Library: func() *media.Snapshot { return lib }, Mastering: func() Mastering { return Mastering{} },
		Node: func(context.Context) (Node, error) {
			return Node{Sounding: true, Programs: []Process{{Name: "liquidsoap", State: "running"}, {Name: "icecast", State: "running"}}}, nil
		},
		Count: func() telemetry.Count { return telemetry.Count{Listeners: 4000, Source: "athir"} },
		Votes: noVotes{}, Pages: http.NotFoundHandler(), HLS: http.NotFoundHandler(), HLSPrefix: "/hls/",
	})
}

// A peak of listeners who look at once makes one compression, not one for each.
func TestManyListenersShareOneCompression(t *testing.T) {
	s := busy()
	row := s.routes()[slices.IndexFunc(s.routes(), func(r route) bool { return r.path == "/api/upnext" && r.method == get })]
	if !row.compressible() {
		t.Fatal("the queue is not compressed")
	}
	made := 0
	k := &kept{path: "/", state: ofNothing, fresh: time.Hour, compressed: true, handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		made++
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(bytes.Repeat([]byte(`{"a":1}`), 1000))
	})}
	var first *byte
	for range 50 {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		k.ServeHTTP(w, r)
		if w.Header().Get("Content-Encoding") != "gzip" {
			t.Fatalf("not compressed: %v", w.Header())
		}
		body := k.last.Load().gzip.whole
		if first == nil {
			first = &body[0]
		}
		if &body[0] != first || made != 1 {
			t.Fatalf("made %d times, or compressed anew", made)
		}
	}
}

// What a request costs and how many bytes it brings, not compressed and compressed:
//
//	go test -run '^$' -bench Answers ./internal/web/api
func BenchmarkAnswers(b *testing.B) {
	h := busy().Handler()
	for _, path := range []string{"/api/status", "/api/upnext", "/api/schedule", "/api/upnext?limit=30"} {
		for _, encoding := range []string{"identity", "gzip"} {
			b.Run(path[1:]+"/"+encoding, func(b *testing.B) {
				r := httptest.NewRequest(http.MethodGet, path, nil)
				r.Header.Set("Accept-Encoding", encoding)
				w := &counting{header: http.Header{}}
				b.ReportAllocs()
				for b.Loop() {
					w.bytes = 0
					clear(w.header)
					h.ServeHTTP(w, r)
				}
				b.ReportMetric(float64(w.bytes), "bytes/answer")
			})
		}
	}
}

// counting counts the bytes of an answer.
type counting struct {
	header http.Header
	bytes  int
}

func (c *counting) Header() http.Header { return c.header }
func (c *counting) WriteHeader(int)     {}
func (c *counting) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return len(p), nil
}
