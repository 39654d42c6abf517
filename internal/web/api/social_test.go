package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/api"
)

// ask sends a request with headers, as name: value.
func (r *rig) ask(t *testing.T, method, path, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(text)
}

// Who sees and hears a post, by its status.
func TestAPostIsShownToWhomItConcerns(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	out, waits := r.planted(t, "out", social.Approved), r.planted(t, "waits", social.Pending)
	admin, station, owner := "x-admin-key: "+adminKey, "x-station-key: open-sesame", "x-post-token: "+waits.Token
	for _, c := range []struct {
		what, path string
		headers    []string
		code       int
	}{
		{"everybody, approved", fmt.Sprintf("/api/social/posts/%d", out.ID), nil, 200},
		{"everybody, its sound", fmt.Sprintf("/api/social/posts/%d/audio", out.ID), nil, 200},
		{"everybody, pending", fmt.Sprintf("/api/social/posts/%d", waits.ID), nil, 404},
		{"everybody, its sound", fmt.Sprintf("/api/social/posts/%d/audio", waits.ID), nil, 404},
		{"its submitter", fmt.Sprintf("/api/social/posts/%d", waits.ID), []string{owner}, 200},
		{"its submitter, its sound", fmt.Sprintf("/api/social/posts/%d/audio?token=%s", waits.ID, waits.Token), nil, 200},
		{"another's secret", fmt.Sprintf("/api/social/posts/%d", waits.ID), []string{"x-post-token: " + out.Token}, 404},
		{"a moderator", fmt.Sprintf("/api/social/posts/%d", waits.ID), []string{admin}, 200},
		{"a moderator, its sound", fmt.Sprintf("/api/social/posts/%d/audio", waits.ID), []string{admin}, 200},
		{"the operator", fmt.Sprintf("/api/social/posts/%d", waits.ID), []string{station}, 200},
		{"a wrong key", fmt.Sprintf("/api/social/posts/%d", waits.ID), []string{"x-admin-key: guess"}, 404},
		{"the queue, to everybody", "/api/social/posts?status=pending", nil, 401},
		{"the queue, to a wrong key", "/api/social/posts?status=pending", []string{"x-admin-key: guess"}, 401},
		{"the queue, to a moderator", "/api/social/posts?status=pending", []string{admin}, 200},
		{"no such post", "/api/social/posts/99", []string{admin}, 404},
		{"its cover", fmt.Sprintf("/api/social/posts/%d/cover", out.ID), nil, 404},
	} {
		code, _, body := r.ask(t, "GET", c.path, "", c.headers...)
		if code != c.code {
			t.Errorf("%s: GET %s: %d, want %d: %.200s", c.what, c.path, code, c.code, body)
		}
		if code == 200 && len(c.headers) == 0 && !strings.Contains(c.path, "token=") && strings.Contains(body, `"submitter"`) {
			t.Errorf("%s: GET %s tells who sent it: %.300s", c.what, c.path, body)
		}
	}
	code, head, body := r.ask(t, "GET", "/api/social/posts?sort=top", "")
	if code != 200 || !strings.Contains(body, `"title":"out"`) || strings.Contains(body, "waits") {
		t.Errorf("the list: %d %.300s", code, body)
	}
	if code, _, _ := r.ask(t, "GET", "/api/social/posts?sort=top", "", "If-None-Match: "+head.Get("ETag")); code != http.StatusNotModified {
		t.Errorf("the same list again: %d", code)
	}
}

