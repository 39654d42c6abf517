package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

func TestStateIsTheWholeStationAtAGlance(t *testing.T) {
	r := newRig(t)
	r.view.Reason, r.view.Rotation.Daypart = "restart", "late"
	r.votes.counts = map[string]int{"music/english/3.mp3": -2}
	s := r.json(t, "/api/station/state?explain=1")
	all, queue := s["rotation"].([]any), s["queue"].([]any)
	if len(all) != 6 || len(queue) != 4 || at(queue[0], "position") != 2.0 || at(queue[1], "votes") != -2.0 || at(all[1], "onAir") != true {
		t.Errorf("rotation of %d, queue of %d: %v", len(all), len(queue), queue)
	}
	if at(all[0], "why") == nil {
		t.Errorf("no reason: %v", all[0])
	}
	if at(s, "decks", "english", "tracks") != 6.0 || at(s, "decks", "news", "tracks") != 0.0 || at(s, "config", "ROTATION", "BUFFER_MAX") != 120.0 {
		t.Errorf("decks %v, config %v", s["decks"], s["config"])
	}
	if s["saved"] != true || s["mood"] != "" || len(s["moods"].([]any)) != 6 || at(s, "live", "onAir") != false || at(s, "live", "active") != nil || len(at(s, "live", "registry").([]any)) != 1 || s["state"] != "music" {
		t.Errorf("%v", s)
	}
	if at(s, "nowPlaying", "title") != "أغنية 1" || at(s, "track", "file") != "music/english/1.mp3" {
		t.Errorf("now playing: %v, %v", s["nowPlaying"], s["track"])
	}
	p := s["plan"]
	if at(p, "length") != 6.0 || at(p, "consumed") != 2.0 || at(p, "reason") != "restart" || at(p, "daypart") != "late" || at(p, "builtAt") == 0.0 || at(p, "problem") != "" {
		t.Errorf("plan: %v", p)
	}
	r.view.OnAir = scheduler.OnAir{Kind: scheduler.Live, Track: station.Track{Title: "مباشر"}, StartedAt: time.Now(), Index: -1}
	if s := r.json(t, "/api/station/state"); at(s, "live", "onAir") != true || at(s, "live", "nowPlaying", "title") != "مباشر" {
		t.Errorf("live: %v", s["live"])
	}
	r.view, r.policy = scheduler.View{Waiting: true}, nil
	if s := r.json(t, "/api/station/state"); len(s["rotation"].([]any)) != 0 || len(s["queue"].([]any)) != 0 || s["state"] != "starting" {
		t.Errorf("a station without music: %v", s)
	}
}

func TestScheduleExplainsItself(t *testing.T) {
	r := newRig(t)
	due := time.UnixMilli(1_700_000_000_000)
	e := &r.view.Rotation.Entries[4]
	e.Due, e.Clock, e.AfterNews = due, "top", true
	e.Why = rotation.Why{Reason: "turn 2", Wanted: station.English, Considered: 9, PassedOver: []rotation.Passed{{Rule: rotation.Cooldown, Count: 3, Example: "music/english/1.mp3"}}}
	entry := r.json(t, "/api/schedule?explain=1")["rotation"].([]any)[4]
	why := at(entry, "why")
	if at(entry, "due") != 1_700_000_000_000.0 || at(entry, "clock") != "top" || at(entry, "afterNews") != true || at(why, "reason") != "turn 2" || at(why, "wanted") != "english" || at(why, "considered") != 9.0 {
		t.Errorf("%v", entry)
	}
	if p := at(why, "passedOver").([]any)[0]; at(p, "rule") != "cooldown" || at(p, "count") != 3.0 || at(p, "example") != "music/english/1.mp3" {
		t.Errorf("passed over: %v", p)
	}
	entry = r.json(t, "/api/schedule")["rotation"].([]any)[4]
	if at(entry, "why") != nil || at(entry, "due") == nil {
		t.Errorf("unasked: %v", entry)
	}
	if code, _, _ := r.call(t, "GET", "/api/schedule?explain=maybe", ""); code != 422 {
		t.Errorf("explain=maybe: %d", code)
	}
	rules := r.json(t, "/api/station/rules")["rules"].([]any)
	if len(rules) != len(rotation.Rules()) || at(rules[0], "rank") != 1.0 || at(rules[0], "why") == "" || at(rules[len(rules)-1], "breakable") != false {
		t.Errorf("rules: %v", rules)
	}
}

