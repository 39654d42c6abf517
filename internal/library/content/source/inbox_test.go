package source_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// flac is enough of a sound to be told from a page.
var flac = append([]byte("fLaC\x00\x00\x00\x22"), bytes.Repeat([]byte("sound"), 2000)...)

func put(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, b, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func inbox(t *testing.T) (*source.Inbox, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "inbox")
	return &source.Inbox{Dir: dir, Quiet: -1}, dir
}

func search(t *testing.T, s source.Source, w source.Want) []source.Candidate {
	t.Helper()
	if w.Target == 0 {
		w.Target = 100
	}
	found, err := s.Search(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func titles(found []source.Candidate) (all []string) {
	for _, c := range found {
		all = append(all, c.Title)
	}
	return all
}

func TestTheInboxOffersWholeFilesOfItsFolders(t *testing.T) {
	t.Parallel()
	in, dir := inbox(t)
	if found := search(t, in, source.Want{}); len(found) > 0 {
		t.Errorf("an inbox that was not there offers %v", found)
	}
	old := time.Now().Add(-time.Hour)
	for i, name := range []string{
		"arabic_hits/deep/er/أم كلثوم - الأطلال.mp3", "Arabic Hits/second.mp3", "arabic-hits/\xc7\xe1.flac", "arabic_hits/\xcf\xed/bytes\xff\n.mp3", "english/other.mp3", "loose.mp3", "ours/loose2.mp3",
	} {
		put(t, filepath.Join(dir, name), flac)
		if err := os.Chtimes(filepath.Join(dir, name), old, old.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		"english/.hidden.mp3", "english/.git/a.mp3", "english/a.mp3.part", "english/a.crdownload", "english/a.TMP", "english/a.mp3.filepart", "rejected/english/no.mp3",
	} {
		put(t, filepath.Join(dir, name), flac)
	}
	outside := filepath.Join(t.TempDir(), "outside.mp3")
	put(t, outside, flac)
	if err := errors.Join(
		os.Symlink(outside, filepath.Join(dir, "english/link.mp3")), os.Symlink(filepath.Dir(outside), filepath.Join(dir, "english/links")),
		os.Symlink(filepath.Dir(outside), filepath.Join(dir, "sfx")), os.Symlink("other.mp3", filepath.Join(dir, "english/inner.mp3")),
		syscall.Mkfifo(filepath.Join(dir, "english/pipe.mp3"), 0o600)); err != nil {
		t.Fatal(err)
	}
	found := search(t, in, source.Want{Category: station.ArabicHits})
	if got := titles(found); !slices.Equal(got, []string{"الأطلال", "second", "ال", "bytesÿ"}) {
		t.Errorf("got %q", got)
	}
	if c := found[0]; c.Source != "inbox" || c.Artist != "أم كلثوم" || c.Category != station.ArabicHits || c.Size != int64(len(flac)) || c.Licensor == "" || c.URL != "" {
		t.Errorf("got %+v", c)
	}
	if got := titles(search(t, in, source.Want{Category: station.English})); !slices.Equal(got, []string{"other"}) {
		t.Errorf("got %q", got)
	}
	all := search(t, in, source.Want{})
	if len(all) != 7 || all[5].Category != "" || all[6].Category != "" {
		t.Errorf("got %q", titles(all))
	}
	known := func(name, id string) bool { return name == "inbox" && id == found[0].ID }
	if got := search(t, in, source.Want{Category: station.ArabicHits, Known: known, Target: 2}); len(got) != 2 || got[0].Title != "second" {
		t.Errorf("got %q", titles(got))
	}
	for _, c := range all { // every name can be fetched and settled, whatever its bytes
		f, err := in.Fetch(t.Context(), c, t.TempDir(), nil)
		if err != nil || filepath.Ext(f.File) != ".flac" { // by content, not by name
			t.Errorf("%q: %v %v", c.ID, f.File, err)
		}
		if err := in.Settle(t.Context(), c, source.Outcome{WhyArabic: "قصير", WhyEnglish: "short"}); err != nil {
			t.Error(err)
		}
	}
	if left := search(t, in, source.Want{}); len(left) > 0 {
		t.Errorf("left: %q", titles(left))
	}
}

func TestAFileIsTakenFromTheInboxOnceItRests(t *testing.T) {
	t.Parallel()
	in, dir := inbox(t)
	in.Quiet = time.Hour
	name := filepath.Join(dir, "english", "a.mp3")
	put(t, name, flac)
	long := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(name, long, long); err != nil { // as cp -p does, at the end or before
		t.Fatal(err)
	}
	if found := search(t, in, source.Want{}); len(found) > 0 {
		t.Error("a file that has just changed counts as whole")
	}
	in.Quiet = time.Millisecond // a second look that finds it the same, after the rest
	testkit.Eventually(t, "a file at rest is offered", func() bool { return len(search(t, in, source.Want{})) == 1 })
}

func TestAFileThatChangesBetweenSearchAndFetchIsLeftAlone(t *testing.T) {
	t.Parallel()
	in, dir := inbox(t)
	name := filepath.Join(dir, "english", "a.mp3")
	put(t, name, flac)
	c := search(t, in, source.Want{})[0]
	put(t, name, append(slices.Clone(flac), "more"...))
	work := t.TempDir()
	if _, err := in.Fetch(t.Context(), c, work, nil); err == nil || source.Lasting(err) {
		t.Errorf("fetched a file that changed: %v", err)
	}
	for _, o := range []source.Outcome{{Taken: true}, {WhyEnglish: "x"}} {
		if err := in.Settle(t.Context(), c, o); err != nil {
			t.Error(err)
		}
	}
	if again := search(t, in, source.Want{}); len(again) != 1 || again[0].ID == c.ID {
		t.Error("the changed file is no new candidate")
	}
	// A link put in its place leads nowhere.
	if err := errors.Join(os.Remove(name), os.Symlink("/etc/passwd", name)); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Fetch(t.Context(), c, work, nil); !source.Lasting(err) {
		t.Errorf("fetched through a link: %v", err)
	}
	for _, id := range []string{"../../etc/passwd?1-1", "/etc/passwd?1-1", "", "?", "x"} {
		if _, err := in.Fetch(t.Context(), source.Candidate{ID: id}, work, nil); err == nil {
			t.Errorf("fetched %q", id)
		}
	}
	if left, _ := os.ReadDir(work); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestTakenFilesLeaveTheInboxAndRefusedOnesSayWhy(t *testing.T) {
	t.Parallel()
	in, dir := inbox(t)
	long := strings.Repeat("ط", 125) + ".mp3" // 254 bytes
	for _, name := range []string{"taken.mp3", "refused.mp3", long} {
		put(t, filepath.Join(dir, "english", name), flac)
	}
	why := source.Outcome{WhyArabic: "الملف صامت.", WhyEnglish: "The file is silent."}
	settle := func() {
		for _, c := range search(t, in, source.Want{}) {
			var last int64
			f, err := in.Fetch(t.Context(), c, t.TempDir(), func(done, _ int64) { last = done })
			if err != nil || last != c.Size {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(f.File); !bytes.Equal(got, flac) {
				t.Error("the copy differs")
			}
			o := why
			o.Taken = c.Title == "taken"
			if err := errors.Join(in.Settle(t.Context(), c, o), in.Settle(t.Context(), c, o)); err != nil { // twice is once
				t.Error(err)
			}
		}
	}
	settle()
	put(t, filepath.Join(dir, "english", "refused.mp3"), flac)
	put(t, filepath.Join(dir, "english", long), flac)
	settle()
	var left []string
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, _ error) error {
		if !d.IsDir() {
			left = append(left, strings.TrimPrefix(p, dir+"/"))
		}
		return nil
	})
	want := []string{"refused (2).mp3", "refused (2).mp3.txt", "refused.mp3", "refused.mp3.txt"}
	var got []string
	for _, name := range left {
		if base := filepath.Base(name); !strings.Contains(base, "ط") {
			got = append(got, base)
		}
	}
	if !slices.Equal(got, want) || len(left) != 8 {
		t.Errorf("left %q", left)
	}
	note, _ := os.ReadFile(filepath.Join(dir, "rejected/english/refused.mp3.txt"))
	if !strings.Contains(string(note), why.WhyArabic) || !strings.Contains(string(note), why.WhyEnglish) {
		t.Errorf("the note says %q", note)
	}
}

func TestACancelledCopyFromTheInboxLeavesNothing(t *testing.T) {
	t.Parallel()
	in, dir := inbox(t)
	put(t, filepath.Join(dir, "english", "a.mp3"), flac)
	c := search(t, in, source.Want{})[0]
	ctx, cancel := context.WithCancel(t.Context())
	work := t.TempDir()
	_, err := in.Fetch(ctx, c, work, func(int64, int64) { cancel() })
	if left, _ := os.ReadDir(work); !errors.Is(err, context.Canceled) || len(left) > 0 {
		t.Errorf("%v, left %v", err, left)
	}
}
