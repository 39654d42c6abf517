package attach_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/chat/attach"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const secret = "GPS 30.0444 N 31.2357 E"

// made is what ffmpeg makes of arguments.
func made(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	out, err := exec.CommandContext(t.Context(), "ffmpeg", append(append([]string{"-v", "error", "-y"}, args...), path)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func drawn() *image.Paletted {
	m := image.NewPaletted(image.Rect(0, 0, 40, 30), []color.Color{color.White, color.Black, color.RGBA{200, 0, 0, 255}})
	for i := range 30 {
		m.SetColorIndex(i, i, 2)
	}
	return m
}

func photo(t testing.TB, turn uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, drawn(), nil); err != nil {
		t.Fatal(err)
	}
	exif := []byte("Exif\x00\x00II*\x00\x08\x00\x00\x00\x02\x00")
	exif = append(exif, 0x12, 0x01, 3, 0, 1, 0, 0, 0, byte(turn), 0, 0, 0)
	exif = append(exif, 0x25, 0x88, 4, 0, 1, 0, 0, 0, 38, 0, 0, 0, 0, 0, 0, 0)
	exif = append(exif, secret...)
	out := []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00")
	for marker, content := range map[byte]string{0xE1: string(exif), 0xED: "Photoshop 3.0\x00" + secret, 0xFE: secret, 0xE2: "MPF\x00" + secret} {
		out = append(out, 0xFF, marker)
		out = binary.BigEndian.AppendUint16(out, uint16(len(content)+2))
		out = append(out, content...)
	}
	return append(append(out, b.Bytes()[2:]...), "<html><script>alert(1)</script>"+secret...)
}

func drawing(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, drawn()); err != nil {
		t.Fatal(err)
	}
	end := bytes.Index(b.Bytes(), []byte("IDAT")) - 4
	out := bytes.Clone(b.Bytes()[:end])
	for _, kind := range []string{"tEXt", "eXIf", "iTXt", "tIME", "prIV"} {
		chunk := append([]byte(kind), secret...)
		out = binary.BigEndian.AppendUint32(out, uint32(len(secret)))
		out = append(out, chunk...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
	}
	return append(append(out, b.Bytes()[end:]...), "PK\x03\x04"+secret...)
}

func moving(t testing.TB, frames int) []byte {
	t.Helper()
	g := &gif.GIF{}
	for range frames {
		g.Image, g.Delay = append(g.Image, drawn()), append(g.Delay, 10)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b.Bytes(), []byte("\x21\xf9"))
	comment := append([]byte{0x21, 0xFE, byte(len(secret))}, secret...)
	xmp := append([]byte("\x21\xff\x0bXMP DataXMP"), byte(len(secret)))
	xmp = append(append(xmp, secret...), 0)
	out := append(bytes.Clone(b.Bytes()[:at]), append(append(comment, 0), xmp...)...)
	return append(append(out, b.Bytes()[at:]...), secret...)
}

func webp(t testing.TB) []byte {
	t.Helper()
	b := made(t, "a.webp", "-f", "lavfi", "-i", "testsrc=s=64x48:d=1:r=1", "-frames:v", "1")
	frame := b[12:]
	out := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x0c\x00\x00\x00\x3f\x00\x00\x2f\x00\x00")
	if string(frame[:4]) == "VP8X" {
		t.Fatal("ffmpeg writes VP8X by now: the test must patch it")
	}
	out = append(out, frame...)
	for _, kind := range []string{"EXIF", "XMP ", "zzzz"} {
		out = append(out, kind...)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(secret)))
		out = append(out, secret...)
		if len(secret)%2 == 1 {
			out = append(out, 0)
		}
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return append(out, secret...)
}

