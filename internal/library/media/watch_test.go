package media_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/media"
)

// expect waits until the registry holds exactly these paths.
func expect(t *testing.T, what string, l *media.Library, want ...string) {
	t.Helper()
	slices.Sort(want)
	testkit.EventuallyNil(t, what, func() error {
		if s := l.Snapshot(); !slices.Equal(paths(s), want) || len(s.Quarantined) > 0 {
			return fmt.Errorf("tracks %q, quarantined %q, want %q", paths(s), reasons(s), want)
		}
		return nil
	})
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// One story: what an operator does to the folder while the station runs. No
// whole scan comes to the watch's help: it is an hour away.
func TestWatchFollowsTheFolder(t *testing.T) {
	t.Parallel()
	f := open(t, filepath.Join(t.TempDir(), "media"))
	at := func(rel string) string { return filepath.Join(f.root, rel) }
	ogg := sound(t, "ogg")
	put(t, f.root, "music/english/a.ogg", ogg)
	run(t, f.Library)
	expect(t, "first scan", f.Library, "music/english/a.ogg")

	must(t, os.WriteFile(at("music/english/b.ogg"), ogg, 0o600))
	expect(t, "a file added", f.Library, "music/english/a.ogg", "music/english/b.ogg")

	must(t, os.Rename(at("music/english/b.ogg"), at("music/english/c.ogg")))
	expect(t, "a file renamed", f.Library, "music/english/a.ogg", "music/english/c.ogg")

	must(t, os.Remove(at("music/english/a.ogg")))
	expect(t, "a file deleted", f.Library, "music/english/c.ogg")

	must(t, os.MkdirAll(at("music/jingles/new/er/est"), 0o750), os.WriteFile(at("music/jingles/new/er/est/d.ogg"), ogg, 0o600))
	expect(t, "nested folders added", f.Library, "music/english/c.ogg", "music/jingles/new/er/est/d.ogg")
	must(t, os.WriteFile(at("music/jingles/new/er/e.ogg"), ogg, 0o600))
	expect(t, "a file in a new folder", f.Library, "music/english/c.ogg", "music/jingles/new/er/e.ogg", "music/jingles/new/er/est/d.ogg")

	must(t, os.Rename(at("music/jingles/new"), at("music/sweepers")))
	expect(t, "a folder moved", f.Library, "music/english/c.ogg", "music/sweepers/er/e.ogg", "music/sweepers/er/est/d.ogg")
	must(t, os.WriteFile(at("music/sweepers/er/est/f.ogg"), ogg, 0o600), os.Remove(at("music/sweepers/er/e.ogg")))
	expect(t, "changes deep in a moved folder", f.Library,
		"music/english/c.ogg", "music/sweepers/er/est/d.ogg", "music/sweepers/er/est/f.ogg")
	// The old name, used again, is another folder.
	must(t, os.MkdirAll(at("music/jingles/new/er"), 0o750), os.WriteFile(at("music/jingles/new/er/g.ogg"), ogg, 0o600))
	expect(t, "the old name again", f.Library,
		"music/english/c.ogg", "music/sweepers/er/est/d.ogg", "music/sweepers/er/est/f.ogg", "music/jingles/new/er/g.ogg")

	out := filepath.Join(t.TempDir(), "out")
	must(t, os.Rename(at("music/sweepers"), out), os.RemoveAll(at("music/jingles")))
	expect(t, "folders moved out and deleted", f.Library, "music/english/c.ogg")
	must(t, os.Rename(out, at("music/news")))
	expect(t, "a full folder moved in", f.Library, "music/english/c.ogg", "music/news/er/est/d.ogg", "music/news/er/est/f.ogg")

	must(t, os.WriteFile(at("ATTRIBUTION.tsv"), []byte("music/english/c.ogg\tSomebody\n"), 0o600))
	testkit.EventuallyNil(t, "credits written", func() error {
		if got, _ := f.Snapshot().Find("music/english/c.ogg"); got.Artist != "Somebody" {
			return fmt.Errorf("by %q", got.Artist)
		}
		return nil
	})
}

// A disk that comes back is found without a restart.
func TestRunSurvivesAMissingRootAndSeesItReturn(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	log, lines := testkit.Log(t)
	f := open(t, filepath.Join(base, "media"), func(o *media.Options) {
		o.Rescan, o.Log = 200*time.Millisecond, log
	})
	run(t, f.Library)
	testkit.EventuallyNil(t, "the problem shown", func() error {
		if p := f.Snapshot().Problem; !strings.Contains(p, "does not exist") {
			return fmt.Errorf("problem %q", p)
		}
		return nil
	})
	away := filepath.Join(base, "away")
	put(t, away, "english/a.ogg", sound(t, "ogg"))
	must(t, os.Rename(away, f.root))
	expect(t, "the root came", f.Library, "english/a.ogg")
	testkit.EventuallyNil(t, "the problem over", func() error {
		if s := f.Snapshot(); s.Scanning || s.Problem != "" {
			return fmt.Errorf("problem %q", s.Problem)
		}
		return nil
	})
	must(t, os.Rename(f.root, away))
	testkit.EventuallyNil(t, "the problem shown again", func() error {
		if p := f.Snapshot().Problem; !strings.Contains(p, "does not exist") {
			return fmt.Errorf("problem %q", p)
		}
		return nil
	})
	put(t, away, "english/b.ogg", sound(t, "ogg"))
	expect(t, "tracks are kept meanwhile", f.Library, "english/a.ogg")
	must(t, os.Rename(away, f.root))
	expect(t, "the root came back", f.Library, "english/a.ogg", "english/b.ogg")
	if n := strings.Count(lines.String(), "does not exist"); n != 2 {
		t.Errorf("two outages were logged %d times:\n%s", n, log)
	}
}

// A copied album must not fill the log; what was refused must not hide in it.
func TestWatchedFilesAreLoggedAtDebugAndRefusedOnesAtInfo(t *testing.T) {
	t.Parallel()
	log, lines := testkit.Log(t)
	f := open(t, t.TempDir(), func(o *media.Options) {
		o.Log = log
	})
	put(t, f.root, "english/a.ogg", sound(t, "ogg"))
	run(t, f.Library)
	said := func(what, level, counts string) {
		t.Helper()
		testkit.EventuallyNil(t, what, func() error {
			for line := range strings.Lines(lines.String()) {
				if strings.Contains(line, `msg="media library changed"`) && strings.Contains(line, counts) && strings.Contains(line, "level="+level+" ") {
					return nil
				}
			}
			return fmt.Errorf("logged:\n%s", lines)
		})
	}
	said("a whole scan", "INFO", "tracks=1 added=1 ")
	must(t, os.WriteFile(filepath.Join(f.root, "english/b.ogg"), sound(t, "ogg"), 0o600))
	said("a watched file", "DEBUG", "tracks=2 added=1 ")
	must(t, os.WriteFile(filepath.Join(f.root, "english/empty.ogg"), nil, 0o600))
	said("a refused file", "INFO", "tracks=2 added=0 updated=0 removed=0 quarantined=1")
}
