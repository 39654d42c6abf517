package media_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/station"
)

// TestMain doubles as the scanning child that a test kills or deprives of rights.
func TestMain(m *testing.M) {
	if os.Getenv("MEDIA_TEST_ROOT") == "" {
		testkit.Main(m)
		return
	}
	ctx := context.Background()
	db, err := store.Open(ctx, os.Getenv("MEDIA_TEST_DB"))
	if err != nil {
		panic(err)
	}
	l, err := media.Open(ctx, db, media.Options{Root: os.Getenv("MEDIA_TEST_ROOT"), Log: slog.New(slog.DiscardHandler), Settle: 1, Workers: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println("scanning")
	report, err := l.Scan(ctx, nil)
	fmt.Printf("%+v\n%v\n", report, err)
}

const seconds = 1500 * time.Millisecond // of every sound

// sounds are one sound in six formats, made once: the file by extension.
var sounds = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "athir-media-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out := map[string][]byte{}
	for _, ext := range []string{"mp3", "ogg", "flac", "m4a", "opus", "wav"} {
		path := filepath.Join(dir, "x."+ext)
		cmd := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=d=1.5:r=48000", //nolint:gosec // test
			"-metadata", "title=يا مسهرني", "-metadata", "artist=أم كلثوم", "-metadata", "album=حفل "+ext,
			"-metadata", "genre=طرب", "-metadata", "copyright=CC0", path)
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, text)
		}
		if out[ext], err = os.ReadFile(path); err != nil { //nolint:gosec // test
			return nil, err
		}
	}
	return out, nil
})

func sound(t *testing.T, ext string) []byte {
	t.Helper()
	all, err := sounds()
	if err != nil {
		t.Fatal(err)
	}
	return all[ext]
}

// old is a time at which no file is being written any more.
var old = time.Now().Add(-time.Hour).Truncate(time.Second)