func TestPicturesLoseWhatTellsWhereTheyWereTaken(t *testing.T) {
	t.Parallel() // it waits for ffmpeg
	for _, c := range []struct {
		what, ext string
		data      []byte
		w, h      int
	}{
		{"photo", "jpg", photo(t, 1), 40, 30}, {"photo on its side", "jpg", photo(t, 6), 30, 40}, {"drawing", "png", drawing(t), 40, 30},
		{"film", "gif", moving(t, 3), 40, 30}, {"webp", "webp", webp(t), 64, 48},
	} {
		p, err := attach.ReadPicture(c.data)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if p.Kind.Ext != c.ext || p.Width != c.w || p.Height != c.h {
			t.Errorf("%s: %s %dx%d", c.what, p.Kind.Ext, p.Width, p.Height)
		}
		for _, tell := range []string{secret, "script", "PK\x03\x04", "XMP", "tIME"} {
			if bytes.Contains(p.Data, []byte(tell)) {
				t.Errorf("%s still holds %q", c.what, tell)
			}
		}
		if again, err := attach.ReadPicture(p.Data); err != nil || !bytes.Equal(again.Data, p.Data) || again.Width != p.Width {
			t.Errorf("%s is not what it was when it comes back: %v", c.what, err)
		}
		// Another program sees the same picture in it.
		if a, b := pixels(t, c.ext, c.data), pixels(t, c.ext, p.Data); !bytes.Equal(a, b) {
			t.Errorf("%s looks different: %d and %d bytes of pixels", c.what, len(a), len(b))
		}
	}
	p, err := attach.ReadPicture(photo(t, 6))
	if err != nil || !bytes.Contains(p.Data, []byte("\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06")) {
		t.Errorf("how the photo is to be turned is lost: %v", err)
	}
	if p, _ := attach.ReadPicture(moving(t, 3)); bytes.Count(p.Data, []byte("NETSCAPE2.0")) != 1 {
		t.Error("the film has lost its loop")
	}
}

func pixels(t *testing.T, ext string, b []byte) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in."+ext)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgba", "-").Output()
	if err != nil || len(out) == 0 {
		t.Fatalf("%s: %v, %d bytes", ext, err, len(out))
	}
	return out
}

func big(w, h int) []byte {
	b := []byte(pngHead + "\x00\x00\x00\x0dIHDR")
	b = binary.BigEndian.AppendUint32(b, uint32(w))
	b = binary.BigEndian.AppendUint32(b, uint32(h))
	b = append(b, 1, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[12:]))
	for _, chunk := range []string{"IDAT", "IEND"} {
		b = append(append(b, 0, 0, 0, 0), chunk...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(chunk)))
	}
	return b
}

const pngHead = "\x89PNG\r\n\x1a\n"

func TestWhatIsNoPictureIsRefusedWhateverItClaims(t *testing.T) {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	good := drawing(t)
	for what, b := range map[string][]byte{
		"SVG": []byte(svg), "SVG behind a PNG's first bytes": []byte(pngHead + svg), "HTML": []byte("<!doctype html><img>"), "HTML in a GIF's clothes": []byte("GIF89a/*<html>*/=1;alert(1)"),
		"SVG in a JPEG's clothes": []byte("\xff\xd8\xff" + svg), "PDF": []byte("%PDF-1.7"), "BMP": []byte("BM" + strings.Repeat("\x00", 60)), "TIFF": []byte("II*\x00\x08\x00\x00\x00"),
		"AVIF": []byte("\x00\x00\x00\x1cftypavif"), "nothing": {}, "one byte": {0x89}, "a song": made(t, "a.mp3", "-f", "lavfi", "-i", "sine=d=1"),
		"a cut PNG": good[:len(good)/2], "a PNG without data": append(bytes.Clone(good[:33]), "\x00\x00\x00\x00IEND\xaeB`\x82"...), "a PNG as large as a field": big(60000, 60000), "a wide PNG": big(8193, 2), "a PNG of much white": big(8000, 8000),
		"a WAVE in RIFF": []byte("RIFF\x24\x00\x00\x00WAVEfmt "), "an empty WebP": []byte("RIFF\x0c\x00\x00\x00WEBPVP8X\x00\x00\x00\x00"), "a GIF without end": moving(t, 2)[:120], "a GIF of a thousand frames": moving(t, 1000),
		"a JPEG of headers": photo(t, 1)[:200],
	} {
		if p, err := attach.ReadPicture(b); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%s: %s, %v", what, p.Kind.Ext, err)
		}
	}
	flipped := bytes.Clone(good)
	flipped[20] ^= 1
	if _, err := attach.ReadPicture(flipped); err == nil {
		t.Error("a PNG with a wrong sum is taken")
	}
}

