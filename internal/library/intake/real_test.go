package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/filename"
	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/duplicates"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/station"
)

// library is the real registry with the real fingerprints.
type library struct {
	*media.Library
	prints *duplicates.Store
}

func (l library) Find(p string) (station.Track, bool) { return l.Snapshot().Find(p) }
func (l library) Tracks() int                         { return len(l.Snapshot().Tracks) }

func (l library) Airs(p string) bool {
	_, ok := l.Find(p)
	return ok
}

func (l library) Register(ctx context.Context, paths ...string) error {
	_, err := l.Look(ctx, paths...)
	return err
}

func (l library) Alike(ctx context.Context, versions []fingerprint.Print, artist, title string) (out []Match, err error) {
	found, err := l.prints.Alike(ctx, versions, artist, title)
	for _, m := range found {
		out = append(out, Match{m.ID, m.Difference})
	}
	return out, err
}

func (l library) Add(ctx context.Context, p, abs, artist, title string) error {
	info, err := os.Stat(abs)
	if err != nil {
		return err
	}
	return l.prints.Add(ctx, duplicates.File{Path: p, Abs: abs, Size: info.Size(), ModTime: info.ModTime(), Artist: artist, Title: title})
}

// songs are real files: made once.
var songs = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "athir-intake-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a test's
	// A melody has features that a tone lacks.
	melody := func(seed int) string {
		return fmt.Sprintf("aevalsrc='0.4*sin(2*PI*t*(220+%d*floor(mod(t*3,7))+55*floor(mod(t*%d,5))))+0.2*sin(2*PI*t*(330+40*floor(mod(t*2,9))))':d=70:s=22050", 30+7*seed, 1+seed)
	}
	for name, args := range map[string][]string{
		"song.mp3":  {"-f", "lavfi", "-i", melody(1), "-metadata", "title=يا مسافر وحدك", "-metadata", "artist=محمد عبد الوهاب"},
		"same.ogg":  {"-f", "lavfi", "-i", melody(1), "-af", "volume=0.6", "-metadata", "title=Track 9"},
		"other.ogg": {"-f", "lavfi", "-i", melody(4), "-metadata", "title=Else", "-metadata", "artist=Nobody"},
		"ident.wav": {"-f", "lavfi", "-i", "sine=d=3", "-map_metadata", "-1"},
		"film.mp3":  {"-f", "lavfi", "-i", "testsrc=d=1:r=5:s=64x64", "-f", "matroska"},
	} {
		cmd := exec.Command("ffmpeg", append(append([]string{"-v", "error"}, args...), filepath.Join(dir, name))...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", name, err, out)
		}
	}
	out := map[string][]byte{}
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, p := range all {
		data, rerr := os.ReadFile(p)
		out[filepath.Base(p)], err = data, errors.Join(err, rerr)
	}
	return out, err
})

// real is an intake into a real library.
type real struct {
	*Intake
	t    *testing.T
	dir  string
	lib  library
	sent int
}

