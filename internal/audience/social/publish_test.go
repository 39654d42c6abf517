package social_test

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
)

// What changes while all posts are read for the lists is in them afterwards, as it is after a
// restart, which reads everything anew.
func TestWhatChangesWhilePostsArePublishedIsKept(t *testing.T) {
	for at := 1; at <= 2; at++ { // readings of the clock: after that of the posts, and at the end
		reads := -1_000_000
		var change func()
		r := open(t, func(o *social.Options) {
			clock := o.Now
			o.Now = func() time.Time {
				if reads++; reads == at {
					change()
				}
				return clock()
			}
		})
		var ids []int64
		for n := range 5 {
			id := r.planted(t, n, "x")
			write(t, filepath.Join(r.dir, "media", r.get(t, id).File))
			ids = append(ids, id)
		}
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		voted := func(n int, id int64) { _, err := r.Vote(t.Context(), listener(n), id, 1); do(err) }
		reacted := func(n int, id int64, on bool) { _, err := r.React(t.Context(), listener(n), id, "love", on); do(err) }
		decided := func(id int64, op social.Op) {
			do(r.Decide(t.Context(), id, social.Verdict{Op: op, Note: "wait", By: "10.0.0.1"}))
		}
		voted(10, ids[0])
		reacted(10, ids[0], true)
		reacted(10, ids[1], true)
		reacted(11, ids[1], true)
		decided(ids[2], social.OpHold)
		changed := false
		change = func() {
			voted(11, ids[0])
			reacted(11, ids[0], true)
			reacted(10, ids[1], false)
			decided(ids[2], social.OpApprove)
			do(r.Withdraw(t.Context(), ids[3]))
			changed = true
		}
		reads = 0
		do(r.Refresh(t.Context()))
		if !changed {
			t.Fatal("the clock was read less often")
		}
		r.sameAgain(t, at)
	}
}

// sameAgain has the lists and tracks be those after a restart.
func (r *rig) sameAgain(t *testing.T, at int) {
	t.Helper()
	listed := func() (out [][]social.Shown) {
		for _, sort := range []social.Sort{social.ByNew, social.ByTop, social.ByRising, social.ByAired} {
			page, err := r.List(t.Context(), social.Query{Sort: sort})
			if err != nil {
				t.Fatal(err)
			}
			shown := []social.Shown{}
			for _, p := range page.Posts {
				shown = append(shown, r.Show(&p))
			}
			out = append(out, shown)
		}
		return out
	}
	tracks, lists := *r.Tracks(), listed()
	r.again(t)
	if !reflect.DeepEqual(tracks, *r.Tracks()) || len(tracks) != 4 {
		t.Errorf("changed at reading %d: tracks %v, after a restart %v", at, tracks, *r.Tracks())
	}
	if now := listed(); !reflect.DeepEqual(now, lists) {
		t.Errorf("changed at reading %d: %+v, after a restart %+v", at, lists, now)
	}
}
