package intake

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/station"
)

const oldSong, newSong = "200|Dido|Thank You|guitar", "205|Dido|Thank You|guitar, in stereo"

func TestAnUploadTakesThePlaceOfATrack(t *testing.T) {
	for name, want := range map[string]struct{ path, moved string }{
		"new.mp3":  {"english/old/Dido.mp3", ""},
		"new.FLAC": {"english/old/Dido.flac", "english/old/Dido.mp3 > english/old/Dido.flac"},
	} {
		r := newRig(t)
		r.shelf.put(t, "english/old/Dido.mp3", oldSong)
		id := r.send(newSong, name, "replace", "english/old/Dido.mp3")
		r.run()
		if a := r.expect(id, Taken, want.path); a.Category != station.English || a.Replace != "english/old/Dido.mp3" {
			t.Errorf("%+v", a)
		}
		if diff := cmp.Diff(map[string]string{want.path: newSong}, content(t, r.shelf.media)); diff != "" {
			t.Error(diff)
		}
		if kept := content(t, r.shelf.archive); kept["0 english old Dido.mp3"] != oldSong {
			t.Errorf("%v", kept)
		}
		if strings.Join(r.shelf.moved, ",") != want.moved {
			t.Errorf("%v", r.shelf.moved)
		}
		if _, ok := r.shelf.Find("english/old/Dido.mp3"); ok != (want.moved == "") {
			t.Errorf("the library knows the old path: %v", ok)
		}
	}
}

