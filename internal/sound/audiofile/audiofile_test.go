package audiofile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

// signal is 6 s of sound whose complexity changes, so that VBR does vary.
const signal = "aevalsrc=0.3*sin(880*t)+0.2*(random(0)-0.5)*gt(mod(t\\,3)\\,2):s=44100:d=6.3"

// encode encodes the signal with ffmpeg.
func encode(t *testing.T, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args = append([]string{"-v", "error", "-f", "lavfi", "-i", signal,
		"-metadata", "title=أنت عمري", "-metadata", "artist=أم كلثوم", "-metadata", "album=Best: Ωraña", "-metadata", "genre=Tarab",
		"-metadata", "copyright=CC BY-SA 4.0"}, args...)
	if _, err := proc.Output(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: append(args, path)}, 1<<10); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) (audiofile.Info, error) {
	t.Helper()
	f, err := os.Open(path) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return audiofile.Read(f, info.Size())
}

func TestHeadersGiveTagsAndTheDecodedLengthWithin50ms(t *testing.T) {
	for _, c := range []struct {
		file, format string
		args         []string
	}{
		{"vbr.mp3", "mp3", []string{"-q:a", "3"}},
		{"cbr.mp3", "mp3", []string{"-b:a", "128k", "-id3v2_version", "3"}},
		{"bare-cbr.mp3", "mp3", []string{"-b:a", "96k", "-write_xing", "0"}},
		{"bare-vbr.mp3", "mp3", []string{"-q:a", "4", "-write_xing", "0", "-write_id3v1", "1"}},
		{"mpeg2-mono.mp3", "mp3", []string{"-q:a", "5", "-ar", "22050", "-ac", "1"}},
		{"mpeg25.mp3", "mp3", []string{"-b:a", "24k", "-ar", "8000", "-ac", "1"}},
		{"v.ogg", "vorbis", []string{"-c:a", "libvorbis"}},
		{"o.opus", "opus", []string{"-c:a", "libopus", "-ac", "2"}},
		{"o.ogg", "opus", []string{"-c:a", "libopus", "-page_duration", "5000000"}},
		{"f.oga", "flac", []string{"-c:a", "flac"}},
		{"f.flac", "flac", nil},
		{"mono.flac", "flac", []string{"-ac", "1", "-ar", "48000", "-sample_fmt", "s32"}},
		{"a.m4a", "aac", []string{"-c:a", "aac"}},
		{"fast.m4a", "aac", []string{"-c:a", "aac", "-movflags", "+faststart"}},
		{"l.m4a", "alac", []string{"-c:a", "alac"}},
		{"w.wav", "pcm", nil},
		{"w24.wav", "pcm", []string{"-c:a", "pcm_s24le"}},
		{"float.wav", "pcm", []string{"-c:a", "pcm_f32le", "-rf64", "always"}},
		{"mp3.wav", "mp3", []string{"-c:a", "libmp3lame", "-f", "mp3"}}, // what counts is inside
	} {
		t.Run(c.file, func(t *testing.T) {
			path := encode(t, c.file, c.args...)
			info, err := read(t, path)
			if err != nil {
				t.Fatal(err)
			}
			want, err := ffmpeg.Length(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if off := (info.Duration - want).Abs(); off > 50*time.Millisecond {
				t.Errorf("duration %v, decoded %v", info.Duration, want)
			}
			if info.Format != c.format || info.SampleRate == 0 || info.Channels == 0 ||
				info.Title != "أنت عمري" || info.Artist != "أم كلثوم" || info.Album != "Best: Ωraña" ||
				info.Genre != "Tarab" || info.License != "CC BY-SA 4.0" {
				t.Errorf("%+v", info)
			}
		})
	}
}

// Headers that promise what is not there are caught without decoding.
func TestTruncatedAndDamagedFilesAreNoticed(t *testing.T) {
	head := func(percent int) func([]byte) []byte {
		return func(b []byte) []byte { return b[:len(b)*percent/100] }
	}
	noise := func(b []byte) []byte { // a good start, then nothing
		for i := len(b) / 2; i < len(b); i++ {
			b[i] = 0
		}
		return b
	}
	twice := func(b []byte) []byte { return append(b, b...) }
	var brk *audiofile.BrokenError
	var odd *audiofile.OddError
	for _, c := range []struct {
		file string
		args []string
		harm func([]byte) []byte
		want any
	}{
		{"cut.mp3", nil, head(50), &brk},
		{"cut.ogg", []string{"-c:a", "libvorbis"}, head(50), &brk},
		{"cut.opus", []string{"-c:a", "libopus"}, head(70), &brk},
		{"cut.m4a", nil, head(50), &brk},
		{"cut-fast.m4a", []string{"-movflags", "+faststart"}, head(50), &brk},
		{"cut.wav", nil, head(50), &brk},
		{"cut.flac", nil, head(50), &odd},
		{"hollow.mp3", nil, noise, &odd},
		{"hollow-bare.mp3", []string{"-write_xing", "0"}, noise, &odd},
		{"hollow.ogg", []string{"-c:a", "libvorbis"}, noise, &brk},
		{"hollow.flac", nil, noise, &odd},
		{"hollow.m4a", []string{"-movflags", "+faststart"}, noise, &odd},
		{"twice.mp3", nil, twice, &odd},
		{"chained.ogg", []string{"-c:a", "libvorbis"}, func(b []byte) []byte {
			other := encode(t, "other.ogg", "-c:a", "libvorbis", "-serial_offset", "77")
			more, err := os.ReadFile(other) //nolint:gosec // test
			if err != nil {
				t.Fatal(err)
			}
			return append(b, more...)
		}, &odd},
	} {
		t.Run(c.file, func(t *testing.T) {
			data, err := os.ReadFile(encode(t, c.file, c.args...))
			if err != nil {
				t.Fatal(err)
			}
			data = c.harm(data)
			info, err := audiofile.Read(bytes.NewReader(data), int64(len(data)))
			want := reflect.New(reflect.TypeOf(c.want).Elem()) // of its own: the tests run side by side
			if !errors.As(err, want.Interface()) {
				t.Errorf("got %+v, %v", info, err)
			}
		})
	}
}

func TestWhatIsNoAudioIsNotGuessedAt(t *testing.T) {
	var brk *audiofile.BrokenError
	if _, err := audiofile.Read(bytes.NewReader(nil), 0); !errors.As(err, &brk) || !strings.Contains(err.Error(), "empty") {
		t.Errorf("empty: %v", err)
	}
	for _, text := range []string{"x", "ID3", "fLaC", "OggS", "RIFF....WAVE", "....ftyp", strings.Repeat("plain text\n", 10_000), strings.Repeat("\xff", 70_000)} {
		if info, err := audiofile.Read(strings.NewReader(text), int64(len(text))); err == nil {
			t.Errorf("%.20q gave %+v", text, info)
		}
	}
}

// Old Arabic MP3s hold Windows-1256 in fields that claim Latin-1.
func TestTextInUnknownEncodingIsReadAsAMusicianMeantIt(t *testing.T) {
	for _, c := range []struct{ bytes, want string }{
		{"\xc3\xe3 \xdf\xe1\xcb\xe6\xe3", "أم كلثوم"},
		{"\xc7\xe1\xc3\xd8\xe1\xc7\xe1", "الأطلال"},
		{"01 \xdd\xed\xd1\xe6\xd2 - live", "01 فيروز - live"},
		{"Beyonc\xe9 d\xe9j\xe0 vu", "Beyoncé déjà vu"},
		{"Bj\xf6rk \xc6\xf0i", "Björk Æði"},
		{"M\xf6tley Cr\xfce", "Mötley Crüe"},
		{"فيروز", "فيروز"},
		{"a\nb\x00c\t d ", "a b c d"},
		{"a\u202eexe.3pm\u202c \u2066b\u2069 c\u200f d\u200e", "aexe.3pm b c\u200f d\u200e"},
		{strings.Repeat("ف", 400), strings.Repeat("ف", 256)},
	} {
		if got := audiofile.Text([]byte(c.bytes)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.bytes, got, c.want)
		}
	}
}

