package social_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
)

// A short sound is found among others as a comparison with each of them finds it.
func TestShortSoundsAreFoundAsByComparingAll(t *testing.T) {
	r := open(t, nil)
	rng := rand.New(rand.NewPCG(2, 2))
	var all []fingerprint.Short
	for len(all) < 150 {
		one := effect(rng, 10+rng.IntN(120))
		all = append(all, one)
		for range 3 { // copies that differ a little, and are shorter or longer
			all = append(all, altered(t, rng, one))
		}
	}
	for i, s := range all {
		if err := r.PlantShort(t.Context(), int64(1+i), s.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	r.again(t)
	found := 0
	for self, s := range all {
		var want []social.Likeness
		for i, other := range all {
			if d := s.Difference(other); i != self && d <= fingerprint.SameShort {
				want = append(want, social.Likeness{Post: int64(1 + i), Difference: d / fingerprint.Far, Covered: 1})
			}
		}
		slices.SortFunc(want, func(a, b social.Likeness) int {
			return cmp.Or(cmp.Compare(a.Difference, b.Difference), cmp.Compare(a.Post, b.Post))
		})
		got, err := r.AlikeShort(t.Context(), int64(1+self), s)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("like %d: %v, want %v, %v", 1+self, got, want, err)
		}
		found += len(got)
	}
	if found < len(all) {
		t.Errorf("%d found in all: too few are alike", found)
	}
}

// A short sound that was sent since the start is known, and so is it after the next one.
func TestTheSameShortSoundTwice(t *testing.T) {
	r := open(t, nil)
	boom := music(t, r.dir, 60, 1)
	first := r.send(t, 1, social.Draft{Type: social.SFX, Title: "boom"}, boom)
	r.work(t)
	for n := range 2 {
		again := r.send(t, 2+n, social.Draft{Type: social.SFX, Title: "again"}, boom)
		r.work(t)
		if p := r.get(t, again.ID); p.Status != social.Rejected || p.Reason.Code != refusal.Duplicate || p.Alike[0].Post != first.ID {
			t.Errorf("the copy is %s, %+v, like %+v", p.Status, p.Reason, p.Alike)
		}
		r.again(t)
	}
}

// altered is a sound with a few frames more or less at its end, and a little noise.
func altered(t *testing.T, rng *rand.Rand, s fingerprint.Short) fingerprint.Short {
	t.Helper()
	const head, frame = fingerprint.HeadBytes, 16
	b := s.Bytes()
	if rng.IntN(4) > 0 { // else the same samples
		b[1]++
	}
	switch n := (len(b) - head) / frame; rng.IntN(3) {
	case 0:
		n -= rng.IntN(1 + n/8)
		b = b[:head+n*frame]
	case 1:
		b = append(b, b[head:head+rng.IntN(1+n/8)*frame]...)
	}
	n := (len(b) - head) / frame
	b[head-2], b[head-1] = byte(n), byte(n>>8)
	for i := range b[head:] {
		b[head+i] = byte(min(240, int(b[head+i])+rng.IntN(3)))
	}
	out, err := fingerprint.ShortFromBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