// Only the moderators' key, and the station's, decide; without one in the settings nobody
// does (mission: Authentication).
func TestModeratorsDecideAndNobodyElse(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	waits := r.planted(t, "waits", social.Pending)
	at := fmt.Sprintf("/api/social/posts/%d", waits.ID)
	for _, route := range []string{"/approve", "/reject", "/process", "/hold", "/review"} {
		if code, _, _ := r.ask(t, "POST", at+route, `{}`); code != http.StatusUnauthorized {
			t.Errorf("without a key: %s: %d", route, code)
		}
	}
	for _, key := range []string{"x-admin-key: " + adminKey, "Authorization: Bearer " + adminKey, "x-station-key: open-sesame"} {
		if code, _, body := r.ask(t, "POST", at+"/approve", "", key); code != 200 || !strings.Contains(body, `"status":"approved"`) {
			t.Errorf("%s: %d %.200s", key, code, body)
		}
		if code, _, body := r.ask(t, "POST", at+"/review", "", key); code != 200 || !strings.Contains(body, `"status":"pending"`) {
			t.Errorf("%s: %d %.200s", key, code, body)
		}
	}
	admin := "x-admin-key: " + adminKey
	if code, _, _ := r.ask(t, "POST", "/api/station/skip", "", admin); code != http.StatusUnauthorized {
		t.Errorf("a moderator steers the station: %d", code)
	}
	if code, _, body := r.ask(t, "POST", at+"/reject", `{"code":"rights","note":"لا نعرف صاحبها"}`, admin); code != 200 || !strings.Contains(body, `"code":"rights"`) {
		t.Errorf("reject: %d %.300s", code, body)
	}
	if code, _, body := r.ask(t, "POST", at+"/reject", `{"code":"too_long"}`, admin); code != 422 {
		t.Errorf("a reason that is the machine's: %d %.300s", code, body)
	}
	if code, _, body := r.ask(t, "POST", "/api/social/decide", fmt.Sprintf(`{"ids":[%d,99],"action":"approve"}`, waits.ID), admin); code != 200 ||
		!strings.Contains(body, `"refused":[{"id":99`) || !strings.Contains(body, `"status":"approved"`) {
		t.Errorf("several: %d %.300s", code, body)
	}
	code, _, body := r.ask(t, "GET", at, "", admin)
	if code != 200 || !strings.Contains(body, `"action":"reject","detail":"rights: لا نعرف صاحبها"`) {
		t.Errorf("history: %d %.600s", code, body)
	}
	shut := newRigWith(t, func(o *api.Options) { o.StationKey, o.Social.AdminKey = secret.Of("open-sesame"), "" })
	for _, key := range []string{"x-admin-key: x", "x-station-key: open-sesame"} {
		if code, _, body := shut.ask(t, "POST", "/api/social/posts/1/approve", "", key); code != http.StatusForbidden || !strings.Contains(body, "social_admin_key") {
			t.Errorf("without a key in the settings, %s: %d %.200s", key, code, body)
		}
	}
}

// What a post is compared with is heard by its moderators, and the rest of the library is not.
func TestModeratorsHearWhatAPostIsLike(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	waits, other := r.planted(t, "waits", social.Pending), r.planted(t, "other", social.Pending)
	const rel = "music/english/3.mp3"
	r.alike(t, waits.ID, rel)
	if err := os.WriteFile(filepath.Join(r.mastered(), "music/english/4.mp3"), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	admin, at := "x-admin-key: "+adminKey, fmt.Sprintf("/api/social/posts/%d", waits.ID)
	_, _, body := r.ask(t, "GET", at, "", admin)
	var shown api.Post
	if err := json.Unmarshal([]byte(body), &shown); err != nil || len(shown.Duplicates) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	path := shown.Duplicates[0].Audio
	for _, key := range []string{admin, "x-station-key: open-sesame"} {
		code, head, body := r.ask(t, "GET", path, "", key)
		if code != 200 || body != "the track that airs" || head.Get("Content-Type") != "audio/mpeg" || head.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s: %d %q %v", key, code, body, head)
		}
	}
	if code, head, body := r.ask(t, "GET", path, "", admin, "Range: bytes=4-8"); code != 206 || body != "track" || head.Get("Content-Range") != "bytes 4-8/19" {
		t.Errorf("a range: %d %q %v", code, body, head)
	}
	for what, headers := range map[string][]string{"no key": nil, "a wrong key": {"x-admin-key: guess"}, "its submitter": {"x-post-token: " + waits.Token}} {
		if code, _, body := r.ask(t, "GET", path, "", headers...); code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", what, code, body)
		}
	}
	for _, file := range []string{
		"", "music/english/4.mp3", "music/english", "../mastered/" + rel, "./" + rel, "/" + rel, "music/english/../english/3.mp3", "music%2Fenglish%2F..%2F4.mp3",
		"../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", rel + "%00", "social/voice/SOC_2_x.mp3",
	} {
		if code, _, body := r.ask(t, "GET", at+"/alike?file="+file, "", admin); code != http.StatusNotFound {
			t.Errorf("%q: %d %s", file, code, body)
		}
	}
	if code, _, _ := r.ask(t, "GET", fmt.Sprintf("/api/social/posts/%d/alike?file=%s", other.ID, rel), "", admin); code != http.StatusNotFound {
		t.Errorf("by a post that is not like it: %d", code)
	}
	if code, _, _ := r.ask(t, "GET", "/api/social/posts/99/alike?file="+rel, "", admin); code != http.StatusNotFound {
		t.Errorf("by no post: %d", code)
	}
	if err := os.Remove(filepath.Join(r.mastered(), rel)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../../../../etc/passwd", filepath.Join(r.mastered(), rel)); err != nil {
		t.Fatal(err)
	}
	if code, _, body := r.ask(t, "GET", path, "", admin); code != http.StatusNotFound {
		t.Errorf("a link out of the library: %d %s", code, body)
	}
	r.alike(t, other.ID, "music/english/gone.mp3")
	if code, _, body := r.ask(t, "GET", fmt.Sprintf("/api/social/posts/%d/alike?file=music/english/gone.mp3", other.ID), "", admin); code != http.StatusNotFound {
		t.Errorf("what has left the library: %d %s", code, body)
	}
	shut := newRigWith(t, func(o *api.Options) { o.Social.AdminKey = "" })
	for _, path := range []string{path, "/api/social/posts?status=pending"} {
		if code, _, _ := shut.ask(t, "GET", path, "", admin); code != http.StatusForbidden {
			t.Errorf("GET %s without a key in the settings: %d", path, code)
		}
	}
}