func FuzzPicturesComeOutWholeOrNotAtAll(f *testing.F) {
	for _, b := range [][]byte{photo(f, 6), drawing(f), moving(f, 2), webp(f), []byte("<svg>"), big(5, 5)} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := attach.ReadPicture(b)
		if err != nil {
			if !errors.Is(err, station.ErrInvalid) {
				t.Error(err)
			}
			return
		}
		if p.Width*p.Height > 25_000_000 || len(p.Data) > len(b)+64 {
			t.Errorf("%dx%d, %d bytes of %d", p.Width, p.Height, len(p.Data), len(b))
		}
		again, err := attach.ReadPicture(p.Data)
		if err != nil || !bytes.Equal(again.Data, p.Data) {
			t.Errorf("not stable: %v", err)
		}
	})
}

func TestVoiceNotesAreWhatTheySoundLike(t *testing.T) {
	t.Parallel() // it waits for ffmpeg
	tone := func(name string, seconds int, args ...string) []byte {
		return made(t, name, append([]string{"-f", "lavfi", "-i", fmt.Sprintf("sine=d=%d", seconds)}, args...)...)
	}
	ear := attach.NewEar(t.TempDir())
	for _, c := range []struct {
		what, ext string
		data      []byte
		seconds   float64
	}{
		{"Chrome", "webm", tone("a.webm", 3, "-c:a", "libopus"), 3},
		{"Chrome as it records", "webm", tone("b.webm", 2, "-c:a", "libopus", "-f", "webm", "-live", "1"), 2},
		{"Firefox", "ogg", tone("a.ogg", 3, "-c:a", "libopus"), 3}, {"Vorbis", "ogg", tone("v.ogg", 2, "-c:a", "libvorbis"), 2},
		{"Safari", "m4a", tone("a.m4a", 3, "-c:a", "aac"), 3},
		{"Safari as it records", "m4a", tone("f.mp4", 3, "-c:a", "aac", "-movflags", "frag_keyframe+empty_moov+default_base_moof"), 3},
		{"an MP3", "mp3", tone("a.mp3", 4), 4}, {"a WAV", "wav", tone("a.wav", 1), 1},
		{"two minutes", "ogg", tone("l.ogg", 120, "-c:a", "libopus", "-b:a", "16k"), 120},
	} {
		v, err := ear.Read(t.Context(), c.data)
		if err != nil || v.Kind.Ext != c.ext || v.Duration.Seconds() < c.seconds-0.2 || v.Duration.Seconds() > c.seconds+0.2 {
			t.Errorf("%s: %s, %s, %v", c.what, v.Kind.Ext, v.Duration, err)
		}
	}
	film := []string{"-f", "lavfi", "-i", "testsrc=s=64x48:d=1", "-f", "lavfi", "-i", "sine=d=1"}
	for what, b := range map[string][]byte{
		"too long": tone("l.ogg", 125, "-c:a", "libopus", "-b:a", "16k"), "too long in WebM": tone("l.webm", 125, "-c:a", "libopus", "-b:a", "16k"),
		"a WebM film": made(t, "f.webm", append(film, "-c:v", "libvpx", "-c:a", "libopus")...), "an MP4 film": made(t, "f.mp4", append(film, "-c:a", "aac")...),
		"Matroska": tone("a.mkv", 1, "-c:a", "libopus"), "FLAC": tone("a.flac", 1), "FLAC in Ogg": tone("a.oga", 1, "-c:a", "flac"), "ALAC": tone("a.m4a", 1, "-c:a", "alac"),
		"a picture": drawing(t), "nothing": {}, "HTML": []byte("<html>"), "a playlist": []byte("#EXTM3U\nfile:///etc/passwd"), "MP3 in name": []byte("ID3<script>alert(1)</script>"),
		"WebM in name": []byte("\x1a\x45\xdf\xa3<html>"), "cut WebM": tone("a.webm", 1, "-c:a", "libopus")[:300], "Ogg in name": []byte("OggS<html>"), "MP4 in name": []byte("\x00\x00\x00\x20ftypM4A <html>"), "WAV in name": []byte("RIFF\x00\x00\x00\x00WAVE<html>"),
		"a wav of lies": []byte("RIFF\xff\xff\xff\x7fWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x08\x00data\xff\xff\xff\x7f"),
	} {
		if v, err := ear.Read(t.Context(), b); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%s: %s %s %v", what, v.Kind.Ext, v.Duration, err)
		}
	}
}

