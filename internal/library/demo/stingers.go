package demo

import (
	"math"
	"math/rand/v2"
)

// stinger is one of the mission's sixteen designs of short effect.
type stinger struct {
	design  string
	seconds float64
	sound   func(seconds float64, rng *rand.Rand) []float32
}

// stingers returns the sixteen designs in the mission's order. None is shorter
// than 0.5 s: integrated loudness is not defined below its 400 ms block.
func stingers() []stinger {
	return []stinger{
		{"RISER", 1.6, func(s float64, rng *rand.Rand) []float32 {
			return blend(noiseBand(s, 300, 7000, 0.4, rng), sweep(s, 110, 880, swell(s)), 0.8, 0.3)
		}},
		{"RISER_DOWN", 1.6, func(s float64, rng *rand.Rand) []float32 {
			return blend(noiseBand(s, 7000, 250, 0.4, rng), sweep(s, 880, 90, fall(3)), 0.7, 0.4)
		}},
		{"WHOOSH_UP", 0.9, func(s float64, rng *rand.Rand) []float32 {
			return shape(noiseBand(s, 400, 6000, 0.5, rng), arch(s))
		}},
		{"WHOOSH_DOWN", 0.9, func(s float64, rng *rand.Rand) []float32 {
			return shape(noiseBand(s, 6000, 400, 0.5, rng), arch(s))
		}},
		{"ZAP", 0.5, func(s float64, _ *rand.Rand) []float32 { return sweep(s, 4200, 120, fall(6)) }},
		{"BLIP_UP", 0.5, func(s float64, _ *rand.Rand) []float32 { return blips(s, 660, 990, 1320) }},
		{"BLIP_DOWN", 0.5, func(s float64, _ *rand.Rand) []float32 { return blips(s, 1320, 990, 660) }},
		{"GLITCH", 0.7, glitch},
		{"DROP", 1.2, func(s float64, rng *rand.Rand) []float32 {
			return blend(sweep(s, 600, 45, fall(2.2)), shape(noiseBand(s, 2000, 150, 0.8, rng), fall(7)), 0.8, 0.4)
		}},
		{"METALLIC", 1.1, func(s float64, _ *rand.Rand) []float32 { return bell(s, 523, 1.414) }},
		{"SWEEP", 1.3, func(s float64, rng *rand.Rand) []float32 {
			return shape(noiseBand(s, 200, 9000, 0.15, rng), arch(s))
		}},
		{"SHIMMER", 1.6, shimmer},
		{"PULSE", 0.8, func(s float64, _ *rand.Rand) []float32 {
			return shape(sweep(s, 220, 220, fall(1.5)), func(t float64) float64 { return 0.5 + 0.5*math.Cos(2*math.Pi*8*t) })
		}},
		{"LASER", 0.6, func(s float64, _ *rand.Rand) []float32 {
			return blend(sweep(s, 2600, 300, fall(4)), sweep(s, 2610, 190, fall(4)), 0.6, 0.5)
		}},
		{"SUBDROP", 1.4, func(s float64, _ *rand.Rand) []float32 {
			return blend(sweep(s, 130, 38, fall(1.8)), sweep(s, 260, 76, fall(3)), 0.8, 0.35)
		}},
		{"IMPACT", 1.2, func(s float64, rng *rand.Rand) []float32 {
			return blend(sweep(s, 120, 50, fall(4)), shape(noiseBand(s, 2500, 300, 1, rng), fall(8)), 0.9, 0.7)
		}},
	}
}

// render gives the design a little room and a clean end.
func (s stinger) render() pcm {
	rng := rand.New(rand.NewPCG(uint64(len(s.design)), uint64(s.seconds*1000)))
	out := silence(s.seconds)
	out.add(0, s.sound(s.seconds, rng), 0.8, 0)
	out.reverb(0.25)
	out.fade(0.003, min(0.15, s.seconds/4))
	return out
}

func fall(speed float64) func(float64) float64 {
	return func(t float64) float64 { return math.Exp(-t * speed) }
}

func swell(seconds float64) func(float64) float64 {
	return func(t float64) float64 { return math.Pow(t/seconds, 2) }
}

func arch(seconds float64) func(float64) float64 {
	return func(t float64) float64 { return math.Pow(math.Sin(math.Pi*min(t/seconds, 1)), 1.5) }
}

func shape(mono []float32, env func(t float64) float64) []float32 {
	for i := range mono {
		mono[i] *= float32(env(float64(i) / rate))
	}
	return mono
}

func blend(a, b []float32, ga, gb float64) []float32 {
	for i := range a {
		a[i] = a[i]*float32(ga) + b[i]*float32(gb)
	}
	return a
}

func blips(seconds float64, freqs ...float64) []float32 {
	out := silence(seconds)
	for i, f := range freqs {
		out.add(float64(i)*0.09, sweep(0.3, f, f*1.01, fall(14)), 1.2, 0)
	}
	return out.l
}

func bell(seconds, freq, ratio float64) []float32 {
	out := make([]float32, samples(seconds))
	for i := range out {
		t := float64(i) / rate
		index := 4 * math.Exp(-t*3)
		out[i] = float32(math.Sin(2*math.Pi*freq*t+index*math.Sin(2*math.Pi*freq*ratio*t)) * math.Exp(-t*3.2))
	}
	return out
}

func glitch(seconds float64, rng *rand.Rand) []float32 {
	out := make([]float32, samples(seconds))
	for at := 0; at < len(out); {
		n := min(samples(0.012+0.05*rng.Float64()), len(out)-at)
		freq, gate := 200*math.Pow(2, 4*rng.Float64()), rng.IntN(4) > 0
		for i := range n {
			if v := math.Sin(2 * math.Pi * freq * float64(i) / rate); gate && v > 0 {
				out[at+i] = 0.6
			} else if gate {
				out[at+i] = -0.6
			}
		}
		at += n
	}
	return out
}

func shimmer(seconds float64, rng *rand.Rand) []float32 {
	out := silence(seconds)
	for i := range 14 {
		freq := hijaz.freq(880, i%9)
		out.add(float64(i)*0.07, bell(min(0.9, seconds), freq, 2.0), 0.3+0.1*rng.Float64(), 0)
	}
	return out.l
}