// What is not audio through and through may mean something else to a player,
// which then follows it out of the media folder: a decoder must look at it.
func TestMP3ThatBeginsAsSomethingElseIsNotTakenAtItsWord(t *testing.T) {
	mp3, err := os.ReadFile(encode(t, "x.mp3", "-map_metadata", "-1", "-id3v2_version", "0"))
	if err != nil {
		t.Fatal(err)
	}
	list := "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/outside.aac\n#EXT-X-ENDLIST\n"
	id3 := func(version, flags byte) string {
		return "ID3" + string([]byte{version, 0, flags, 0, 0, 0, 10}) + strings.Repeat("\x00", 10)
	}
	for _, c := range []struct {
		name, front string
		want        string
	}{
		{"nothing in front", "", ""},
		{"a tag", id3(3, 0), ""},
		{"two tags and zeros", id3(3, 0) + id3(4, 0) + strings.Repeat("\x00", 40_000), ""},
		{"a playlist", list, "a playlist"},
		{"a playlist behind a tag", id3(4, 0) + list, "a playlist"},
		{"a playlist behind zeros", strings.Repeat("\x00", 40_000) + list, "not audio alone"},
		{"a playlist behind two tags", id3(4, 0) + id3(3, 0) + list, "a playlist"},
		{"one stray byte", "x", "not audio alone"},
		{"a tag on whose end decoders differ", id3(3, 0x10), "not audio alone"},
		{"a playlist in the first frames", string(mp3[:1000]) + list, "not audio alone"},
	} {
		data := c.front + string(mp3)
		info, err := audiofile.Read(strings.NewReader(data), int64(len(data)))
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %+v, %v", c.name, info, err)
		}
	}
}