func TestDataURLsAreBounded(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString
	for in, want := range map[string]string{
		"data:image/png;base64," + encoded([]byte("abc")): "abc", "data:;base64,YQ==": "a", "DATA:audio/webm;codecs=opus;base64,YWI=": "ab", "data:text/html;base64,YWI=": "ab",
	} {
		if got, err := attach.Decode(in); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", in, got, err)
		}
	}
	for _, in := range []string{"", "data:", "data:image/png,abc", "http://x/;base64,YQ==", "data:image/png;base64,", "data:image/png;base64,Y", "data:image/png;base64,YQ==\n", "data:image/png;base64,!!!!", "data:" + strings.Repeat("x", 200) + ";base64,YQ==", "data:x;base64,YQ==YQ=="} {
		if _, err := attach.Decode(in); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%.50s: %v", in, err)
		}
	}
	if _, err := attach.Decode("data:;base64," + encoded(make([]byte, attach.MostBytes))); err != nil {
		t.Error(err)
	}
	for _, n := range []int{attach.MostBytes + 1, attach.MostBytes + 5000} {
		if _, err := attach.Decode("data:;base64," + encoded(make([]byte, n))); !errors.Is(err, station.ErrTooLarge) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestAFileIsKeptOnceAndServedSoThatNothingRunsIt(t *testing.T) {
	s, err := attach.OpenStore(filepath.Join(t.TempDir(), "media"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := attach.ReadPicture(drawing(t))
	if err != nil {
		t.Fatal(err)
	}
	name := attach.Name(p.Kind, p.Data)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			release, err := s.Put(name, p.Data)
			if err != nil {
				t.Error(err)
				return
			}
			release()
		})
	}
	all.Wait()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /chat/media/{file}", func(w http.ResponseWriter, r *http.Request) {
		if s.Serve(w, r, r.PathValue("file")) != nil {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	ask := func(path string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w
	}
	w := ask("/chat/media/" + name)
	if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), p.Data) {
		t.Fatalf("%d, %d bytes", w.Code, w.Body.Len())
	}
	for header, want := range map[string]string{"Content-Type": "image/png", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox", "Cache-Control": "immutable", "Accept-Ranges": "bytes"} {
		if got := w.Header().Get(header); !strings.Contains(got, want) {
			t.Errorf("%s: %q", header, got)
		}
	}
	if w := ask("/chat/media/"+name, "Range", "bytes=2-5"); w.Code != 206 || w.Body.String() != string(p.Data[2:6]) {
		t.Errorf("a range: %d %q", w.Code, w.Body)
	}
	if w := ask("/chat/media/"+name, "If-None-Match", w.Header().Get("ETag")); w.Code != 304 {
		t.Errorf("the same again: %d", w.Code)
	}
	for _, wrong := range []string{strings.TrimSuffix(name, "png") + "svg", strings.TrimSuffix(name, "png") + "jpg", strings.TrimSuffix(name, ".png"), strings.ToUpper(name), "..%2f..%2fathir.db", "x.png", name + ".png", strings.Repeat("0", 64) + ".png"} {
		if w := ask("/chat/media/" + wrong); w.Code != 404 {
			t.Errorf("%s: %d", wrong, w.Code)
		}
	}

	// What is being put is not swept, and what is kept is not either.
	never, always := func(string) (bool, error) { return false, nil }, func(string) (bool, error) { return true, nil }
	release, err := s.Put(name, p.Data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sweep(never); err != nil || ask("/chat/media/"+name).Code != 200 {
		t.Errorf("what is being put was swept: %v", err)
	}
	release()
	if n, err := s.Sweep(always); err != nil || n != 0 || ask("/chat/media/"+name).Code != 200 {
		t.Errorf("what is kept was swept: %v", err)
	}
	if n, err := s.Sweep(never); err != nil || n != 1 || ask("/chat/media/"+name).Code != 404 {
		t.Errorf("%d swept: %v", n, err)
	}
}

func TestNotesToBeDecodedWaitAndThenAreTurnedAway(t *testing.T) {
	t.Parallel() // it waits for ffmpeg
	note := made(t, "a.webm", "-f", "lavfi", "-i", "sine=d=8", "-c:a", "libopus", "-b:a", "16k")
	ear := attach.NewEar(t.TempDir())
	var all sync.WaitGroup
	var mu sync.Mutex
	taken, away := 0, 0
	for range 24 {
		all.Go(func() {
			v, err := ear.Read(t.Context(), note)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && v.Duration > 7*time.Second:
				taken++
			case errors.Is(err, station.ErrUnavailable):
				away++
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if taken < 18 || taken+away != 24 {
		t.Errorf("%d taken, %d turned away", taken, away)
	}
}
