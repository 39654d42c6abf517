package e2e

import (
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

const (
	fullDiskEnv  = "E2E_TEST_FULL_DISK"        // the small disk's folder, in the child that mounts it
	fullDiskWith = "E2E_TEST_FULL_DISK_BINARY" // the program under test
	// fullDiskSize is room for a database, logs and a playlist, in KiB.
	fullDiskSize = 48 << 10
)

// onSmallDisk runs the one test whose station has its data on a small disk.
func onSmallDisk(m *testing.M, dir string) error {
	if err := testkit.SmallDisk(dir, fullDiskSize); err != nil {
		return err
	}
	binary = os.Getenv(fullDiskWith)
	for name, value := range map[string]string{"test.run": "^TestOrdersOnAFullDisk$", "test.v": "true"} {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	if m.Run() != 0 {
		return errors.New("the station on a full disk")
	}
	return nil
}

// diskFull is what callers and the log are told.
const diskFull = "the disk is full: free some space"

// Where the disk is full, each order that has to be kept is refused with 503 in words that
// the log has, too. The music plays on, and once there is room each works again, with no
// program restarted.
func TestOrdersOnAFullDisk(t *testing.T) {
	disk := os.Getenv(fullDiskEnv)
	if disk == "" {
		t.Setenv(fullDiskWith, binary)
		testkit.InOwnMounts(t, fullDiskEnv)
		return
	}
	s := newStation(t, withKeys)
	s.data = filepath.Join(disk, "data")
	if err := os.Mkdir(s.data, 0o755); err != nil { //nolint:gosec // the streaming server's user looks in
		t.Fatal(err)
	}
	airing44(s)
	s.start().whole()
	programs := s.pids("liquidsoap", "icecast", "control")
	song := ""
	entries, _ := s.schedule()
	for _, e := range entries {
		if e.Category == "english" {
			song = e.File
		}
	}
	knob := 1000
	orders := []struct{ name, method, path, key, body string }{
		{"skip", http.MethodPost, "/api/station/skip", testStationKey, ""},
		{"rebuild", http.MethodPost, "/api/station/rotation/rebuild", testStationKey, ""},
		{"bulletin", http.MethodPost, "/api/bulletin/generate", testStationKey, ""},
		{"comment", http.MethodPost, "/api/comments", "", `{"name":"سلمى","text":"مساء الخير"}`},
		{"request", http.MethodPost, "/api/channels/main/queue", testStationKey, `{"file":"` + song + `"}`},
		{"vote", http.MethodPost, "/api/upnext/votes", "", `{"file":"LAST","delta":1}`},
		{"reaction", http.MethodPost, "/api/reactions", "", `{"emoji":"❤️","delta":1}`},
		{"settings", http.MethodPut, "/api/station/weights", testStationKey, `{"MASHUP_CHANCE":0.KNOB}`},
		{"save", http.MethodPost, "/api/station/config/save", testStationKey, ""},
		{"refresh", http.MethodPost, "/api/station/content/refresh", testStationKey, `{"songs":0,"ads":0}`},
	}
	send := func(i int) (int, string) {
		o := orders[i]
		knob++ // a patch that changes nothing writes nothing
		body := strings.ReplaceAll(o.body, "KNOB", strconv.Itoa(knob))
		if all, _, err := s.rotation(); err == nil && len(all) > 0 {
			body = strings.ReplaceAll(body, "LAST", all[len(all)-1].File)
		}
		return s.call(o.method, "control", o.path, o.key, body)
	}
	all := func(what string, good func(code int, text string) bool) {
		t.Helper()
		for i, o := range orders {
			last := ""
			s.eventually(o.name+" "+what, func() bool {
				code, text := send(i)
				if now := o.name + " " + what + ": " + http.StatusText(code) + " " + text; now != last {
					last = now
					t.Log(now)
				}
				return good(code, text)
			})
		}
	}
	done := func(code int, _ string) bool {
		return code == http.StatusOK || code == http.StatusCreated || code == http.StatusAccepted
	}
	all("at first", done)

	refused := 0
	all("on a full disk", func(code int, text string) bool {
		if _, err := testkit.Fill(disk); err != nil { // a log that is begun anew gives some back
			t.Fatal(err)
		}
		var p struct {
			Status int
			Detail string
		}
		if code == http.StatusInternalServerError {
			t.Fatalf("answered with %s", text)
		}
		if code != http.StatusServiceUnavailable {
			return false // what room the database's log still had
		}
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("no problem document: %v: %s", err, text)
		}
		if p.Detail != diskFull {
			return false // the engine is late
		}
		refused++
		s.eventually("the log says it", func() bool { return s.logged("request failed", diskFull) >= refused })
		return true
	})
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Fatal(err)
	}
	all("with room again", done)
	s.eventually("the node tells its programs", func() bool { _, err := s.process("liquidsoap"); return err == nil })
	if now := s.pids("liquidsoap", "icecast", "control"); !slices.Equal(now, programs) {
		t.Errorf("processes %v became %v", programs, now)
	}
	s.eventually("music, and the rotation renewed", func() bool {
		st, err := s.status()
		return err == nil && st.State == "music" && st.Reason == ""
	})
}
