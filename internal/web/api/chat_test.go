package api_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat"
)

// openChat opens a chat in which a comment (c1) and two messages (m2, m3) stand.
func (r *rig) openChat(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	var err error
	r.chat, err = chat.Open(t.Context(), chat.Options{
		Log: r.log, DB: r.db, Dir: filepath.Join(dir, "media"), Station: "أثير", Rooms: []chat.Room{{ID: "main", Name: "الصالة"}},
		KeepDays: 30, MediaBytes: 64 << 20, Tell: func(string, any) {}, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.keepMigrated(t)
	from := chat.Client{Address: "198.51.100.7", Device: "a-listener"}
	if _, err := r.chat.Comment(t.Context(), from, chat.CommentIn{Name: "سلمى", Text: "تعليق"}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"أهلا", "مزعج"} {
		if _, err := r.chat.Say(t.Context(), from, chat.SayIn{User: "سلمى", Room: "main", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCommentsOverHTTPAreKeptOnceAndTheStaffIsKnownByItsKey(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	http.DefaultClient = checked(t, document(t, r.URL)) //nolint:reassign // of this test's process; put back below
	t.Cleanup(func() { http.DefaultClient = &http.Client{} })
	const body = `{"name":"هدى","text":"مساء الخير","id":"once-and-for-all"}`
	var first string
	for range 3 {
		code, _, answer := r.call(t, "POST", "/api/comments", body, "Content-Type", "application/json", "X-Athir-Device", "a-phone-of-hers")
		if first == "" {
			first = answer
		}
		if code != 200 || answer != first || !strings.Contains(answer, `"comment":{"id":"c4","name":"هدى"`) {
			t.Errorf("%d %s", code, answer)
		}
	}
	for _, c := range []struct {
		body string
		key  string
		want int
		says string
	}{
		{`{"name":"هدى","text":"غيره","id":"once-and-for-all"}`, "", 409, "already used"},
		{`{"name":"admin","text":"x"}`, "", 422, "body.name"},
		{`{"name":"admin","text":"x"}`, "open-sesame", 200, `"staff":true`},
		{`{"name":"admin","text":"x"}`, "a guess", 401, "station key"},
		{`{"name":"x","text":""}`, "", 422, "body.text"},
		{`{"name":"x"}`, "", 422, "body.text"},
		{`{"name":"x","text":"\u200b"}`, "", 422, "body.text"},
		{`{"name":7,"text":[]}`, "", 422, "body.name"},
		{`[`, "", 400, ""},
	} {
		head := []string{"Content-Type", "application/json", "X-Athir-Device", "a-phone-of-hers"}
		if c.key != "" {
			head = append(head, "X-Station-Key", c.key)
		}
		if code, _, answer := r.call(t, "POST", "/api/comments", c.body, head...); code != c.want || !strings.Contains(answer, c.says) {
			t.Errorf("%s: %d %s", c.body, code, answer)
		}
	}
	got := r.json(t, "/api/comments?after=c1")["comments"].([]any)
	if len(got) != 2 || got[0].(map[string]any)["id"] != "c4" {
		t.Errorf("%v", got)
	}
	for path, want := range map[string]int{
		"/api/comments?after=m2": 422, "/api/comments?after=%27%3B": 422, "/api/comments?limit=0": 422, "/api/comments?limit=9999999999999999999": 422,
		"/api/chat/rooms/main/messages?before=m3&limit=1": 200, "/api/chat/rooms/nowhere/messages": 404, "/api/chat/rooms/main/messages?before=c1": 422,
		"/chat/media/" + strings.Repeat("0", 64) + ".png": 404, "/chat/media/..%2f..%2fchat.db": 404,
	} {
		if code, _, answer := r.call(t, "GET", path, ""); code != want {
			t.Errorf("%s: %d %s", path, code, answer)
		}
	}
}

func TestModerationStandsBehindTheKeyAndIsAudited(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	http.DefaultClient = checked(t, document(t, r.URL)) //nolint:reassign // of this test's process; put back below
	t.Cleanup(func() { http.DefaultClient = &http.Client{} })
	do := func(method, path, body string, want int) string {
		t.Helper()
		code, _, answer := r.call(t, method, "/api/station/chat/"+path, body, "Content-Type", "application/json", "X-Station-Key", "open-sesame", "X-Forwarded-For", "203.0.113.1")
		if code != want {
			t.Errorf("%s %s %s: %d %s", method, path, body, code, answer)
		}
		return answer
	}
	if got := do("POST", "mute", `{"of":"m2","minutes":5,"reason":"إزعاج"}`, 200); !strings.Contains(got, `"by":["device"]`) {
		t.Error(got)
	}
	code, _, answer := r.call(t, "POST", "/api/comments", `{"name":"x","text":"x"}`, "Content-Type", "application/json", "X-Athir-Device", "a-listener")
	if code != 403 || !strings.Contains(answer, "إزعاج") {
		t.Errorf("a muted one: %d %s", code, answer)
	}
	do("POST", "lift", `{"id":1}`, 200)
	do("POST", "lift", `{"id":1}`, 404)
	do("DELETE", "messages/m3", "", 204)
	do("DELETE", "messages/m3", "", 204)
	do("DELETE", "messages/c1", "", 422)
	do("DELETE", "comments/m2", "", 422)
	do("DELETE", "comments/c99", "", 404)
	do("POST", "ban", `{"of":"nobody"}`, 422)
	do("POST", "ban", `{"of":"m99"}`, 404)
	do("POST", "purge", `{"of":"m2","minutes":0}`, 422)
	do("PUT", "words", `{"words":[{"word":"!","action":"block"}]}`, 422)
	do("PUT", "words", `{"words":[{"word":"x","action":"shout"}]}`, 422)
	do("PUT", "rooms/nowhere", `{"slow":1}`, 404)
	do("PUT", "rooms/main", `{"slow":-1}`, 422)
	if got := do("PUT", "rooms/main", `{"slow":3}`, 200); !strings.Contains(got, `{"room":"main","slow":3,"closed":false,"links":true}`) {
		t.Error(got)
	}
	var log struct{ Deeds []chat.Deed }
	if err := json.Unmarshal([]byte(do("GET", "audit", "", 200)), &log); err != nil || len(log.Deeds) != 4 || log.Deeds[0].Who != "203.0.113.1" {
		t.Errorf("%+v %v", log, err)
	}
	if got := do("GET", "messages?of=m2", "", 200); !strings.Contains(got, `"state":"deleted"`) || strings.Contains(got, "198.51.100.7") {
		t.Error(got)
	}
}
