package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Plays of posts are counted from what was heard and from nothing else, so they stay when
// the history is pruned; all others go.
func TestPlaysOfPostsStay(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(60)))
	path := r.built().Rotation.Entries[0].Track.Path
	old := time.Now().Add(-30 * 24 * time.Hour)
	for i, p := range []string{station.PostFile("song", 7, "a"), station.PostFile("song", 7, "a"), station.PostFile("song", 70, "b"), "social/song/SOC_x.mp3", "social/SOC_1_a.mp3", "music/english/SOC_1_a.mp3"} {
		r.exec(`INSERT INTO plays (at, engine, seq, path, artist, title, category, round) VALUES (?, 'e', ?, ?, '', '', 'english', 1)`, old.Add(time.Duration(i)*time.Hour).UnixMilli(), i, p)
	}
	r.hear("player", 1, path)
	check := func(prefix string, want map[string]int) {
		t.Helper()
		got, err := r.PlaysOf(t.Context(), prefix)
		if err != nil || len(got) != len(want) {
			t.Errorf("%q: %v, %v, want %v", prefix, got, err, want)
		}
		for p, n := range want {
			if got[p].Count != n {
				t.Errorf("%q: %s was heard %d times, want %d", prefix, p, got[p].Count, n)
			}
		}
	}
	check("", map[string]int{"social/song/SOC_7_a.mp3": 2, "social/song/SOC_70_b.mp3": 1, path: 1})
	check("\xff", nil)
	check("social/song/SOC_7_", map[string]int{"social/song/SOC_7_a.mp3": 2})
	check("social/song/SOC_7", map[string]int{"social/song/SOC_7_a.mp3": 2, "social/song/SOC_70_b.mp3": 1})
	if got, _ := r.PlaysOf(t.Context(), "social/"); !got["social/song/SOC_7_a.mp3"].Last.Equal(old.Add(time.Hour).Truncate(time.Millisecond)) {
		t.Errorf("last heard %s", got["social/song/SOC_7_a.mp3"].Last)
	}
}

// A year of posts must slow down neither each marker nor the count: indexes serve both.
func TestPlaysOfPostsAreFoundByIndex(t *testing.T) {
	r := newRig(t, &node{}, newShelf(songs(60)))
	r.built()
	db := r.database()
	defer db.Close() //nolint:errcheck // only read
	for index, query := range map[string]string{
		"plays_forgotten": `DELETE FROM plays WHERE at < 5 AND path NOT GLOB 'social/?*/SOC_[0-9]*'`,
		"plays_path":      `SELECT path, count(*), max(at) FROM plays WHERE path >= 'a' AND path < 'b' GROUP BY path`,
	} {
		var id, parent, unused int
		var plan string
		if err := db.Read().QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN "+query).Scan(&id, &parent, &unused, &plan); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plan, index) {
			t.Errorf("%s: %s", query, plan)
		}
	}
}
