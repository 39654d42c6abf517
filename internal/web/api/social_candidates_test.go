package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/web/api"
)

// Without the rule a post that waits is not there for listeners, nor are its files; with it
// they may hear it and vote on it.
func TestAPostThatWaitsIsPublicByTheOperatorsRuleAlone(t *testing.T) {
	var r *rig
	var needed int
	open := func(votes int) {
		r = newRigWith(t, func(o *api.Options) { o.StationKey = secret.Of("open-sesame") })
		if needed = votes; votes > 0 {
			r.posts.Posts = r.platformWith(t, social.Limits{Bytes: 1 << 20}, votes)
		}
	}
	for votes, code := range map[int]int{0: 404, 10: 200} {
		open(votes)
		waits, plain := r.candidate(t, "waits"), r.planted(t, "imaging", "pending")
		at := fmt.Sprintf("/api/social/posts/%d", waits.ID)
		for path, want := range map[string]int{
			at: code, at + "/audio": code, at + "/cover": code,
			fmt.Sprintf("/api/social/posts/%d", plain.ID): 404, fmt.Sprintf("/api/social/posts/%d/audio", plain.ID): 404,
			"/api/social/posts?status=pending": 401, "/api/social/posts?status=candidate&reason=held": 401,
		} {
			if got, _, body := r.ask(t, "GET", path, ""); got != want {
				t.Errorf("%d votes: GET %s: %d, want %d: %.200s", votes, path, got, want, body)
			}
		}
		for path, body := range map[string]string{"/vote": `{"delta":1}`, "/report": `{"why":"spam"}`} {
			want := code
			if path == "/report" && code == 200 {
				want = http.StatusNoContent
			}
			if got, _, text := r.ask(t, "POST", at+path, body, "x-athir-device: my-own-device"); got != want {
				t.Errorf("%d votes: POST %s: %d, want %d: %.200s", votes, path, got, want, text)
			}
		}
		if got, _, _ := r.ask(t, "POST", at+"/react", `{"kind":"love"}`); got != 404 {
			t.Errorf("%d votes: a reaction: %d", votes, got)
		}
		got, head, list := r.ask(t, "GET", "/api/social/posts?status=candidate", "")
		there := strings.Contains(list, `"title":"waits"`) && strings.Contains(list, fmt.Sprintf(`"candidate":{"needed":%d,"has":1}`, needed))
		if got != 200 || there != (votes > 0) || strings.Contains(list, "imaging") || strings.Contains(list, `"submitter"`) || strings.Contains(list, `"file"`) {
			t.Errorf("%d votes: the list: %d %.500s", votes, got, list)
		}
		if got, _, _ := r.ask(t, "GET", "/api/social/posts?status=candidate", "", "If-None-Match: "+head.Get("ETag")); got != http.StatusNotModified {
			t.Errorf("%d votes: the same list again: %d", votes, got)
		}
		_, _, status := r.ask(t, "GET", "/api/social/status", "")
		if !strings.Contains(status, fmt.Sprintf(`"approveVotes":%d`, votes)) || strings.Contains(status, `"candidate":1`) != (votes > 0) {
			t.Errorf("%d votes: status %.900s", votes, status)
		}
		for _, path := range []string{"/api/social/posts", "/api/social/chart"} {
			if _, _, body := r.ask(t, "GET", path, ""); strings.Contains(body, "waits") {
				t.Errorf("%d votes: %s has it: %.300s", votes, path, body)
			}
		}
	}
	admin := "x-admin-key: " + adminKey
	open(10)
	waits := r.candidate(t, "waits")
	if got, _, body := r.ask(t, "GET", "/api/social/posts?status=candidate&sort=oldest&type=song", "", admin); got != 200 || !strings.Contains(body, `"submitter"`) {
		t.Errorf("a moderator's list: %d %.300s", got, body)
	}
	at := fmt.Sprintf("/api/social/posts/%d", waits.ID)
	if got, _, body := r.ask(t, "POST", at+"/hold", `{"note":"later"}`, admin); got != 200 || strings.Contains(body, `"candidate"`) {
		t.Errorf("held: %d %.300s", got, body)
	}
	if got, _, _ := r.ask(t, "GET", at, ""); got != 404 {
		t.Errorf("held, it is still public: %d", got)
	}
}

// A station that takes no posts says so, and nothing breaks.
func TestAStationWithoutPostsHasNoCandidates(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) { o.Social = nil })
	for path, want := range map[string]int{
		"/api/social/posts?status=candidate": 503, "/api/social/posts/1": 503, "/api/social/posts/1/audio": 503, "/api/social/status": 200,
	} {
		if got, _, body := r.ask(t, "GET", path, ""); got != want {
			t.Errorf("GET %s: %d, want %d: %.200s", path, got, want, body)
		}
	}
	for path, body := range map[string]string{"vote": `{"delta":1}`, "report": `{"why":"spam"}`} {
		if got, _, text := r.ask(t, "POST", "/api/social/posts/1/"+path, body); got != 503 {
			t.Errorf("POST %s: %d %.200s", path, got, text)
		}
	}
}