func TestWhatASubmissionIsAnswered(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	audio := base64.StdEncoding.EncodeToString([]byte("not really audio"))
	send := func(body string, headers ...string) (int, string) {
		code, _, text := r.ask(t, "POST", "/api/social/posts", body, headers...)
		return code, text
	}
	code, first := send(`{"type":"voice","title":"hello","rights":true,"base64":"data:audio/mpeg;base64,`+audio+`"}`, "Idempotency-Key: mine-0001")
	if code != http.StatusAccepted || !strings.Contains(first, `"status":"processing"`) || !strings.Contains(first, `"token":"`) || !strings.Contains(first, `"link":"/social.html#post=1`) {
		t.Fatalf("%d %.400s", code, first)
	}
	if _, again := send(`{"type":"voice","title":"hello","rights":true,"base64":"`+audio+`"}`, "Idempotency-Key: mine-0001"); again != first {
		t.Errorf("again: %s", again)
	}
	for body, want := range map[string]string{
		`{"type":"voice","title":"x","base64":"` + audio + `","rights":false}`:                                  "rights",
		`{"type":"voice","title":" ","base64":"` + audio + `","rights":true}`:                                   "title",
		`{"type":"film","title":"x","base64":"` + audio + `","rights":true}`:                                    "type",
		`{"type":"voice","title":"x","base64":"%%%","rights":true}`:                                             "base64",
		`{"type":"voice","title":"x","rights":true}`:                                                            "sourceUrl or base64",
		`{"type":"voice","title":"x","rights":true,"base64":"` + audio + `","sourceUrl":"http://example.org/"}`: "not both",
	} {
		if code, text := send(body); code != 422 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", body, code, text)
		}
	}
	code, _, text := r.ask(t, "POST", "/api/social/upload/sfx?title=boom&rights=true", "the sound of a door")
	if code != http.StatusAccepted || !strings.Contains(text, `"category":"sfx"`) {
		t.Errorf("a raw body: %d %.300s", code, text)
	}
	if code, _, text = r.ask(t, "POST", "/api/social/upload/sfx?title=boom&rights=true", strings.Repeat("x", 1<<20+1)); code != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %d %.300s", code, text)
	}
	if code, _, text = r.ask(t, "POST", "/api/social/upload/sfx?rights=true", "x"); code != 422 {
		t.Errorf("without a title: %d %.300s", code, text)
	}
}

