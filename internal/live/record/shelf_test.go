package record_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/record"
	"github.com/athir-radio/athir/internal/station"
)

// What has lost its sidecar, or whose sidecar lies, is listed by what the file says; what
// is torn is cut at the last whole frame.
func TestSidecarsAreMadeAnew(t *testing.T) {
	dir := t.TempDir()
	want := made(t, dir, sara, 3)
	side := strings.TrimSuffix(path(dir, want.Name), ".mp3") + ".json"
	whole, err := os.ReadFile(path(dir, want.Name))
	if err != nil {
		t.Fatal(err)
	}
	var told record.Recording
	if text, err := os.ReadFile(side); err != nil || json.Unmarshal(text, &told) != nil || !reflect.DeepEqual(told, want) {
		t.Errorf("the sidecar says %+v, %v", told, err)
	}
	for name, spoil := range map[string]func() error{
		"missing": func() error { return os.Remove(side) },
		"broken":  func() error { return os.WriteFile(side, []byte(`{"name": "LIVE`), 0o600) },
		"another": func() error { return os.WriteFile(side, []byte(`{"name": "../../etc/passwd", "ended": 1}`), 0o600) },
		"empty":   func() error { return os.WriteFile(side, nil, 0o600) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		r, _ := open(t, record.Options{Dir: dir})
		if all := r.List(); len(all) != 1 || !reflect.DeepEqual(all[0], want) {
			t.Errorf("%s: %+v instead of %+v", name, all, want)
		}
		if text, err := os.ReadFile(side); err != nil || json.Unmarshal(text, &told) != nil || told.Name != want.Name {
			t.Errorf("%s: no sidecar was made: %v", name, err)
		}
	}

	// A power cut: half a frame, then zeros.
	torn := append(whole[:len(whole)-300:len(whole)-300], make([]byte, 5000)...)
	if err := errors.Join(os.WriteFile(path(dir, want.Name), torn, 0o600), os.Remove(side)); err != nil {
		t.Fatal(err)
	}
	r, _ := open(t, record.Options{Dir: dir})
	if all := r.List(); len(all) != 1 || all[0].Bytes != want.Bytes-record.FrameBytes || all[0].DurationMS != want.DurationMS-24 {
		t.Errorf("%+v", all)
	}
	if left, err := decoded(t.Context(), path(dir, want.Name)); err != nil || inOrder(climbed(left), 30, 1) != nil {
		t.Errorf("%v, %v", climbed(left), err)
	}

	// Without head and sidecar the name is all there is.
	if err := errors.Join(os.WriteFile(path(dir, want.Name), whole[record.HeadBytes:], 0o600), os.Remove(side)); err != nil {
		t.Fatal(err)
	}
	r, _ = open(t, record.Options{Dir: dir})
	if all := r.List(); len(all) != 1 || all[0].DurationMS != want.DurationMS || all[0].Began/1000 != want.Began/1000 || all[0].Problem == "" {
		t.Errorf("%+v", all)
	}
}

func TestTheOldestGoFirst(t *testing.T) {
	dir := t.TempDir()
	first := made(t, dir, sara, 2)
	whole, err := os.ReadFile(path(dir, first.Name))
	if err != nil {
		t.Fatal(err)
	}
	day := func(n int) time.Time { return time.Date(2026, 3, n, 20, 0, 0, 0, time.UTC) }
	names := []string{}
	for n := 1; n <= 5; n++ {
		rec := first
		rec.Name = "LIVE_" + day(n).Format("20060102-150405") + "_show.mp3"
		rec.Began, rec.Ended = day(n).UnixMilli(), day(n).Add(time.Hour).UnixMilli()
		text, _ := json.Marshal(rec)
		if err := errors.Join(os.WriteFile(path(dir, rec.Name), whole, 0o600),
			os.WriteFile(path(dir, strings.TrimSuffix(rec.Name, ".mp3")+".json"), text, 0o600)); err != nil {
			t.Fatal(err)
		}
		names = append(names, rec.Name)
	}
	if err := errors.Join(os.Remove(path(dir, first.Name)), os.WriteFile(path(dir, "mine.mp3"), whole, 0o600)); err != nil {
		t.Fatal(err)
	}
	left := func(opt record.Options, want ...string) {
		t.Helper()
		opt.Dir = dir
		r, _ := open(t, opt)
		stop := testkit.Background(t, r.Run)
		defer stop()
		testkit.Eventually(t, "only the newest are left", func() bool {
			var got []string
			for _, rec := range r.List() {
				got = append([]string{rec.Name}, got...)
			}
			return reflect.DeepEqual(got, want)
		})
	}
	left(record.Options{Now: func() time.Time { return day(5) }}, names...)
	left(record.Options{MaxAge: 72*time.Hour + time.Minute, Now: func() time.Time { return day(5).Add(time.Hour) }}, names[1:]...)
	left(record.Options{MaxBytes: 2 * int64(len(whole)), Now: func() time.Time { return day(5) }}, names[3:]...)
	files, _ := os.ReadDir(dir)
	if len(files) != 5 { // two, their sidecars, and what is not ours
		t.Errorf("%v", files)
	}
}

func TestNamesFromOutsideReachNoOtherFile(t *testing.T) {
	dir := t.TempDir()
	rec := made(t, dir, sara, 1)
	secret := path(dir, "secret.mp3")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, path(dir, "LIVE_20260101-000000_link.mp3")); err != nil {
		t.Fatal(err)
	}
	r, _ := open(t, record.Options{Dir: dir})
	for _, name := range []string{
		"", ".", "..", "secret.mp3", "../" + rec.Name, "./" + rec.Name, rec.Name + "\x00", "/etc/passwd",
		"LIVE_20260101-000000_link.mp3", strings.Replace(rec.Name, ".mp3", ".json", 1), "LIVE_20260101-000000_..%2f..%2fx.mp3",
	} {
		if _, _, err := r.Open(name); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("open %q: %v", name, err)
		}
		if err := r.Delete(name); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("delete %q: %v", name, err)
		}
		if err := r.SetListeners(name, 1, 1); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("listeners of %q: %v", name, err)
		}
	}
	if err := r.SetListeners(rec.Name, -1, 1); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("fewer than none: %v", err)
	}
	if err := r.SetListeners(rec.Name, 12.5, 20); err != nil {
		t.Fatal(err)
	}
	r, _ = open(t, record.Options{Dir: dir})
	if l := r.List()[0].Listeners; l == nil || *l != 12.5 || r.List()[0].MostListeners != 20 {
		t.Errorf("listeners are forgotten: %v", l)
	}
	if err := r.Delete(rec.Name); err != nil || len(r.List()) != 0 {
		t.Errorf("%v, %v", err, r.List())
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("left: %v", files)
	}
}

