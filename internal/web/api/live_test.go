package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// order sends one order to the live routes and returns the answer.
func (r *rig) order(t *testing.T, method, path, body string, want int) map[string]any {
	t.Helper()
	code, _, text := r.call(t, method, "/api/station/live"+path, body)
	if code != want {
		t.Fatalf("%s %s %s: %d, want %d\n%s", method, path, body, code, want, text)
	}
	out := map[string]any{}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	return out
}

func TestALiveStreamIsRegisteredVotedOnAiredAndStopped(t *testing.T) {
	r := newRig(t)
	made := r.order(t, "POST", "/register", `{"url":"https://a.example/live","title":"ليلة","creator":"سارة","listeners":3,"ingest":"rtmp2"}`, 200)
	id, _ := at(made, "stream", "id").(string)
	if !strings.HasPrefix(id, "LIVE") || len(at(made, "live", "registry").([]any)) != 2 {
		t.Errorf("%v", made)
	}
	if got := r.order(t, "POST", "/vote", `{"id":"`+id+`","delta":-2}`, 200); at(got, "stream", "votes") != -2.0 {
		t.Errorf("%v", got)
	}
	got := r.order(t, "POST", "/start", `{"id":"`+id+`","mode":"over"}`, 200)
	if at(got, "stream", "id") != id || at(got, "live", "active", "id") != id || at(got, "live", "active", "mode") != "over" {
		t.Errorf("%v", got)
	}
	if at(got, "live", "onAir") != false {
		t.Error("it is on the air before the engine says so")
	}
	r.live.active.OnAir = true // of a talk-over the engine has no marker
	if s := r.order(t, "GET", "", "", 200); at(s, "onAir") != true || at(s, "active", "onAir") != true || at(s, "nowPlaying") != nil {
		t.Errorf("a talk-over that is heard: %v", s)
	}
	r.view.OnAir = scheduler.OnAir{Kind: scheduler.Live, Track: station.Track{Title: "ليلة"}, StartedAt: time.Now(), Index: -1}
	s := r.order(t, "GET", "", "", 200)
	if at(s, "onAir") != true || at(s, "nowPlaying", "title") != "ليلة" || at(s, "active", "title") != "ليلة" || at(s, "listeners") != 7.0 {
		t.Errorf("%v", s)
	}
	if sources := at(s, "sources").([]any); len(sources) != 1 || at(sources[0], "lufs") != -20.0 {
		t.Errorf("sources %v", sources)
	}
	if all := at(s, "encoders").([]any); len(all) != 1 || at(all[0], "session") != exampleEncoder || at(all[0], "stream") != exampleStream {
		t.Errorf("encoders %v", all)
	}
	r.order(t, "POST", "/kick", `{"session":"`+exampleEncoder+`"}`, 200)
	if r.order(t, "POST", "/wrapup", `{"seconds":60}`, 200); at(r.order(t, "GET", "", "", 200), "wrapUpAt") != 1_060_000.0 {
		t.Error("the sign is not shown")
	}
	if got := r.order(t, "POST", "/hand", `{"id":"`+exampleStream+`"}`, 200); at(got, "live", "active", "id") != exampleStream {
		t.Errorf("%v", got)
	}
	if got := r.order(t, "POST", "/stop", "", 200); at(got, "stream", "id") != exampleStream || at(got, "live", "active") != nil {
		t.Errorf("%v", got)
	}
	if got := r.order(t, "POST", "/stop", "", 200); at(got, "stream") != nil {
		t.Errorf("nothing was live, and stopped: %v", got)
	}
	r.order(t, "POST", "/start", "", 200) // no body: the best
	marked := r.order(t, "POST", "/blacklist", `{"id":"`+id+`"}`, 200)
	if streams := at(marked, "live", "registry").([]any); at(marked, "stream", "id") != id || at(streams[1], "blacklisted", "byOrder") != true || at(streams[0], "blacklisted") != nil {
		t.Errorf("%v", marked)
	}
	if got := r.order(t, "POST", "/blacklist", `{"id":"`+id+`","lift":true}`, 200); at(at(got, "live", "registry").([]any)[1], "blacklisted") != nil {
		t.Errorf("%v", got)
	}
	r.order(t, "POST", "/remove", `{"id":"`+id+`"}`, 200)
	want := []string{
		`register https://a.example/live "ليلة" "سارة" 3 "rtmp2"`, `vote "` + id + `" -2`, `start "` + id + `" over`, `kick "` + exampleEncoder + `" ""`, "wrap up in 1m0s",
		`hand "` + exampleStream + `"`, "stop", "stop", `start "" replace`, `blacklist "` + id + `" true`, `blacklist "` + id + `" false`, `remove "` + id + `"`,
	}
	if !slices.Equal(r.live.told, want) {
		t.Errorf("told\n%q, want\n%q", r.live.told, want)
	}
}

