package duplicates_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/duplicates"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// What is merely alike is for a person to judge, and none looks here.
func TestOnlyTheSameRecordingIsADuplicate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, prints := duplicates.NewIndex(), fingerprint.NewIndex()
	print := make(fingerprint.Print, 600)
	for i := range print {
		print[i] = rng.Uint32()
	}
	x.Add("a", "", "", print)
	prints.Add("a", print)
	for _, c := range []struct {
		flipped      int // bits of each other item
		alike, found bool
	}{{8, true, true}, {13, true, false}, {19, false, false}} {
		copied := slices.Clone(print)
		for i := 0; i < len(copied); i += 2 {
			copied[i] ^= 1<<c.flipped - 1
		}
		if got := len(prints.Find("", copied)) == 1; got != c.alike {
			t.Errorf("%d bits flipped: alike is %v", c.flipped, got)
		}
		if got := len(x.Find("", copied)) == 1; got != c.found {
			t.Errorf("%d bits flipped: a duplicate is %v", c.flipped, got)
		}
	}
}

func TestNamesAreComparedFolded(t *testing.T) {
	x := duplicates.NewIndex()
	x.Add("a", "عمرو دياب", "نور العين", nil)
	x.Add("b", "Amr Diab", "Nour El Ein", nil)
	x.Add("c", "", "", nil)
	for _, c := range []struct{ artist, title, want string }{
		{"عَمرو ديّاب", "نور العيــن", "[a]"}, {"AMR DIAB", "nour el ein", "[b]"}, {"Amr Diab", "Tamally Maak", "[]"}, {"", "", "[]"},
	} {
		if got := x.SameName("new", c.artist, c.title); fmt.Sprint(got) != c.want {
			t.Errorf("%s, %s: %v", c.artist, c.title, got)
		}
	}
	if got := x.SameName("a", "عمرو دياب", "نور العين"); len(got) != 0 {
		t.Errorf("a track is its own double: %v", got)
	}
}