func TestSlugs(t *testing.T) {
	for title, want := range map[string]string{
		"": "live", "..": "live", "../../etc": "etc", "A  b—C!": "a-b-c", "مُحَمَّد ٣": "محمد-٣",
		strings.Repeat("x", 300): strings.Repeat("x", 64), "\u202eabc": "abc", "CON\x00": "con",
	} {
		if got := record.Slug(title); got != want {
			t.Errorf("%q: %q", title, got)
		}
	}
}

// Titles of every kind fit into the head, which keeps its size.
func TestTheHeadKeepsItsSize(t *testing.T) {
	rec := record.Recording{Title: strings.Repeat("ش", 200), Presenter: strings.Repeat("<", 200), StreamID: strings.Repeat("\"", 80), Why: strings.Repeat("<\\", 80), Mode: live.Over}
	b := record.Head(rec, 1<<40, 0)
	if got, ok := record.ParseHead(b); !ok || len(b) != record.HeadBytes || !reflect.DeepEqual(got, rec) {
		t.Errorf("%d bytes, %+v", len(b), got)
	}
}

func FuzzSplit(f *testing.F) {
	frame := append([]byte{0xff, 0xfb, 0xd4, 0x44}, make([]byte, record.FrameBytes-4)...)
	f.Add(append([]byte{1, 2, 3}, append(frame, frame...)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, rest, skipped := record.Split(b)
		if len(whole)%record.FrameBytes != 0 || len(rest) >= record.FrameBytes || len(whole)+len(rest)+skipped != len(b) {
			t.Errorf("%d whole, %d left, %d skipped of %d", len(whole), len(rest), skipped, len(b))
		}
	})
}

func FuzzParseHead(f *testing.F) {
	f.Add(record.Head(record.Recording{Title: "x", Presenter: "y", Began: 1}, 3, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, ok := record.ParseHead(b)
		if !ok {
			return
		}
		again, ok := record.ParseHead(record.Head(rec, 1, 0))
		if !ok || again.Title != rec.Title || again.Presenter != rec.Presenter || again.StreamID != rec.StreamID {
			t.Errorf("%+v became %+v", rec, again)
		}
	})
}

// A relay that is live all week is one recording.
func TestTheLengthOfAWeekIsRight(t *testing.T) {
	const frames = 7 * 24 * 3600 * 1000 / 24
	if got := record.Played(frames); got != 7*24*time.Hour {
		t.Errorf("a week of frames plays %s", got)
	}
}