func newReal(t *testing.T) *real {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "media")
	if err := os.Mkdir(root, 0o750); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(dir, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	// A file that was just written would wait an hour for a scan.
	lib, err := media.Open(t.Context(), db, media.Options{Root: root, Log: slog.New(slog.DiscardHandler), Settle: time.Hour, Rescan: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	prints, err := duplicates.Open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(prints.Close)
	log, _ := testkit.Log(t)
	r := &real{t: t, dir: dir, lib: library{lib, prints}}
	r.Intake, err = Open(t.Context(), db, Options{
		Dir: filepath.Join(dir, "arrivals"), Media: root, Library: r.lib, Prints: r.lib, Archive: newShelf(dir), Log: log,
		Space: func(string) (uint64, uint64, error) { return 1 << 40, 1 << 41, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *real) send(data []byte, meta map[string]string) string {
	r.t.Helper()
	r.sent++
	f := resume.Finished{ID: fmt.Sprintf("%026d", r.sent), Path: filepath.Join(r.dir, fmt.Sprint(r.sent, ".part")), Size: int64(len(data)), Meta: meta}
	if err := os.WriteFile(f.Path, data, 0o600); err != nil {
		r.t.Fatal(err)
	}
	receipt, err := door{r.Intake}.Take(r.t.Context(), f)
	if err != nil {
		r.t.Fatal(err)
	}
	return receipt[Header]
}

func (r *real) await(id string, state State) Arrival {
	r.t.Helper()
	testkit.Eventually(r.t, "it is "+string(state), func() bool {
		a, err := r.Find(id)
		return err == nil && (a.State == state || a.State == Refused)
	})
	a, err := r.Find(id)
	if err != nil || a.State != state {
		r.t.Errorf("%+v, %v, want %s; %v", a, err, state, a.Reason)
	}
	return a
}

func TestRealFilesFindTheirWayIntoTheLibrary(t *testing.T) {
	files, err := songs()
	if err != nil {
		t.Fatal(err)
	}
	r := newReal(t)
	testkit.Background(t, r.Run)
	song := r.await(r.send(files["song.mp3"], map[string]string{"filename": "07 song.mp3", "category": "arabic_hits"}), Taken)
	if song.Path != "arabic_hits/محمد عبد الوهاب - يا مسافر وحدك.mp3" || (song.Duration-70*time.Second).Abs() > time.Second {
		t.Errorf("%+v", song)
	}
	testkit.Eventually(t, "the library has it", func() bool { _, ok := r.lib.Find(song.Path); return ok })
	track, _ := r.lib.Find(song.Path)
	if track.Title != "يا مسافر وحدك" || track.Category != station.ArabicHits {
		t.Errorf("%+v", track)
	}
	testkit.Eventually(t, "it is told", func() bool { k, _ := r.get(song.ID); return k.Told })
	same := r.await(r.send(files["same.ogg"], map[string]string{"filename": "same.ogg", "category": "english"}), Asks)
	if len(same.Alike) != 1 || same.Alike[0].Path != song.Path || !same.Alike[0].Recording || !slices.Equal(same.Asks, []Question{AskDuplicate}) {
		t.Errorf("another copy of the recording: %+v", same)
	}
	other := r.await(r.send(files["other.ogg"], map[string]string{"filename": "other.ogg", "category": "english"}), Taken)
	if other.Path != "english/Nobody - Else.ogg" {
		t.Errorf("%+v", other)
	}
	ident := r.await(r.send(files["ident.wav"], map[string]string{"filename": "03 - أثير - نغمة.wav", "folder": "الإذاعة/شارات"}), Asks)
	if ident.Category != station.Jingles || ident.Title != "نغمة" || ident.Artist != "أثير" || !ident.Guessed {
		t.Errorf("%+v", ident)
	}
}

func TestOddFilesAreRefusedInWords(t *testing.T) {
	files, err := songs()
	if err != nil {
		t.Fatal(err)
	}
	r := newReal(t)
	testkit.Background(t, r.Run)
	got := map[string]Code{}
	odd := map[string][]byte{
		"text.mp3": []byte(strings.Repeat("dear diary\n", 500)), "list.mp3": []byte("#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:1/a.ts\n"),
		"cut.mp3": files["song.mp3"][:len(files["song.mp3"])/3], "none.ogg": nil, "film.mp3": files["film.mp3"], "zeros.flac": make([]byte, 4096),
		"wrong.flac": files["ident.wav"][:20],
	}
	for name, data := range odd {
		a := r.await(r.send(data, map[string]string{"filename": name, "category": "english"}), Refused)
		if a.Reason == nil {
			t.Fatalf("%s: %+v", name, a)
		}
		got[name] = a.Reason.Code
		if w := a.Reason.Words(); w.En == "" || w.Ar == "" || strings.Contains(w.En, r.dir) {
			t.Errorf("%s: %+v", name, w)
		}
	}
	want := map[string]Code{
		"text.mp3": NotAudio, "list.mp3": Damaged, "cut.mp3": Damaged, "none.ogg": Damaged, "film.mp3": NotAudio, "zeros.flac": NotAudio, "wrong.flac": NotAudio,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(content(t, r.opt.Media)); n != 0 {
		t.Errorf("%d of them were placed", n)
	}
}

// Many of one name at once, while other programs place files of that name too.
func TestFilesOfOneNameAtOnceAreAllPlaced(t *testing.T) {
	r := newRig(t)
	stop := testkit.Background(t, r.Run)
	const each = 12
	want := map[string]bool{}
	for i := range each {
		want[fmt.Sprintf("200|Dido|Thank You|%d", i)] = true
		want[fmt.Sprintf("stranger %d", i)] = true
	}
	var all sync.WaitGroup
	if err := os.MkdirAll(filepath.Join(r.shelf.media, "english"), 0o750); err != nil {
		t.Fatal(err)
	}
	all.Go(func() {
		for i := range each {
			for n := 1; ; n++ {
				f, err := os.OpenFile(filepath.Join(r.shelf.media, "english", filename.Numbered("Dido - Thank You.mp3", n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
				if err == nil {
					_, _ = fmt.Fprintf(f, "stranger %d", i)
					_ = f.Close()
					break
				}
			}
		}
	})
	for i := range each {
		r.send(fmt.Sprintf("200|Dido|Thank You|%d", i), "Thank You.mp3", "category", "english")
	}
	all.Wait()
	testkit.Eventually(t, "all are placed", func() bool {
		_, _ = r.Take(t.Context(), nil) // those of the same name ask
		list, _ := r.List(t.Context())
		return !slices.ContainsFunc(list, func(a Arrival) bool { return a.State != Taken })
	})
	stop()
	got := map[string]bool{}
	for _, text := range content(t, r.shelf.media) {
		got[text] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Error(diff)
	}
}
