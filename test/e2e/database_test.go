package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The database is removed under the air: music goes on, no comment is acknowledged any
// more, what was acknowledged is in a copy, and the next start says that there had been
// one.
func TestADatabaseRemovedUnderTheAirLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys, steady).start()
	s.whole()
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
	if s.logged("there had been one") != 1 {
		t.Error("an empty database where there had been one, and no word of it")
	}
}