// Where the state forbids an order, the answer says which state, and what is wrong with
// a field names it.
func TestLiveOrdersAreRefusedForWhatIsWrongWithThem(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		path, body string
		want       int
		says       string
	}{
		{"/start", `{"id":"LIVE00000000"}`, 404, "LIVE00000000"},
		{"/start", `{"mode":"under"}`, 422, "body.mode"},
		{"/hand", `{"id":"` + exampleStream + `"}`, 409, "nothing is live"},
		{"/vote", `{"id":"` + exampleStream + `"}`, 422, "body.delta"},
		{"/vote", `{"id":"` + exampleStream + `","delta":1001}`, 422, "body.delta"},
		{"/remove", `{"id":"LIVE00000000"}`, 404, ""},
		{"/blacklist", `{"id":"LIVE00000000"}`, 404, ""},
		{"/kick", `{"session":"none"}`, 404, "none"},
		{"/hold", `{"session":"none"}`, 404, "none"},
		{"/show", `{"title":"سهرة","minutes":721}`, 422, "body.minutes"},
		{"/show", `{"title":"سهرة","minutes":60,"bed":"../../etc/passwd"}`, 404, ""},
		{"/publishers", `{"name":"x","from":5,"until":5}`, 422, "body.until"},
		{"/publishers", `{"name":"x","slots":[{"day":"thu","from":"24:00","to":"22:00"}]}`, 422, "body.slots[0].from"},
		{"/recordings/none/category", `{"category":"shorts"}`, 404, "none"},
	} {
		if code, _, text := r.call(t, "POST", "/api/station/live"+c.path, c.body); code != c.want || !strings.Contains(text, c.says) {
			t.Errorf("%s %s: %d %s", c.path, c.body, code, text)
		}
	}
	r.live.fail = fmt.Errorf("url: must be http or https: %w", station.ErrInvalid)
	if code, _, text := r.call(t, "POST", "/api/station/live/register", `{"url":"gopher://a"}`); code != 422 || !strings.Contains(text, `"body.url"`) {
		t.Errorf("%d %s", code, text)
	}
	r.live.fail = fmt.Errorf("no audio came from it within 8 s: %w", station.ErrConflict)
	if code, _, text := r.call(t, "POST", "/api/station/live/start", ""); code != 409 || !strings.Contains(text, "8 s") {
		t.Errorf("%d %s", code, text)
	}
}

// Mission: a start without a candidate leaves the normal mix as it is.
func TestAStartWithoutACandidateIsTheRotation(t *testing.T) {
	r := newRig(t)
	r.live.streams = nil
	for _, body := range []string{"", "{}"} {
		if got := r.order(t, "POST", "/start", body, 200); at(got, "stream") != nil || at(got, "live", "active") != nil {
			t.Errorf("%v", got)
		}
	}
}

func TestAShowHoldsTheAirWithAFileOfTheLibrary(t *testing.T) {
	r := newRig(t)
	before := time.Now()
	got := r.order(t, "POST", "/show", `{"title":"سهرة","minutes":90,"bed":"music/english/1.mp3"}`, 200)
	until := time.UnixMilli(int64(at(got, "live", "show", "until").(float64)))
	if at(got, "live", "show", "bed") != "music/english/1.mp3" || until.Before(before.Add(90*time.Minute).Truncate(time.Millisecond)) || until.After(time.Now().Add(90*time.Minute)) {
		t.Errorf("%v", got)
	}
	if got := r.order(t, "POST", "/show/end", "", 200); at(got, "live", "show") != nil {
		t.Errorf("%v", got)
	}
}

// The studio's look is useful while the phones' server is away.
func TestTheStudioLooksOnWithoutThePhones(t *testing.T) {
	r := newRig(t)
	if s := r.order(t, "GET", "", "", 200); at(s, "phones") != true || len(at(s, "sessions").([]any)) != 1 {
		t.Errorf("%v", s)
	}
	r.live.phonesFail = station.ErrUnavailable
	if s := r.order(t, "GET", "", "", 200); at(s, "phones") != false || len(at(s, "sessions").([]any)) != 0 || at(s, "desk") != true {
		t.Errorf("%v", s)
	}
}