func TestListenersVoteReactAndReport(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	out := r.planted(t, "out", social.Approved)
	at := fmt.Sprintf("/api/social/posts/%d", out.ID)
	me := "x-athir-device: my-own-device"
	if code, _, body := r.ask(t, "POST", at+"/vote", `{"delta":1}`, me); code != 200 || body != `{"votes":{"up":1,"down":0,"mine":1}}`+"\n" {
		t.Errorf("vote: %d %s", code, body)
	}
	if code, _, body := r.ask(t, "POST", at+"/react", `{"kind":"love"}`, me); code != 200 || !strings.Contains(body, `"reacted":["love"]`) {
		t.Errorf("react: %d %s", code, body)
	}
	if _, _, body := r.ask(t, "GET", at, "", me); !strings.Contains(body, `"mine":1`) || !strings.Contains(body, `"reacted":["love"]`) || !strings.Contains(body, `"votesUp":1`) {
		t.Errorf("seen again: %.500s", body)
	}
	if code, _, body := r.ask(t, "POST", at+"/react", `{"kind":"love","on":false}`, me); code != 200 || !strings.Contains(body, `"reacted":[]`) {
		t.Errorf("taken back: %d %s", code, body)
	}
	if code, _, body := r.ask(t, "POST", at+"/report", `{"why":"spam"}`, me); code != 204 {
		t.Errorf("report: %d %s", code, body)
	}
	if code, _, body := r.ask(t, "GET", "/api/social/chart", ""); code != 200 || !strings.Contains(body, `"place":1`) {
		t.Errorf("chart: %d %.300s", code, body)
	}
	if code, _, body := r.ask(t, "GET", "/api/social/next?type=voice", ""); code != 200 || !strings.Contains(body, `"title":"out"`) {
		t.Errorf("next: %d %.300s", code, body)
	}
	if code, _, body := r.ask(t, "GET", "/api/social/next?type=sfx", ""); code != 200 || strings.Contains(body, `"post"`) {
		t.Errorf("next of none: %d %.300s", code, body)
	}
	owner := "x-post-token: " + out.Token
	if code, _, body := r.ask(t, "POST", at+"/appeal", `{"text":"again"}`, owner); code != 409 {
		t.Errorf("an appeal of an approved post: %d %.200s", code, body)
	}
	if code, _, _ := r.ask(t, "POST", at+"/withdraw", "", "x-post-token: guess"); code != 404 {
		t.Errorf("withdrawn by another: %d", code)
	}
	if code, _, body := r.ask(t, "POST", at+"/withdraw", "", owner); code != 200 || !strings.Contains(body, `"code":"withdrawn"`) {
		t.Errorf("withdraw: %d %.200s", code, body)
	}
	if code, _, _ := r.ask(t, "GET", at, ""); code != 404 {
		t.Errorf("a withdrawn post is shown: %d", code)
	}
}

// Each attachment is whole in memory: only so many are taken at once, from whatever addresses,
// and one that sends slowly does not hold all places. What is small needs none.
func TestFewAttachmentsAreTakenAtOnce(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	var slow []*io.PipeWriter
	var done sync.WaitGroup
	patient := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Hour}}
	defer patient.CloseIdleConnections()
	begin := func(address string) {
		body, w := io.Pipe()
		slow = append(slow, w)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL+"/api/social/posts", body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Forwarded-For", address)
		req.Header.Set("Expect", "100-continue") // so the body is asked for by whoever has a place
		done.Go(func() {
			if res, err := patient.Do(req); err == nil {
				_ = res.Body.Close()
			}
		})
		if _, err := io.WriteString(w, `{"type":`); err != nil {
			t.Fatalf("%s has no place: %v", address, err)
		}
	}
	const small = `{"type":"voice"}`
	large := small + strings.Repeat(" ", 64<<10)
	refused := func(from string) func() bool {
		return func() bool {
			code, head, _ := r.ask(t, "POST", "/api/social/posts", large, "x-forwarded-for: "+from)
			return code == http.StatusServiceUnavailable && head.Get("Retry-After") != ""
		}
	}
	begin("2001:db8:1:1::1")
	begin("2001:db8:1:2::1")
	testkit.Eventually(t, "a site has its places", refused("2001:db8:1:3::1"))
	if code, _, body := r.ask(t, "POST", "/api/social/posts", large, "x-forwarded-for: 203.0.113.1"); code != http.StatusUnprocessableEntity {
		t.Errorf("while one site holds its places, another listener gets %d %.200s", code, body)
	}
	begin("203.0.113.1")
	begin("203.0.113.2")
	testkit.Eventually(t, "all places are taken", refused("203.0.113.3"))
	if code, _, body := r.ask(t, "POST", "/api/social/posts", small, "x-forwarded-for: 203.0.113.3"); code != http.StatusUnprocessableEntity {
		t.Errorf("what is small waits for a place: %d %.200s", code, body)
	}
	for _, w := range slow {
		_ = w.Close()
	}
	done.Wait()
	testkit.Eventually(t, "the places are free", func() bool {
		code, _, _ := r.ask(t, "POST", "/api/social/posts", large)
		return code == http.StatusUnprocessableEntity
	})
	http.DefaultClient.CloseIdleConnections()
}