// The track that it replaces is alike by intention; another one is asked about.
func TestOnlyOtherTracksAreDuplicatesOfAReplacement(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	r.shelf.put(t, "english/b.mp3", oldSong)
	id := r.send(oldSong, "new.ogg", "replace", "english/a.mp3")
	r.run()
	if a := r.expect(id, Asks, ""); !slices.Equal(a.Asks, []Question{AskDuplicate}) || len(a.Alike) != 2 {
		t.Errorf("%+v", a)
	}
	// Instead it may be none, or another.
	a, err := r.Change(t.Context(), id, Change{Replace: ptr("english/b.mp3")})
	if err != nil || a.Replace != "english/b.mp3" || len(a.Asks) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = r.Change(t.Context(), id, Change{Replace: ptr("")}); err != nil || a.Replace != "" || a.Category != station.English {
		t.Errorf("%+v, %v", a, err)
	}
	for _, p := range []string{"english/none.mp3", "../x.mp3", "/etc/passwd"} {
		if _, err := r.Change(t.Context(), id, Change{Replace: &p}); !isCode(err, ReplaceGone) {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// What is on the air stays until it has been heard.
func TestATrackOnTheAirIsReplacedAfterwards(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	r.shelf.onAir["english/a.mp3"] = true
	id := r.send(newSong, "new.mp3", "replace", "english/a.mp3")
	r.run()
	if a := r.expect(id, Taking, ""); a.Reason == nil || a.Reason.Code != OnAir {
		t.Errorf("%+v", a)
	}
	if diff := cmp.Diff(map[string]string{"english/a.mp3": oldSong}, content(t, r.shelf.media)); diff != "" {
		t.Error(diff)
	}
	r.clock.pass(time.Minute)
	r.run()
	delete(r.shelf.onAir, "english/a.mp3")
	r.run() // not due yet
	r.expect(id, Taking, "")
	r.clock.pass(time.Minute)
	r.run()
	r.expect(id, Taken, "english/a.mp3")
	if diff := cmp.Diff(map[string]string{"english/a.mp3": newSong}, content(t, r.shelf.media)); diff != "" {
		t.Error(diff)
	}
}

// The archive takes what is off the air by itself, perhaps before the upload asks again.
func TestATrackThatTheArchiveTookMeanwhileIsReplaced(t *testing.T) {
	for name, want := range map[string]string{"new.mp3": "english/a.mp3", "new.ogg": "english/a.ogg"} {
		r := newRig(t)
		r.shelf.put(t, "english/a.mp3", oldSong)
		r.shelf.onAir["english/a.mp3"] = true
		id := r.send(newSong, name, "replace", "english/a.mp3")
		r.run()
		r.expect(id, Taking, "")
		delete(r.shelf.onAir, "english/a.mp3")
		if err := r.shelf.take("english/a.mp3", ReasonReplaced); err != nil {
			t.Fatal(err)
		}
		r.clock.pass(time.Minute)
		r.run()
		r.expect(id, Taken, want)
		if diff := cmp.Diff(map[string]string{want: newSong}, content(t, r.shelf.media)); diff != "" {
			t.Error(diff)
		}
	}
}

// An upload that waits for a track to be off the air is dropped, or refused: the track, which
// is planned no more, airs on.
func TestATrackThatIsNotReplacedAfterAllStays(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	r.shelf.onAir["english/a.mp3"] = true
	waits := func() string {
		t.Helper()
		id := r.send(newSong, "new.mp3", "replace", "english/a.mp3")
		r.run()
		if r.expect(id, Taking, ""); r.shelf.leaving["english/a.mp3"] == "" {
			t.Fatal("the archive was not asked")
		}
		return id
	}
	id := waits()
	r.shelf.noWay = errors.New("the archive cannot be read")
	if err := r.Drop(t.Context(), id); err == nil {
		t.Error("dropped, while the track is still to leave")
	}
	r.expect(id, Taking, "")
	r.shelf.noWay = nil
	if err := r.Drop(t.Context(), id); err != nil || r.shelf.leaving["english/a.mp3"] != "" {
		t.Errorf("dropped: %v; the track leaves: %v", err, r.shelf.leaving["english/a.mp3"])
	}
	id = waits()
	if err := r.disk.Remove(filepath.Join(r.opt.Dir, id+".mp3")); err != nil {
		t.Fatal(err)
	}
	r.clock.pass(time.Minute)
	r.run()
	if a := r.expect(id, Refused, ""); a.Reason.Code != Gone || r.shelf.leaving["english/a.mp3"] != "" {
		t.Errorf("%+v; the track leaves: %v", a.Reason, r.shelf.leaving["english/a.mp3"])
	}
	if diff := cmp.Diff(map[string]string{"english/a.mp3": oldSong}, content(t, r.shelf.media)); diff != "" {
		t.Error(diff)
	}
}

// While it waits, a copy of it comes in: it asks, and the track that it may not replace after all
// airs on meanwhile.
func TestATrackAirsOnWhileItsReplacementAsks(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	r.shelf.onAir["english/a.mp3"] = true
	id := r.send(newSong, "new.mp3", "replace", "english/a.mp3")
	r.run()
	r.expect(id, Taking, "")
	r.shelf.put(t, "english/b.mp3", newSong)
	r.placed = append(r.placed, sound{length: r.entries[id].Duration})
	r.clock.pass(time.Minute)
	r.run()
	if a := r.expect(id, Asks, ""); a.Reason != nil || !slices.Equal(a.Asks, []Question{AskDuplicate}) || len(r.shelf.leaving) > 0 {
		t.Errorf("%+v, and these leave: %v", a, r.shelf.leaving)
	}
	if _, err := r.Change(t.Context(), id, Change{Replace: ptr("")}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Take(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	r.run()
	r.expect(id, Taken, r.arrival(id).Path)
	if all := content(t, r.shelf.media); len(all) != 3 || all["english/a.mp3"] != oldSong {
		t.Errorf("the media folder has %v", all)
	}
}

// What the archive was asked for leaves by itself after it was heard. Whatever else keeps its
// replacement waiting meanwhile, a restart too, that goes in its place, or has it stay.
func TestATrackThatLeavesForAReplacementIsNotForgotten(t *testing.T) {
	for _, end := range []string{"placed", "dropped"} {
		r := newRig(t)
		r.shelf.put(t, "english/a.mp3", oldSong)
		r.shelf.onAir["english/a.mp3"] = true
		id := r.send(newSong, "new.mp3", "replace", "english/a.mp3")
		r.run()
		r.free = 1000
		r.clock.pass(time.Minute)
		r.run()
		if a := r.expect(id, Taking, ""); a.Reason == nil || a.Reason.Code != NoRoom {
			t.Errorf("%+v", a.Reason)
		}
		r.open()
		want := oldSong
		if end == "placed" {
			if err := r.shelf.take("english/a.mp3", ReasonReplaced); err != nil {
				t.Fatal(err)
			}
			r.free, want = 1<<40, newSong
			r.run()
			r.expect(id, Taken, "english/a.mp3")
		} else if err := r.Drop(t.Context(), id); err != nil || len(r.shelf.leaving) > 0 {
			t.Errorf("dropped: %v, and these leave: %v", err, r.shelf.leaving)
		}
		if diff := cmp.Diff(map[string]string{"english/a.mp3": want}, content(t, r.shelf.media)); diff != "" {
			t.Errorf("%s: %s", end, diff)
		}
	}
}

// An upload that replaced a track is the track: it stays where the next one that was to replace
// it is dropped.
func TestAReplacementIsNotReplacedAfterAll(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	first := r.send(newSong, "new.mp3", "replace", "english/a.mp3")
	r.run()
	r.expect(first, Taken, "english/a.mp3")
	r.shelf.onAir["english/a.mp3"] = true
	second := r.send("210|Dido|Thank You|guitar, live", "live.mp3", "replace", "english/a.mp3")
	r.run()
	if r.expect(second, Taking, ""); len(r.shelf.leaving) != 1 {
		t.Fatalf("these leave: %v", r.shelf.leaving)
	}
	if err := r.Drop(t.Context(), second); err != nil || len(r.shelf.leaving) > 0 {
		t.Errorf("%v, and these leave: %v", err, r.shelf.leaving)
	}
}

func TestATrackThatHasLeftCannotBeReplaced(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	id := r.send(newSong, "new.mp3", "replace", "english/a.mp3")
	if err := r.disk.Remove(filepath.Join(r.shelf.media, "english/a.mp3")); err != nil {
		t.Fatal(err)
	}
	r.run()
	if a := r.expect(id, Refused, ""); a.Reason.Code != ReplaceGone {
		t.Errorf("%+v", a.Reason)
	}
	// As a new one it can be taken.
	if _, err := r.Change(t.Context(), id, Change{Replace: ptr("")}); err != nil {
		t.Fatal(err)
	}
	r.run()
	if a := r.arrival(id); a.State != Taken && a.State != Asks {
		t.Errorf("%+v", a)
	}
}

// badDisk fails to move files into the media folder.
type badDisk struct {
	disk
	err error
}

func (d *badDisk) Rename(from, to string) error {
	if d.err != nil && strings.Contains(to, "/media/") {
		return d.err
	}
	return d.disk.Rename(from, to)
}

func TestAReplacementThatFailsPutsTheTrackBack(t *testing.T) {
	for _, c := range []struct {
		what string
		err  error
		code Code
	}{{"a fault", errors.New("the disk has failed"), NotReplaced}, {"no room", unix.ENOSPC, NotReplaced}, {"a name that is taken", fs.ErrExist, NameTaken}} {
		r := newRig(t)
		r.shelf.put(t, "english/a.mp3", oldSong)
		bad := &badDisk{r.disk, c.err}
		id := r.send(newSong, "new.mp3", "replace", "english/a.mp3")
		r.disk = bad
		r.run()
		if a := r.expect(id, Refused, ""); a.Reason == nil || a.Reason.Code != c.code {
			t.Errorf("%s: %+v", c.what, a.Reason)
		}
		if diff := cmp.Diff(map[string]string{"english/a.mp3": oldSong}, content(t, r.shelf.media)); diff != "" {
			t.Error(c.what, diff)
		}
		bad.err = nil
		if _, err := r.Again(t.Context(), id); err != nil {
			t.Error(err)
		}
		r.run()
		r.expect(id, Taken, "english/a.mp3")
	}
}

// While even the way back is barred it goes on trying, and nothing is lost.
func TestATrackThatCannotBePutBackIsReplacedInTheEnd(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	id := r.send(newSong, "new.mp3", "replace", "english/a.mp3")
	bad := &badDisk{r.disk, errors.New("the disk has failed")}
	r.disk, r.shelf.noWay = bad, errors.New("the archive cannot be read")
	r.run()
	if a := r.expect(id, Taking, ""); a.Reason == nil || a.Reason.Code != NotBack || r.lines.Count("still in the archive") != 1 {
		t.Errorf("%+v", a)
	}
	if err := r.Drop(t.Context(), id); !errors.Is(err, station.ErrConflict) {
		t.Errorf("dropped in the midst: %v", err)
	}
	bad.err = nil
	r.clock.pass(time.Minute)
	r.run()
	r.expect(id, Taken, "english/a.mp3")
	if kept := content(t, r.shelf.archive); kept["0 english a.mp3"] != oldSong {
		t.Errorf("%v", kept)
	}
}

func TestAnArchiveThatFailsLeavesTheTrack(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	r.shelf.fail = errors.New("the archive's disk has failed")
	id := r.send(newSong, "new.mp3", "replace", "english/a.mp3")
	r.run()
	if a := r.expect(id, Taking, ""); a.Reason == nil || a.Reason.Code != OurFault {
		t.Errorf("%+v", a)
	}
	if err := r.Drop(t.Context(), id); err != nil {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(map[string]string{"english/a.mp3": oldSong}, content(t, r.shelf.media)); diff != "" {
		t.Error(diff)
	}
}

// A name beside the old one, with the new one's ending, is never taken over.
func TestAReplacementTakesNoOthersName(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", oldSong)
	r.shelf.put(t, "english/a.ogg", "30||Other|x")
	id := r.send(newSong, "new.ogg", "replace", "english/a.mp3")
	r.run()
	if a := r.expect(id, Refused, ""); a.Reason.Code != NameTaken || len(r.shelf.archived) != 0 {
		t.Errorf("%+v", a)
	}
	if got := content(t, r.shelf.media); len(got) != 2 || got["english/a.ogg"] != "30||Other|x" {
		t.Errorf("%v", got)
	}
}
