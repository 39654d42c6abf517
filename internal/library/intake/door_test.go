package intake

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/station"
)

func TestRefusalsComeBeforeTheFirstByte(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Limits = Limits{Arrivals: 2, Bytes: 1000, Reserve: 1 << 20} })
	r.shelf.put(t, "english/a.mp3", oldSong)
	admit := func(size int64, pairs ...string) error {
		meta := map[string]string{"filename": "a.mp3"}
		for i := 0; i < len(pairs); i += 2 {
			meta[pairs[i]] = pairs[i+1]
		}
		return door{r.Intake}.Admit(t.Context(), meta, size, resume.From{})
	}
	for _, name := range []string{"cover.jpg", "", "a", "film.mp4", "a.mp3.part", ".a.mp3", "~a.mp3", "a.mp3/", "x/.hidden.ogg"} {
		if err := admit(5, "filename", name); !isCode(err, KindOfFile) || station.Status(err) != 422 {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"a.MP3", `C:\Music\أغنية.Ogg`, "../../etc/x.wav", "\u202egnos.flac"} {
		if err := admit(5, "filename", name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, category := range []string{"films", "social"} { // social is what listeners send
		if err := admit(5, "category", category); !isCode(err, NoCategory) {
			t.Errorf("%s: %v", category, err)
		}
	}
	for path, want := range map[string]bool{"english/a.mp3": true, "english/b.mp3": false, "../a.mp3": false} {
		if err := admit(5, "replace", path); (err == nil) != want || err != nil && !isCode(err, ReplaceGone) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := admit(1001); !isCode(err, TooMany) || station.Status(err) != 507 {
		t.Errorf("%v", err)
	}
	r.free = 1<<20 + 4
	if err := admit(5); !isCode(err, NoRoom) || station.Status(err) != 507 {
		t.Errorf("%v", err)
	}
	r.free = 1 << 40
	r.send("200||One|1", "a.mp3")
	r.send("200||Two|2", "b.mp3")
	if err := admit(5); !isCode(err, TooMany) {
		t.Errorf("%v", err)
	}
	if err := errors.Join(os.Rename(r.shelf.media, r.shelf.media+" away"), os.Mkdir(r.shelf.media, 0o750)); err != nil {
		t.Fatal(err)
	}
	r.limits.Arrivals = 3
	if err := admit(5); !isCode(err, AwayMedia) || station.Status(err) != 503 || !strings.Contains(err.Error(), "is its disk mounted?") {
		t.Errorf("an unmounted disk: %v", err)
	}
	if _, err := r.Take(t.Context(), nil); !isCode(err, AwayMedia) {
		t.Errorf("%v", err)
	}
}

// Take is called again after a crash, with the file here or there, or dropped by then.
func TestAnUploadBecomesOneArrival(t *testing.T) {
	r := newRig(t)
	f := r.upload("200|Dido|Thank You|guitar", map[string]string{"filename": "a.mp3"})
	d := func() door { return door{r.Intake} }
	first, err := d().Take(t.Context(), f)
	if err != nil || len(first[Header]) != idLength || strings.Contains(first[Header], f.ID) {
		t.Fatalf("%v, %v", first, err)
	}
	r.open()
	if got, err := d().Take(t.Context(), f); err != nil || got[Header] != first[Header] {
		t.Errorf("%v, %v", got, err)
	}
	if all, _ := r.List(t.Context()); len(all) != 1 {
		t.Errorf("%+v", all)
	}
	if err := r.Drop(t.Context(), first[Header]); err != nil {
		t.Fatal(err)
	}
	if got, err := d().Take(t.Context(), f); err != nil || got[Header] != first[Header] {
		t.Errorf("%v, %v", got, err)
	}
	if all, _ := r.List(t.Context()); len(all) != 0 {
		t.Errorf("a dropped one is back: %+v", all)
	}
}

// A kill between row and file leaves a row that nobody sees until the same upload comes again.
func TestARowWithoutItsFileWaitsForTheUpload(t *testing.T) {
	r := newRig(t)
	f := r.upload("200|Dido|Thank You|guitar", map[string]string{"filename": "a.mp3", "category": "english"})
	if _, err := r.announce(t.Context(), idOf(f.ID), f); err != nil {
		t.Fatal(err)
	}
	r.open()
	r.run()
	if all, _ := r.List(t.Context()); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	if _, err := (door{r.Intake}).Take(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	r.run()
	r.expect(idOf(f.ID), Taken, "english/Dido - Thank You.mp3")

	lost := r.upload("x", map[string]string{"filename": "b.mp3"})
	if _, err := r.announce(t.Context(), idOf(lost.ID), lost); err != nil {
		t.Fatal(err)
	}
	r.clock.pass(longestMissing + time.Second)
	r.tidy(t.Context())
	if n, _ := r.load(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// After a restored backup the rows of some files are missing.
func TestAFileWithoutARowIsTakenUp(t *testing.T) {
	r := newRig(t)
	id := r.send("200|Dido|Thank You|guitar", "a.mp3", "category", "english")
	if err := forget(t.Context(), r.db, id); err != nil {
		t.Fatal(err)
	}
	stranger := filepath.Join(r.dir, "arrivals", "README.txt")
	part := partOf(filepath.Join(r.dir, "arrivals", "x"), id)
	if err := errors.Join(os.WriteFile(stranger, nil, 0o600), os.WriteFile(part, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	r.open()
	r.run()
	if a := r.expect(id, Asks, ""); a.Title != "Thank You" || a.Size != 25 {
		t.Errorf("%+v", a)
	}
	if _, err := os.Stat(stranger); err != nil {
		t.Errorf("what is none of ours: %v", err)
	}
	if _, err := os.Stat(part); !os.IsNotExist(err) {
		t.Errorf("an unfinished copy: %v", err)
	}
}

func TestWhatASenderSaysIsKeptPlain(t *testing.T) {
	r := newRig(t)
	id := r.send("200|\u202eevil|x\x00y/../z|1", "../..\\\u202e\u200fsong.mp3", "folder", "a\u202eb/"+strings.Repeat("ت", 2000))
	r.run()
	a := r.arrival(id)
	if a.Name != "song.mp3" || strings.ContainsRune(a.Artist, '\u202e') || strings.ContainsRune(a.Folder, '\u202e') || len([]rune(a.Folder)) > mostFolder {
		t.Errorf("%+v", a)
	}
	if n, err := r.Take(t.Context(), nil); n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	r.run()
	if diff := cmp.Diff([]string{"english/evil - xy .. z.mp3"}, paths(content(t, r.shelf.media))); diff != "" {
		t.Error(diff)
	}
}

func paths(all map[string]string) (out []string) {
	for p := range all {
		out = append(out, p)
	}
	return out
}

// The disk of the media folder is nearly full, or away: what is taken waits, and goes on by itself.
func TestWhatIsTakenWaitsForItsDisk(t *testing.T) {
	r := newRig(t)
	r.shelf.put(t, "english/a.mp3", "30||Other|x")
	id := r.send("200|Dido|Thank You|guitar", "a.mp3", "category", "english")
	r.free = 1000
	r.run()
	if a := r.expect(id, Taking, ""); a.Reason == nil || a.Reason.Code != NoRoom {
		t.Errorf("%+v", a)
	}
	if _, err := r.Take(t.Context(), nil); !isCode(err, NoRoom) {
		t.Errorf("%v", err)
	}
	if s := r.Stats(); s.Held != 1 || s.States[Taking] != 1 || s.Bytes == 0 || len(s.States) != 8 {
		t.Errorf("%+v", s)
	}
	r.free = 1 << 40
	if err := os.Rename(r.shelf.media, r.shelf.media+" away"); err != nil {
		t.Fatal(err)
	}
	r.clock.pass(time.Minute)
	r.run()
	if a := r.expect(id, Taking, ""); a.Reason == nil || a.Reason.Code != AwayMedia {
		t.Errorf("%+v", a)
	}
	if _, err := os.Stat(r.shelf.media); !os.IsNotExist(err) {
		t.Errorf("a folder was made in the place of the disk: %v", err)
	}
	if err := os.Rename(r.shelf.media+" away", r.shelf.media); err != nil {
		t.Fatal(err)
	}
	r.clock.pass(time.Minute)
	r.run()
	if a := r.expect(id, Taken, "english/Dido - Thank You.mp3"); a.Reason != nil {
		t.Errorf("%+v", a.Reason)
	}
	if s := r.Stats(); s.Held != 0 || s.States[Taken] != 1 || s.Bytes != 0 {
		t.Errorf("%+v", s)
	}
}