// put writes a file that looks finished.
func put(t *testing.T, root, rel string, data []byte) {
	t.Helper()
	path := filepath.Join(root, rel)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

type fixture struct {
	*media.Library
	db   *store.DB
	root string
}

func open(t *testing.T, root string, change ...func(*media.Options)) fixture {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return fixture{openOn(t, db, root, change...), db, root}
}

func openOn(t *testing.T, db *store.DB, root string, change ...func(*media.Options)) *media.Library {
	t.Helper()
	opt := media.Options{Root: root, Log: slog.New(slog.DiscardHandler), Settle: 300 * time.Millisecond, Rescan: time.Hour}
	for _, c := range change {
		c(&opt)
	}
	l, err := media.Open(t.Context(), db, opt)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func scan(t *testing.T, l *media.Library) media.Report {
	t.Helper()
	report, err := l.Scan(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func paths(s *media.Snapshot) []string {
	out := []string{}
	for _, t := range s.Tracks {
		out = append(out, t.Path)
	}
	return out
}

func reasons(s *media.Snapshot) map[string]string {
	out := map[string]string{}
	for _, q := range s.Quarantined {
		out[q.Path] = q.Reason
	}
	return out
}

func TestSixFormatsAreRegisteredWithArabicTagsAndNames(t *testing.T) {
	f := open(t, t.TempDir())
	exts := []string{"mp3", "ogg", "flac", "m4a", "opus", "wav"}
	for _, ext := range exts {
		put(t, f.root, "music/arabic_hits/أم كلثوم - يا مسهرني."+ext, sound(t, ext))
	}
	report := scan(t, f.Library)
	if report.Added != 6 || report.Opened != 6 || report.Probed != 0 || report.Seen != 6 || report.Done != 6 || report.Total != 6 {
		t.Errorf("%+v", report)
	}
	// The same after a restart, from the database alone.
	again := openOn(t, f.db, f.root)
	for _, s := range []*media.Snapshot{f.Snapshot(), again.Snapshot()} {
		if len(s.Tracks) != 6 || len(s.Quarantined) != 0 || s.ScannedAt.IsZero() || s.Scanning {
			t.Fatalf("%+v", s)
		}
		for _, ext := range exts {
			got, ok := s.Find("music/arabic_hits/أم كلثوم - يا مسهرني." + ext)
			if !ok || (got.Duration-seconds).Abs() > 50*time.Millisecond || time.Since(got.AddedAt) > time.Minute || !got.ModTime.Equal(old) {
				t.Errorf("%s: %+v", ext, got)
			}
			want := station.Track{
				Path: got.Path, Category: station.ArabicHits, Title: "يا مسهرني", Artist: "أم كلثوم", Album: "حفل " + ext, Genre: "طرب",
				License: "CC0", Duration: got.Duration, Size: int64(len(sound(t, ext))), ModTime: got.ModTime, AddedAt: got.AddedAt,
			}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
	}
}

func TestAwkwardNamesAreRegisteredUnderTheirVeryBytes(t *testing.T) {
	f := open(t, t.TempDir())
	bare := stripped(t)
	names := []string{
		"english/-rf.wav", "english/100% %s.wav", "english/a:b|c.wav", "english/\xc7\xe1\xc3\xd8\xe1\xc7\xe1.wav", // Windows-1256
		"english/'\"`$(x)#{y}.wav", "english/ space .wav", "english/\u202eRTL\u202c.wav", "english/UPPER.WAV",
	}
	for _, name := range names {
		put(t, f.root, name, bare)
	}
	scan(t, f.Library)
	slices.Sort(names)
	if got := paths(openOn(t, f.db, f.root).Snapshot()); !slices.Equal(got, names) {
		t.Errorf("got %q, want %q", got, names)
	}
	if got, _ := f.Snapshot().Find("english/\xc7\xe1\xc3\xd8\xe1\xc7\xe1.wav"); got.Title != "الأطلال" {
		t.Errorf("title of a Windows-1256 name: %q", got.Title)
	}
}

// stripped is a sound without tags.
func stripped(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.wav")
	if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=d=1", path).CombinedOutput(); err != nil { //nolint:gosec // test
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(path) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestBrokenFilesAreQuarantinedWithTheirReasonAndNeverStopAScan(t *testing.T) {
	t.Parallel()
	f := open(t, t.TempDir())
	mp3, m4a := sound(t, "mp3"), sound(t, "m4a")
	long := filepath.Join(t.TempDir(), "long.mp3")
	if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=d=30", long).CombinedOutput(); err != nil { //nolint:gosec // test
		t.Fatalf("%v: %s", err, out)
	}
	whole, err := os.ReadFile(long) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	hollow := slices.Clone(whole)
	clear(hollow[len(hollow)/2:])
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty.mp3":     {nil, "empty (0 bytes)"},
		"text.mp3":      {[]byte(strings.Repeat("dear diary\n", 1000)), "not an audio file"},
		"playlist.mp3":  {[]byte("#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:1/a.ts\n"), "not an audio file"},
		"truncated.mp3": {whole[:len(whole)/3], "truncated: about 10s of 30s"},
		"hollow.mp3":    {hollow, "damaged: only 15s of 30s"},
		"cut.m4a":       {m4a[:len(m4a)/2], "truncated or unfinished"},
		"tags-only.mp3": {mp3[:40], "truncated inside its tags"},
		"line\nend.mp3": {mp3, "line break"},
		"a\rb.ogg":      {sound(t, "ogg"), "line break"},
	} {
		t.Run(name, func(t *testing.T) {
			put(t, f.root, "english/"+name, c.data)
			scan(t, f.Library)
			if got := reasons(f.Snapshot())["english/"+name]; !strings.Contains(got, c.want) {
				t.Errorf("reason %q, want %q", got, c.want)
			}
		})
	}
	put(t, f.root, "english/good.mp3", mp3)
	for _, hidden := range []string{".hidden.mp3", ".git/x.mp3", "x.mp3.part", "x.mp3.tmp", "x.mp3~", "x.mp3.crdownload", "x.part.mp3", "@eaDir/x.mp3", "cover.jpg"} {
		put(t, f.root, "english/"+hidden, []byte("x"))
	}
	if err := exec.Command("mkfifo", filepath.Join(f.root, "english", "pipe.mp3")).Run(); err != nil { //nolint:gosec // test
		t.Fatal(err)
	}
	scan(t, f.Library)
	if got := paths(f.Snapshot()); !slices.Equal(got, []string{"english/good.mp3"}) || len(f.Snapshot().Quarantined) != 10 {
		t.Errorf("tracks %q, quarantined %q", got, reasons(f.Snapshot()))
	}
	// None is looked at again until it changes; then it is.
	if report := scan(t, f.Library); report.Opened != 0 || report.Quarantined != 0 {
		t.Errorf("unchanged: %+v", report)
	}
	put(t, f.root, "english/empty.mp3", mp3)
	if report := scan(t, f.Library); report.Opened != 1 || report.Added != 1 || len(f.Snapshot().Quarantined) != 9 {
		t.Errorf("mended: %+v", report)
	}
}

// The content is replaced behind an unchanged size and time: had a scan opened
// any of the files, it would have noticed.
func TestUnchangedFilesAreNeverOpened(t *testing.T) {
	f := open(t, t.TempDir())
	mp3 := sound(t, "mp3")
	for i := range 40 {
		put(t, f.root, fmt.Sprintf("english/%02d.mp3", i), mp3)
	}
	scan(t, f.Library)
	before := f.Snapshot()
	for i := range 40 {
		put(t, f.root, fmt.Sprintf("english/%02d.mp3", i), make([]byte, len(mp3)))
	}
	put(t, f.root, "english/07.mp3", append(slices.Clone(mp3), make([]byte, 100)...))
	report := scan(t, openOn(t, f.db, f.root))
	if report.Opened != 1 || report.Updated != 1 || report.Probed != 0 || report.Quarantined != 0 || report.Seen != 40 {
		t.Errorf("%+v", report)
	}
	report = scan(t, f.Library) // which does not know yet what the other did
	if report.Updated != 1 || len(f.Snapshot().Tracks) != 40 {
		t.Errorf("%+v", report)
	}
	was, _ := before.Find("english/07.mp3")
	is, _ := f.Snapshot().Find("english/07.mp3")
	if is.Size == was.Size || !is.AddedAt.Equal(was.AddedAt) {
		t.Errorf("was %+v, is %+v", was, is)
	}
	if len(before.Tracks) != 40 || before.Generation >= f.Snapshot().Generation {
		t.Error("an old snapshot changed, or its generation did not grow")
	}
}

func TestDeletedFilesLeaveTheRegistry(t *testing.T) {
	f := open(t, t.TempDir())
	for _, name := range []string{"ads/a.ogg", "ads/b.ogg", "ads b/c.ogg", "news/d.ogg"} {
		put(t, f.root, name, sound(t, "ogg"))
	}
	put(t, f.root, "ads/broken.ogg", nil)
	scan(t, f.Library)
	if err := os.RemoveAll(filepath.Join(f.root, "ads")); err != nil {
		t.Fatal(err)
	}
	report := scan(t, f.Library)
	if got := paths(f.Snapshot()); report.Removed != 2 || !slices.Equal(got, []string{"ads b/c.ogg", "news/d.ogg"}) || len(f.Snapshot().Quarantined) != 0 {
		t.Errorf("%q %q %+v", got, reasons(f.Snapshot()), report)
	}
	if got := openOn(t, f.db, f.root).Snapshot(); !slices.Equal(paths(got), paths(f.Snapshot())) || len(got.Quarantined) != 0 {
		t.Error("the database holds something else")
	}
}
