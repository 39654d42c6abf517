package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// discord is a webhook of Discord's, and a service of heartbeats.
type discord struct {
	*httptest.Server
	mu       sync.Mutex
	messages []string
	beats    int
}

func newDiscord(t *testing.T) *discord {
	d := &discord{}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			Content string `json:"content"`
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		switch {
		case r.Method == http.MethodGet:
			d.beats++
		case json.NewDecoder(r.Body).Decode(&m) == nil:
			d.messages = append(d.messages, m.Content)
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(d.Close)
	return d
}

// has reports a message with some words, and how often the heart has beaten.
func (d *discord) has(words string) (told bool, beats int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.messages, func(m string) bool { return strings.Contains(m, words) }), d.beats
}

// The database is removed under the air: music goes on, no comment is acknowledged any
// more, the operator is told, what was acknowledged is in a copy, and the next start says
// that there had been one.
func TestADatabaseRemovedUnderTheAirLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	told := newDiscord(t)
	s := newStation(t, withKeys, steady, func(s *station) {
		s.env = append(s.env, "ATHIR_ALARMS_ALLOW_PRIVATE=true", "ATHIR_ALARMS_DISCORD_URL="+told.URL+"/hook-of-the-test", "ATHIR_ALARMS_HEARTBEAT_URL="+told.URL+"/beat-of-the-test")
	}).start()
	s.whole()
	s.eventually("a heartbeat", func() bool {
		_, beats := told.has("")
		return beats > 0
	})
	comment := func(text string) int {
		code, _ := s.call(http.MethodPost, "control", "/api/comments", "", `{"name":"نور","text":"`+text+`"}`)
		return code
	}
	if code := comment("before"); code != http.StatusOK && code != http.StatusCreated {
		t.Fatalf("a comment: %d", code)
	}
	database := filepath.Join(s.data, "athir.db")
	for _, file := range []string{database, database + "-wal", database + "-shm"} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if code := comment("into the void"); code < http.StatusInternalServerError {
		t.Errorf("a comment was acknowledged without a database: %d", code)
	}
	s.eventually("the alarm", func() bool {
		return s.logged("database lost") == 1 && s.logged("a copy of the lost database is kept") == 1
	})
	s.eventually("the operator is told", func() bool {
		there, _ := told.has("اختفى ملف قاعدة البيانات")
		return there
	})
	if n := s.logged("of-the-test"); n != 0 {
		t.Errorf("addresses that are secrets are logged %d times", n)
	}
	if code, text := s.call(http.MethodGet, "control", "/healthz", "", ""); code != http.StatusServiceUnavailable {
		t.Errorf("/healthz: %d %s", code, text)
	}
	if st, err := s.status(); err != nil || !st.OnAir {
		t.Errorf("the air: %+v, %v", st, err)
	}
	copies, _ := filepath.Glob(database + ".rescued-*")
	if len(copies) != 1 {
		t.Fatalf("copies: %v", copies)
	}
	s.stop()

	// With the copy in its place nothing is missing.
	if err := os.Rename(copies[0], database); err != nil {
		t.Fatal(err)
	}
	s.launch()
	s.whole()
	if code, text := s.call(http.MethodGet, "control", "/api/comments", "", ""); code != http.StatusOK || !strings.Contains(text, "before") || strings.Contains(text, "into the void") {
		t.Errorf("comments after the restart: %d %s", code, text)
	}
	s.stop()

	if err := os.Remove(database); err != nil {
		t.Fatal(err)
	}
	if s.logged("there had been one") != 0 {
		t.Error("it is said where there was none")
	}
	s.launch()
	s.whole()
	s.eventually("a word of an empty database where there had been one", func() bool { return s.logged("there had been one") == 1 })
}
