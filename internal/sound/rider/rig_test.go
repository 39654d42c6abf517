package rider_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/internal/sound/rider"
)

const (
	rate   = 48_000
	target = -14.0
	tick   = 2 * rate / 50 // samples of a call from the bus
)

const words = `مساء الخير، هنا إذاعة أثير من القاهرة. معكم سارة في سهرة الليلة.
نبدأ بأغنية قديمة يحبها الكثيرون، ثم نتحدث قليلا عن البحر والمدينة.
إذا أردتم أن تشاركونا فاكتبوا لنا، ونحن نقرأ كل ما يصل إلينا.
الطقس اليوم معتدل، والسماء صافية، والهواء من الشمال خفيف.`

// voice is at least so many seconds of speech at a loudness, in stereo.
func voice(t testing.TB, seconds int, level float64, seed uint64) []float32 {
	t.Helper()
	pitch := []string{"30", "45", "65"}[seed%3]
	wav, err := proc.Output(context.Background(), proc.Spec{
		Name: "espeak-ng", Path: "espeak-ng", Stdin: strings.NewReader(words),
		Args: []string{"-v", "ar", "-s", "150", "-p", pitch, "-b", "1", "--stdin", "--stdout"},
	}, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := proc.Output(context.Background(), proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Stdin: bytes.NewReader(wav),
		Args: []string{"-v", "error", "-f", "wav", "-i", "pipe:0", "-ar", "48000", "-ac", "2", "-f", "f32le", "pipe:1"},
	}, 256<<20)
	if err != nil {
		t.Fatal(err)
	}
	once := make([]float32, len(raw)/4)
	for i := range once {
		once[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	var all []float32
	for len(all) < 2*rate*seconds {
		all = append(all, once...)
	}
	return at(t, all[:2*rate*seconds], level)
}

// at brings sound to an integrated loudness.
func at(t testing.TB, sound []float32, level float64) []float32 {
	t.Helper()
	factor := float32(math.Pow(10, (level-measure(sound).Integrated)/20))
	for i := range sound {
		sound[i] *= factor
	}
	return sound
}

func measure(sound []float32) *loudness.Measurement {
	m := loudness.NewMeter(rate, loudness.Stereo)
	m.Write(sound)
	return m.Result()
}

// music is some seconds of a file of a Debian package.
func music(t testing.TB, path string, d ffmpeg.Decoding) []float32 {
	t.Helper()
	var all []float32
	d.Rate, d.Channels = rate, 2
	if err := ffmpeg.Decode(t.Context(), path, d, func(s []float32) error {
		all = append(all, s...)
		return nil
	}); err != nil {
		t.Fatalf("%v: apt-get install wesnoth-1.16-music singularity-music", err)
	}
	return all
}

// noise is white noise of a level in dBFS, different in both channels.
func noise(seconds float64, dbfs float64) []float32 {
	random := rand.New(rand.NewPCG(7, 7))
	out := make([]float32, 2*int(seconds*rate))
	for i := range out {
		out[i] = float32(random.NormFloat64() * math.Pow(10, dbfs/20))
	}
	return out
}

func mix(a, b []float32) []float32 {
	out := make([]float32, len(a))
	for i := range a {
		out[i] = a[i] + b[i%len(b)]
	}
	return out
}

func ride(r *rider.Rider, sound []float32, look func(second float64)) []float32 {
	var out []float32
	for i := 0; i < len(sound); i += tick {
		out = append(out, r.Process(sound[i:min(i+tick, len(sound))])...)
		if look != nil && i%(25*tick) == 0 {
			look(float64(i) / 2 / rate)
		}
	}
	return out
}

func seconds(sound []float32, from, to float64) []float32 {
	return sound[2*int(from*rate) : 2*int(to*rate)]
}

func joined(parts ...[]float32) (all []float32) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}
