package stinger

import (
	"math"
	"testing"

	"github.com/athir-radio/athir/internal/sound/synth"
	"github.com/athir-radio/athir/internal/sound/synth/synthtest"
)

// figure collects one number of every seed and holds it within bounds.
type figure struct{ least, most float64 }

// hold checks a figure of all seeds of a design, and prints what it was.
func hold(t *testing.T, d Design, what string, low, high float64, of func(h heard) float64) {
	t.Helper()
	f := figure{math.Inf(1), math.Inf(-1)}
	each(t, d, func(t *testing.T, seed int, h heard) {
		v := of(h)
		f.least, f.most = min(f.least, v), max(f.most, v)
		if !(v >= low && v <= high) {
			t.Errorf("%s %d: %s is %.3g, want %.3g to %.3g", d, seed, what, v, low, high)
		}
	})
	t.Logf("%-11s %-46s %8.3g to %.3g", d, what, f.least, f.most)
}

const ever = math.MaxFloat64

func flatness(h heard) float64 { return synthtest.Of(h.mono).Flatness() }

func TestRisersRiseAndFall(t *testing.T) {
	hold(t, Riser, "centroid at its end over its start", 3, ever, func(h heard) float64 { return h.centroid(0.75, 0.9) / h.centroid(0, 0.15) })
	hold(t, Riser, "pitch at its end over its start", 2, ever, func(h heard) float64 {
		return within(h.part(0.8, 0.9), 40, 1200) / within(h.part(0, 0.2), 40, 1200)
	})
	hold(t, Riser, "loudest at (share of length)", 0.7, 1, heard.loudestAt)
	hold(t, RiserDown, "centroid at its start over its end", 2, ever, func(h heard) float64 { return h.centroid(0, 0.15) / h.centroid(0.8, 0.95) })
	hold(t, RiserDown, "pitch at its start over its end", 2, ever, func(h heard) float64 {
		return within(h.part(0, 0.1), 50, 1200) / within(h.part(0.8, 0.95), 50, 1200)
	})
	hold(t, RiserDown, "loudest at (share of length)", 0, 0.45, heard.loudestAt)
}

func TestWhooshesAreNoiseThatSweeps(t *testing.T) {
	hold(t, WhooshUp, "flatness (noise is 0.56)", 0.4, 1, flatness)
	hold(t, WhooshDown, "flatness (noise is 0.56)", 0.4, 1, flatness)
	hold(t, WhooshUp, "centroid at its end over its start", 3, ever, func(h heard) float64 { return h.centroid(0.75, 0.95) / h.centroid(0, 0.2) })
	hold(t, WhooshDown, "centroid at its start over its end", 3, ever, func(h heard) float64 { return h.centroid(0, 0.2) / h.centroid(0.75, 0.95) })
	for _, d := range []Design{WhooshUp, WhooshDown} {
		hold(t, d, "loudest at (share of length)", 0.2, 0.8, heard.loudestAt)
		hold(t, d, "power that changes sides, dB", 6, ever, func(h heard) float64 {
			n := h.sound.Frames()
			lean := func(from, to int) float64 {
				return 20 * math.Log10(synthtest.RMS(h.sound[0][from:to])/synthtest.RMS(h.sound[1][from:to]))
			}
			return math.Abs(lean(0, n/4) - lean(3*n/4, n))
		})
	}
}

func TestFallsFallAsTheirNamesSay(t *testing.T) {
	hold(t, Zap, "Hz in its first 15 ms", 1500, ever, func(h heard) float64 { return top(h.time(0, 0.015)) })
	hold(t, Zap, "Hz at 0.25 s", 25, 400, func(h heard) float64 { return top(h.time(0.23, 0.27)) })
	hold(t, Drop, "pitch at its start over its end", 4, ever, func(h heard) float64 { return top(h.part(0.03, 0.12)) / top(h.part(0.7, 0.9)) })
	hold(t, Drop, "Hz at its end", 40, 100, func(h heard) float64 { return top(h.part(0.7, 0.9)) })
	hold(t, Subdrop, "Hz in its first tenth", 75, 200, func(h heard) float64 { return top(h.part(0, 0.1)) })
	hold(t, Subdrop, "share below 60 Hz in its last 30 %", 0.9, 1, func(h heard) float64 { return synthtest.Of(h.part(0.7, 1)).Share(20, 60) })
	hold(t, Laser, "shots", 3, 5, func(h heard) float64 { return float64(len(shots(h))) })
	hold(t, Laser, "fall of its weakest shot (ratio)", 1.5, ever, func(h heard) float64 {
		least := ever
		for _, s := range shots(h) {
			least = min(least, s)
		}
		return least
	})
}

