package audiofile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/athir-radio/athir/internal/sound/audiofile"
)

// tagged puts an ID3v2 tag before the audio of an MP3.
func tagged(version, flags byte, body []byte, audio []byte) []byte {
	n := len(body)
	head := []byte{'I', 'D', '3', version, 0, flags, byte(n >> 21 & 0x7f), byte(n >> 14 & 0x7f), byte(n >> 7 & 0x7f), byte(n & 0x7f)}
	return append(append(head, body...), audio...)
}

// frameOf is a frame with a plain 4-byte size (2.3), or 3-byte (2.2).
func frameOf(id, content string) []byte {
	n := len(content)
	if len(id) == 3 {
		return append([]byte{id[0], id[1], id[2], byte(n >> 16), byte(n >> 8), byte(n)}, content...)
	}
	return append(append([]byte(id), 0, 0, byte(n>>8), byte(n), 0, 0), content...)
}

func TestEveryGenerationOfID3IsRead(t *testing.T) {
	path := encode(t, "bare.mp3", "-b:a", "64k", "-id3v2_version", "0", "-map_metadata", "-1", "-fflags", "+bitexact")
	audio, err := os.ReadFile(path) //nolint:gosec // test
	if err != nil {
		t.Fatal(err)
	}
	join := func(frames ...[]byte) []byte { return bytes.Join(frames, nil) }
	picture := frameOf("APIC", "\x00image/png\x00\x03\x00"+string(make([]byte, 40_000)))
	long := "\x03" + string(bytes.Repeat([]byte("x"), 199)) // a size that synchsafe and plain disagree on
	for _, c := range []struct {
		name           string
		version, flags byte
		body           []byte
		want           audiofile.Info
	}{
		{"2.2", 2, 0, join(frameOf("TT2", "\x00Old"), frameOf("TP1", "\x00\xdd\xed\xd1\xe6\xd2"), frameOf("TCO", "\x00(17)")),
			audiofile.Info{Title: "Old", Artist: "فيروز", Genre: "Rock"}},
		{"2.3 after a picture, then padding", 3, 0, join(picture, frameOf("TIT2", "\x01\xff\xfe\x44\x06\x27\x06"), make([]byte, 500)),
			audiofile.Info{Title: "لا"}},
		{"2.3 unsynchronised", 3, 0x80, bytes.ReplaceAll(frameOf("TIT2", "\x01\xff\xfe\x44\x06"), []byte{0xff}, []byte{0xff, 0}),
			audiofile.Info{Title: "ل"}},
		{"2.3 licence link before copyright", 3, 0, join(frameOf("TCOP", "\x002026 X"), frameOf("WCOP", "https://creativecommons.org/licenses/by/4.0/")),
			audiofile.Info{License: "https://creativecommons.org/licenses/by/4.0/"}},
		{"2.3 licence in the comment", 3, 0, join(frameOf("COMM", "\x00engiTunNORM\x00 0001"), frameOf("COMM", "\x00eng\x00see <http://creativecommons.org/publicdomain/zero/1.0/>.")),
			audiofile.Info{License: "http://creativecommons.org/publicdomain/zero/1.0/"}},
		{"2.3 own field", 3, 0, join(frameOf("TXXX", "\x00LICENSE\x00CC BY"), frameOf("TCOP", "\x00X")), audiofile.Info{License: "CC BY"}},
		{"2.4 several artists", 4, 0, join(frameOf("TPE1", "\x03A\x00B"), frameOf("TPE2", "\x03C")), audiofile.Info{Artist: "A & B"}},
		{"2.4 with iTunes' plain sizes", 4, 0, join(frameOf("TALB", long), frameOf("TIT2", "\x03T")),
			audiofile.Info{Album: long[1:], Title: "T"}},
		{"2.4 frame beyond the tag", 4, 0, join(frameOf("TIT2", "\x03T"), []byte("TPE1\x7f\x7f\x7f\x7f\x00\x00zz")), audiofile.Info{Title: "T"}},
	} {
		data := tagged(c.version, c.flags, c.body, audio)
		got, err := audiofile.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		c.want.Format, c.want.Duration, c.want.Channels, c.want.SampleRate = got.Format, got.Duration, got.Channels, got.SampleRate
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	var broken *audiofile.BrokenError
	cut := tagged(3, 0, picture, nil)[:20_000]
	if _, err := audiofile.Read(bytes.NewReader(cut), int64(len(cut))); !errors.As(err, &broken) {
		t.Errorf("a file that ends inside its tags: %v", err)
	}
}
