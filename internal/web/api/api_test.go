package api_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

func TestStatusTellsWhatIsOnAir(t *testing.T) {
	r := newRig(t)
	s := r.json(t, "/api/status")
	now := s["nowPlaying"].(map[string]any)
	if s["state"] != "music" || s["onAir"] != true || now["title"] != "أغنية 1" || now["file"] != "music/english/1.mp3" {
		t.Errorf("now playing: %v", s)
	}
	if l := s["listeners"].(map[string]any); l["total"] != 7.0 || s["source"] != "athir" {
		t.Errorf("listeners: %v by %v", l, s["source"])
	}
	if h := s["history"].([]any); len(h) != 1 {
		t.Errorf("history: %v", h)
	}
	if n := s["library"].(map[string]any)["byCategory"].(map[string]any); n["english"] != 6.0 || n["news"] != 0.0 {
		t.Errorf("library by category: %v", n)
	}
	r.silent = true
	if s := r.json(t, "/api/status"); s["state"] != "off" || s["onAir"] != false {
		t.Errorf("with the engine down: %v", s["state"])
	}
	r.lib.Problem = "media folder is not mounted"
	r.trouble = "the disk is full"
	if s := r.json(t, "/api/status"); s["reason"] != "media_folder" {
		t.Errorf("reason: %v", s["reason"])
	}
	r.lib.Problem = ""
	if s := r.json(t, "/api/status"); s["reason"] != "mastering" {
		t.Errorf("reason: %v", s["reason"])
	}
	r.trouble = ""
	r.view.Problem = "disk full at /srv/secret"
	if s := r.json(t, "/api/status"); s["reason"] != "rotation_not_renewed" {
		t.Errorf("reason: %v", s["reason"])
	}
	r.view = scheduler.View{Beginning: true}
	if s := r.json(t, "/api/status"); s["state"] != "starting" || s["reason"] != "beginning" {
		t.Errorf("a library that is taken in: %v", s)
	} else if l := s["library"].(map[string]any); l["ready"] != 6.0 || l["unready"] != 4.0 {
		t.Errorf("how far it is: %v", l)
	}
	r.view = scheduler.View{Waiting: true}
	if s := r.json(t, "/api/status"); s["state"] != "starting" || s["reason"] != "empty_library" {
		t.Errorf("an empty library: %v", s)
	}
}

func TestScheduleAndUpnextFlagWhatAired(t *testing.T) {
	r := newRig(t)
	all := r.json(t, "/api/schedule")["rotation"].([]any)
	for i, want := range []struct{ onAir, aired bool }{{false, true}, {true, false}, {false, false}} {
		e := all[i].(map[string]any)
		if e["onAir"] != want.onAir || e["aired"] != want.aired {
			t.Errorf("entry %d: %v", i, e)
		}
	}
	queue := r.json(t, "/api/upnext?limit=2")["queue"].([]any)
	if len(queue) != 2 || queue[0].(map[string]any)["title"] != "أغنية 2" {
		t.Errorf("queue: %v", queue)
	}
	_, _, body := r.call(t, "GET", "/next-tracks.json", "")
	var next []map[string]any
	if err := json.Unmarshal([]byte(body), &next); err != nil || len(next) != 4 {
		t.Errorf("next-tracks.json: %v %s", err, body)
	}
}

func TestLibraryIsPagedAndSearched(t *testing.T) {
	r := newRig(t)
	l := r.json(t, "/api/library?limit=2&offset=1&q=%D8%A3%D8%BA%D9%86%D9%8A%D8%A9&category=english")
	if l["total"] != 6.0 || len(l["items"].([]any)) != 2 || l["categories"].(map[string]any)["english"].(map[string]any)["durationMs"] != 18*60_000.0 || len(l["quarantined"].([]any)) != 1 ||
		l["mastering"].(map[string]any)["waiting"] != 7.0 {
		t.Errorf("%v", l)
	}
	for _, wrong := range []string{"limit=0", "limit=100000", "offset=-1", "category=nonsense", "limit=x"} {
		code, head, body := r.call(t, "GET", "/api/library?"+wrong, "")
		field, _, _ := strings.Cut(wrong, "=")
		if code != 422 || head.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, "query."+field) {
			t.Errorf("%s: %d %s", wrong, code, body)
		}
	}
}

