package social_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/station"
)

// planted is an approved post that was not processed: votes do not need its sound.
func (r *rig) planted(t *testing.T, n int, title string) int64 {
	t.Helper()
	got, err := r.SubmitURL(t.Context(), listener(n), social.Draft{Type: social.Voice, Title: title, Rights: true}, "http://example.org/x.mp3")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Plant(t.Context(), got.ID); err != nil {
		t.Fatal(err)
	}
	return got.ID
}

func TestAListenerHasOneVoteAndMayChangeIt(t *testing.T) {
	r := open(t, nil)
	id := r.planted(t, 1, "a")
	me := listener(7)
	for _, c := range []struct {
		delta, up, down int
	}{{1, 1, 0}, {1, 1, 0}, {-1, 0, 1}, {0, 0, 0}, {0, 0, 0}, {1, 1, 0}} {
		v, err := r.Vote(t.Context(), me, id, c.delta)
		if err != nil || v.Up != c.up || v.Down != c.down {
			t.Errorf("after %d: %+v, %v", c.delta, v, err)
		}
	}
	for delta, want := range map[int]error{2: station.ErrInvalid, -2: station.ErrInvalid} {
		if _, err := r.Vote(t.Context(), me, id, delta); !errors.Is(err, want) {
			t.Errorf("%d: %v", delta, err)
		}
	}
	if _, err := r.Vote(t.Context(), me, id+1, 1); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("a post that is not there: %v", err)
	}
	mine, err := r.MineOf(t.Context(), me, []int64{id})
	if err != nil || mine[id].Vote != 1 {
		t.Errorf("mine: %+v, %v", mine, err)
	}
	if _, err := r.React(t.Context(), me, id, "love", true); err != nil {
		t.Fatal(err)
	}
	if got, err := r.React(t.Context(), me, id, "love", true); err != nil || got["love"] != 1 {
		t.Errorf("twice the same reaction: %v, %v", got, err)
	}
	if _, err := r.React(t.Context(), me, id, "hate", true); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("an unknown kind: %v", err)
	}
	if got, err := r.React(t.Context(), me, id, "love", false); err != nil || got["love"] != 0 {
		t.Errorf("taken back: %v, %v", got, err)
	}
}

func TestBrigadesMoveLessThanTenListeners(t *testing.T) { brigades(t, 2000) }

