package audiofile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/audiofile"
)

// samples are files of a quarter of a second that ffmpeg made, tagged in Arabic
// and beyond Latin-1, by what they are.
var samples = []struct {
	file, format   string
	rate, channels int
	length         time.Duration
}{
	{"v23.mp3", "mp3", 44100, 1, 250 * time.Millisecond}, // UTF-16
	{"v24.mp3", "mp3", 44100, 1, 250 * time.Millisecond}, // UTF-8
	{"vorbis.ogg", "vorbis", 44100, 1, 250 * time.Millisecond},
	{"opus.opus", "opus", 48000, 1, 250 * time.Millisecond},
	{"flac.oga", "flac", 8000, 1, 250 * time.Millisecond},
	{"flac.flac", "flac", 8000, 1, 250 * time.Millisecond},
	{"aac.m4a", "aac", 44100, 2, 250 * time.Millisecond}, // MP4 says 2 of any AAC
	{"alac.m4a", "alac", 8000, 1, 250 * time.Millisecond},
	{"pcm.wav", "pcm", 8000, 1, 250 * time.Millisecond},
}

func golden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// bounded is a file that counts what is asked of it.
type bounded struct {
	*bytes.Reader
	calls, most, read int
	beyond            error
}

func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	b.calls++
	b.read += len(p)
	b.most = max(b.most, len(p))
	if off < 0 || off+int64(len(p)) > b.Size() {
		b.beyond = fmt.Errorf("%d bytes at %d of %d", len(p), off, b.Size())
	}
	return b.Reader.ReadAt(p, off)
}

// readHostile reads a file that may hold anything, and checks that no more is
// read and kept than such a file may cost.
func readHostile(t *testing.T, what string, data []byte) (audiofile.Info, error) {
	t.Helper()
	b := &bounded{Reader: bytes.NewReader(data)}
	info, err := audiofile.Read(b, int64(len(data)))
	switch {
	case b.beyond != nil:
		t.Fatalf("%s: read %v", what, b.beyond)
	case b.most > len(data), b.calls > len(data)/8+64, b.read > 64*len(data)+64<<10:
		t.Fatalf("%s: %d reads of %d bytes in all, %d at once, of a file of %d", what, b.calls, b.read, b.most, len(data))
	case err == nil && (info.Duration <= 0 || info.Format == ""):
		t.Fatalf("%s: accepted as %+v", what, info)
	}
	for _, text := range []string{info.Title, info.Artist, info.Album, info.Genre, info.License} {
		if len(text) > 512 {
			t.Fatalf("%s: a text of %d bytes", what, len(text))
		}
	}
	return info, err
}

func TestFilesOfEveryFormatAreReadAsTheyWereMade(t *testing.T) {
	for _, c := range samples {
		info, err := readHostile(t, c.file, golden(t, c.file))
		want := audiofile.Info{
			Format: c.format, Channels: c.channels, SampleRate: c.rate, Duration: info.Duration,
			Title: "أنت عمري", Artist: "أم كلثوم", Album: "Ωraña", Genre: "Tarab", License: "CC BY-SA 4.0",
		}
		if err != nil || info != want || (info.Duration-c.length).Abs() > 10*time.Millisecond {
			t.Errorf("%s: %+v, %v", c.file, info, err)
		}
	}
}

// A download that broke off at any byte costs nothing but the file itself, and
// never plays longer than it was.
func TestFilesCutAtEveryByteAreBounded(t *testing.T) {
	for _, c := range samples {
		data := golden(t, c.file)
		for n := range data {
			info, err := readHostile(t, fmt.Sprintf("%s cut at %d", c.file, n), data[:n])
			if err == nil && info.Duration > c.length+30*time.Millisecond {
				t.Errorf("%s cut at %d lasts %v", c.file, n, info.Duration)
			}
		}
	}
}

// An MP4 with something else behind it is whole, but its headers alone do not show that.
func TestWhatFollowsAnMP4DoesNotMakeItTruncated(t *testing.T) {
	info, err := readHostile(t, "an MP4 and an MP3", append(golden(t, "aac.m4a"), golden(t, "v24.mp3")...))
	var odd *audiofile.OddError
	if !errors.As(err, &odd) || info.Duration == 0 {
		t.Errorf("%+v, %v", info, err)
	}
}

// Whatever one damaged byte makes of a size, an offset or a count is bounded.
func TestFilesWithOneDamagedByteAreBounded(t *testing.T) {
	for _, c := range samples {
		data := golden(t, c.file)
		for n := range data {
			if n > 2<<10 && n < len(data)-256 {
				continue // sound and padding
			}
			for _, v := range []byte{0, 0x7f, 0x80, 0xff, data[n] ^ 1} {
				damaged := slices.Clone(data)
				damaged[n] = v
				_, _ = readHostile(t, fmt.Sprintf("%s with %#x at %d", c.file, v, n), damaged)
			}
		}
	}
}

// Each of 2,000 heads of a page near the end of a file claims all that follows it. Not
// all of that is summed: the file is left to a decoder.
func TestPagesWithinPagesAreNotAllSummed(t *testing.T) {
	file := golden(t, "opus.opus")
	serial := file[14:18]
	page := slices.Concat([]byte("OggS\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"), serial, []byte("\xff\xff\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff"))
	file = append(file, bytes.Repeat(page, 128<<10/len(page))...)
	info, err := readHostile(t, "pages within pages", append(file, make([]byte, 64<<10)...))
	var odd *audiofile.OddError
	if !errors.As(err, &odd) {
		t.Errorf("%+v, %v", info, err)
	}
}

