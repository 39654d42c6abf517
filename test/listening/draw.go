package main

import (
	"context"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/cmplx"
	"os"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
)

// The picture: a spectrogram above, and the momentary loudness below it.
const (
	wide, high, low = 480, 150, 60
	lowest, highest = 40.0, 16000.0 // Hz, on a logarithmic axis
	floor           = -85.0         // dB, black
	quietest        = -50.0         // LUFS, at the foot of the curve
	target          = -14.0
	rate            = 44100
)

// heard is a file as it is decoded.
type heard struct {
	frames []float32 // interleaved stereo
	length float64   // seconds
	whole  *loudness.Measurement
}

func listen(ctx context.Context, path string) (heard, error) {
	var h heard
	meter := loudness.NewMeter(rate, loudness.Stereo)
	err := ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: rate, Channels: 2}, func(s []float32) error {
		h.frames = append(h.frames, s...)
		meter.Write(s)
		return nil
	})
	h.length = float64(len(h.frames)/2) / rate
	h.whole = meter.Result()
	return h, err
}

// draw writes the picture of a sound, in sixteen colours for a small file.
func draw(path string, h heard) error {
	img := image.NewPaletted(image.Rect(0, 0, wide, high+low), palette())
	h.spectrogram(img)
	h.curve(img)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, img)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// shades of the spectrogram, then the four colours of lines.
const (
	shades    = 12
	paper     = shades
	gridline  = shades + 1
	line      = shades + 2
	aimedLine = shades + 3
)

func palette() color.Palette {
	p := make(color.Palette, 0, 16)
	for i := range shades {
		x := float64(i) / (shades - 1)
		p = append(p, color.RGBA{
			uint8(255 * min(1, 1.6*x*x)),
			uint8(255 * max(0, 1.35*x-0.35)),
			uint8(255 * (0.05 + 0.5*math.Sin(math.Pi*min(1, 1.1*x)) + 0.45*math.Pow(x, 6))),
			255,
		})
	}
	return append(p, color.RGBA{250, 250, 246, 255}, color.RGBA{205, 205, 200, 255}, color.RGBA{28, 92, 160, 255}, color.RGBA{215, 60, 50, 255})
}

func (h heard) spectrogram(img *image.Paletted) {
	window := 4096
	if h.length < 1 { // a short sound: rather when than how high
		window = 2048
	}
	shape, spectrum := hann(window), make([]complex128, window)
	levels := make([]float64, window/2+1)
	for x := range wide {
		middle := int((float64(x) + 0.5) / wide * h.length * rate)
		for i := range spectrum {
			at := middle - window/2 + i
			spectrum[i] = 0
			if at >= 0 && 2*at+1 < len(h.frames) {
				spectrum[i] = complex(float64(h.frames[2*at]+h.frames[2*at+1])/2*shape[i], 0)
			}
		}
		fft(spectrum)
		for i := range levels {
			levels[i] = cmplx.Abs(spectrum[i]) / float64(window/4)
		}
		for y := range high {
			top, foot := pitch(y), pitch(y+1)
			from, to := int(foot*float64(window)/rate), int(math.Ceil(top*float64(window)/rate))
			var peak float64
			for i := from; i <= min(to, len(levels)-1); i++ {
				peak = max(peak, levels[i])
			}
			shade := (20*math.Log10(peak+1e-9) - floor) / -floor * shades
			img.SetColorIndex(x, y, uint8(min(shades-1, max(0, shade))))
		}
	}
	for _, hz := range []float64{100, 1000, 10000} { // ticks at the left edge
		y := int(math.Log(highest/hz) / math.Log(highest/lowest) * high)
		for x := range 8 {
			img.SetColorIndex(x, y, paper)
		}
	}
}

func pitch(y int) float64 { return highest * math.Pow(lowest/highest, float64(y)/high) }

// curve is the momentary loudness over 400 ms (of a sound under two seconds,
// over a twelfth of it), a line at the target and one at each second.
func (h heard) curve(img *image.Paletted) {
	row := func(lufs float64) int {
		return high + low - 1 - int(min(1, max(0, (lufs-quietest)/(0-quietest)))*(low-1))
	}
	for y := high; y < high+low; y++ {
		for x := range wide {
			img.SetColorIndex(x, y, paper)
		}
	}
	for second := 1.0; second < h.length; second++ {
		for y := high; y < high+low; y++ {
			img.SetColorIndex(int(second/h.length*wide), y, gridline)
		}
	}
	for x := 0; x < wide; x += 2 {
		img.SetColorIndex(x, row(target), aimedLine)
	}
	reach := rate / 5
	if h.length < 2 {
		reach = int(h.length * rate / 24)
	}
	before := -1
	for x := range wide {
		middle := int((float64(x) + 0.5) / wide * float64(len(h.frames)/2))
		from, to := max(0, middle-reach), min(len(h.frames)/2, middle+reach)
		meter := loudness.NewMeter(rate, loudness.Stereo)
		meter.Write(h.frames[2*from : 2*to])
		y := row(meter.Result().Integrated)
		if before < 0 {
			before = y
		}
		for at := min(y, before); at <= max(y, before); at++ {
			img.SetColorIndex(x, at, line)
		}
		before = y
	}
}

func hann(window int) []float64 {
	out := make([]float64, window)
	for i := range out {
		out[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(window))
	}
	return out
}

// fft is Cooley and Tukey's, of a power of two, in place.
func fft(x []complex128) {
	for i, j := 1, 0; i < len(x); i++ {
		bit := len(x) >> 1
		for ; j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		j ^= bit
		if i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	for n := 2; n <= len(x); n <<= 1 {
		turn := cmplx.Rect(1, -2*math.Pi/float64(n))
		for from := 0; from < len(x); from += n {
			w := complex(1, 0)
			for k := range n / 2 {
				a, b := x[from+k], x[from+k+n/2]*w
				x[from+k], x[from+k+n/2] = a+b, a-b
				w *= turn
			}
		}
	}
}
