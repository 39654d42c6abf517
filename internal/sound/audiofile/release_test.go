package audiofile_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/athir-radio/athir/internal/sound/audiofile"
)

// freeform is one item of iTunes' list under a name of its own.
func freeform(name, value string) []byte {
	box := func(kind string, content []byte) []byte {
		return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(content))), kind...), content...) //nolint:gosec // short
	}
	return box("----", bytes.Join([][]byte{
		box("mean", []byte("\x00\x00\x00\x00com.apple.iTunes")), box("name", []byte("\x00\x00\x00\x00"+name)),
		box("data", []byte("\x00\x00\x00\x01\x00\x00\x00\x00"+value)),
	}, nil))
}

// listed puts items at the end of an MP4's list; its index lies behind the audio.
func listed(t *testing.T, data []byte, items []byte) []byte {
	t.Helper()
	for _, kind := range []string{"moov", "udta", "meta", "ilst"} {
		at := bytes.LastIndex(data, []byte(kind)) - 4
		size := binary.BigEndian.Uint32(data[at:])
		binary.BigEndian.PutUint32(data[at:], size+uint32(len(items))) //nolint:gosec // short
		if kind == "ilst" {
			end := at + int(size)
			return append(append(data[:end:end], items...), data[end:]...)
		}
	}
	return nil
}

func TestTheReleaseIsReadFromTagsOfEveryKind(t *testing.T) {
	whole := audiofile.Info{ISRC: "EG-A01-26-00001", Label: "صوت القاهرة", Composer: "رياض السنباطي"}
	read := func(data []byte) audiofile.Info {
		got, err := audiofile.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		return audiofile.Info{ISRC: got.ISRC, Label: got.Label, Composer: got.Composer}
	}
	for _, c := range []struct {
		file string
		args []string
	}{
		{"a.mp3", []string{"-metadata", "TSRC=" + whole.ISRC, "-metadata", "publisher=" + whole.Label}},
		{"b.mp3", []string{"-id3v2_version", "3", "-metadata", "TSRC=" + whole.ISRC, "-metadata", "TPUB=" + whole.Label}},
		{"c.mp3", []string{"-metadata", "TSRC=" + whole.ISRC, "-metadata", "LABEL=" + whole.Label, "-metadata", "publisher=a publisher beside it"}},
		{"d.ogg", []string{"-c:a", "libvorbis", "-metadata", "ISRC=" + whole.ISRC, "-metadata", "ORGANIZATION=" + whole.Label}},
		{"e.opus", []string{"-c:a", "libopus", "-metadata", "isrc=" + whole.ISRC, "-metadata", "publisher=" + whole.Label}},
		{"f.flac", []string{"-metadata", "ISRC=" + whole.ISRC, "-metadata", "LABEL=" + whole.Label}},
	} {
		data, err := os.ReadFile(encode(t, c.file, append(c.args, "-metadata", "composer="+whole.Composer)...))
		if err != nil {
			t.Fatal(err)
		}
		if got := read(data); got != whole {
			t.Errorf("%s: %+v", c.file, got)
		}
	}
	m4a, err := os.ReadFile(encode(t, "g.m4a", "-c:a", "aac", "-metadata", "composer="+whole.Composer))
	if err != nil {
		t.Fatal(err)
	}
	if got := read(listed(t, m4a, append(freeform("ISRC", whole.ISRC), freeform("LABEL", whole.Label)...))); got != whole {
		t.Errorf("m4a: %+v", got)
	}
	wav, err := os.ReadFile(encode(t, "h.wav"))
	if err != nil {
		t.Fatal(err)
	}
	info := append([]byte("LIST\x00\x00\x00\x00INFO"), "ISRC\x0f\x00\x00\x00EG-A01-26-00001\x00"...)
	binary.LittleEndian.PutUint32(info[4:], uint32(len(info)-8)) //nolint:gosec // short
	if got := read(append(wav, info...)); got.ISRC != whole.ISRC {
		t.Errorf("wav: %+v", got)
	}
	tag := bytes.Join([][]byte{frameOf("TRC", "\x00EGA012600001"), frameOf("TPB", "\x00Sono"), frameOf("TCM", "\x00A/B")}, nil)
	bare, err := os.ReadFile(encode(t, "bare.mp3", "-b:a", "64k", "-id3v2_version", "0", "-map_metadata", "-1"))
	if err != nil {
		t.Fatal(err)
	}
	if got := read(tagged(2, 0, tag, bare)); got != (audiofile.Info{ISRC: "EGA012600001", Label: "Sono", Composer: "A/B"}) {
		t.Errorf("ID3v2.2: %+v", got)
	}
}
