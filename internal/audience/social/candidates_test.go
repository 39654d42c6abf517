package social_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// voted has music approved by ten votes.
func voted(o *social.Options) { o.ApproveVotes = 10 }

// waits is a post of a type that was mastered and waits for its moderator.
func (r *rig) waits(t *testing.T, n int, typ social.Type) int64 {
	t.Helper()
	got, err := r.SubmitURL(t.Context(), listener(n), social.Draft{Type: typ, Title: fmt.Sprint(typ, " ", n), Rights: true}, "http://example.org/x.mp3")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.PlantCandidate(t.Context(), got.ID); err != nil {
		t.Fatal(err)
	}
	return got.ID
}

// meets has the station know so many listeners, from 1000 on, for a day.
func (r *rig) meets(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		if err := r.Met(t.Context(), listener(1000+i)); err != nil {
			t.Fatal(err)
		}
	}
	r.later(25 * time.Hour)
}

// votes has listeners from..to vote.
func (r *rig) votes(t *testing.T, id int64, from, to, delta int) {
	t.Helper()
	for n := from; n < to; n++ {
		if _, err := r.Vote(t.Context(), listener(1000+n), id, delta); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *rig) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if err := r.opt.DB.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), query, args...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// candidates are the ids that listeners are shown.
func (r *rig) candidates(t *testing.T) (ids []int64) {
	t.Helper()
	page, err := r.List(t.Context(), social.Query{Candidates: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range page.Posts {
		ids = append(ids, p.ID)
	}
	return ids
}

func TestMusicIsApprovedByVotes(t *testing.T) {
	r := open(t, voted)
	r.meets(t, 20)
	id := r.waits(t, 1, social.Song)
	r.votes(t, id, 0, 9, 1)
	p := r.get(t, id)
	if p.Status != social.Pending || !r.Candidate(&p) || p.Votes.Support != 9 || *r.Show(&p).Candidate != (social.ShownCandidate{Needed: 10, Has: 9}) {
		t.Fatalf("after nine votes: %s %+v", p.Status, p.Votes)
	}
	if len(*r.Tracks()) != 0 || len(r.Overlay()) != 0 || r.Approved(id) != nil {
		t.Error("a candidate is offered to the air")
	}
	if chart, _, _ := r.Chart(); len(chart) != 0 {
		t.Error("a candidate is in the chart")
	}
	if _, ok := r.Next(social.Song, ""); ok {
		t.Error("a candidate is the next post")
	}
	if _, err := r.React(t.Context(), listener(3), id, "love", true); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("a reaction to a candidate: %v", err)
	}
	r.votes(t, id, 9, 10, -1)
	r.votes(t, id, 10, 11, 1)
	if p := r.get(t, id); p.Status != social.Pending || p.Votes.Support != 9 {
		t.Fatalf("ten for it and one against: %s %+v", p.Status, p.Votes)
	}
	r.mu.Lock()
	r.told, r.sent = nil, nil
	r.mu.Unlock()
	r.votes(t, id, 11, 13, 1)
	p = r.get(t, id)
	if p.Status != social.Approved || p.Approved == 0 || r.Approved(id) == nil || r.Candidate(&p) || len(r.Overlay()[station.ArabicHits]) != 1 {
		t.Fatalf("eleven for it and one against: %s %+v", p.Status, p.Votes)
	}
	if len(r.told) != 1 || r.told[0].What != social.WasApproved || !slices.Equal(r.sent, []string{"social_post", "social_queue"}) {
		t.Errorf("told %v, sent %v", r.told, r.sent)
	}
	history, err := r.History(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	last := history[len(history)-1]
	if last.Who != "listeners" || last.Action != "voted" || last.Detail != "approve_votes: 10" {
		t.Errorf("history ends with %+v", last)
	}
	if n := slices.IndexFunc(history, func(e social.Entry) bool { return e.Action == "voted" }); n != len(history)-1 {
		t.Error("it was approved more than once")
	}
}

// Which posts are put to the vote, and which wait for a person.
func TestWhatIsPutToTheVote(t *testing.T) {
	r := open(t, voted)
	song := r.waits(t, 1, social.Song)
	mashup := r.waits(t, 2, social.Mashup)
	for n, typ := range social.Types() {
		if !typ.Category().Music() {
			r.waits(t, 10+n, typ)
		}
	}
	noted := r.waits(t, 30, social.Song)
	r.exec(t, `UPDATE social_posts SET plain = 0 WHERE id = ?`, noted)
	unmastered := r.waits(t, 31, social.Song)
	r.exec(t, `UPDATE social_posts SET file = '' WHERE id = ?`, unmastered)
	if got := r.candidates(t); !slices.Equal(got, []int64{mashup, song}) {
		t.Errorf("candidates %v", got)
	}
	for _, note := range []string{check.NoteSpeech, check.NotePolyglot, check.NoteAttachments, check.NoteLinked, check.NoteErrors, check.NoteClipped, check.NoteNarrow, check.NoteWide, "new"} {
		if social.Plainly([]string{check.NoteMono, note}, 0) {
			t.Errorf("%s does not keep a post for a person", note)
		}
	}
	if !social.Plainly([]string{check.NoteMono, check.NoteVideo, check.NoteOffset, check.NoteTracks}, 0) || social.Plainly(nil, 1) {
		t.Error("what is plain and what is alike are mistaken")
	}
	p := r.get(t, song)
	if err := r.Judge(t.Context(), p.Submitter, false, true); err != nil {
		t.Fatal(err)
	}
	if got := r.candidates(t); !slices.Equal(got, []int64{mashup}) {
		t.Errorf("with a blocked submitter: %v", got)
	}
	if _, err := r.Vote(t.Context(), listener(5), song, 1); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("a vote on a blocked submitter's: %v", err)
	}
	stats, err := r.Waiting(t.Context())
	if err != nil || stats.Candidates != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
}

// Without the rule a post that waits is nobody's but moderators'.
func TestWithoutTheRuleNothingIsPutToTheVote(t *testing.T) {
	r := open(t, nil)
	id := r.waits(t, 1, social.Song)
	p := r.get(t, id)
	if r.Candidate(&p) || r.Public(&p) || r.Show(&p).Candidate != nil || len(r.candidates(t)) != 0 {
		t.Error("it is shown")
	}
	if _, err := r.Vote(t.Context(), listener(5), id, 1); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("a vote: %v", err)
	}
	if err := r.Report(t.Context(), listener(5), id, "spam", ""); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("a report: %v", err)
	}
	if slices.Contains(r.sent, "social_post") {
		t.Error("everybody was told of it")
	}
}

