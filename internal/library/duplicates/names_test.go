package duplicates_test

import (
	"fmt"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/duplicates"
)

func TestMain(m *testing.M) { testkit.Main(m) }

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
