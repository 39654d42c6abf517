package art_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/art"
	"github.com/athir-radio/athir/internal/library/covers"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

type inMedia struct{ *media.Library }

func (m inMedia) Tracks() []station.Track { return m.Snapshot().Tracks }

// rig is a media folder with what looks at it.
type rig struct {
	*art.Art
	t      *testing.T
	db     *store.DB
	dir    string
	lib    *media.Library
	covers *covers.Covers
	looks  atomic.Int64 // at files, counted by what they wait for before
	hold   func(context.Context) error
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, dir: filepath.Join(dir, "media")}
	r.must(os.MkdirAll(r.dir, 0o755))
	var err error
	r.db, err = store.Open(t.Context(), filepath.Join(dir, "athir.db"))
	r.must(err)
	t.Cleanup(func() { _ = r.db.Close() })
	r.covers, err = covers.Open(filepath.Join(dir, "covers"))
	r.must(err)
	r.lib, err = media.Open(t.Context(), r.db, media.Options{Root: r.dir, Log: slog.New(slog.DiscardHandler), Settle: time.Millisecond})
	r.must(err)
	r.reopen()
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// reopen is a new start of the station.
func (r *rig) reopen() {
	r.t.Helper()
	var err error
	r.Art, err = art.Open(r.t.Context(), art.Options{
		Log: slog.New(slog.DiscardHandler), DB: r.db, Root: r.dir, Registry: inMedia{r.lib}, Whole: func() bool { return true },
		Covers: r.covers, Beside: r.lib.ReadBeside, Rest: time.Millisecond,
		Hold: func(ctx context.Context) error {
			r.looks.Add(1)
			if r.hold != nil {
				return r.hold(ctx)
			}
			return ctx.Err()
		},
	})
	r.must(err)
}

func (r *rig) scan() {
	r.t.Helper()
	_, err := r.lib.Scan(r.t.Context(), nil)
	r.must(err)
}

// run lets it look until done.
func (r *rig) run(near []string, what string, done func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error)
	go func() { ended <- r.Run(ctx, func() []string { return near }, nil) }()
	testkit.Eventually(r.t, what, done)
	cancel()
	r.must(<-ended)
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r *rig) ffmpeg(args ...string) {
	r.t.Helper()
	if out, err := exec.Command("ffmpeg", append([]string{"-v", "error", "-y"}, args...)...).CombinedOutput(); err != nil {
		r.t.Fatalf("ffmpeg %q: %v: %s", args, err, out)
	}
}

// song makes a file of half a minute.
func (r *rig) song(name string, args ...string) {
	r.t.Helper()
	r.must(os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
	r.ffmpeg(append(append([]string{"-f", "lavfi", "-i", "sine=440:d=31:r=8000"}, args...), r.path(name))...)
}

// pictured makes a file with a picture as another program would.
func (r *rig) pictured(name, picture string, args ...string) {
	r.t.Helper()
	r.must(os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
	r.ffmpeg(append(append([]string{"-f", "lavfi", "-i", "sine=440:d=31:r=8000", "-i", picture, "-map", "0:a", "-map", "1:v", "-c:v", "copy", "-disposition:v", "attached_pic"}, args...), r.path(name))...)
}

func picture(shade uint8) image.Image {
	p := image.NewRGBA(image.Rect(0, 0, 120, 120))
	for i := range p.Pix {
		p.Pix[i] = shade
	}
	p.Set(3, 3, color.RGBA{255, 0, 0, 255})
	return p
}

func jpegOf(shade uint8) []byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, picture(shade), nil)
	return b.Bytes()
}

func pngOf(shade uint8) []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, picture(shade))
	return b.Bytes()
}