// A moderator's hand is the last word, whatever is voted and whatever the hand has done.
func TestWhatAModeratorHasTouchedIsNotPutToTheVote(t *testing.T) {
	r := open(t, voted)
	r.meets(t, 10)
	for _, v := range []social.Verdict{
		{Op: social.OpHold, Note: "later"}, {Op: social.OpReview}, {Op: social.OpProcess},
		{Op: social.OpReject, Code: refusal.Quality}, {Op: social.OpApprove},
	} {
		id := r.waits(t, 100, social.Song)
		r.votes(t, id, 0, 9, 1)
		r.exec(t, `UPDATE social_votes SET known = 1 WHERE post = ?`, id)
		r.mu.Lock()
		r.sent = nil
		r.mu.Unlock()
		v.By = "10.0.0.1"
		if err := r.Decide(t.Context(), id, v); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(r.sent, "social_post") {
			t.Errorf("%s: pages are not told", v.Op)
		}
		switch v.Op {
		case social.OpApprove: // taken back
			if err := r.Decide(t.Context(), id, social.Verdict{Op: social.OpReview}); err != nil {
				t.Fatal(err)
			}
		case social.OpProcess: // done
			if err := r.PlantCandidate(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		r.exec(t, `UPDATE social_posts SET support = 99 WHERE id = ?`, id)
		if _, err := r.Vote(t.Context(), listener(1009), id, 1); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("%s: a vote: %v", v.Op, err)
		}
		r.ElectDue(t.Context())
		if p := r.get(t, id); p.Status == social.Approved || r.Candidate(&p) {
			t.Errorf("%s: it is %s", v.Op, p.Status)
		}
	}
}

func TestReportsTakeAPostOutOfTheVote(t *testing.T) {
	r := open(t, voted)
	r.meets(t, 10)
	id := r.waits(t, 1, social.Song)
	r.votes(t, id, 0, 9, 1)
	for n := range 2 {
		if err := r.Report(t.Context(), listener(50+n), id, "rights", ""); err != nil {
			t.Fatal(err)
		}
	}
	if p := r.get(t, id); !r.Candidate(&p) {
		t.Fatal("two reports of three have taken it out")
	}
	if err := r.Report(t.Context(), listener(53), id, "rights", ""); err != nil {
		t.Fatal(err)
	}
	p := r.get(t, id)
	if p.Status != social.Pending || p.Reason == nil || p.Reason.Code != refusal.Reported || r.Candidate(&p) {
		t.Fatalf("%s, %v", p.Status, p.Reason)
	}
	if _, err := r.Vote(t.Context(), listener(1009), id, 1); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("a vote: %v", err)
	}
}

// What votes have decided and a kill has kept from being done is done at the next start, and
// so is what a change of the settings decides.
func TestWhatIsDueIsApprovedAtTheStart(t *testing.T) {
	r := open(t, func(o *social.Options) { o.ApproveVotes = 20 })
	r.meets(t, 10)
	due, short := r.waits(t, 1, social.Song), r.waits(t, 2, social.Song)
	r.votes(t, due, 0, 10, 1)
	r.votes(t, short, 0, 9, 1)
	r.opt.ApproveVotes = 10
	r.again(t)
	stop := testkit.Background(t, r.Run)
	defer stop()
	testkit.Eventually(t, "the post is approved", func() bool { return r.get(t, due).Status == social.Approved })
	if p := r.get(t, short); p.Status != social.Pending {
		t.Errorf("the other is %s", p.Status)
	}
}

// Votes and moderators at once: whatever comes first, a post has one fate and it is the
// moderator's where there is one.
func TestVotesRaceModerators(t *testing.T) {
	r := open(t, voted)
	r.meets(t, 10)
	for round := range 20 {
		id := r.waits(t, 100+round, social.Song)
		r.votes(t, id, 0, 8, 1)
		var all sync.WaitGroup
		for n := 8; n < 10; n++ {
			all.Go(func() {
				if _, err := r.Vote(context.WithoutCancel(t.Context()), listener(1000+n), id, 1); err != nil && !errors.Is(err, station.ErrNotFound) {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			if err := r.Decide(context.WithoutCancel(t.Context()), id, social.Verdict{Op: social.OpReject, Code: refusal.Rights}); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if p := r.get(t, id); p.Status != social.Rejected || r.Approved(id) != nil {
			t.Fatalf("round %d: it is %s", round, p.Status)
		}
	}
}
