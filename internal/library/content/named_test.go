package content

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/station"
)

// leave archives one file and fails the test where it stays.
func (r *rig) leave(path, reason string) {
	r.t.Helper()
	_ = r.air.Scan(r.t.Context())
	m, err := r.Archive(r.t.Context(), []string{path}, reason)
	if err != nil || !slices.Equal(m.Archived, []string{path}) {
		r.t.Fatalf("%+v, %v", m, err)
	}
	if !slices.Equal(r.air.looked, []string{path}) { // not at all of a large folder
		r.t.Errorf("the registry looked at %q", r.air.looked)
	}
}

func (r *rig) has(path string) string {
	text, err := os.ReadFile(filepath.Join(r.opt.Media, path))
	if err != nil {
		return ""
	}
	return string(text)
}

// Of two files that had one path, the last comes back, or the last that left for a reason;
// never over another file.
func TestNamedFilesComeBack(t *testing.T) {
	r := newRig(t)
	const path = "music/english/song.mp3"
	r.put(path, "the first")
	r.leave(path, "replaced")
	r.put(path, "the second")
	r.leave(path, "undone")
	ask := func(of string) Restored {
		t.Helper()
		restore := r.RestoreFiles
		if of != "" {
			restore = func(ctx context.Context, paths []string) (Restored, error) { return r.RestoreFilesOf(ctx, paths, of) }
		}
		back, err := restore(t.Context(), []string{path, "music/english/none.mp3"})
		if err != nil || !slices.Equal(back.Missing, []string{"music/english/none.mp3"}) && of != "nothing" {
			t.Fatalf("%+v, %v", back, err)
		}
		return back
	}
	if back := ask("nothing"); back.Total != 0 || len(back.Missing) != 2 {
		t.Errorf("for another reason: %+v", back)
	}
	if back := ask("replaced"); back.Total != 1 || back.Restored[station.English] != 1 || r.has(path) != "the first" || !slices.Equal(r.air.looked, []string{path}) {
		t.Errorf("%+v, %q is there, looked at %q", back, r.has(path), r.air.looked)
	}
	if back := ask(""); back.Total != 0 || !slices.Equal(back.InTheWay, []string{path}) || r.has(path) != "the first" {
		t.Errorf("over another file: %+v, %q is there", back, r.has(path))
	}
	r.leave(path, "retired")
	if back := ask(""); back.Total != 1 || r.has(path) != "the first" {
		t.Errorf("the last one: %+v, %q is there", back, r.has(path))
	}
}

// What is only to be archived, because it is on the air, stays when it is asked back.
func TestWhatIsKeptIsNotArchivedAnyMore(t *testing.T) {
	r := newRig(t)
	paths := r.fill(station.English, 60)
	r.air.turn()
	m, err := r.Archive(t.Context(), paths, "retired")
	if err != nil || len(m.Kept) == 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	back, err := r.RestoreFiles(t.Context(), m.Kept)
	if err != nil || back.Total != len(m.Kept) || r.Hidden()[m.Kept[0]] {
		t.Errorf("%+v, %v, hidden %v", back, err, r.Hidden()[m.Kept[0]])
	}
}

// The archive is listed by page, the newest first, and searched as the library is.
func TestTheArchiveIsListedAndSearched(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"umm kulthum - amal.mp3", "fairuz - nassam.mp3", "sade - smooth.mp3"} {
		r.put("music/english/"+name, name)
		r.leave("music/english/"+name, "retired")
	}
	all, total, err := r.Archived(t.Context(), "", 0, 2)
	if err != nil || total != 3 || len(all) != 2 || all[0].Path != "music/english/sade - smooth.mp3" || all[0].Reason != "retired" || all[0].Size == 0 {
		t.Errorf("%+v, %d, %v", all, total, err)
	}
	if rest, total, err := r.Archived(t.Context(), "", 2, 50); err != nil || total != 3 || len(rest) != 1 {
		t.Errorf("%+v, %d, %v", rest, total, err)
	}
	if found, total, err := r.Archived(t.Context(), "فيروز", 0, 50); err != nil || total != 1 || found[0].Path != "music/english/fairuz - nassam.mp3" {
		t.Errorf("%+v, %d, %v", found, total, err)
	}
	if none, total, err := r.Archived(t.Context(), "", 9, 50); err != nil || total != 3 || len(none) != 0 {
		t.Errorf("%+v, %d, %v", none, total, err)
	}
}
