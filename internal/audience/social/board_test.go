package social

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A board that was changed post by post is the one that is made of the same posts at once.
func TestABoardChangedPostByPostIsTheWholeOne(t *testing.T) {
	made := time.UnixMilli(1_764_000_000_000)
	rapid.Check(t, func(t *rapid.T) {
		plays := map[string]Airing{}
		drawn := func(id int64) *Post {
			// Few values, for many ties.
			few := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
			p := &Post{ID: id, Status: []Status{Approved, Approved, Rejected}[few("status", 2)], File: fmt.Sprintf("social/song/SOC_%d_%d.mp3", id, few("file", 1))}
			p.Approved = made.Add(-time.Duration(few("approved", 3)) * 5 * time.Hour).Add(time.Minute).UnixMilli()
			p.Votes.WeighedUp, p.Votes.WeighedDown = float64(few("up", 2)), float64(few("down", 1))
			p.Votes.Late.Up = min(p.Votes.WeighedUp, float64(few("late", 1)))
			return p
		}
		for id := range int64(12) {
			if n := rapid.IntRange(0, 2).Draw(t, "plays"); n > 0 {
				plays[fmt.Sprintf("social/song/SOC_%d_0.mp3", id)] = Airing{Plays: n, Last: made.Add(-time.Duration(n) * time.Hour)}
			}
		}
		now := map[int64]*Post{}
		b := newBoard(nil, plays, made)
		for range rapid.IntRange(0, 40).Draw(t, "changes") {
			p := drawn(rapid.Int64Range(0, 11).Draw(t, "id"))
			now[p.ID], b = p, b.with(p)
		}
		var left []*Post
		for _, p := range now {
			if p.Visible() {
				left = append(left, p)
			}
		}
		want := newBoard(left, plays, made)
		if !slices.Equal(b.posts, want.posts) {
			t.Fatalf("posts %v, want %v", ids(b.posts), ids(want.posts))
		}
		for by := range want.order {
			if !slices.Equal(b.order[by], want.order[by]) {
				t.Fatalf("%s: %v, want %v", by, ids(b.order[by]), ids(want.order[by]))
			}
		}
	})
}

func ids(posts []*Post) (out []int64) {
	for _, p := range posts {
		out = append(out, p.ID)
	}
	return out
}
