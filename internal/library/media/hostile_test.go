package media_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/library/media"
)

// Whoever may write to the media folder must not publish a line of a file
// elsewhere, nor hold the scanner with a pipe that nobody writes to.
func TestCreditFilesThatLinkOutOrArePipesAreNotRead(t *testing.T) {
	for _, follow := range []bool{false, true} {
		base := t.TempDir()
		f := open(t, filepath.Join(base, "media"), func(o *media.Options) { o.FollowLinks = follow })
		put(t, base, "secret", []byte("a.ogg\tSECRET\tSECRET\tSECRET\n"))
		put(t, f.root, "music/english/LICENSE", []byte("CC BY 4.0\n"))
		for _, name := range []string{"a.ogg", "b.ogg", "c.ogg"} {
			put(t, f.root, "music/english/"+name, sound(t, "ogg"))
		}
		put(t, f.root, "music/jingles/d.ogg", sound(t, "ogg"))
		link(t, filepath.Join(base, "secret"), f.root, "music/english/a.ogg.license")
		link(t, "LICENSE", f.root, "music/english/c.ogg.license") // one text for many files
		link(t, "../../../secret", f.root, "music/english/ATTRIBUTION.tsv")
		must(t, syscall.Mkfifo(filepath.Join(f.root, "music/english/b.ogg.license"), 0o600),
			syscall.Mkfifo(filepath.Join(f.root, "music/jingles/ATTRIBUTION.tsv"), 0o600))
		scan(t, f.Library)
		s := f.Snapshot()
		if len(s.Tracks) != 4 || strings.Contains(content(s), "SECRET") || strings.Contains(content(s), base) {
			t.Errorf("links followed: %v\n%s", follow, content(s))
		}
		if got, _ := s.Find("music/english/c.ogg"); got.License != "CC BY 4.0" {
			t.Errorf("a link that stays inside: %+v", got)
		}
		why := reasons(s)
		if !strings.Contains(why["music/english/ATTRIBUTION.tsv"], "links out of the media folder") ||
			!strings.Contains(why["music/jingles/ATTRIBUTION.tsv"], "pipe") || len(why) != 2 {
			t.Errorf("quarantined: %q", why)
		}
	}
}

// An MP3 that begins as a playlist is a playlist to a player, which would air
// what it names; one with a little rubbish in front is a song.
func TestPlaylistInFrontOfAnMP3IsQuarantinedAndRubbishIsNot(t *testing.T) {
	f := open(t, t.TempDir())
	mp3 := sound(t, "mp3")
	end := 10 + (int(mp3[6])<<21 | int(mp3[7])<<14 | int(mp3[8])<<7 | int(mp3[9]))
	tag, frames := mp3[:end], mp3[end:]
	list := []byte("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/tmp/outside.aac\n#EXT-X-ENDLIST\n")
	put(t, f.root, "english/list.mp3", slices.Concat(list, frames))
	put(t, f.root, "english/tagged.mp3", slices.Concat(tag, list, frames))
	put(t, f.root, "english/twice.mp3", slices.Concat(tag, tag, list, frames))
	put(t, f.root, "english/flac.mp3", slices.Concat([]byte("x"), sound(t, "flac")))
	put(t, f.root, "english/rubbish.mp3", slices.Concat([]byte("some rubbish"), frames))
	put(t, f.root, "english/good.mp3", slices.Concat(tag, tag, make([]byte, 5000), frames))
	report := scan(t, f.Library)
	if got := paths(f.Snapshot()); !slices.Equal(got, []string{"english/good.mp3", "english/rubbish.mp3"}) || report.Probed != 2 {
		t.Errorf("registered %q, quarantined %q, %d probed", got, reasons(f.Snapshot()), report.Probed)
	}
	for path, why := range reasons(f.Snapshot()) {
		if !strings.Contains(why, "not an audio file") && !strings.Contains(why, "not what its name says") {
			t.Errorf("%s: %q", path, why)
		}
	}
}

// Sizes that would hold a decoder for minutes are refused unopened by any
// program, and once.
func TestHugeAndHollowFilesAreRefusedWithoutADecoder(t *testing.T) {
	f := open(t, t.TempDir())
	mp3 := sound(t, "mp3")
	grow := func(rel string, data []byte, size int64) {
		put(t, f.root, rel, data)
		path := filepath.Join(f.root, rel)
		must(t, os.Truncate(path, size), os.Chtimes(path, old, old))
	}
	grow("english/nothing.mp3", nil, 200<<30)
	grow("english/sparse.mp3", mp3, 7<<30)
	grow("english/hole.mp3", mp3, 2<<20)
	grow("english/small.mp3", mp3, 1<<20) // a decoder soon knows
	report := scan(t, f.Library)
	why := reasons(f.Snapshot())
	if why["english/nothing.mp3"] != "larger than 8 GiB" || why["english/sparse.mp3"] != "has holes: not copied whole?" ||
		why["english/hole.mp3"] != why["english/sparse.mp3"] || report.Probed > 1 {
		t.Errorf("%q, %d probed", why, report.Probed)
	}
	if again := scan(t, f.Library); again.Opened != 0 {
		t.Errorf("looked at again: %+v", again)
	}
}
