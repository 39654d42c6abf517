package swap_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/swap"
)

// rig is a folder with something old in place, and something new beside.
type rig struct {
	t   *testing.T
	dir string
}

func (r rig) path(name string) string { return filepath.Join(r.dir, name) }

func (r rig) write(name, text string) {
	r.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(r.path(name)), 0o700), os.WriteFile(r.path(name), []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

func (r rig) holds(name, want string) {
	r.t.Helper()
	got, err := os.ReadFile(r.path(name))
	if want == "" && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || string(got) != want {
		r.t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
	}
}

func (r rig) begun() string {
	r.t.Helper()
	r.write("db", "old")
	r.write("db-wal", "old log")
	r.write("tree/a", "old a")
	r.write("tree/b", "old b")
	r.write("new/db", "new")
	r.write("new/tree/a", "new a")
	r.write("new/fresh", "fresh")
	journal := r.path("journal")
	if err := swap.Begin(journal, swap.Journal{Clear: r.path("new"), Moves: []swap.Move{
		{Place: r.path("db-wal"), Aside: r.path("aside/db-wal")},
		{Place: r.path("db-shm"), Aside: r.path("aside/db-shm")},
		{New: r.path("new/db"), Place: r.path("db"), Aside: r.path("aside/db")},
		{New: r.path("new/tree"), Place: r.path("tree"), Aside: r.path("aside/tree")},
		{New: r.path("new/fresh"), Place: r.path("deep/fresh")},
	}}); err != nil {
		r.t.Fatal(err)
	}
	return journal
}

func (r rig) isDone() {
	r.t.Helper()
	for name, want := range map[string]string{
		"db": "new", "db-wal": "", "tree/a": "new a", "tree/b": "", "deep/fresh": "fresh", "journal": "", "new/db": "",
		"aside/db": "old", "aside/db-wal": "old log", "aside/tree/a": "old a", "aside/tree/b": "old b",
	} {
		r.holds(name, want)
	}
}

func TestASwapPutsTheNewInPlaceAndKeepsTheOld(t *testing.T) {
	r := rig{t, t.TempDir()}
	journal := r.begun()
	if j, ok, err := swap.Pending(journal); err != nil || !ok || len(j.Moves) != 5 {
		t.Errorf("%+v, %v, %v", j, ok, err)
	}
	if err := swap.Finish(journal); err != nil {
		t.Fatal(err)
	}
	r.isDone()
	if err := swap.Finish(journal); err != nil {
		t.Errorf("again: %v", err)
	}
}

// Wherever a swap was cut short, the next Finish brings it to the same end.
func TestASwapThatWasCutShortAnywhereIsFinished(t *testing.T) {
	// Each step is one rename of the swap, in its order.
	steps := [][2]string{{"db-wal", "aside/db-wal"}, {"db", "aside/db"}, {"new/db", "db"}, {"tree", "aside/tree"}, {"new/tree", "tree"}, {"new/fresh", "deep/fresh"}}
	for cut := range len(steps) + 1 {
		r := rig{t, t.TempDir()}
		journal := r.begun()
		for _, s := range steps[:cut] {
			if err := errors.Join(os.MkdirAll(filepath.Dir(r.path(s[1])), 0o700), os.Rename(r.path(s[0]), r.path(s[1]))); err != nil {
				t.Fatal(err)
			}
		}
		if err := swap.Finish(journal); err != nil {
			t.Errorf("cut after %d: %v", cut, err)
		}
		r.isDone()
	}
}

// What came to a place that was empty is not removed.
func TestWhatCameMeanwhileIsNotTouched(t *testing.T) {
	r := rig{t, t.TempDir()}
	journal := r.begun()
	r.write("deep/fresh", "somebody's")
	if err := swap.Finish(journal); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	r.holds("deep/fresh", "somebody's")
}