// bought has so many votes cast on a post, from 200 addresses of 25 networks and devices out of
// 50,000 made-up ones, from number first on; it returns how many were taken.
func (r *rig) bought(t *testing.T, id int64, votes, first int) (taken int) {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	for worker := range 50 {
		all.Go(func() {
			for i := range votes / 50 {
				n := first + worker*votes/50 + i
				from := social.Client{Address: fmt.Sprintf("41.%d.7.%d", n%200/8, n%200), Device: fmt.Sprintf("made-up-%06d", (n*5)%50_000)}
				if _, err := r.Vote(t.Context(), from, id, 1); err == nil {
					mu.Lock()
					taken++
					mu.Unlock()
				} else if !errors.Is(err, station.ErrConflict) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	return taken
}

func TestBrigadesApproveNoCandidate(t *testing.T) { brigadesOnCandidate(t, 2000) }

// brigadesOnCandidate has ten listeners approve a candidate, which so many bought votes do not.
func brigadesOnCandidate(t *testing.T, votes int) {
	t.Helper()
	r := open(t, voted)
	r.meets(t, 10)
	honest, bought := r.waits(t, 1, social.Song), r.waits(t, 2, social.Song)
	r.votes(t, honest, 0, 10, 1)
	taken := r.bought(t, bought, votes, 0)
	p := r.get(t, bought)
	t.Logf("%d votes taken: support %g", taken, p.Votes.Support)
	if now := r.get(t, honest); now.Status != social.Approved {
		t.Errorf("ten listeners: it is %s, %+v", now.Status, now.Votes)
	}
	if p.Status != social.Pending || p.Votes.Support > 3 || taken < votes/10 {
		t.Errorf("bought: it is %s, %+v, of %d votes", p.Status, p.Votes, taken)
	}
	events := 0
	for _, e := range r.sent {
		if e == "social_post" {
			events++
		}
	}
	if events > 30 {
		t.Errorf("%d events for three whole votes and those of ten listeners", events)
	}
}

// brigades has so many votes, from 200 addresses and made-up devices, move a post less than
// ten listeners whom the station knows.
func brigades(t *testing.T, votes int) {
	t.Helper()
	r := open(t, nil)
	honest, bought, plain := r.planted(t, 1, "honest"), r.planted(t, 2, "bought"), r.planted(t, 3, "plain")
	for n := range 10 { // they have voted before
		if err := r.Met(t.Context(), listener(1000+n)); err != nil {
			t.Fatal(err)
		}
	}
	r.later(25 * time.Hour)
	for n := range 10 {
		if _, err := r.Vote(t.Context(), listener(1000+n), honest, 1); err != nil {
			t.Fatal(err)
		}
	}
	taken := r.bought(t, bought, votes, 0)
	score := func(id int64) float64 {
		p := r.get(t, id)
		return r.Score(&p).Total
	}
	base := score(plain)
	t.Logf("10 listeners move it by %.3f, %d bought votes (of which %d were taken) by %.3f", score(honest)-base, votes, taken, score(bought)-base)
	if gained := score(bought) - base; gained >= score(honest)-base || math.IsNaN(gained) {
		t.Errorf("bought votes move a post by %.3f, ten listeners by %.3f", gained, score(honest)-base)
	}
	if orders := r.Overlay()[station.Sweepers]; len(orders) != 3 {
		t.Errorf("overlay %v", orders)
	}
}

func TestListsAreInOrderAndGoOnWhereTheyEnded(t *testing.T) {
	r := open(t, nil)
	var ids []int64
	for n := range 7 {
		ids = append(ids, r.planted(t, n, fmt.Sprintf("أُغنيّة %d", n)))
		r.later(time.Minute)
	}
	if _, err := r.Vote(t.Context(), listener(99), ids[2], 1); err != nil {
		t.Fatal(err)
	}
	page, err := r.List(t.Context(), social.Query{Sort: social.ByTop, Limit: 3})
	if err != nil || page.Total != 7 || len(page.Posts) != 3 || page.Posts[0].ID != ids[2] || page.Next == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	seen := map[int64]int{}
	for q := (social.Query{Limit: 3}); ; {
		page, err := r.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Posts {
			seen[p.ID]++
		}
		if len(seen) == 3 { // one comes, and the last one shown goes
			r.planted(t, 50, "new")
			if err := r.Withdraw(t.Context(), page.Posts[1].ID); err != nil {
				t.Fatal(err)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	for _, id := range ids {
		if seen[id] != 1 {
			t.Errorf("post %d was listed %d times", id, seen[id])
		}
	}
	if page, err := r.List(t.Context(), social.Query{Text: "اغنية 3"}); err != nil || len(page.Posts) != 1 || page.Posts[0].ID != ids[3] {
		t.Errorf("a search: %+v, %v", page, err)
	}
	if _, err := r.List(t.Context(), social.Query{Cursor: "x!"}); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("a made-up cursor: %v", err)
	}
	if page, err := r.List(t.Context(), social.Query{Status: social.Processing}); err != nil || page.Total != 0 {
		t.Errorf("others: %+v, %v", page, err)
	}
}

// A vote counts as one of the last day at once: as an older one it would lower what it raises.
func TestAVoteUpRaisesAPostAtOnce(t *testing.T) {
	r := open(t, nil)
	r.planted(t, 1, "first")
	second, third := r.planted(t, 2, "second"), r.planted(t, 3, "third")
	r.later(72 * time.Hour)
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Vote(t.Context(), listener(9), second, 1); err != nil {
		t.Fatal(err)
	}
	page, err := r.List(t.Context(), social.Query{Sort: social.ByRising})
	if err != nil || page.Posts[0].ID != second {
		t.Errorf("%d rises most, the vote was on %d, %v", page.Posts[0].ID, second, err)
	}
	if page.Posts[1].ID != third {
		t.Errorf("of equal ones the later approved is not first: %d", page.Posts[1].ID)
	}
}
