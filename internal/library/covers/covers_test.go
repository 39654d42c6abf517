package covers_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/covers"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func open(t *testing.T) (*covers.Covers, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "covers")
	c, err := covers.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c, dir
}

// picture is a PNG of a red square in the middle of blue.
func picture(t *testing.T, w, h int) []byte {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, w, h))
	n := min(w, h)
	for x := range w {
		for y := range h {
			p.Set(x, y, color.RGBA{0, 0, 255, 255})
			if x >= (w-n)/2 && x < (w+n)/2 && y >= (h-n)/2 && y < (h+n)/2 {
				p.Set(x, y, color.RGBA{255, 0, 0, 255})
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(t *testing.T, c *covers.Covers, id string, side int) image.Image {
	t.Helper()
	f, err := c.Open(id, side)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	p, err := jpeg.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPictureIsKeptAsSquaresOfItsMiddle(t *testing.T) {
	c, dir := open(t)
	for _, size := range [][2]int{{900, 700}, {300, 800}, {100, 100}} {
		data := picture(t, size[0], size[1])
		id, err := c.Put(data)
		if err != nil || !c.Has(id) {
			t.Fatal(id, err)
		}
		for side, want := range map[int]int{1: 96, 96: 96, 97: 320, 5000: 640} {
			got := read(t, c, id, side)
			if n := got.Bounds().Dx(); n != min(want, size[0], size[1]) || got.Bounds().Dy() != n {
				t.Errorf("%v in %d: %v", size, side, got.Bounds())
			}
			for _, at := range []image.Point{{2, 2}, {got.Bounds().Dx() / 2, got.Bounds().Dy() / 2}} {
				if r, _, b, _ := got.At(at.X, at.Y).RGBA(); r < 0xe000 || b > 0x2000 {
					t.Errorf("%v in %d: not the middle at %v", size, side, at)
				}
			}
		}
		if again, err := c.Put(data); again != id || err != nil {
			t.Errorf("sent twice it is %s, %v", again, err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 9 {
		t.Errorf("%d files", len(files))
	}
}

// Nothing that was sent beside the picture is served: a phone writes where it was taken.
func TestWhatIsBesideThePictureIsNotServed(t *testing.T) {
	c, dir := open(t)
	var data bytes.Buffer
	if err := jpeg.Encode(&data, image.NewRGBA(image.Rect(0, 0, 200, 200)), nil); err != nil {
		t.Fatal(err)
	}
	secret := "GPS 30.0444 31.2357"
	comment := append([]byte{0xff, 0xfe, 0, byte(2 + len(secret))}, secret...)
	with := append(bytes.Clone(data.Bytes()[:2]), append(comment, data.Bytes()[2:]...)...)
	if _, err := c.Put(with); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(dir + "/*")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || bytes.Contains(text, []byte("GPS")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWebPIsTaken(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.webp")
	if out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=red:s=200x200", "-frames:v", "1", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := open(t)
	if id, err := c.Put(data); err != nil || read(t, c, id, 640).Bounds().Dx() != 200 {
		t.Error(id, err)
	}
}

func TestWhatIsNoPictureIsRefused(t *testing.T) {
	c, dir := open(t)
	bomb := picture(t, 64, 64)
	binary.BigEndian.PutUint32(bomb[16:], 60_000) // the header says 60,000 × 60,000
	binary.BigEndian.PutUint32(bomb[20:], 60_000)
	for name, data := range map[string][]byte{
		"text": []byte("no picture"), "nothing": nil, "small": picture(t, 63, 200), "bomb": bomb, "cut": picture(t, 200, 200)[:400],
		"svg": []byte("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"), "large": make([]byte, covers.MostBytes+1),
	} {
		if _, err := c.Put(data); !errors.Is(err, station.ErrInvalid) || !strings.HasPrefix(err.Error(), "picture: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
	for _, id := range []string{"", "../x", strings.Repeat("a", 32), strings.Repeat("A", 32)} {
		if f, err := c.Open(id, 1); !errors.Is(err, station.ErrNotFound) {
			_, _ = io.Copy(io.Discard, f)
			t.Errorf("%q: %v", id, err)
		}
	}
}

// A phone keeps the picture as its sensor had it, and says beside it how it stands.
func TestAPictureStandsAsItsCameraSays(t *testing.T) {
	c, _ := open(t)
	stored := image.NewRGBA(image.Rect(0, 0, 300, 300))
	for x := range 300 {
		for y := range 300 {
			shade := color.RGBA{0, 0, 0, 255}
			if x < 150 && y < 150 {
				shade = color.RGBA{255, 255, 255, 255} // the corner at the top left
			}
			stored.SetRGBA(x, y, shade)
		}
	}
	var data bytes.Buffer
	if err := jpeg.Encode(&data, stored, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	for turn, corner := range []image.Point{1: {0, 0}, 2: {1, 0}, 3: {1, 1}, 4: {0, 1}, 5: {0, 0}, 6: {1, 0}, 7: {1, 1}, 8: {0, 1}} {
		if turn == 0 {
			continue
		}
		segment := []byte("\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(turn)) + "\x00\x00\x00\x00\x00\x00")
		id, err := c.Put(append(append([]byte("\xff\xd8"), segment...), data.Bytes()[2:]...))
		if err != nil {
			t.Fatal(err)
		}
		got := read(t, c, id, 320)
		for x := range 2 {
			for y := range 2 {
				grey, _, _, _ := got.At(75+150*x, 75+150*y).RGBA()
				if light := grey > 0x8000; light != (image.Pt(x, y) == corner) {
					t.Errorf("orientation %d: the corner %d %d is light: %v", turn, x, y, light)
				}
			}
		}
	}
}

func TestAPictureNeedsRoomOnTheDisk(t *testing.T) {
	c, dir := open(t)
	c.SetSpace(func(string) (uint64, uint64, error) { return 1<<30 - 1, 1 << 40, nil })
	_, err := c.Put(picture(t, 100, 100))
	if !errors.Is(err, station.ErrFull) || station.Status(err) != 507 {
		t.Errorf("%v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("%d files", len(files))
	}
	c.SetSpace(func(string) (uint64, uint64, error) { return 1 << 29, 1 << 33, nil }) // 5 % of a small disk
	if _, err := c.Put(picture(t, 100, 100)); err != nil {
		t.Error(err)
	}
}

func TestPicturesThatNothingNamesAreRemoved(t *testing.T) {
	c, dir := open(t)
	var ids []string
	for side := range 4 {
		id, err := c.Put(picture(t, 100+side, 100))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	old := time.Now().Add(-48 * time.Hour)
	files, _ := filepath.Glob(dir + "/*")
	for _, name := range files {
		if !strings.Contains(name, ids[3]) { // which was sent just now
			if err := os.Chtimes(name, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !c.Keep(ids[1]) || c.Keep(strings.Repeat("0", 32)) { // it is about to be named
		t.Error("what is there, and what is not")
	}
	removed, err := c.Sweep(map[string]bool{ids[0]: true}, time.Now().Add(-24*time.Hour))
	if err != nil || removed != 1 {
		t.Errorf("%d, %v", removed, err)
	}
	for i, id := range ids {
		if c.Has(id) != (i != 2) {
			t.Errorf("picture %d is there: %v", i, c.Has(id))
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 3*3+1 {
		t.Errorf("%d files", len(files))
	}
}