func TestOrdersReachTheDesk(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct{ path, body, told string }{
		{"rotation/rebuild", ``, "rebuild"}, {"skip", ``, "skip"}, {"skip", `{}`, "skip"},
		{"play", `{"category":"english"}`, `play english ""`},
		{"play", `{"category":"english","file":"music/english/3.mp3"}`, `play english "music/english/3.mp3"`},
		{"play", `{"file":"music/english/3.mp3"}`, `play  "music/english/3.mp3"`},
	} {
		code, out := r.send(t, "POST", "/api/station/"+c.path, c.body)
		if code != 200 || r.desk.told[len(r.desk.told)-1] != c.told || at(out, "plan", "length") != 6.0 || len(out["next"].([]any)) != 4 {
			t.Errorf("%s %s: %d %v %v", c.path, c.body, code, r.desk.told, out)
		}
		if c.path == "play" && at(out, "track", "title") != "forced" {
			t.Errorf("%s: %v", c.body, out["track"])
		}
	}
	told := len(r.desk.told)
	for body, want := range map[string]int{
		`{}`: 422, `{"category":"jazz"}`: 422, `{"category":"ads","file":"music/english/3.mp3"}`: 422, `{"file":7}`: 422,
		`{"file":"music/english/99.mp3"}`: 404, `{"file":"../../etc/passwd"}`: 404, `{"file":"/etc/passwd"}`: 404,
		`{"file":"music/english/./3.mp3"}`: 404, `{"file":"music\\english\\3.mp3"}`: 404, `{"file":"annotate:x=1:music/english/3.mp3"}`: 404,
		`{"file":"music/english/3.mp3\u0000"}`: 404, `{"category":"english","file":"http://x/y.mp3"}`: 404, `{"file":"` + strings.Repeat("x", 20_000) + `"}`: 422,
	} {
		if code, out := r.send(t, "POST", "/api/station/play", body); code != want || len(fmt.Sprint(out)) > 2000 {
			t.Errorf("%.60s: %d %v", body, code, out)
		}
	}
	if len(r.desk.told) != told {
		t.Errorf("told: %v", r.desk.told[told:])
	}
	// A path that is no text is found by what our answers show of it.
	r.lib.Tracks = append(r.lib.Tracks, station.Track{Path: "music/english/\xff.mp3", Category: station.English})
	if code, _ := r.send(t, "POST", "/api/station/play", `{"file":"music/english/`+"�"+`.mp3"}`); code != 200 || r.desk.told[told] != `play  "music/english/\xff.mp3"` {
		t.Errorf("%d %v", code, r.desk.told[told:])
	}
	for err, want := range map[error]int{
		station.ErrConflict: 409, station.ErrNotFound: 404, station.ErrUnavailable: 503,
	} {
		r.desk.fail = fmt.Errorf("order: %w", err)
		for _, path := range []string{"rotation/rebuild", "skip"} {
			if errors.Is(err, station.ErrNotFound) {
				continue // they name nothing
			}
			if code, _ := r.send(t, "POST", "/api/station/"+path, ``); code != want {
				t.Errorf("%s: %d, want %d", path, code, want)
			}
		}
		if code, _ := r.send(t, "POST", "/api/station/play", `{"category":"english"}`); code != want {
			t.Errorf("play: %d, want %d", code, want)
		}
	}
	if text := r.lines.String(); !strings.Contains(text, `route="POST /api/station/skip" status=200 from="this machine"`) {
		t.Errorf("the log does not say who skipped: %s", text)
	}
}

func TestLogsAreReadByNameAndNumberOnly(t *testing.T) {
	r := newRig(t)
	if l := r.json(t, "/api/station/log"); l["file"] != "server" || len(l["lines"].([]any)) != 200 {
		t.Errorf("the default: %v, %d lines", l["file"], len(l["lines"].([]any)))
	}
	if l := r.json(t, "/api/station/log?file=content&lines=7"); l["file"] != "content" || len(l["lines"].([]any)) != 0 {
		t.Errorf("%v", l)
	}
	for _, q := range []string{
		"file=../athir.yaml", "file=/etc/passwd", "file=server.log", "file=server%00", "file=SERVER", "file=server,content",
		"lines=0", "lines=-1", "lines=2001", "lines=1e3", "lines=99999999999999999999", "lines=x",
	} {
		field, _, _ := strings.Cut(q, "=")
		if code, doc := r.send(t, "GET", "/api/station/log?"+q, ""); code != 422 || !slices.Equal(wrong(doc), []string{"query." + field}) {
			t.Errorf("%s: %d %v", q, code, doc)
		}
	}
	r.fail = fmt.Errorf("read /srv/secret/log: denied")
	if code, doc := r.send(t, "GET", "/api/station/log?file=content", ""); code != 500 || strings.Contains(fmt.Sprint(doc), "secret") {
		t.Errorf("%d %v", code, doc)
	}
}