// A secret is shown by the answer that made it and by no other, whatever the slice below
// hands up.
func TestThePublishersSecretIsShownOnce(t *testing.T) {
	r := newRig(t)
	made := r.order(t, "POST", "/publishers", `{"name":"عمر","slots":[{"day":"thu","from":"20:00","to":"02:00"}],"auto":true}`, 201)
	if made["secret"] != "shown-once" || made["name"] != "عمر" || made["auto"] != true {
		t.Fatalf("%v", made)
	}
	one := "/publishers/" + made["id"].(string)
	list := r.order(t, "GET", "/publishers", "", 200)
	if len(list["publishers"].([]any)) != 2 || at(list, "entrances", "whip") != 8089.0 {
		t.Errorf("%v", list)
	}
	for _, p := range list["publishers"].([]any) {
		if at(p, "secret") != nil {
			t.Errorf("the list shows a secret: %v", p)
		}
	}
	if got := r.order(t, "PUT", one, `{"name":"عمر ك","show":"ليل"}`, 200); got["secret"] != nil || got["show"] != "ليل" || len(got["slots"].([]any)) != 0 {
		t.Errorf("%v", got)
	}
	if got := r.order(t, "POST", one+"/revoke", "", 200); got["secret"] != nil || got["revoked"] != true {
		t.Errorf("%v", got)
	}
	if got := r.order(t, "POST", one+"/secret", "", 200); got["secret"] != "another" || got["revoked"] != false {
		t.Errorf("%v", got)
	}
	r.order(t, "DELETE", one, "", 204)
	r.order(t, "DELETE", "/publishers/none", "", 404)
}

func TestARecordingIsServedInRangesAndByATicket(t *testing.T) {
	r := newRigWithKey(t, "k")
	const at = "/api/station/live/recordings/" + exampleRecording
	key := []string{"X-Station-Key", "k"}
	code, head, body := r.call(t, "GET", at, "", append(key, "Range", "bytes=2-4")...)
	if code != 206 || body != "234" || head.Get("Content-Range") != "bytes 2-4/10" || head.Get("Content-Type") != "audio/mpeg" {
		t.Errorf("%d %q %v", code, body, head)
	}
	if head.Get("X-Node") != "" {
		t.Error("a header of the node's is passed on")
	}
	if code, _, _ := r.call(t, "GET", at, "", append(key, "Range", "bytes=99-")...); code != 416 {
		t.Error("behind its end:", code)
	}
	if code, _, _ := r.call(t, "GET", at, "", append(key, "If-None-Match", `"1"`)...); code != 304 {
		t.Error("unchanged:", code)
	}
	_, head, body = r.call(t, "GET", at+"?download=1", "", key...)
	if body != "0123456789" || head.Get("Content-Disposition") != "attachment; filename="+exampleRecording {
		t.Errorf("%q %v", body, head)
	}
	_, _, text := r.call(t, "POST", at+"/ticket", "", key...)
	var ticket struct{ Path string }
	if err := json.Unmarshal([]byte(text), &ticket); err != nil {
		t.Fatal(err)
	}
	if code, _, body := r.call(t, "GET", ticket.Path, "", "Range", "bytes=-1"); code != 206 || body != "9" {
		t.Errorf("with a ticket: %d %q", code, body)
	}
	for what, path := range map[string]string{
		"another recording": strings.Replace(ticket.Path, exampleRecording, "other.mp3", 1),
		"another time":      strings.Replace(ticket.Path, "ticket=", "ticket=z", 1),
		"no ticket":         "/api/live/recordings/" + exampleRecording,
	} {
		if code, head, _ := r.call(t, "GET", path, ""); code != 401 || head.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %d %v", what, code, head)
		}
	}
}

// A ticket ends, and is worth nothing at another control plane.
func TestATicketEnds(t *testing.T) {
	now := time.Now()
	change := func(o *api.Options) { o.Now = func() time.Time { return now } }
	r, other := newRigWith(t, change), newRigWith(t, change)
	_, _, text := r.call(t, "POST", "/api/station/live/recordings/"+exampleRecording+"/ticket", "")
	var ticket struct{ Path string }
	if err := json.Unmarshal([]byte(text), &ticket); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := other.call(t, "GET", ticket.Path, ""); code != 401 {
		t.Error("another control plane takes it:", code)
	}
	now = now.Add(6*time.Hour - time.Second)
	if code, _, _ := r.call(t, "GET", ticket.Path, ""); code != 200 {
		t.Error("before its end:", code)
	}
	now = now.Add(time.Second)
	if code, _, _ := r.call(t, "GET", ticket.Path, ""); code != 401 {
		t.Error("after its end:", code)
	}
}