// id3 wraps frames into a tag of a version; flags 0x80 says unsynchronised.
func id3(version, flags byte, frames ...[]byte) []byte {
	body := slices.Concat(frames...)
	n := len(body)
	return slices.Concat([]byte{'I', 'D', '3', version, 0, flags, byte(n >> 21), byte(n >> 14 & 127), byte(n >> 7 & 127), byte(n & 127)}, body)
}

func frame22(id, text string) []byte {
	n := len(text)
	return append([]byte{id[0], id[1], id[2], byte(n >> 16), byte(n >> 8), byte(n)}, text...)
}

func frame23(id, text string) []byte {
	n := len(text)
	return append([]byte{id[0], id[1], id[2], id[3], byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 0, 0}, text...)
}

// ape is an APEv2 tag (header left out, as its writers may) with one item a pair.
func ape(pairs ...string) []byte {
	var body []byte
	for i := 0; i < len(pairs); i += 2 {
		body = append(body, byte(len(pairs[i+1])), 0, 0, 0, 0, 0, 0, 0)
		body = append(body, pairs[i]+"\x00"+pairs[i+1]...)
	}
	size := len(body) + 32
	return slices.Concat(body, []byte("APETAGEX"), []byte{0xd0, 7, 0, 0, byte(size), byte(size >> 8), 0, 0, byte(len(pairs) / 2), 0, 0, 0}, make([]byte, 12))
}

func TestTagsOfAllKindsAndEncodingsOnAnMP3(t *testing.T) {
	bare := golden(t, "bare.mp3")
	v1 := make([]byte, 128)
	copy(v1, "TAG")
	copy(v1[3:], "\xc7\xe1\xc3\xd8\xe1\xc7\xe1") // Windows-1256
	copy(v1[33:], "\xc3\xe3 \xdf\xe1\xcb\xe6\xe3")
	for name, c := range map[string]struct {
		front, back   []byte
		title, artist string
	}{
		"none":                  {nil, nil, "", ""},
		"2.2 UTF-16":            {id3(2, 0, frame22("TT2", "\x01\xff\xfe\x21\x06\x45\x06"), frame22("TP1", "\x01\xfe\xff\x06\x23\x06\x45")), nil, "\u0621\u0645", "أم"},
		"2.2 Latin-1":           {id3(2, 0, frame22("TT2", "\x00D\xe9j\xe0 vu\x00")), nil, "Déjà vu", ""},
		"2.3 Windows-1256":      {id3(3, 0, frame23("TIT2", "\x00\xc7\xe1\xc3\xd8\xe1\xc7\xe1")), nil, "الأطلال", ""},
		"2.3 UTF-16":            {id3(3, 0, frame23("TIT2", "\x01\xff\xfe\x23\x06\x45\x06"), frame23("TPE1", "\x01\xff\xfeA\x00b\x00")), nil, "أم", "Ab"},
		"2.3 unsynchronised":    {id3(3, 0x80, frame23("TIT2", "\x01\xff\xfe\x23\x06\x45\x06")[:12], []byte("\x00\xfe\x23\x06\x45\x06")), nil, "أم", ""},
		"2.4 UTF-16BE":          {id3(4, 0, frame23("TIT2", "\x02\x06\x23\x06\x45")), nil, "أم", ""},
		"2.4 UTF-8 with zeros":  {id3(4, 0, frame23("TIT2", "\x03أنت عمري\x00"), make([]byte, 300)), nil, "أنت عمري", ""},
		"two tags":              {slices.Concat(id3(3, 0, frame23("TIT2", "\x03a")), id3(4, 0, frame23("TPE1", "\x03b"))), nil, "a", "b"},
		"ID3v1":                 {nil, v1, "الأطلال", "أم كلثوم"},
		"APE":                   {nil, ape("Title", "أنت عمري", "Artist", "x"), "", ""}, // its texts are not read, its bytes are not sound
		"APE before ID3v1":      {nil, slices.Concat(ape("Title", "long title"), v1), "الأطلال", "أم كلثوم"},
		"ID3v2 before ID3v1":    {id3(4, 0, frame23("TIT2", "\x03أول")), v1, "أول", "أم كلثوم"},
		"a frame that is a lie": {id3(3, 0, frame23("TIT2", "\x03a"), []byte("TPE1\xff\xff\xff\xff\x00\x00\x03b")), nil, "a", ""},
	} {
		info, err := readHostile(t, name, slices.Concat(c.front, bare, c.back))
		if err != nil || info.Title != c.title || info.Artist != c.artist || (info.Duration-250*time.Millisecond).Abs() > 40*time.Millisecond {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
	}
}

// One target for each format, so that each spends its time on its own parser.
func FuzzMP3(f *testing.F)  { fuzz(f, "v23.mp3", "v24.mp3", "bare.mp3") }
func FuzzOgg(f *testing.F)  { fuzz(f, "vorbis.ogg", "opus.opus", "flac.oga") }
func FuzzFLAC(f *testing.F) { fuzz(f, "flac.flac") }
func FuzzMP4(f *testing.F)  { fuzz(f, "aac.m4a", "alac.m4a") }
func FuzzWAV(f *testing.F)  { fuzz(f, "pcm.wav") }

func fuzz(f *testing.F, files ...string) {
	for _, name := range files {
		f.Add(golden(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = readHostile(t, "fuzzed", data) })
}
