package api_test

import (
	"encoding/json"
	"testing"

	"github.com/athir-radio/athir/internal/audience/social"
)

// The studio begins a post where it is loudest, and shows what the check noted and who sent
// it, before it has asked for that post alone.
func TestTheQueueTellsWhatTheCheckFound(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	const admin = "x-admin-key: " + adminKey
	first, second := r.planted(t, "first", social.Pending), r.planted(t, "second", social.Pending)
	r.exec(t, `UPDATE social_posts SET finding = '{"Notes":["mono"],"LoudestAt":7000000000}' WHERE id = ?`, first.ID)
	var list struct {
		Posts []struct {
			ID        int64
			Notes     []string
			LoudestAt int64
			Submitter struct{ Posts int }
		}
	}
	code, _, body := r.ask(t, "GET", "/api/social/posts?status=pending&sort=oldest", "", admin)
	if err := json.Unmarshal([]byte(body), &list); err != nil || code != 200 || len(list.Posts) != 2 {
		t.Fatalf("%d %.300s", code, body)
	}
	if p := list.Posts[0]; p.ID != first.ID || len(p.Notes) != 1 || p.LoudestAt != 7000 || p.Submitter.Posts != 1 {
		t.Errorf("%+v", p)
	}
	if p := list.Posts[1]; p.ID != second.ID || len(p.Notes) != 0 || p.LoudestAt != 0 || p.Submitter.Posts != 1 {
		t.Errorf("%+v", p)
	}
}