func TestARecordingIsDeletedAndTakenIntoTheLibrary(t *testing.T) {
	r := newRig(t)
	kept := r.order(t, "POST", "/recordings/"+exampleRecording+"/category", `{"category":"shorts","title":"سهرة","artist":"سارة"}`, 200)
	if kept["inbox"] != "shorts/"+exampleRecording || kept["category"] != "shorts" {
		t.Errorf("%v", kept)
	}
	r.order(t, "DELETE", "/recordings/"+exampleRecording, "", 204)
	r.order(t, "DELETE", "/recordings/none", "", 404)
	r.live.fail = fmt.Errorf("%s is being recorded: %w", exampleRecording, station.ErrConflict)
	r.order(t, "DELETE", "/recordings/"+exampleRecording, "", 409)
	if want := []string{`take "` + exampleRecording + `" shorts "سهرة" "سارة"`, `delete "` + exampleRecording + `"`}; !slices.Equal(r.live.told[:2], want) {
		t.Errorf("told %q", r.live.told)
	}
}

func TestASourceIsHeardAsItComes(t *testing.T) {
	r := newRig(t)
	code, head, body := r.call(t, "GET", "/api/station/live/sources/"+exampleStream+"/listen", "")
	if code != 200 || head.Get("Content-Type") != "audio/wav" || !strings.HasPrefix(body, "RIFF") || len(body) < 192_000 {
		t.Errorf("%d %v, %d bytes", code, head, len(body))
	}
	if code, _, _ := r.call(t, "GET", "/api/station/live/sources/none/listen", ""); code != 404 {
		t.Error(code)
	}
}

// The node's live programs show the token; the station key is none.
func TestTheNodesLiveProgramsShowTheToken(t *testing.T) {
	r := newRigWithKey(t, "k")
	for _, q := range [][2]string{
		{"POST", "/api/live/admit"}, {"POST", "/api/live/arrived"}, {"POST", "/api/live/left"}, {"POST", "/api/live/roll"}, {"GET", "/api/live/facts"},
	} {
		if code, _, _ := r.call(t, q[0], q[1], `{}`, "X-Station-Key", "k"); code != http.StatusUnauthorized {
			t.Errorf("%s %s: %d", q[0], q[1], code)
		}
	}
	token := []string{"X-Sync-Token", "sesame"}
	_, _, text := r.call(t, "POST", "/api/live/admit", `{"protocol":"whip","user":"sara","secret":"s"}`, token...)
	if !strings.Contains(text, `"allowed":true`) || !strings.Contains(text, `"name":"سارة"`) {
		t.Error(text)
	}
	code, _, text := r.call(t, "POST", "/api/live/admit", `{"protocol":"whip","user":"omar","secret":"s"}`, token...)
	if code != 200 || !strings.Contains(text, `"allowed":false,"code":"unknown"`) {
		t.Error(code, text)
	}
	_, _, text = r.call(t, "POST", "/api/live/arrived", `{"protocol":"whip","url":"pipe:/run/live.pcm","title":"","creator":"","publisher":"sara","session":"s"}`, token...)
	if strings.TrimSpace(text) != `{"id":"`+exampleStream+`"}` {
		t.Error(text)
	}
	if code, _, text := r.call(t, "POST", "/api/live/left", `{"id":"`+exampleStream+`","publisher":"sara","session":"s","why":"closed"}`, token...); code != 200 || strings.TrimSpace(text) != "{}" {
		t.Error(code, text)
	}
	roll := `{"protocol":"rtmp","senders":[{"protocol":"rtmp","url":"rtmp://127.0.0.1:19350/live/sara","title":"","creator":"","publisher":"sara","session":"s"}]}`
	if code, _, text := r.call(t, "POST", "/api/live/roll", roll, token...); code != 200 || strings.TrimSpace(text) != `{"streams":{"s":"`+exampleStream+`"},"refused":{}}` {
		t.Error(code, text)
	}
	_, _, text = r.call(t, "GET", "/api/live/facts?publisher=sara", "", token...)
	if !strings.Contains(text, `"state":"waiting"`) || !strings.Contains(text, `"next":[]`) {
		t.Error(text)
	}
}

// A station without live broadcasting says so, and its state has the same shape.
func TestAStationWithoutLiveSaysSo(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) { o.Live = nil })
	for _, row := range api.Rows() {
		if !strings.HasPrefix(row.Path, "/api/station/live") || row.Method != "GET" {
			continue
		}
		if code, head, text := r.call(t, row.Method, row.Path, ""); code != 503 || head.Get("Retry-After") == "" || !strings.Contains(text, "switched off") {
			t.Errorf("%s: %d %s", row.Path, code, text)
		}
	}
	if s := r.json(t, "/api/station/state"); at(s, "live", "onAir") != false || len(at(s, "live", "registry").([]any)) != 0 {
		t.Errorf("%v", s["live"])
	}
}
