package ffmpeg_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

// What goes into an MP3 comes out as long and as loud, at each bit rate: LAME's
// own scale is undone.
func TestMP3sKeepLengthAndLevelAtEveryBitRate(t *testing.T) {
	const amplitude, rate = 0.3, 44100
	frames := make([]float32, 2*(rate+777))
	for i := range frames {
		frames[i] = float32(amplitude * math.Sin(2*math.Pi*997*float64(i/2)/rate))
	}
	for _, kbps := range []int{64, 80, 96, 112, 128, 160, 192, 224, 256, 320} {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("-%d.mp3", kbps))
		e := ffmpeg.Encoding{Rate: rate, Kbps: kbps, Tags: [][2]string{{"title", "=-i أثير"}}}
		if err := ffmpeg.EncodeMP3(t.Context(), path, e, func(write func([]float32) error) error { return write(frames) }); err != nil {
			t.Fatal(err)
		}
		var got []float32
		if err := ffmpeg.Decode(t.Context(), path, ffmpeg.Decoding{Rate: rate, Channels: 2}, func(s []float32) error {
			got = append(got, s...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range got[rate/2 : rate*3/2] {
			sum += float64(v) * float64(v)
		}
		level := 20 * math.Log10(math.Sqrt(2*sum/rate)/amplitude)
		if len(got) != len(frames) || math.Abs(level) > 0.05 {
			t.Errorf("%d kbit/s: %d samples of %d, %+.3f dB", kbps, len(got), len(frames), level)
		}
		info, err := ffmpeg.Probe(t.Context(), path)
		if err != nil || info.Tags["title"] != "=-i أثير" {
			t.Errorf("%+v, %v", info, err)
		}
	}
}

func TestDecodingStopsWhenItsTakerDoesOrTheCallerLeaves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.wav")
	tone(t, path, "-af", "apad=pad_dur=600", "-ar", "48000")
	enough := errors.New("enough")
	err := ffmpeg.Decode(t.Context(), path, ffmpeg.Decoding{Rate: 48000, Channels: 2}, func([]float32) error { return enough })
	if !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: 48000, Channels: 2}, func([]float32) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	heard := 0
	err = ffmpeg.Decode(t.Context(), path, ffmpeg.Decoding{Rate: 8000, Channels: 1, First: time.Second}, func(s []float32) error {
		heard += len(s)
		return nil
	})
	if err != nil || heard != 8000 {
		t.Errorf("%d samples, %v", heard, err)
	}
}

func TestEncoderThatCannotWriteSaysWhy(t *testing.T) {
	e := ffmpeg.Encoding{Rate: 44100, Kbps: 192}
	err := ffmpeg.EncodeMP3(t.Context(), filepath.Join(t.TempDir(), "no", "folder.mp3"), e, func(write func([]float32) error) error {
		for {
			if err := write(make([]float32, 1<<16)); err != nil {
				return err
			}
		}
	})
	var refused *ffmpeg.RefusedError
	if !errors.As(err, &refused) || refused.Reason == "" {
		t.Errorf("got %v", err)
	}
	stop := errors.New("stop")
	err = ffmpeg.EncodeMP3(t.Context(), filepath.Join(t.TempDir(), "x.mp3"), e, func(func([]float32) error) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}