// shots is how far the middle of the spectrum falls in each shot, as a ratio. A
// shot begins where the treble comes back.
func shots(h heard) []float64 {
	const step = 0.010
	treble := append([]float32(nil), h.mono...)
	synth.Filter(treble, synth.HighPass, synth.Flat(3500), 0.7)
	levels := heard{mono: treble}.levels(step)
	var begins []int
	ready := true
	for i, v := range levels {
		if ready && v > -9 {
			begins, ready = append(begins, i), false
		}
		ready = ready || v < -16
	}
	var falls []float64
	for n, i := range begins {
		end := len(levels) - 8 // the last has its room behind it
		if n+1 < len(begins) {
			end = begins[n+1]
		}
		at := func(i int) float64 {
			return synthtest.Of(h.time(float64(i)*step, float64(i+2)*step)).Centroid()
		}
		falls = append(falls, at(i)/at(max(i, end-3)))
	}
	return falls
}

func TestBlipsAreTwoNotesUpOrDown(t *testing.T) {
	// The second note begins somewhere from 0.36 to 0.42 of the length.
	step := func(h heard) float64 { return top(h.part(0.45, 0.65)) / top(h.part(0.02, 0.3)) }
	hold(t, BlipUp, "second note over first", 1.3, 2.1, step)
	hold(t, BlipDown, "first note over second", 1.3, 2.1, func(h heard) float64 { return 1 / step(h) })
	for _, d := range []Design{BlipUp, BlipDown} {
		hold(t, d, "steadiness of its first note (ratio)", 0.97, 1.03, func(h heard) float64 { return top(h.part(0.02, 0.15)) / top(h.part(0.15, 0.3)) })
		hold(t, d, "dip between its notes, dB", 3, ever, func(h heard) float64 {
			dip := 0.0
			for _, v := range h.levels(0.01)[:int(0.45*h.sound.Seconds()/0.01)] {
				dip = max(dip, -v)
			}
			return dip
		})
	}
}

func TestGlitchIsCutOnAndOff(t *testing.T) {
	gates := func(h heard) (gaps, share float64) {
		on := true
		levels := h.levels(0.004)
		for _, v := range levels {
			if v < -32 {
				share += 1 / float64(len(levels))
			}
			if on && v < -32 {
				gaps++
			}
			on = v >= -32
		}
		return gaps, share
	}
	hold(t, Glitch, "gaps", 3, ever, func(h heard) float64 { n, _ := gates(h); return n })
	hold(t, Glitch, "share of silence", 0.08, 0.6, func(h heard) float64 { _, s := gates(h); return s })
}

func TestMetallicRingsInPartialsOfNoSimpleRatio(t *testing.T) {
	hold(t, Metallic, "partials", 5, ever, func(h heard) float64 { return float64(len(partials(h))) })
	hold(t, Metallic, "mean distance from a harmonic (at random 0.25)", 0.12, 0.5, func(h heard) float64 {
		p := partials(h)
		var off float64
		for _, hz := range p[1:] {
			off += math.Abs(hz/p[0]-math.Round(hz/p[0])) / float64(len(p)-1)
		}
		return off
	})
	hold(t, Metallic, "flatness (noise is 0.56)", 0, 0.2, flatness)
	hold(t, Metallic, "dB from its first to its last third", 6, ever, func(h heard) float64 {
		return 20 * math.Log10(synthtest.RMS(h.part(0, 0.33))/synthtest.RMS(h.part(0.67, 1)))
	})
}

// partials are the peaks of the spectrum no more than 26 dB under the highest,
// a sixth of an octave apart, from the lowest up.
func partials(h heard) []float64 {
	s := synthtest.Of(h.part(0.05, 0.8))
	high := 0.0
	for _, p := range s {
		high = max(high, p)
	}
	var found []float64
	for i := 1; i+1 < len(s); i++ {
		hz := s.Hz(i)
		reach := max(2, int(0.06*float64(i)))
		if hz < 100 || s[i] < high/400 {
			continue
		}
		peak := true
		for j := max(0, i-reach); j <= min(i+reach, len(s)-1); j++ {
			peak = peak && s[j] <= s[i]
		}
		if peak {
			found = append(found, hz)
		}
	}
	return found
}

