package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// A week with 300 posts in the order in which the station ranks them: nothing is broken,
// and every post is heard within 48 hours of its approval.
func TestSimulatedPostsAreHeardInTheStationsOrder(t *testing.T) {
	out, err := simulated(t, t.Context(), "--library=synthetic:400", "--days=7", "--posts=300", "--seed=5", "--json")
	if err != nil {
		t.Fatal(err)
	}
	type post struct {
		Posts, Late int
		Due         int `json:"due_in_48_h"`
		Share       float64
	}
	var got struct {
		Violations struct{ Total int }
		Listeners  struct {
			Posts      map[string]post
			Submitters struct{ Submitters, Max int }
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %.300s", err, out)
	}
	posts, due := 0, 0
	for c, p := range got.Listeners.Posts {
		posts, due = posts+p.Posts, due+p.Due
		if p.Late > 0 || p.Share > 0.34 {
			t.Errorf("%s: %+v", c, p)
		}
	}
	if got.Violations.Total != 0 || posts != 300 || due < 150 || got.Listeners.Submitters.Max < 10 {
		t.Errorf("%d violations, %d posts, %d judged, %+v", got.Violations.Total, posts, due, got.Listeners.Submitters)
	}
	table, err := simulated(t, t.Context(), "--library=synthetic:200", "--days=2", "--posts=40", "--requests=20")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"listeners' posts", "plays by submitter", "median", "Gini", "requests", "granted"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table says nothing of %q:\n%s", want, table)
		}
	}
}
