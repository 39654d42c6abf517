package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// call sends one request, with the station key where there is one.
func (s *station) call(method, port, path, key, body string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.url(port, path), strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

// operate gives an operator's order until it is answered with another status than 503, which
// anybody may get from a station that is short of time.
func (s *station) operate(method, path, body string) (code int, text string) {
	s.t.Helper()
	s.eventually(path+" is answered", func() bool {
		code, text = s.call(method, "control", path, s.key(), body)
		return code != 0 && code != http.StatusServiceUnavailable
	})
	return code, text
}

func (s *station) votes() (out struct{ Votes map[string]int }, err error) {
	body, err := s.get("control", "/api/upnext/votes")
	if err == nil {
		err = json.Unmarshal(body, &out)
	}
	return out, err
}

// The station key, the votes and the logs of a whole station: what a listener
// may do goes through the player, what only an operator may do does not; a vote
// ends when its track airs.
func TestOperatorsSteerAndListenersVote(t *testing.T) {
	s := steer(t)
	if code, text := s.call("GET", "control", "/api/station/state", "", ""); code != http.StatusUnauthorized {
		t.Errorf("without the key: %d %.200s", code, text)
	}
	if code, text := s.call("POST", "player", "/api/station/skip", testStationKey, ""); code == http.StatusOK {
		t.Errorf("the player passes an order on: %.200s", text)
	}
	if code, text := s.operate("PUT", "/api/station/rotation", `{"ARTIST_GAP_MS":0}`); code != http.StatusOK {
		t.Errorf("a change: %d %.200s", code, text)
	}
	if code, text := s.operate("POST", "/api/station/config/save", ""); code != http.StatusOK {
		t.Errorf("save: %d %.200s", code, text)
	}

	file := s.vote()
	if v, err := s.votes(); err != nil || v.Votes[file] != 1 {
		t.Errorf("the vote: %+v, %v", v, err)
	}
	if code, text := s.call("GET", "control", "/api/station/config", testStationKey, ""); code != http.StatusOK || !strings.Contains(text, `"ARTIST_GAP_MS":0,`) {
		t.Errorf("the change: %d %.300s", code, text)
	}
	s.eventually("play", func() bool { // the engine may be between two tracks
		code, _ := s.call("POST", "control", "/api/station/play", testStationKey, fmt.Sprintf(`{"file":%q}`, file))
		return code == http.StatusOK
	})
	s.eventually("the end of the vote as its track airs", func() bool {
		v, err := s.votes()
		return err == nil && v.Votes[file] == 0
	})

	code, text := s.call("GET", "control", "/api/station/log?file=server&lines=2000", testStationKey, "")
	var log struct{ Lines []string }
	if err := json.Unmarshal([]byte(text), &log); err != nil || code != http.StatusOK {
		t.Fatalf("log: %d %v", code, err)
	}
	// Of the newest lines, which are all that is given, those of the tests before may be
	// thousands: what the supervisor said at the start is in the file.
	whole, err := os.ReadFile(filepath.Join(s.data, "log", "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	has := func(lines []string, role, words string) bool {
		return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "role="+role) && strings.Contains(l, words) })
	}
	if !has(log.Lines, "control", `msg="station control"`) {
		t.Errorf("the log has nothing of the control plane: %.2000s", text)
	}
	if !has(strings.Split(string(whole), "\n"), "station", `msg="on air"`) {
		t.Errorf("the log has nothing of the supervisor: %.2000s", whole)
	}
	logs, _ := filepath.Glob(filepath.Join(s.data, "log", "*"))
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil || bytes.Contains(text, []byte(testStationKey)) || bytes.Contains(text, []byte(testSourcePassword)) {
			t.Errorf("%s holds a key, or cannot be read: %v", path, err)
		}
	}
	if len(logs) != 2 {
		t.Errorf("log files: %q", logs)
	}
}

// vote votes for a track that is long to come, and returns its file.
func (s *station) vote() (file string) {
	s.t.Helper()
	s.eventually("a vote", func() bool { // the list may be replaced between the look and the vote
		file = s.farthest()
		code, _ := s.call("POST", "player", "/api/upnext/votes", "", fmt.Sprintf(`{"file":%q,"delta":1}`, file))
		return code == http.StatusOK
	})
	return file
}

// farthest is the file of the queue that airs last for the first time.
func (s *station) farthest() string {
	s.t.Helper()
	all, consumed := s.schedule()
	file, seen := "", map[string]bool{}
	for _, e := range all[min(consumed, len(all)):] {
		if !seen[e.File] {
			seen[e.File], file = true, e.File
		}
	}
	return file
}
