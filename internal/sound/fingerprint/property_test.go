package fingerprint

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPrintsAreStoredWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Print(rapid.SliceOf(rapid.Uint32()).Draw(t, "items"))
		if got := FromBytes(p.Bytes()); !slices.Equal(got, p) {
			t.Errorf("%v came back as %v", p, got)
		}
	})
}

// What plays up to 2 per cent faster or slower has an item less or more now and then.
func TestAlignmentDrifts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		a := make(Print, rapid.IntRange(100, 500).Draw(t, "items"))
		for i := range a {
			a[i] = rng.Uint32()
		}
		every := rapid.IntRange(70, 200).Draw(t, "every")
		cut := rapid.IntRange(0, len(a)/3).Draw(t, "cut")
		var faster, slower Print
		for i, item := range a[cut:] {
			if slower = append(slower, item); i%every != every-1 {
				faster = append(faster, item)
			} else {
				slower = append(slower, item)
			}
		}
		// Random items share nothing with their neighbours, as those of music do: where a
		// piece holds the slip, up to half of it is lost.
		for name, b := range map[string]Print{"faster": faster, "slower": slower} {
			share, offset := Difference(a, b)
			if share > 0.2 {
				t.Errorf("%s: they differ by %.3f", name, share)
			}
			if offset < cut-2-len(a)/every || offset > cut+2+len(a)/every {
				t.Errorf("%s: it begins at %d, not %d", name, offset, cut)
			}
		}
		if share, offset := Difference(a, a[cut:]); share != 0 || offset != cut {
			t.Errorf("a part of itself: %.3f at %d, not %d", share, offset, cut)
		}
	})
}

func TestAFewItemsMustAgreeBetter(t *testing.T) {
	last := 0.0
	for n := fewest; n < 1000; n++ {
		l := limit(n)
		if l < last || l > Alike || l < 0.1 {
			t.Errorf("%d items: %.3f after %.3f", n, l, last)
		}
		last = l
	}
	if limit(64) != Same || last != Alike {
		t.Errorf("8 s: %.3f; a minute: %.3f", limit(64), last)
	}
}

func FuzzAnswerOfFpcalc(f *testing.F) {
	for _, text := range []string{"1,2,4294967295\n", "", "4294967296", "1,,2", "-1", "ERROR: x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parse(text)
		if (err == nil) != (len(p) > 0) {
			t.Errorf("%q: %d items, %v", text, len(p), err)
		}
	})
}

func FuzzStoredPrint(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := FromBytes(b)
		if got := p.Bytes(); !slices.Equal(got, b[:len(b)-len(b)%4]) {
			t.Errorf("%d bytes came back as %d", len(b), len(got))
		}
		x := NewIndex()
		x.Add("a", p)
		if found := x.Find("", p); p.telling() && (len(found) > 1 || len(found) == 1 && found[0].Difference != 0) {
			t.Errorf("itself: %v", found)
		}
	})
}

// A count of the differences gives what a list of them does.
func TestShortSoundsDifferByTheMeanOfTheirCappedDifferences(t *testing.T) {
	frames := func(t *rapid.T, name string) [][bands]uint8 {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name), 1))
		base, spread := rapid.IntRange(0, 255).Draw(t, name+" level"), rapid.IntRange(1, 256).Draw(t, name+" spread")
		out := make([][bands]uint8, rapid.IntRange(1, 60).Draw(t, name+" frames"))
		for i := range out {
			for k := range out[i] {
				out[i][k] = uint8(min(255, base+rng.IntN(spread)))
			}
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b, by := frames(t, "a"), frames(t, "b"), rapid.IntRange(-80, 80).Draw(t, "by")
		at := func(f [][bands]uint8, i, k int) int {
			if i < 0 || i >= len(f) {
				return 0
			}
			return int(f[i][k])
		}
		var diffs []int
		sum, both := 0, 0
		for i := min(0, by); i < max(len(a), by+len(b)); i += 2 {
			for k := range bands {
				x, y := at(a, i, k), at(b, i-by, k)
				if max(x, y) >= steps*heard {
					diffs = append(diffs, x-y)
				}
				if min(x, y) >= steps*heard {
					sum += x - y
					both++
				}
			}
		}
		want := Far
		if both > 0 {
			total := 0
			for _, d := range diffs {
				total += min(max(d-sum/both, sum/both-d), steps*capped)
			}
			want = float64(total) / float64(steps*len(diffs))
		}
		if got := beside(a, b, by); got != want {
			t.Errorf("they differ by %g, want %g", got, want)
		}
	})
}