// id3 puts a tag of version 2.3 before a file.
func (r *rig) id3(name string, frames ...[]byte) {
	r.t.Helper()
	sound, err := os.ReadFile(r.path(name))
	r.must(err)
	body := bytes.Join(frames, nil)
	n := len(body)
	head := []byte{'I', 'D', '3', 3, 0, 0, byte(n >> 21 & 127), byte(n >> 14 & 127), byte(n >> 7 & 127), byte(n & 127)}
	r.must(os.WriteFile(r.path(name), append(append(head, body...), sound...), 0o644))
}

func frame(id string, body []byte) []byte {
	return append(append(binary.BigEndian.AppendUint32([]byte(id), uint32(len(body))), 0, 0), body...)
}

// uslt is a frame of words in UTF-16, as most programs write it.
func uslt(lang, text string) []byte {
	body := append([]byte{1}, lang...)
	body = append(body, 0xff, 0xfe, 0, 0, 0xff, 0xfe)
	for _, u := range utf16.Encode([]rune(text)) {
		body = binary.LittleEndian.AppendUint16(body, u)
	}
	return frame("USLT", body)
}

func apic(mime string, data []byte) []byte {
	return frame("APIC", append(append([]byte{0}, mime+"\x00\x03\x00"...), data...))
}

func pictureBlock(data []byte) string {
	b := binary.BigEndian.AppendUint32(nil, 3)
	b = append(binary.BigEndian.AppendUint32(b, 10), "image/jpeg"...)
	for _, n := range []uint32{0, 120, 120, 24, 0, uint32(len(data))} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return base64.StdEncoding.EncodeToString(append(b, data...))
}

const verse = "يا مسافر وحدك\nوفايتني\n\nليه تبعد عني"

