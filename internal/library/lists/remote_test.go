package lists_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/lists"
)

// site serves a playlist.
type site struct {
	mu     sync.Mutex
	body   string
	status int
	asked  []string // If-None-Match
}

func (s *site) set(body string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.body, s.status = body, status
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.Header.Get("If-None-Match"))
	w.Header().Set("ETag", fmt.Sprintf("%q", s.body))
	switch {
	case s.status != http.StatusOK:
		w.WriteHeader(s.status)
	case r.Header.Get("If-None-Match") == fmt.Sprintf("%q", s.body):
		w.WriteHeader(http.StatusNotModified)
	default:
		_, _ = w.Write([]byte(s.body))
	}
}

func TestARemotePlaylistIsFetchedAndKeptWhileItsAddressFails(t *testing.T) {
	from := &site{body: "#EXTM3U\nmusic/02.mp3\nhttp://user:secret@elsewhere.example/x.mp3?key=1\nmusic/00.mp3\n", status: 200}
	srv := httptest.NewServer(from)
	defer srv.Close()
	r := open(t, songs(3)...)
	s := byHand("remote")
	s.Kind, s.Address, s.EveryMinutes = lists.Remote, srv.URL+"/list.m3u?token=1", 30
	p := r.make(s)
	told, cancel := r.Subscribe()
	defer cancel()
	fetched := func() lists.Playlist {
		t.Helper()
		p, err := r.Refresh(t.Context(), p.ID)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	edition := func() (n int64) {
		for _, l := range r.Current() {
			n = l.Edition
		}
		return n
	}
	got := fetched()
	<-told
	first := edition()
	if want := []string{"music/02.mp3", "music/00.mp3"}; !slices.Equal(r.items(p.ID), want) || !slices.Equal(r.Current()[0].Paths, want) {
		t.Errorf("%v", r.items(p.ID))
	}
	if got.FetchedAt == 0 || got.Problem != nil || len(got.Unmatched) != 1 || strings.Contains(got.Unmatched[0].Address, "secret") {
		t.Errorf("%+v", got)
	}
	r.pass(time.Minute)
	if got = fetched(); got.FetchedAt != r.clock().UnixMilli() || from.asked[1] == "" {
		t.Errorf("not modified: %+v, %q", got, from.asked)
	}
	for body, status := range map[string]int{"gone": 404, "\x00\x01\x02": 200, "<!DOCTYPE html><p>Not here": 200, "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n": 200} {
		from.set(body, status)
		r.pass(time.Minute)
		if got = fetched(); got.Problem == nil || got.Problem.Ar == "" || got.FetchedAt == r.clock().UnixMilli() || got.Tracks != 2 {
			t.Errorf("%q: %+v", body, got)
		}
	}
	if edition() != first {
		t.Error("what stayed as it was is another edition")
	}
	r.again()
	if got, err := r.Get(p.ID); err != nil || got.Tracks != 2 || got.Problem == nil {
		t.Errorf("in another process: %+v, %v", got, err)
	}
	select {
	case <-told:
		t.Error("a failure has the rotation built anew")
	default:
	}
	r.run()
	from.set("music/01.mp3\n", 200)
	r.pass(31 * time.Minute)
	testkit.Eventually(t, "what is due is fetched", func() bool {
		if slices.Equal(r.items(p.ID), []string{"music/01.mp3"}) {
			return true
		}
		r.Wake()
		return false
	})
}
