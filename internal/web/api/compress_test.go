package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/web/api"
)

// inflate returns what a compressed body holds; its checksum and length are held against it.
func inflate(t *testing.T, body string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

var clockOf = regexp.MustCompile(`"serverTime":\d+`)

func TestTextsAreCompressedForThoseWhoTakeThem(t *testing.T) {
	s := newSteady(t) // what is polled has to stay the same
	long := *s.air.Load()
	for range 4 {
		long.Rotation.Entries = append(long.Rotation.Entries, long.Rotation.Entries...)
	}
	s.air.Store(&long)
	for _, c := range []struct {
		path   string
		shared bool // one answer for many
	}{
		{"/api/status", true}, {"/api/upnext", true}, {"/api/schedule", true}, {"/next-tracks.json", true}, {"/api/library", true}, {"/metrics", true},
		{"/openapi.json", true}, {"/docs", true},
		{"/api/upnext?limit=20", false}, {"/api/schedule?explain=1", false}, {"/api/station/rules", false},
	} {
		code, plain, want := s.call(t, "GET", c.path, "", "Accept-Encoding", "identity")
		if code != http.StatusOK || plain.Get("Content-Encoding") != "" || plain.Get("Vary") == "" {
			t.Errorf("%s: %d %v", c.path, code, plain)
		}
		for _, refused := range []string{"gzip;q=0", "br, zstd", "gzipped"} {
			if _, head, _ := s.call(t, "GET", c.path, "", "Accept-Encoding", refused); head.Get("Content-Encoding") != "" {
				t.Errorf("%s to one that takes %q: %v", c.path, refused, head)
			}
		}
		for _, taken := range []string{"gzip", "br, GZIP;q=0.5", "zstd, gzip; q=1.0"} {
			_, head, body := s.call(t, "GET", c.path, "", "Accept-Encoding", taken)
			if head.Get("Content-Encoding") != "gzip" {
				t.Errorf("%s, %q: not compressed: %v", c.path, taken, head)
				continue
			}
			if got := inflate(t, body); c.path != "/metrics" && clockOf.ReplaceAllString(got, "") != clockOf.ReplaceAllString(want, "") {
				t.Errorf("%s: another answer compressed: %.300s", c.path, got)
			}
			if c.shared && head.Get("Content-Length") != strconv.Itoa(len(body)) {
				t.Errorf("%s: %d bytes of %s", c.path, len(body), head.Get("Content-Length"))
			}
			if !slices.Contains(head.Values("Vary"), "Accept-Encoding") || head.Get("Content-Type") != plain.Get("Content-Type") {
				t.Errorf("%s: %v, not compressed %v", c.path, head, plain)
			}
			// A tag is for every encoding, and so must not promise the same bytes.
			if tag := head.Get("ETag"); tag != plain.Get("ETag") || tag != "" && !strings.HasPrefix(tag, `W/"`) {
				t.Errorf("%s: tag %s, not compressed %s", c.path, tag, plain.Get("ETag"))
			} else if tag != "" {
				code, again, body := s.call(t, "GET", c.path, "", "Accept-Encoding", taken, "If-None-Match", tag)
				if code != http.StatusNotModified || body != "" || again.Get("ETag") != tag || again.Get("Vary") == "" || again.Get("Content-Encoding") != "" {
					t.Errorf("%s, who has it: %d %v %q", c.path, code, again, body)
				}
			}
			if code, head, body := s.call(t, "HEAD", c.path, "", "Accept-Encoding", taken); code != http.StatusOK || body != "" || head.Get("Vary") == "" {
				t.Errorf("HEAD %s: %d %v %q", c.path, code, head, body)
			}
		}
	}
}

// The time in a compressed status is that of each request, though it is compressed once.
func TestACompressedStatusTellsTheTime(t *testing.T) {
	s := newSteady(t)
	var before int64
	for range 20 {
		var is struct{ ServerTime int64 }
		earliest := time.Now().UnixMilli()
		_, _, body := s.call(t, "GET", "/api/status", "", "Accept-Encoding", "gzip")
		if err := json.Unmarshal([]byte(inflate(t, body)), &is); err != nil || is.ServerTime < max(earliest, before) || is.ServerTime > time.Now().UnixMilli() {
			t.Fatalf("%v: %d at %d", err, is.ServerTime, earliest)
		}
		before = is.ServerTime
		time.Sleep(2 * time.Millisecond)
	}
}

// Sound, parts of files and short answers go out as they are.
func TestWhatCompressionDoesNotHelpIsLeft(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"/stream", "/ping", "/api/vibe", "/network-test-payload?bytes=4096", "/healthz"} {
		if _, head, _ := r.call(t, "GET", path, "", "Accept-Encoding", "gzip"); head.Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed: %v", path, head)
		}
	}
}

// secretive are the fields whose values nobody may guess.
var secretive = regexp.MustCompile(`(?i)key|token|secret|ticket|passw|cookie`)

// harmless are fields of that name that are public; adminKey says whether there is one.
var harmless = []string{"publicKey", "adminKey"}

// Where a secret stood beside a text that somebody else wrote, the length of a compressed
// answer would tell it (BREACH).
func TestNoSecretIsCompressed(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) { o.StationKey = secret.Of("sesame") })
	_, _, text := r.call(t, "GET", "/openapi.json", "")
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Schema map[string]any }
			}
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	var fields func(schema any, seen map[string]bool, found map[string]bool)
	fields = func(schema any, seen, found map[string]bool) {
		switch s := schema.(type) {
		case map[string]any:
			if ref, ok := s["$ref"].(string); ok && !seen[ref] {
				seen[ref] = true
				fields(doc.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")], seen, found)
			}
			if properties, ok := s["properties"].(map[string]any); ok {
				for name := range properties {
					found[name] = true
				}
			}
			for _, part := range s {
				fields(part, seen, found)
			}
		case []any:
			for _, part := range s {
				fields(part, seen, found)
			}
		}
	}
	compressed := 0
	for _, row := range api.Rows() {
		if !row.Compressed {
			continue
		}
		compressed++
		found := map[string]bool{}
		for _, media := range doc.Paths[row.Path][strings.ToLower(row.Method)].Responses["200"].Content {
			fields(media.Schema, map[string]bool{}, found)
		}
		for _, name := range slices.Sorted(maps.Keys(found)) {
			if secretive.MatchString(name) && !slices.Contains(harmless, name) {
				t.Errorf("%s %s has the field %s: may it be compressed?", row.Method, row.Path, name)
			}
		}
	}
	if compressed < 20 {
		t.Errorf("only %d rows are compressed", compressed)
	}
	for _, path := range []string{"/api/station/state", "/api/station/people", "/api/account", "/api/session", "/api/station/config/history"} {
		if _, head, _ := r.call(t, "GET", path, "", "Accept-Encoding", "gzip", "X-Station-Key", "sesame"); head.Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed: %v", path, head)
		}
	}
	var doors bytes.Buffer
	for _, row := range api.Rows() {
		if row.Compressed && (row.Method != "GET" || strings.Contains(row.Path, "/account") || strings.Contains(row.Path, "/session") || strings.Contains(row.Path, "/people")) {
			doors.WriteString(row.Method + " " + row.Path + "\n")
		}
	}
	if doors.Len() > 0 {
		t.Errorf("compressed:\n%s", &doors)
	}
}
