package check_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/check"
)

func noise(n int) []byte {
	random := rand.New(rand.NewPCG(3, uint64(n)))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(random.Uint32())
	}
	return out
}

// soundsOf are whole files in which something is wrong with the sound.
func soundsOf() []item {
	random := rand.New(rand.NewPCG(5, 6))
	white := func(float64, int) float64 { return 0.2 * (2*random.Float64() - 1) }
	sine := func(t float64, _ int) float64 { return 0.5 * math.Sin(880*math.Pi*t) }
	silence := make([]float32, 2*rate*9)
	brief := tune(1)
	long := check.Want{Shortest: time.Second, Longest: time.Minute}
	scaled := func(by float32) []byte {
		return changed(4, func(l, r float32) (float32, float32) { return l * by, r * by })
	}
	return []item{
		{name: "samples that are no numbers", data: changed(4, func(l, r float32) (float32, float32) {
			if l > 0.35 {
				l = float32(math.NaN())
			}
			return l, r
		}), want: "damaged"},
		{name: "samples of 1e30", data: scaled(1e30), want: "damaged"},
		{name: "infinite samples", data: scaled(float32(math.Inf(1))), want: "damaged"},
		{name: "12 dB over full scale, in floats", data: scaled(8), want: "clipped"},
		{name: "silence", data: pcm16(silence, 2), want: "silent"},
		{name: "direct current", data: pcm16(each(5, 2, func(float64, int) float64 { return 0.4 }), 2), want: "silent"},
		{name: "off zero", data: changed(12, func(l, r float32) (float32, float32) { return l + 0.2, r + 0.2 }), want: "ok dc_offset"},
		{name: "mostly silence", data: pcm16(slices.Concat(brief, silence, brief), 2), want: "silent"},
		{name: "clipped music", data: pcm16(each(5, 1, func(t float64, _ int) float64 {
			return 10 * (math.Sin(2*math.Pi*(200+80*math.Sin(3*t))*t)*math.Sin(5*t) + 0.1*random.Float64())
		}), 1), want: "clipped"},
		{name: "square wave", data: pcm16(each(3, 1, func(t float64, _ int) float64 { return math.Copysign(1, math.Sin(880*math.Pi*t)) }), 1), want: "clipped"},
		{name: "white noise", data: pcm16(each(10, 2, white), 2), want: "noise"},
		{name: "a tone", data: pcm16(each(10, 1, sine), 1), want: "noise"},
		{name: "hum", data: pcm16(each(10, 1, func(t float64, _ int) float64 {
			return 0.4*math.Sin(100*math.Pi*t) + 0.05*math.Sin(300*math.Pi*t) + 0.001*random.Float64()
		}), 1), want: "noise"},
		{name: "a short tone, as an effect", data: pcm16(each(2, 1, sine), 1), want: "ok"},
		{name: "one dead channel", data: changed(4, func(l, _ float32) (float32, float32) { return l, 0 }), want: "dead_channel"},
		{name: "one channel all but dead", data: changed(4, func(l, _ float32) (float32, float32) { return l, l / 500 }), want: "dead_channel"},
		{name: "one channel quieter", data: changed(4, func(l, r float32) (float32, float32) { return l, r / 10 }), want: "ok"},
		{name: "stereo that cancels itself", data: changed(4, func(l, _ float32) (float32, float32) { return l, -l }), want: "out_of_phase"},
		{name: "very wide stereo", data: changed(4, func(l, r float32) (float32, float32) { return l + 0.3*r, -0.6*l + 0.4*r }), want: "ok mono_quieter"},
		{name: "the same on both sides", data: changed(4, func(l, _ float32) (float32, float32) { return l, l }), want: "ok mono"},
		{name: "very quiet", data: scaled(0.002), want: "too_quiet"},
		{name: "quieter than anything", data: scaled(0.0001), want: "silent"},
		{name: "long with a window of its own", data: pcm16(tune(25), 2), want: "ok", as: long},
	}
}
