package input_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/live/desk/input"
)

func box(kind string, parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), []byte(kind), body)
}

func full(kind string, parts ...[]byte) []byte {
	return box(kind, append([][]byte{make([]byte, 4)}, parts...)...)
}

func numbers(all ...uint32) (out []byte) {
	for _, n := range all {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	return out
}

// bomb is the beginning of an MP4 whose tracks each state an index of so many samples in
// twelve bytes: a demuxer that believes it makes 24 bytes of memory for each.
func bomb(tracks int, samples uint32) []byte {
	esds := full("esds", []byte{3, 25, 0, 1, 0, 4, 17, 0x40, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 2, 0x11, 0x90, 6, 1, 2})
	mp4a := box("mp4a", make([]byte, 6), []byte{0, 1}, make([]byte, 8), []byte{0, 2, 0, 16, 0, 0, 0, 0}, numbers(48000<<16), esds)
	stbl := box("stbl", full("stsd", numbers(1), mp4a), full("stts", numbers(1, samples, 1024)), full("stsc", numbers(1, 1, samples, 1)),
		full("stsz", numbers(1<<16, samples)), full("stco", numbers(1, 4000)))
	minf := box("minf", full("smhd", make([]byte, 4)), box("dinf", full("dref", numbers(1), full("url "))), stbl)
	mdia := box("mdia", full("mdhd", numbers(0, 0, 48000, samples, 0x55c40000)), full("hdlr", make([]byte, 4), []byte("soun"), make([]byte, 13)), minf)
	moov := full("mvhd", numbers(0, 0, 1000, 1000), make([]byte, 80))
	for range tracks {
		moov = slices.Concat(moov, box("trak", full("tkhd", make([]byte, 80)), mdia))
	}
	return slices.Concat(box("ftyp", []byte("isom\x00\x00\x02\x00isom")), box("moov", moov), box("mdat", make([]byte, 400_000)))
}

// watcher looks at the memory of our ffmpeg children while the decoder reads.
type watcher struct {
	io.Reader
	most int
}

func (w *watcher) Read(p []byte) (int, error) {
	w.look()
	return w.Reader.Read(p[:min(len(p), 4096)])
}

func (w *watcher) look() {
	for _, status := range ofChildren("status") {
		if _, rest, ok := strings.Cut(status, "VmHWM:"); ok {
			kib, _ := strconv.Atoi(strings.Fields(rest)[0])
			w.most = max(w.most, kib>>10)
		}
	}
}

// ofChildren is a file of /proc for each program that this process has started.
func ofChildren(file string) (out []string) {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		children, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		for pid := range strings.FieldsSeq(string(children)) {
			text, _ := os.ReadFile("/proc/" + pid + "/" + file)
			out = append(out, string(text))
		}
	}
	return out
}

// A few bytes that state an index of gigabytes cost neither: not in one track, and not in
// many that each stay below what may be had at once.
func TestAnEncoderCannotMakeTheDecoderTakeTheMachinesMemory(t *testing.T) {
	for name, file := range map[string][]byte{"one index": bomb(1, 60_000_000), "many": bomb(30, 2_000_000)} {
		t.Run(name, func(t *testing.T) {
			w := &watcher{Reader: bytes.NewReader(file)}
			var out sink
			err := (&input.Push{Type: "audio/mp4", Body: w}).Run(t.Context(), &out)
			if err == nil || w.most == 0 {
				t.Errorf("ended with %v; its memory was %d MiB", err, w.most)
			}
			if w.most > 560 {
				t.Errorf("the decoder took %d MiB", w.most)
			}
		})
	}
}
