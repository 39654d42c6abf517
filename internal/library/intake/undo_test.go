package intake

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/station"
)

// An upload that is taken back is in the archive, and what it replaced is where it was, with
// what is said of it; also where it took two attempts.
func TestAnUploadIsTakenBack(t *testing.T) {
	for name, want := range map[string]struct{ replaces, path, moved string }{
		"alone.mp3": {"", "english/Dido - Thank You.mp3", ""},
		"new.mp3":   {"english/old/Dido.mp3", "english/old/Dido.mp3", ""},
		"new.flac":  {"english/old/Dido.mp3", "english/old/Dido.flac", "english/old/Dido.mp3 > english/old/Dido.flac,english/old/Dido.flac > english/old/Dido.mp3"},
	} {
		r := newRig(t)
		before := map[string]string{}
		meta := []string{"category", "english"}
		if want.replaces != "" {
			r.shelf.put(t, want.replaces, oldSong)
			before[want.replaces], meta = oldSong, []string{"replace", want.replaces}
		}
		id := r.send(newSong, name, meta...)
		r.run()
		r.expect(id, Taken, want.path)
		if want.replaces != "" {
			r.shelf.noWay = errors.New("the disk of the archive is away")
		}
		if a, err := r.Undo(t.Context(), id); err != nil || a.State != Undoing {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if err := r.Drop(t.Context(), id); !errors.Is(err, station.ErrConflict) {
			t.Errorf("%s, dropped meanwhile: %v", name, err)
		}
		r.run()
		if want.replaces != "" { // it ends in between, as by a kill
			if a := r.expect(id, Undoing, want.path); a.Reason == nil {
				t.Errorf("%s: %+v", name, a)
			}
			r.shelf.noWay = nil
			r.open()
			r.run()
		}
		if a := r.expect(id, Undone, want.path); !a.AirsAt.IsZero() || a.Reason != nil {
			t.Errorf("%s: %+v", name, a)
		}
		if diff := cmp.Diff(before, content(t, r.shelf.media)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if strings.Join(r.shelf.moved, ",") != want.moved {
			t.Errorf("%s: %v", name, r.shelf.moved)
		}
		if _, known := r.shelf.Find(want.path); known != (want.path == want.replaces) {
			t.Errorf("%s: the library knows it: %v", name, known)
		}
		if _, known := r.shelf.Find(want.replaces); known != (want.replaces != "") {
			t.Errorf("%s: the library knows what it replaced: %v", name, known)
		}
		if _, err := r.Undo(t.Context(), id); !errors.Is(err, station.ErrConflict) {
			t.Errorf("%s, twice: %v", name, err)
		}
		if err := r.Drop(t.Context(), id); err != nil || len(content(t, r.shelf.archive)) == 0 {
			t.Errorf("%s: its line is not dropped, or its file: %v", name, err)
		}
	}
}

// What is on the air is taken back after it, by whoever archives it then; its row says why it
// waits.
func TestWhatIsOnTheAirIsTakenBackAfterwards(t *testing.T) {
	for _, byArchive := range []bool{false, true} {
		r := newRig(t)
		r.shelf.put(t, "english/a.mp3", oldSong)
		id := r.send(newSong, "b.mp3", "replace", "english/a.mp3")
		r.run()
		r.shelf.onAir["english/a.mp3"] = true
		if _, err := r.Undo(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		r.run()
		if a := r.expect(id, Undoing, "english/a.mp3"); a.Reason == nil || a.Reason.Code != OnAir {
			t.Errorf("%+v", a.Reason)
		}
		delete(r.shelf.onAir, "english/a.mp3")
		if byArchive {
			if err := r.shelf.take("english/a.mp3", r.shelf.leaving["english/a.mp3"]); err != nil {
				t.Fatal(err)
			}
		}
		r.clock.pass(placePause(1))
		r.run()
		r.expect(id, Undone, "english/a.mp3")
		if got := content(t, r.shelf.media)["english/a.mp3"]; got != oldSong {
			t.Errorf("%q", got)
		}
	}
}

// The later of two is taken back first, also while that is under way.
func TestOneThatWasReplacedIsTakenBackAfterItsReplacement(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	first := r.send(newSong, "b.mp3", "replace", "english/a.mp3")
	r.run()
	second := r.send("210|Dido|Thank You|guitar, live", "c.flac", "replace", "english/a.mp3")
	r.run()
	r.expect(second, Taken, "english/a.flac")
	if _, err := r.Undo(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Undo(t.Context(), first); !isCode(err, Outlived) {
		t.Errorf("the earlier one, meanwhile: %v", err)
	}
	r.run()
	r.expect(second, Undone, "english/a.flac")
	if _, err := r.Undo(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	r.run()
	if diff := cmp.Diff(map[string]string{"english/a.mp3": oldSong}, content(t, r.shelf.media)); diff != "" {
		t.Error(diff)
	}
}

// Behind a mount that is away no file is seen; once it is back, the file leaves as ordered.
func TestAnUndoWaitsForTheMediaFolder(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	id := r.send(newSong, "b.mp3", "replace", "english/a.mp3")
	r.run()
	if _, err := r.Undo(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	away := r.shelf.media + " away"
	if err := errors.Join(os.Rename(r.shelf.media, away), os.Mkdir(r.shelf.media, 0o750)); err != nil {
		t.Fatal(err)
	}
	r.run()
	if a := r.expect(id, Undoing, "english/a.mp3"); a.Reason == nil || a.Reason.Code != AwayMedia {
		t.Errorf("%+v", a.Reason)
	}
	if err := errors.Join(os.Remove(r.shelf.media), os.Rename(away, r.shelf.media)); err != nil {
		t.Fatal(err)
	}
	r.clock.pass(placePause(1))
	r.run()
	r.expect(id, Undone, "english/a.mp3")
	if got := content(t, r.shelf.media)["english/a.mp3"]; got != oldSong {
		t.Errorf("%q", got)
	}
}

// What it replaced may be out of the archive by then: the upload leaves all the same.
func TestAnUndoDoesWithoutWhatItReplaced(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	id := r.send(newSong, "b.mp3", "replace", "english/a.mp3")
	r.run()
	if err := os.RemoveAll(r.shelf.archive); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Undo(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	r.run()
	r.expect(id, Undone, "english/a.mp3")
	if left := content(t, r.shelf.media); len(left) != 0 || r.lines.Count("does not come back") != 1 {
		t.Errorf("%v", left)
	}
}

// What another file has taken the place of, what is a link and what is not taken stays.
func TestWhatCannotBeTakenBackStays(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	asks := r.send("180|Sade|Your Love Is King|saxophone", "asks.mp3")
	first := r.send(newSong, "b.mp3", "replace", "english/a.mp3")
	r.run()
	r.expect(first, Taken, "english/a.mp3")
	r.expect(asks, Asks, "")
	refused := func(what, id string, want error) {
		t.Helper()
		if _, err := r.Undo(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("not taken", asks, station.ErrConflict)
	refused("none", "shitdquie5r5f5cgdluvkc6o76", station.ErrNotFound)
	second := r.send("210|Dido|Thank You|guitar, live", "c.mp3", "replace", "english/a.mp3")
	r.run()
	r.expect(second, Taken, "english/a.mp3")
	refused("replaced since", first, station.ErrConflict)
	if _, err := r.Undo(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	refused("under way", second, station.ErrConflict)
	r.run()
	if got := content(t, r.shelf.media)["english/a.mp3"]; got != newSong {
		t.Errorf("%q", got)
	}
	r.shelf.fail = fmt.Errorf("it is a link: %w", station.ErrNotFound)
	if _, err := r.Undo(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	r.run()
	if a := r.expect(first, Taken, "english/a.mp3"); a.Reason == nil || a.Reason.Code != Linked {
		t.Errorf("%+v", a.Reason)
	}
	r.shelf.fail = nil
	if err := os.WriteFile(r.shelf.media+"/english/a.mp3", []byte("put there by hand, and longer than what was uploaded"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("another file by hand", first, station.ErrConflict)
}

// A track that is a link cannot be replaced, and whoever sent the file is told.
func TestALinkIsNotReplaced(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	r.shelf.fail = fmt.Errorf("it is a link: %w", station.ErrNotFound)
	id := r.send(newSong, "b.mp3", "replace", "english/a.mp3")
	r.run()
	if a := r.expect(id, Refused, ""); a.Reason.Code != Linked {
		t.Errorf("%+v", a.Reason)
	}
}

// What a person called an upload goes with it; only what was said is kept.
func TestNamesOfAnUploadAreTakenBackWithIt(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	id := r.send(newSong, "b.mp3")
	r.run()
	if _, err := r.Change(t.Context(), id, Change{Title: ptr("Thank You (stereo)"), Replace: ptr("english/a.mp3")}); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Take(t.Context(), []string{id}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	r.run()
	if _, err := r.Undo(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	r.run()
	r.expect(id, Undone, "english/a.mp3")
	if diff := cmp.Diff([]string{"english/a.mp3|نادية|Thank You (stereo)|", "1|نادية back"}, r.shelf.named); diff != "" {
		t.Error(diff)
	}
}

// A new file does not take over what is said of one that was there.
func TestANewFileTakesOverNoNote(t *testing.T) {
	r := newRig(t)
	r.shelf.noted = "english/Dido - Thank You.mp3"
	id := r.send(newSong, "b.mp3", "category", "english")
	r.run()
	r.expect(id, Taken, "english/Dido - Thank You (2).mp3")
}
