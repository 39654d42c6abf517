package mounts

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var some = []Mount{{MP3, 24}, {MP3, 56}, {MP3, 64}, {MP3, 128}, {MP3, 320}, {AAC, 24}, {AAC, 96}, {AAC, 320}}

// ffmpeg runs it on one file and returns what it writes.
func ffmpeg(t *testing.T, in []byte, args ...string) []byte {
	t.Helper()
	var out, trouble bytes.Buffer
	exit, err := proc.Run(context.Background(), proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Stdin: bytes.NewReader(in), Stdout: &out, Stderr: &trouble, Drain: proc.DrainWhole,
		Args: append([]string{"-hide_banner", "-v", "warning"}, args...),
	}, nil)
	if err != nil || !exit.OK() || trouble.Len() > 0 {
		t.Fatalf("ffmpeg %s: %s, %v: %s", args, exit, err, trouble.String())
	}
	return out.Bytes()
}

// encode makes seconds of a tone as an encoder of the mount does.
func encode(t *testing.T, m Mount, seconds int) []byte {
	t.Helper()
	spec := Encoder(m, "http://main", "main."+m.Codec, nil)
	codec := spec.Args[slices.Index(spec.Args, "-ac"):]
	return ffmpeg(t, nil, append([]string{"-f", "lavfi", "-i", fmt.Sprintf("sine=440:r=44100:d=%d", seconds)}, codec...)...)
}

// An encoder's bytes are cut where its frames begin, however they come, and nothing is lost.
func TestWhatAnEncoderWritesIsCutIntoFrames(t *testing.T) {
	t.Parallel()
	for _, m := range some {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			t.Parallel()
			stream := encode(t, m, 3)
			c := cutter{mount: m}
			var all [][]byte
			for part := range slices.Chunk(stream, 997) {
				all = append(all, c.add(part)...)
			}
			if got := bytes.Join(all, nil); !bytes.Equal(got, stream) || len(c.rest) > 0 {
				t.Errorf("%d of %d bytes are in frames, %d wait", len(got), len(stream), len(c.rest))
			}
			if lasts := time.Duration(len(all)) * m.lasts(); lasts < 3*time.Second || lasts > 3300*time.Millisecond {
				t.Errorf("%d frames last %s, want three seconds", len(all), lasts)
			}
			kbps := float64(len(stream)) * 8 / 1000 / (time.Duration(len(all)) * m.lasts()).Seconds()
			if m.Codec == MP3 && (kbps < float64(m.Kbps)*0.97 || kbps > float64(m.Kbps)*1.03) {
				t.Errorf("%.1f kbit/s, want %d", kbps, m.Kbps)
			}
		})
	}
}

// Silence between the frames of an encoder is decoded as silence of its length, and the sound
// before and after it as ever.
func TestSilenceIsPartOfTheStream(t *testing.T) {
	t.Parallel()
	for _, m := range some {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			t.Parallel()
			sound := encode(t, m, 2)
			hole := int(2 * time.Second / m.lasts())
			stream := slices.Concat(sound, bytes.Repeat(m.silence(), hole), sound)
			c := cutter{mount: m}
			if got := bytes.Join(c.add(stream), nil); !bytes.Equal(got, stream) {
				t.Errorf("%d of %d bytes are in frames", len(got), len(stream))
			}
			format := map[string]string{MP3: "mp3", AAC: "aac"}[m.Codec]
			pcm := ffmpeg(t, stream, "-f", format, "-i", "pipe:0", "-ac", "1", "-ar", "8000", "-f", "s16le", "pipe:1")
			peak := func(from, to float64) (most int) {
				for i := int(from * 8000); i < int(to*8000); i++ {
					most = max(most, max(int(int16(binary.LittleEndian.Uint16(pcm[2*i:]))), -int(int16(binary.LittleEndian.Uint16(pcm[2*i:]))))) //nolint:gosec // the same bits
				}
				return most
			}
			if before, within, after := peak(0.5, 1.5), peak(2.5, 3.5), peak(4.6, 5.4); before < 2000 || within > 1 || after < 2000 {
				t.Errorf("peaks %d, in the silence %d, and %d", before, within, after)
			}
			if seconds := float64(len(pcm)) / 2 / 8000; seconds < 5.9 || seconds > 6.4 {
				t.Errorf("%.2f s are decoded, want six", seconds)
			}
		})
	}
}

func TestBitratesOfMP3AreThoseThatItHas(t *testing.T) {
	if got, want := fmt.Sprint(Bitrates()), "[24 32 40 48 56 64 80 96 112 128 160 192 224 256 320]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, kbps := range Bitrates() {
		m := Mount{MP3, kbps}
		if s := m.silence(); m.frame(s) != len(s) {
			t.Errorf("%d kbit/s: %d bytes are a frame of %d", kbps, len(s), m.frame(s))
		}
	}
}

// What is no frame is passed over: the next one is found, and what waits is bounded.
func FuzzCutter(f *testing.F) {
	for i, m := range some {
		f.Add(i, []byte("noise"), m.silence()[:5])
	}
	f.Fuzz(func(t *testing.T, which int, noise, more []byte) {
		m := some[uint(which)%uint(len(some))] //nolint:gosec // any will do
		c := cutter{mount: m}
		n := 0
		for _, part := range [][]byte{noise, more} {
			for _, frame := range c.add(part) {
				if m.frame(frame) != len(frame) {
					t.Fatalf("a frame of %d bytes says %d", len(frame), m.frame(frame))
				}
				n += len(frame)
			}
		}
		if n+len(c.rest) > len(noise)+len(more) || len(c.rest) > 1<<13 {
			t.Fatalf("%d bytes in frames and %d wait, of %d", n, len(c.rest), len(noise)+len(more))
		}
		// A false beginning takes 8 KiB at most with it.
		found := c.add(bytes.Repeat(m.silence(), 2+1<<13/len(m.silence())))
		if len(found) == 0 || !bytes.Equal(found[len(found)-1], m.silence()) {
			t.Fatal("the stream is not found again")
		}
	})
}
