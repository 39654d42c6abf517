package playout_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// Skips to new lists, one soon after the other, into music and into imaging.
// What the cross has read ahead must not play out first, and the head must not
// wait to be opened until the cross reads on: either costs up to two seconds.
func TestSkipsInARowAreHeardAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 20*second), music(1, 20*second)))
	r.boot()
	r.heard(0, 0)
	jingle := entry{id: 20, kind: "jingles", cross: "0.5", long: 4 * second}
	sfx := entry{id: 21, kind: "sfx", cross: "0.2", long: 2 * second}
	lists := [][]entry{
		{music(2, 20*second), jingle}, {music(3, 20*second), sfx}, {music(4, 20*second), jingle},
		{music(5, 20*second), sfx}, {music(6, 20*second), jingle}, {music(7, 20*second), sfx}, {music(8, 20*second), sfx},
	}
	var took []time.Duration
	for i, list := range lists {
		head := list[0].file(r.dir)
		r.push(r.list(list...))
		pressed := time.Now()
		for { // as the control plane does: the skip waits for the head
			s, err := r.client.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Prepared) > 0 && s.Prepared[0] == head {
				break
			}
			if time.Since(pressed) > time.Minute {
				t.Fatalf("the head of list %d is never opened: %+v", i, s)
			}
			time.Sleep(5 * time.Millisecond)
		}
		if err := r.client.Skip(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.eventually(func() error {
			files := r.control.files()
			if files[len(files)-1] != "rotation "+filepath.Base(head) {
				return errNotYet
			}
			return nil
		})
		took = append(took, time.Since(pressed))
		r.recorded(r.now() + 600*time.Millisecond)
	}
	slices.Sort(took)
	t.Logf("from the push to the marker of the new head: %s", took)
	if late := took[len(took)/2]; late > second {
		t.Errorf("half of the skips take longer than %s", late)
	}
}

// Lists and skips at random moments, from the first second on: a skip may meet
// a list that was just read, with nothing open yet. Whatever happens, the
// listeners stay connected, and no list's head is begun twice.
func TestSkipsThatRaceWithReloadsLoseNoListener(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 20*second), music(1, 20*second)))
	r.boot()
	var lists [][]byte
	heads := map[string]bool{}
	for id := 2; id < 14; id++ {
		e := music(id, 20*second)
		if id%3 == 0 {
			e.kind, e.cross = "jingles", "0.5"
		}
		heads[e.file(r.dir)] = true
		lists = append(lists, r.list(e, music(30+id%10, 20*second)))
	}
	for _, list := range lists {
		r.push(list)
		for range 1 + rand.IntN(2) {
			time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond) // any instant
			if err := r.client.Skip(t.Context()); err != nil && !errors.Is(err, station.ErrConflict) {
				t.Fatal(err)
			}
		}
	}
	end := r.now()
	r.recorded(end + 2*second)
	begun := map[string]int{}
	for _, m := range r.control.markers() {
		if begun[m.File]++; heads[m.File] && begun[m.File] == 2 {
			t.Errorf("%s was begun twice", filepath.Base(m.File))
		}
	}
}

// A skip that the end of an entry has overtaken leaves the next one on air: what
// it was to go on with has begun by itself.
func TestASkipThatIsOvertakenPassesOverNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 12*second), music(1, 60*second), music(2, 60*second)))
	r.boot()
	r.heard(0, 0)
	before, err := r.client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next := r.heard(1, 0)
	if err := r.client.SkipFrom(t.Context(), before.Entered); err != nil {
		t.Fatal(err)
	}
	r.recorded(max(r.now(), next.Start) + 3*second)
	report := aircheck.Analyse(r.rec.PCM(), 0, 1, 2, emergencyID)
	if order := report.Order(); slices.Contains(order, 2) {
		t.Errorf("heard %v", order)
	}
	after, err := r.client.Status(t.Context())
	if err != nil || after.Entered != before.Entered+1 {
		t.Fatalf("entered %d, then %d, %v", before.Entered, after.Entered, err)
	}
	from := r.now()
	if err := r.client.SkipFrom(t.Context(), after.Entered); err != nil {
		t.Fatal(err)
	}
	r.heard(2, from)
}