func TestSweepIsAChordBehindAMovingFilter(t *testing.T) {
	hold(t, Sweep, "centroid in its middle over its start", 1.3, ever, func(h heard) float64 { return h.centroid(0.45, 0.6) / h.centroid(0, 0.12) })
	hold(t, Sweep, "centroid in its middle over its end", 1.3, ever, func(h heard) float64 { return h.centroid(0.45, 0.6) / h.centroid(0.85, 0.97) })
	hold(t, Sweep, "brightness opened (share over 2 kHz, dB)", 15, ever, func(h heard) float64 {
		over := func(from, to float64) float64 { return synthtest.Of(h.part(from, to)).Share(2000, 16000) + 1e-9 }
		return 10 * math.Log10(over(0.45, 0.6)/over(0, 0.1))
	})
	hold(t, Sweep, "likeness of its notes, start and end", 0.6, 1, func(h heard) float64 { return sameNotes(h.part(0.05, 0.4), h.part(0.6, 0.95)) })
}

// sameNotes is how much of what sounds from 80 to 400 Hz in one signal sounds in
// another, from 0 to 1.
func sameNotes(a, b []float32) float64 {
	n := min(len(a), len(b))
	x, y := synthtest.Of(a[:n]), synthtest.Of(b[:n])
	var both, p, q float64
	for i := range x {
		if hz := x.Hz(i); hz > 80 && hz < 400 {
			u, v := math.Sqrt(x[i]), math.Sqrt(y[i])
			both, p, q = both+u*v, p+u*u, q+v*v
		}
	}
	return both / math.Sqrt(p*q)
}

func TestShimmerIsHighAndTrembles(t *testing.T) {
	hold(t, Shimmer, "share over 1.5 kHz", 0.85, 1, func(h heard) float64 { return synthtest.Of(h.mono).Share(1500, 20000) })
	hold(t, Shimmer, "times a second it trembles", 6, 12, func(h heard) float64 { lag, _ := h.rhythm(0.08, 0.16); return 1 / lag })
	hold(t, Shimmer, "likeness of one tremble to the next", 0.3, 1, func(h heard) float64 { _, like := h.rhythm(0.08, 0.16); return like })
}

func TestPulseThrobsInTime(t *testing.T) {
	hold(t, Pulse, "likeness of one beat to the next", 0.8, 1, func(h heard) float64 { _, like := h.rhythm(0.07, 0.22); return like })
	hold(t, Pulse, "beats a second", 4, 12, func(h heard) float64 { lag, _ := h.rhythm(0.07, 0.22); return 1 / lag })
	hold(t, Pulse, "depth of its quietest moments, dB", 12, ever, func(h heard) float64 {
		least := 0.0
		for _, v := range h.levels(0.01)[5 : len(h.levels(0.01))*3/4] {
			least = min(least, v)
		}
		return -least
	})
}

func TestImpactHitsAndDecays(t *testing.T) {
	hold(t, Impact, "loudest at (seconds)", 0, 0.16, func(h heard) float64 { return h.loudestAt() * h.sound.Seconds() })
	hold(t, Impact, "dB from its first to its last quarter", 12, ever, func(h heard) float64 {
		return 20 * math.Log10(synthtest.RMS(h.part(0, 0.25))/synthtest.RMS(h.part(0.75, 1)))
	})
	hold(t, Impact, "least fall from quarter to quarter, dB", 1, ever, func(h heard) float64 {
		least := ever
		for q := range 3 {
			a, b := float64(q)/4, float64(q+1)/4
			least = min(least, 20*math.Log10(synthtest.RMS(h.part(a, b))/synthtest.RMS(h.part(b, b+0.25))))
		}
		return least
	})
	hold(t, Impact, "octaves with a hundredth of the power of its first 60 ms", 5, 10, func(h heard) float64 {
		s := synthtest.Of(h.time(0, 0.06))
		n := 0.0
		for low := 30.0; low < 16000; low *= 2 {
			if s.Share(low, 2*low) > 0.01 {
				n++
			}
		}
		return n
	})
}
