package media_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/station"
)

// A scan would wait an hour for such files to settle.
func TestALookRegistersAFileThatWasWrittenThisMoment(t *testing.T) {
	f := open(t, t.TempDir(), func(o *media.Options) { o.Settle = time.Hour })
	put(t, f.root, "english/old.ogg", sound(t, "ogg"))
	scan(t, f.Library)
	now := time.Now()
	for _, name := range []string{"ads/new.ogg", "ads/beside.ogg"} {
		put(t, f.root, name, sound(t, "ogg"))
		if err := os.Chtimes(filepath.Join(f.root, name), now, now); err != nil {
			t.Fatal(err)
		}
	}
	report, err := f.Look(t.Context(), "ads/new.ogg", "ads/new.ogg", "ads/none.ogg")
	if err != nil || report.Added != 1 || report.Unsettled != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if got := paths(f.Snapshot()); !slices.Equal(got, []string{"ads/new.ogg", "english/old.ogg"}) {
		t.Errorf("%q", got)
	}
	if err := os.Remove(filepath.Join(f.root, "ads/new.ogg")); err != nil {
		t.Fatal(err)
	}
	if report, err := f.Look(t.Context(), "ads/new.ogg"); err != nil || report.Removed != 1 || len(f.Snapshot().Tracks) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	for _, path := range []string{"", ".", "..", "../x.ogg", "/etc/passwd", "ads/../x.ogg", "a\x00b"} {
		if _, err := f.Look(t.Context(), path); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if _, err := f.Look(t.Context(), "english/old.ogg", "english"); !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
	if report, err := f.Look(t.Context()); err != nil || report.Seen != 0 {
		t.Errorf("at nothing: %+v, %v", report, err)
	}
}

func TestALookReadsWhatIsQuarantinedAgain(t *testing.T) {
	f := open(t, t.TempDir())
	put(t, f.root, "english/x.ogg", []byte("no sound at all, though it is named so"))
	put(t, f.root, "english/y.ogg", sound(t, "ogg"))
	scan(t, f.Library)
	for range 2 {
		if report, err := f.Look(t.Context(), "english/x.ogg", "english/y.ogg"); err != nil || report.Opened != 1 || len(f.Snapshot().Quarantined) != 1 {
			t.Errorf("%+v, %v", report, err)
		}
	}
}

// What a file is outside the folder is what a scan makes of it inside.
func TestExamineSaysWhatAScanWould(t *testing.T) {
	dir := t.TempDir()
	m4a := sound(t, "m4a")
	for name, c := range map[string]struct {
		data []byte
		kind media.Unfitness
	}{
		"good.mp3": {sound(t, "mp3"), -1}, "good.opus": {sound(t, "opus"), -1},
		"text.mp3": {[]byte("dear diary, today nothing was on the air at all and I wrote this down"), media.NotAudio},
		"cut.m4a":  {m4a[:len(m4a)/2], media.Damaged}, // its index is at its end
		"none.ogg": {nil, media.Damaged},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := media.Examine(t.Context(), path)
		var unfit *media.Unfit
		switch {
		case c.kind < 0 && (err != nil || info.Title != "يا مسهرني" || (info.Duration-seconds).Abs() > 50*time.Millisecond):
			t.Errorf("%s: %+v, %v", name, info, err)
		case c.kind >= 0 && (!errors.As(err, &unfit) || unfit.Kind != c.kind || unfit.Reason == ""):
			t.Errorf("%s: %+v, %v", name, info, err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "good.mp3"), filepath.Join(dir, "link.mp3")); err != nil {
		t.Fatal(err)
	}
	if _, err := media.Examine(t.Context(), filepath.Join(dir, "link.mp3")); err == nil {
		t.Error("a link is followed")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := media.Examine(gone, filepath.Join(dir, "text.mp3")); !errors.Is(err, context.Canceled) {
		t.Errorf("its caller has left: %v", err)
	}
	for category, want := range map[station.Category]media.Unfitness{station.Jingles: media.TooLong, station.English: -1} {
		var unfit *media.Unfit
		err := media.Fits(category, &audiofile.Info{Duration: 6 * time.Minute, SampleRate: 44100})
		if errors.As(err, &unfit) != (want >= 0) || want >= 0 && unfit.Kind != want {
			t.Errorf("%s: %v", category, err)
		}
	}
}
