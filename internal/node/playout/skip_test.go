package playout_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Skips to new lists, one soon after the other, into music and into imaging.
// What the cross has read ahead must not play out first, and the head must not
// wait to be opened until the cross reads on: either costs up to two seconds.
func TestSkipsInARowAreHeardAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 20*second), music(1, 20*second)))
	o := r.offline()
	o.play(3 * second)
	jingle := entry{id: 20, kind: "jingles", cross: "0.5", long: 4 * second}
	sfx := entry{id: 21, kind: "sfx", cross: "0.2", long: 2 * second}
	heads, pressed := []int{0}, []time.Duration{0}
	for i, next := range []entry{jingle, sfx, jingle, sfx} {
		head := music(2+i, 20*second)
		o.pushed(r.list(head, next))
		o.ready(head)
		heads, pressed = append(heads, head.id), append(pressed, o.skip())
		o.play(1600 * time.Millisecond)
	}
	// And into imaging.
	o.pushed(r.list(jingle, music(6, 20*second)))
	o.ready(jingle)
	heads, pressed = append(heads, jingle.id), append(pressed, o.skip())
	o.play(2 * second)

	report := o.heard(0, 1, 2, 3, 4, 5, 6, jingle.id, sfx.id)
	if got := report.Order(); !slices.Equal(got, heads) {
		t.Errorf("order %v, want %v", got, heads)
	}
	for i, id := range heads[1:] {
		heardWithinASecond(t, "a skip", begins(t, report, id, 0)-pressed[i+1])
	}
	unbroken(t, report)
	var want []string
	for _, id := range heads {
		if id == jingle.id {
			want = append(want, filepath.Base(jingle.file(r.dir)))
		} else {
			want = append(want, filepath.Base(music(id, 0).file(r.dir)))
		}
	}
	if got := r.control.rotation(); !slices.Equal(got, want) {
		t.Errorf("markers %v, want %v", got, want)
	}
}

// Lists and skips at moments drawn at random, from the first frame on: a skip may
// meet a list that is just being read, with nothing open yet. Whatever happens,
// the output has a source in every frame, and no list's head is begun twice.
func TestSkipsThatRaceWithReloadsLoseNoListener(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.push(r.list(music(0, 20*second), music(1, 20*second)))
	random := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // a test's choice
	o := r.offline()
	heads := map[string]bool{}
	for id := 2; id < 14; id++ {
		e := music(id, 20*second)
		if id%3 == 0 {
			e.kind, e.cross = "jingles", "0.5"
		}
		heads[e.file(r.dir)] = true
		r.push(r.list(e, music(30+id%5, 20*second)))
		for range 1 + random.IntN(2) {
			o.play(time.Duration(1+random.IntN(6)) * frame)
			if err := r.client.Skip(t.Context()); err != nil && !errors.Is(err, station.ErrConflict) {
				t.Fatal(err)
			}
		}
	}
	o.play(3 * second)
	o.end()
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
	r.push(r.list(music(0, 6*second), music(1, 20*second), music(2, 20*second)))
	o := r.offline()
	o.play(2 * second)
	before := o.status()
	o.playUntil("the second entry", entered(before.Entered+1))
	if err := r.client.SkipFrom(t.Context(), before.Entered); err != nil {
		t.Fatal(err)
	}
	o.play(4 * second)
	after := o.status()
	if after.Entered != before.Entered+1 {
		t.Errorf("entered %d, then %d", before.Entered, after.Entered)
	}
	pressed := o.now()
	if err := r.client.SkipFrom(t.Context(), after.Entered); err != nil {
		t.Fatal(err)
	}
	o.play(2 * second)
	report := o.heard(0, 1, 2)
	if got := report.Order(); !slices.Equal(got, []int{0, 1, 2}) {
		t.Fatalf("order %v", got)
	}
	heardWithinASecond(t, "a skip that is not overtaken", begins(t, report, 2, 0)-pressed)
}