func TestListenersVoteOnTheQueue(t *testing.T) {
	r := newRigWithKey(t, "open-sesame") // votes are open all the same
	vote := func(body string, headers ...string) (int, string) {
		code, _, text := r.call(t, "POST", "/api/upnext/votes", body, append([]string{"Content-Type", "application/json"}, headers...)...)
		return code, text
	}
	if code, text := vote(`{"file":"music/english/3.mp3","delta":1}`, "X-Forwarded-For", "198.51.100.7", "X-Athir-Device", "my-own-device"); code != 200 || !strings.Contains(text, `"music/english/3.mp3":1`) || r.votes.from != (feedback.Client{Address: "198.51.100.7", Device: "my-own-device"}) {
		t.Errorf("%d %s by %v", code, text, r.votes.from)
	}
	if code, text := vote(`{"position":5,"delta":-1}`, "X-Athir-Device", "no device!"); code != 200 || !strings.Contains(text, `"file":"music/english/5.mp3","delta":-1`) || r.votes.from != (feedback.Client{}) {
		t.Errorf("%d %s by %v", code, text, r.votes.from)
	}
	if code, _ := vote(`{"position":4,"file":"music/english/4.mp3","delta":0}`); code != 200 {
		t.Errorf("taken back: %d", code)
	}
	for body, want := range map[string]int{
		`{"delta":1}`: 422, `{"file":"music/english/3.mp3"}`: 422, `{"file":"music/english/3.mp3","delta":2}`: 422,
		`{"file":"music/english/3.mp3","delta":1e999}`: 400, `{"file":"music/english/3.mp3","delta":0.5}`: 422, `{"position":-1,"delta":1}`: 422,
		`{"file":"music/english/1.mp3","delta":1}`: 404, // on air
		`{"position":0,"delta":1}`:                 404, // aired
		`{"position":6,"delta":1}`:                 404, `{"position":99999999,"delta":1}`: 404, `{"file":"../3.mp3","delta":1}`: 404,
		`{"position":3,"file":"music/english/4.mp3","delta":1}`: 409,
		`{"file":"music/english/3.mp3","delta":1,"client":"y"}`: 422,
	} {
		if code, text := vote(body); code != want {
			t.Errorf("%s: %d %s", body, code, text)
		}
	}
	got := r.json(t, "/api/upnext/votes")["votes"].(map[string]any)
	if len(got) != 2 || got["music/english/3.mp3"] != 1.0 || got["music/english/5.mp3"] != -1.0 {
		t.Errorf("votes: %v", got)
	}
	queue := r.json(t, "/api/upnext")["queue"].([]any)
	if at(queue[1], "votes") != 1.0 || at(queue[0], "votes") != 0.0 {
		t.Errorf("queue: %v", queue)
	}
	r.votes.fail = &client.LimitError{RetryAfter: 1500 * time.Millisecond}
	code, head, _ := r.call(t, "POST", "/api/upnext/votes", `{"file":"music/english/3.mp3","delta":1}`)
	if code != http.StatusTooManyRequests || head.Get("Retry-After") != "2" {
		t.Errorf("too many: %d, Retry-After %q", code, head.Get("Retry-After"))
	}
	r.votes.fail = fmt.Errorf("enough of your address: %w", station.ErrConflict)
	if code, text := vote(`{"file":"music/english/3.mp3","delta":1}`); code != http.StatusConflict || !strings.Contains(text, `"enough of your address"`) {
		t.Errorf("no place for another of an address: %d %s", code, text)
	}
}

func TestRoutesThatDoNotExistSaySo(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		method, path, allow string
		want                int
	}{
		{"DELETE", "/api/station/config", "GET, PUT", 405}, {"GET", "/api/station/skip", "POST", 405}, {"PUT", "/api/status", "GET", 405},
		{"GET", "/api/nothing", "", 404}, {"GET", "/api/station/nothing", "", 404}, {"GET", "/api/", "", 404},
	} {
		code, head, body := r.call(t, c.method, c.path, "")
		if code != c.want || head.Get("Allow") != c.allow || head.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d Allow %q %s", c.method, c.path, code, head.Get("Allow"), body)
		}
	}
}

// What the document says of the configuration is what the routes take: times
// of day are text there, and no member of a patch is required.
func TestOpenAPIDescribesTheConfiguration(t *testing.T) {
	r := newRig(t)
	doc := r.json(t, "/openapi.json")
	body := at(doc, "paths", "/api/station/config", "put", "requestBody", "content", "application/json", "schema")
	if at(body, "required") != nil || at(body, "properties", "ROTATION", "required") != nil || at(body, "properties", "ROTATION", "properties", "BUFFER_MAX", "type") != "integer" {
		t.Errorf("a patch: %v", body)
	}
	part := at(doc, "components", "schemas", "Daypart", "properties")
	if at(part, "start", "type") != "string" || at(doc, "components", "schemas", "Position", "properties", "at", "type") != "string" {
		t.Errorf("a daypart: %v", part)
	}
	for _, row := range []string{"/api/station/play", "/api/station/state", "/api/upnext/votes", "/api/station/log"} {
		if at(doc, "paths", row) == nil {
			t.Errorf("%s is not described", row)
		}
	}
}
