package wav_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/wav"
)

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	for _, channels := range []int{1, 2} {
		a, err := wav.Read(wav.PCM16(22050, channels, []int16{0, 16384, -32768, 32767}))
		want := []float32{0, 0.5, -1, 32767.0 / 32768}
		if err != nil || a.Rate != 22050 || a.Channels != channels || !slices.Equal(a.Samples, want) {
			t.Errorf("%d channels: %+v, %v", channels, a, err)
		}
	}
}

func TestOtherProgramsReadWhatIsWritten(t *testing.T) {
	const rate = 44100
	samples := make([]float32, 2*rate)
	for i := range samples {
		samples[i] = float32(i%100)/50 - 1.2 // beyond full scale too
	}
	quiet := make([]int16, rate)
	for i := range quiet {
		quiet[i] = int16(i % 1000)
	}
	for name, c := range map[string]struct {
		file     []byte
		channels int
		first    []float32
	}{
		"float": {wav.Float32(rate, 2, samples), 2, samples[:200]},
		"16bit": {wav.PCM16(rate, 1, quiet), 1, []float32{0, 1.0 / 32768, 2.0 / 32768}},
	} {
		path := filepath.Join(t.TempDir(), name+".wav")
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		var got []float32
		err := ffmpeg.Decode(t.Context(), path, ffmpeg.Decoding{Rate: rate, Channels: c.channels}, func(s []float32) error {
			got = append(got, s...)
			return nil
		})
		if err != nil || len(got) != c.channels*rate || !slices.Equal(got[:len(c.first)], c.first) {
			t.Errorf("%s: ffmpeg reads %d samples, %v", name, len(got), err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := audiofile.Read(f, int64(len(c.file)))
		if err != nil || info.Duration != time.Second || info.SampleRate != rate || info.Channels != c.channels {
			t.Errorf("%s: audiofile reads %+v, %v", name, info, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatIsNo16BitWAVIsRefused(t *testing.T) {
	good := wav.PCM16(44100, 2, make([]int16, 200))
	surround := slices.Clone(good)
	surround[22] = 6
	slow := slices.Clone(good)
	copy(slow[24:], []byte{1, 0, 0, 0})
	for name, b := range map[string][]byte{
		"nothing": nil, "text": []byte("<html>"), "a header": good[:44], "half a header": good[:20], "half a frame": good[:46],
		"no data": append(good[:36:36], "junk\xff\xff\xff\xff"...), "float": wav.Float32(44100, 1, make([]float32, 9)),
		"six channels": surround, "1 Hz": slow,
	} {
		if a, err := wav.Read(b); err == nil {
			t.Errorf("%s is %d samples", name, len(a.Samples))
		}
	}
	// A stream has no end to write into its header.
	stream := slices.Clone(good)
	copy(stream[40:], "\xff\xff\xff\x7f")
	if a, err := wav.Read(stream); err != nil || len(a.Samples) != 200 {
		t.Errorf("a stream: %d samples, %v", len(a.Samples), err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(wav.PCM16(44100, 1, make([]int16, 10)))
	f.Add(wav.PCM16(8000, 2, make([]int16, 10))[:60])
	f.Add(wav.Float32(44100, 1, make([]float32, 4)))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := wav.Read(b)
		if err == nil && (a.Rate == 0 || len(a.Samples)%a.Channels != 0 || 2*len(a.Samples) > len(b)) {
			t.Fatalf("%+v of %d bytes", a, len(b))
		}
	})
}
