package attach_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/audience/chat/attach"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// stack returns the bytes that all goroutines' stacks take.
func stack() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.StackInuse)
}

// A level of five bytes would otherwise cost hundreds of bytes of stack.
func TestElementsNestedInWebMAreNotFollowed(t *testing.T) {
	const (
		head    = "\x1a\x45\xdf\xa3\x87\x42\x82\x84webm"
		segment = "\x18\x53\x80\x67\xff" // of unknown size, as recorders write it
		track   = "\x16\x54\xae\x6b\x8e\xae\x8c\x83\x81\x02\x86\x86A_OPUS"
	)
	nested := bytes.Repeat([]byte(segment), attach.MostBytes/len(segment)-10)
	ear := attach.NewEar(t.TempDir())
	for what, note := range map[string][]byte{
		"segments in a segment":   append([]byte(head), nested...),
		"segments in the head":    append([]byte("\x1a\x45\xdf\xa3\xff"), nested...),
		"a track two levels down": []byte(head + segment + segment + track),
	} {
		before := stack()
		_, err := ear.Read(t.Context(), note)
		if grown := stack() - before; grown > 4<<20 {
			t.Errorf("%s: %d bytes of stack for a note of %d", what, grown, len(note))
		}
		if !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Also of a note that needs no decoder a hostile one is not read beside all others.
func TestNoNoteIsLookedAtOutOfTurn(t *testing.T) {
	ear := attach.NewEar(t.TempDir())
	free := ear.Fill()
	for _, note := range []string{"OggS", "\x1a\x45\xdf\xa3", "ID3", "\x00\x00\x00\x20ftyp", "RIFF\x00\x00\x00\x00WAVE", "<html>"} {
		if _, err := ear.Read(t.Context(), []byte(note)); !errors.Is(err, station.ErrUnavailable) {
			t.Errorf("%q: %v", note, err)
		}
	}
	free()
	if _, err := ear.Read(t.Context(), []byte("<html>")); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("once there is a turn: %v", err)
	}
}

// Two megabytes can hold a day of silence.
func TestNoMoreOfANoteIsDecodedThanMayBeSent(t *testing.T) {
	decoder, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal(err)
	}
	long := made(t, "l.webm", "-f", "lavfi", "-i", "sine=d=300", "-c:a", "libopus", "-b:a", "8k")
	dir := t.TempDir()
	asked := filepath.Join(dir, "asked")
	testkit.Executable(t, filepath.Join(dir, "ffmpeg"), fmt.Appendf(nil, "#!/bin/sh\necho \"$@\" >%q\nexec %q \"$@\"\n", asked, decoder))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if _, err := attach.NewEar(dir).Read(t.Context(), long); !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), "longer than 120 s") {
		t.Error(err)
	}
	if args, err := os.ReadFile(asked); err != nil || !strings.Contains(string(args), " -t 121.000 ") {
		t.Errorf("%s, %v", args, err)
	}
}