func TestPicturesAndWordsAreFoundInEveryKindOfFile(t *testing.T) {
	r := newRig(t)
	cover := filepath.Join(t.TempDir(), "cover.jpg")
	r.must(os.WriteFile(cover, jpegOf(90), 0o644))
	r.song("a/apic.mp3", "-id3v2_version", "0")
	r.id3("a/apic.mp3", apic("image/png", pngOf(60)), uslt("ara", verse))
	r.pictured("a/covr.m4a", cover, "-c:a", "aac", "-metadata", "lyrics="+verse)
	r.pictured("a/picture.flac", cover, "-metadata", "LYRICS=[00:01.50]"+"one\n[00:03.00][00:09.00]two")
	r.song("a/block.ogg", "-c:a", "libvorbis", "-metadata", "METADATA_BLOCK_PICTURE="+pictureBlock(jpegOf(30)), "-metadata", "UNSYNCEDLYRICS=words")
	r.song("a/block.opus", "-c:a", "libopus", "-metadata", "METADATA_BLOCK_PICTURE="+pictureBlock(jpegOf(31)))
	r.song("a/beside.mp3")
	r.must(os.WriteFile(r.path("a/beside.lrc"), []byte("[ti:x]\n[offset:+500]\n[00:10.00]ثانية\n[00:02.00]أولى\n"), 0o644))
	r.song("a/old.mp3", "-id3v2_version", "0") // Windows-1256 that calls itself Latin-1
	r.id3("a/old.mp3", frame("USLT", append([]byte("\x00ara\x00"), 0xed, 0xc7, 0x20, 0xe3, 0xd3, 0xc7, 0xdd, 0xd1)))
	r.song("a/nothing.wav")
	r.scan()
	names := map[string]struct{ cover, lyrics, synced string }{
		"a/apic.mp3":     {"yes", verse, "[]"},
		"a/covr.m4a":     {"same", verse, "[]"},
		"a/picture.flac": {"same", "one\ntwo", "[{1500 one} {3000 two} {9000 two}]"},
		"a/block.ogg":    {"yes", "words", "[]"},
		"a/block.opus":   {"yes", "", "[]"},
		"a/beside.mp3":   {"", "ثانية\nأولى", "[{1500 أولى} {9500 ثانية}]"},
		"a/old.mp3":      {"", "يا مسافر", "[]"},
		"a/nothing.wav":  {"", "", "[]"},
	}
	changed, cancel := r.Subscribe()
	defer cancel()
	r.run(nil, "all files to be looked at", func() bool { return int(r.looks.Load()) >= len(names) && r.Of("a/picture.flac").Cover != "" })
	select {
	case <-changed:
	default:
		t.Error("nobody was told")
	}
	check := func() {
		t.Helper()
		covers := map[string]int{}
		for name, want := range names {
			got := r.Of(name)
			covers[got.Cover]++
			if (got.Cover != "") != (want.cover != "") || got.Lyrics != (want.lyrics != "") || got.Cover != "" && !r.covers.Has(got.Cover) {
				t.Errorf("%s: %+v", name, got)
			}
			l, err := r.Lyrics(t.Context(), name)
			if want.lyrics == "" {
				if !errors.Is(err, station.ErrNotFound) {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if err != nil || l.Text != want.lyrics || fmt.Sprint(l.Synced) != want.synced {
				t.Errorf("%s: %q %v %v", name, l.Text, l.Synced, err)
			}
		}
		if r.Of("a/covr.m4a").Cover != r.Of("a/picture.flac").Cover || len(covers) != 5 {
			t.Errorf("one picture in two files: %v", covers)
		}
	}
	check()
	// After a restart all is known, and no file is looked at again.
	looks := r.looks.Load()
	r.reopen()
	check()
	r.run([]string{"a/apic.mp3"}, "nothing", func() bool { return true })
	if r.looks.Load() != looks {
		t.Error("files are looked at again")
	}
}

func TestAFileIsLookedAtAgainOnceItHasChanged(t *testing.T) {
	r := newRig(t)
	r.song("a/one.mp3", "-id3v2_version", "0")
	r.id3("a/one.mp3", apic("image/jpeg", jpegOf(10)))
	r.song("a/two.mp3")
	r.scan()
	near := []string{"a/two.mp3", "a/gone.mp3"}
	r.run(near, "the first", func() bool { return r.Of("a/one.mp3").Cover != "" })
	was := r.Of("a/one.mp3").Cover

	r.song("a/one.mp3", "-id3v2_version", "0")
	r.id3("a/one.mp3", apic("image/jpeg", jpegOf(200)), uslt("eng", "more words"))
	r.must(os.Remove(r.path("a/two.mp3")))
	r.scan()
	r.run(near, "the new picture", func() bool { f := r.Of("a/one.mp3"); return f.Cover != "" && f.Cover != was && f.Lyrics })

	// Words that are put beside a file of which all else is known.
	r.must(os.WriteFile(r.path("a/one.lrc"), []byte("[00:01]a\n[00:02]b"), 0o644))
	r.reopen()
	r.run(nil, "the words beside it", func() bool { l, _ := r.Lyrics(t.Context(), "a/one.mp3"); return len(l.Synced) == 2 })

	// What is gone leaves nothing behind, and its picture is named no longer.
	r.must(os.Remove(r.path("a/one.mp3")))
	r.song("a/other.mp3") // an empty folder is one that is not mounted
	r.scan()
	r.run(nil, "it to be forgotten", func() bool { return r.Of("a/one.mp3") == art.Found{} })
	if named, err := r.Covers(t.Context()); err != nil || len(named) != 0 {
		t.Errorf("%v %v", named, err)
	}
	if _, err := r.Lyrics(t.Context(), "a/one.mp3"); !errors.Is(err, station.ErrNotFound) {
		t.Error(err)
	}
}

// Pictures that are gone, as after a restore without them, are taken out again.
func TestALostPictureIsTakenOutAgain(t *testing.T) {
	r := newRig(t)
	r.song("a/one.mp3", "-id3v2_version", "0")
	r.id3("a/one.mp3", apic("image/jpeg", jpegOf(10)))
	r.scan()
	r.run(nil, "it", func() bool { return r.Of("a/one.mp3").Cover != "" })
	id := r.Of("a/one.mp3").Cover
	if _, err := r.covers.Sweep(nil, time.Now().Add(time.Hour)); err != nil || r.covers.Has(id) {
		t.Fatal(err)
	}
	r.reopen()
	r.run(nil, "it again", func() bool { return r.covers.Has(id) })
}

// While the machine is short nothing is looked at, and what is near the air goes first.
func TestWhatIsNearTheAirGoesFirst(t *testing.T) {
	r := newRig(t)
	for i := range 4 {
		name := fmt.Sprintf("a/%d.mp3", i)
		r.song(name, "-id3v2_version", "0")
		r.id3(name, apic("image/jpeg", jpegOf(uint8(40*i))))
	}
	r.scan()
	opened := make(chan struct{})
	asked := make(chan struct{}, 100)
	r.hold = func(ctx context.Context) error {
		asked <- struct{}{}
		select {
		case <-opened:
			if r.looks.Load() == 2 {
				<-ctx.Done() // the second waits for ever
			}
			return ctx.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r.run([]string{"a/3.mp3"}, "the near one", func() bool {
		select {
		case <-asked:
			if r.Of("a/3.mp3").Cover == "" && r.looks.Load() == 1 {
				close(opened)
			}
		default:
		}
		return r.Of("a/3.mp3").Cover != ""
	})
	for i := range 3 {
		if f := r.Of(fmt.Sprintf("a/%d.mp3", i)); f.Cover != "" {
			t.Errorf("%d was looked at before", i)
		}
	}
}

// What a file claims is bounded by what is kept of it.
func TestHostileFilesDoNoHarm(t *testing.T) {
	r := newRig(t)
	bomb := pngOf(1)
	binary.BigEndian.PutUint32(bomb[16:], 60_000) // the header says 60,000 × 60,000
	binary.BigEndian.PutUint32(bomb[20:], 60_000)
	bad := strings.Repeat("\xff\xfeلحن\xc3", 3) + "\x00\x1b[31m\u202e!"
	for name, frames := range map[string][][]byte{
		"a/bomb.mp3":     {apic("image/png", bomb), uslt("eng", "fine")},
		"a/huge.mp3":     {apic("image/jpeg", append(jpegOf(1), make([]byte, 9<<20)...)), uslt("eng", "fine")},
		"a/nopic.mp3":    {apic("image/jpeg", []byte("GIF89a<script>")), uslt("eng", "fine")},
		"a/long.mp3":     {uslt("eng", strings.Repeat("a line of words\n", 20_000))},
		"a/claims.mp3":   {frame("USLT", append([]byte("\x03eng\x00"), bad...))},
		"a/pictures.mp3": {bytes.Repeat(apic("image/jpeg", jpegOf(3)), 300)},
	} {
		r.song(name, "-id3v2_version", "0")
		r.id3(name, frames...)
	}
	r.song("a/link.mp3")
	secret := filepath.Join(t.TempDir(), "secret")
	r.must(os.WriteFile(secret, []byte("password\n"), 0o600))
	r.must(os.Symlink(secret, r.path("a/link.lrc")))
	r.scan()
	r.run(nil, "all of them", func() bool { return r.looks.Load() >= 7 && r.Of("a/pictures.mp3").Cover != "" })
	for name, cover := range map[string]bool{"a/bomb.mp3": false, "a/huge.mp3": false, "a/nopic.mp3": false, "a/pictures.mp3": true} {
		if f := r.Of(name); (f.Cover != "") != cover || f.Lyrics == cover {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if l, err := r.Lyrics(t.Context(), "a/long.mp3"); err == nil && len(l.Text) > 64<<10 {
		t.Errorf("%d bytes of words", len(l.Text))
	}
	if l, err := r.Lyrics(t.Context(), "a/claims.mp3"); err == nil && strings.ContainsAny(l.Text, "\x00\x1b\u202e") {
		t.Errorf("%q", l.Text)
	}
	if f := r.Of("a/link.mp3"); f.Lyrics {
		t.Error("a text outside the media folder is published")
	}
}