const goodMarker = `{"channel":"main","engine":"boot","seq":3,"kind":"rotation","file":"/m/a.mp3","file_b64":"L20v/y5tcDM=","title":"t","artist":"","type":"","started_at":1700000000000}`

func TestMarkersAreForTheEngineOnly(t *testing.T) {
	r := newRig(t)
	post := func(body string, headers ...string) (int, string) {
		code, _, text := r.call(t, "POST", "/metadata", body, append([]string{"Content-Type", "application/json"}, headers...)...)
		return code, text
	}
	const token = "X-Sync-Token"
	if code, text := post(goodMarker, token, "sesame"); code != 200 || !strings.Contains(text, "advanced") {
		t.Fatalf("with the token: %d %s", code, text)
	}
	if code, text := post(goodMarker, "Authorization", "Bearer sesame"); code != 200 {
		t.Errorf("with the token as a Bearer token: %d %s", code, text)
	}
	if m := r.markers[0]; m.File != "/m/\xff.mp3" || m.Seq != 3 || m.At.UnixMilli() != 1700000000000 {
		t.Errorf("marker: %+v", m)
	}
	for name, headers := range map[string][]string{
		"from this machine without it": nil,
		"an empty token":               {token, ""},
		"wrong token":                  {token, "open"},
		"wrong bearer":                 {"Authorization", "Bearer open"},
		"through a proxy":              {"X-Forwarded-For", "198.51.100.7"},
		"a page of another site":       {"Origin", "https://elsewhere.example"},
	} {
		if code, text := post(goodMarker, headers...); code != 401 {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	if code, _ := post(goodMarker, "X-Forwarded-For", "198.51.100.7", "X-Sync-Token", "sesame"); code != 200 {
		t.Errorf("with the token from elsewhere: %d", code)
	}
	for name, body := range map[string]string{
		"no JSON":        `{`,
		"unknown kind":   strings.Replace(goodMarker, "rotation", "silence", 1),
		"wrong base64":   strings.Replace(goodMarker, "L20v/y5tcDM=", "***", 1),
		"negative seq":   strings.Replace(goodMarker, `"seq":3`, `"seq":-3`, 1),
		"file too long":  strings.Replace(goodMarker, "/m/a.mp3", strings.Repeat("x", 20000), 1),
		"missing engine": strings.Replace(goodMarker, `"engine":"boot",`, "", 1),
	} {
		if code, text := post(body, token, "sesame"); code != 422 && code != 400 {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	// Its texts never keep a marker from being taken.
	if code, text := post(strings.Replace(goodMarker, `"title":"t"`, `"title":"`+strings.Repeat("أ", 50_000)+`"`, 1), token, "sesame"); code != 200 {
		t.Errorf("a title of 100 KB: %d %s", code, text)
	} else if got := r.markers[len(r.markers)-1].Title; len(got) > 1000 || !utf8.ValidString(got) {
		t.Errorf("kept %d bytes of it", len(got))
	}
	if code, _ := post(strings.Replace(goodMarker, `"main"`, `"other"`, 1), token, "sesame"); code != 404 {
		t.Errorf("unknown channel: %d", code)
	}
	if code, _ := post(`"`+strings.Repeat("x", 2<<20)+`"`, token, "sesame"); code != 413 {
		t.Errorf("2 MiB of body: %d", code)
	}
	// A marker that is not on disk must be sent again: 5xx, without the reason.
	r.fail = errors.New("disk full at /srv/secret")
	if code, text := post(goodMarker, token, "sesame"); code != 500 || strings.Contains(text, "secret") {
		t.Errorf("a failed commit: %d %s", code, text)
	}
}

func TestPlainRoutes(t *testing.T) {
	r := newRig(t)
	code, head, body := r.call(t, "GET", "/ping", "")
	if ms, err := strconv.ParseInt(body, 10, 64); code != 200 || err != nil || time.Since(time.UnixMilli(ms)).Abs() > time.Minute {
		t.Errorf("/ping: %d %q", code, body)
	}
	if head.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(head.Get("Content-Type"), "text/plain") {
		t.Errorf("/ping headers: %v", head)
	}
	if code, head, body := r.call(t, "GET", "/network-test-payload?bytes=5000", ""); code != 200 || len(body) != 5000 || head.Get("Cache-Control") != "no-store, no-transform" {
		t.Errorf("payload: %d, %d bytes", code, len(body))
	}
	if code, _, body := r.call(t, "GET", "/network-test-payload?bytes=999999999", ""); code != 422 || !strings.Contains(body, "bytes") {
		t.Errorf("payload too large: %d %s", code, body)
	}
	for path, want := range map[string]string{"/stream": "audio of main", "/stream/main": "audio of main", "/": "page", "/studio": "page"} {
		if code, _, body := r.call(t, "GET", path, ""); code != 200 || body != want {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	if code, head, body := r.call(t, "GET", "/stream/%3Cscript%3E%FF%00", ""); code != 404 || head.Get("Content-Type") != "application/problem+json" || !json.Valid([]byte(body)) {
		t.Errorf("unknown channel: %d %s", code, body)
	}
	if code, _, body := r.call(t, "GET", "/metrics", ""); code != 200 || !strings.Contains(body, `athir_program_up{program="liquidsoap"} 1`) || !strings.Contains(body, "athir_on_air 1") {
		t.Errorf("/metrics: %d", code)
	}
	if c := r.json(t, "/api/channels")["channels"].([]any)[0].(map[string]any); c["id"] != "main" || c["hls"] != "/hls/main/index.m3u8" {
		t.Errorf("channels: %v", c)
	}
	if h := r.json(t, "/healthz"); h["ok"] != true || h["onAir"] != true {
		t.Errorf("health: %v", h)
	}
}

// The document is made from the routes: each row of the table is in it, and
// each row of the mission that is built.
func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	r := newRig(t)
	doc := r.json(t, "/openapi.json")
	paths := doc["paths"].(map[string]any)
	for _, p := range []string{
		"/stream", "/stream/{channelId}", "/api/channels", "/api/library", "/api/status", "/api/schedule", "/api/upnext",
		"/next-tracks.json", "/network-test-payload", "/ping", "/metadata", "/healthz", "/metrics",
	} {
		if paths[p] == nil {
			t.Errorf("%s is not described", p)
		}
	}
	for p := range paths {
		if strings.HasPrefix(p, "/v") {
			t.Errorf("%s carries a version: all paths are unversioned", p)
		}
	}
	if !strings.HasPrefix(doc["openapi"].(string), "3.1") {
		t.Errorf("version %v", doc["openapi"])
	}
}

// What the library cannot give is said where everybody looks, and a page may count on
// the list.
func TestStatusSaysWhatTheLibraryCannotGive(t *testing.T) {
	r := newRig(t)
	if notes, ok := at(r.json(t, "/api/status"), "rotation", "notes").([]any); !ok || len(notes) != 0 {
		t.Errorf("a library that suffices: %v", notes)
	}
	r.view.Notes = []rotation.Note{
		{Kind: rotation.ShortWindow, Start: "02:00", End: "05:00", Category: station.English, Songs: 10, Length: 2_400_000},
		{Kind: rotation.ArtistShare, Artist: "عمرو دياب", Share: 0.5, Gap: 360_000, Songs: 150},
	}
	notes, _ := at(r.json(t, "/api/status"), "rotation", "notes").([]any)
	if len(notes) != 2 || at(notes[0], "kind") != "short-window" || at(notes[0], "start") != "02:00" || at(notes[0], "lengthMs") != 2_400_000.0 ||
		at(notes[1], "artist") != "عمرو دياب" || at(notes[1], "gapMs") != 360_000.0 || at(notes[1], "songs") != 150.0 {
		t.Errorf("notes: %v", notes)
	}
}
