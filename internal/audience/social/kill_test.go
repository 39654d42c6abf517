package social_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
)

// A station that is killed at the moment at which its rule approves a post has not lost the
// approval: the post is still with the worker.
func TestAKillAtTheApprovalByRuleLosesNoApproval(t *testing.T) {
	ctx, kill := context.WithCancel(t.Context())
	r := open(t, func(o *social.Options) {
		o.Trust = func(social.Trusted) bool { kill(); return true }
	})
	got := r.send(t, 1, social.Draft{Type: social.Voice, Title: "hello"}, music(t, r.dir, 50, 6))
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if p := r.get(t, got.ID); p.Status != social.Processing {
		t.Fatalf("after the kill it is %s", p.Status)
	}
	r.again(t)
	r.mu.Lock()
	r.told = nil
	r.mu.Unlock()
	r.work(t)
	if p := r.get(t, got.ID); p.Status != social.Approved || r.Approved(got.ID) == nil {
		t.Fatalf("after the next start it is %s", p.Status)
	}
	lines, err := r.History(t.Context(), got.ID)
	if err != nil {
		t.Fatal(err)
	}
	var did []string
	for _, l := range lines {
		did = append(did, l.Who+" "+l.Action)
	}
	if want := []string{"submitter submit", "machine pass", "machine approve"}; !slices.Equal(did, want) {
		t.Errorf("history %q", did)
	}
	if len(r.told) != 1 || r.told[0].What != social.WasApproved {
		t.Errorf("told %+v", r.told)
	}
}

// Killed at whatever reading of the clock, a report that is the last one needed is there and
// has pulled the post back, or is not there.
func TestAKillLeavesNoReportWithoutItsEffect(t *testing.T) {
	for at, killed := 1, true; killed; at++ {
		ctx, kill := context.WithCancel(t.Context())
		reads := -1_000_000 // until the report that is killed
		r := open(t, func(o *social.Options) {
			clock := o.Now
			o.Now = func() time.Time {
				if reads++; reads == at {
					kill()
				}
				return clock()
			}
		})
		id := r.planted(t, 1, "x")
		for n := range 2 {
			if err := r.Report(t.Context(), listener(10+n), id, "spam", ""); err != nil {
				t.Fatal(err)
			}
		}
		reads = 0
		err := r.Report(ctx, listener(12), id, "spam", "")
		killed = reads >= at
		r.again(t)
		reports, lost := r.ReportsOf(t.Context(), id)
		if lost != nil {
			t.Fatal(lost)
		}
		p := r.get(t, id)
		if (len(reports) == 3) != (p.Status == social.Pending) || (len(reports) == 3) != (err == nil) {
			t.Errorf("killed at reading %d: %d reports, it is %s, answered %v", at, len(reports), p.Status, err)
		}
		kill()
	}
}
