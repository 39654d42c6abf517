package loudness

import (
	"fmt"
	"math"
	"testing"
)

const rate = 48000

// part is a stretch of a test signal: a 1 kHz sine of some peak level (dBFS).
type part struct{ level, seconds float64 }

const nothing = -1000 // dBFS

// tone generates the parts one after another, phase running on, as interleaved
// stereo; levels beyond the first are for further channels.
func tone(parts ...part) []float32 {
	period := sine()
	frames := 0.0
	for _, p := range parts {
		frames += p.seconds*rate + 1
	}
	out := make([]float32, 0, 2*int(frames))
	for _, p := range parts {
		a := float32(math.Pow(10, p.level/20))
		for range int(math.Round(p.seconds * rate)) {
			v := a * period[len(out)/2%len(period)]
			out = append(out, v, v)
		}
	}
	return out
}

// sine is one period of 1 kHz.
func sine() []float32 {
	out := make([]float32, rate/1000)
	for i := range out {
		out[i] = float32(math.Sin(2 * math.Pi * float64(i) / float64(len(out))))
	}
	return out
}

func measure(x []float32) *Measurement {
	m := NewMeter(rate, Stereo)
	m.Write(x)
	return m.Result()
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.3f, want %.2f ± %.2f", what, got, want, tolerance)
	}
}

// The signals and tolerances of EBU Tech 3341 (2023) §2.9, table 1. Cases 7
// and 8 are recordings, which are not ours to distribute.
func TestEBUTech3341Cases1To6(t *testing.T) {
	for i, c := range []struct {
		parts []part
		want  float64
	}{
		{[]part{{-23, 20}}, -23},
		{[]part{{-33, 20}}, -33},
		{[]part{{-36, 10}, {-23, 60}, {-36, 10}}, -23},
		{[]part{{-72, 10}, {-36, 10}, {-23, 60}, {-36, 10}, {-72, 10}}, -23},
		{[]part{{-26, 20}, {-20, 20.1}, {-26, 20}}, -23},
	} {
		m := measure(tone(c.parts...))
		near(t, fmt.Sprintf("case %d: I", i+1), m.Integrated, c.want, 0.1)
		if i < 2 {
			near(t, fmt.Sprintf("case %d: M", i+1), m.Momentary, c.want, 0.1)
			near(t, fmt.Sprintf("case %d: S", i+1), m.ShortTerm, c.want, 0.1)
		}
	}
	// Case 6: 5.0, in the order L R C Ls Rs; and the same with an LFE that must not count.
	for _, layout := range []struct {
		weights []float64
		levels  []float64
	}{
		{Surround50, []float64{-28, -28, -24, -30, -30}},
		{Surround51, []float64{-28, -28, -24, -10, -30, -30}},
	} {
		var period []float32
		for _, v := range sine() {
			for _, level := range layout.levels {
				period = append(period, v*float32(math.Pow(10, level/20)))
			}
		}
		m := NewMeter(rate, layout.weights)
		for range 20 * 1000 {
			m.Write(period)
		}
		near(t, "case 6: I", m.Result().Integrated, -23, 0.1)
	}
}

// course returns the momentary or short-term loudness every 10 ms.
func course(m *Measurement, window int) []float64 {
	sums := prefix(m.blocks.power, nil)
	out := make([]float64, len(sums))
	for end := range sums {
		from := max(0, end-window)
		out[end] = lufs((sums[end] - sums[from]) / float64(window))
	}
	return out
}

func TestEBUTech3341Cases9To14MomentaryAndShortTerm(t *testing.T) {
	var nine, twelve []part
	for range 5 {
		nine = append(nine, part{-20, 1.34}, part{-30, 1.66})
	}
	for _, s := range course(measure(tone(nine...)), shortTerm)[shortTerm:] {
		near(t, "case 9: S", s, -23, 0.1)
	}
	for range 25 {
		twelve = append(twelve, part{-20, 0.18}, part{-30, 0.22})
	}
	for _, m := range course(measure(tone(twelve...)), momentary)[perSecond:] {
		near(t, "case 12: M", m, -23, 0.1)
	}
	for i := range 20 {
		x := tone(part{nothing, 0.15 * float64(i)}, part{-23, 3}, part{nothing, 1})
		near(t, fmt.Sprintf("case 10-%d: S", i+1), measure(x).ShortTerm, -23, 0.1)
		x = tone(part{nothing, 0.02 * float64(i)}, part{-23, 0.4}, part{nothing, 1})
		near(t, fmt.Sprintf("case 13-%d: M", i+1), measure(x).Momentary, -23, 0.1)
		// Beyond the standard: beginnings between our 10 ms.
		x = tone(part{nothing, 0.0007 * float64(i)}, part{-23, 0.4}, part{nothing, 1})
		near(t, fmt.Sprintf("finer than case 13-%d: M", i+1), measure(x).Momentary, -23, 0.1)
	}
	var eleven, fourteen []part
	for i := range 20 {
		d := float64(i)
		eleven = append(eleven, part{nothing, 0.15 * d}, part{-38 + d, 3}, part{nothing, 3 - 0.15*d})
		fourteen = append(fourteen, part{nothing, 0.02 * d}, part{-38 + d, 0.4}, part{nothing, 0.4 - 0.02*d})
	}
	rising := func(name string, m *Measurement, window, step int) {
		s := course(m, window)
		for i := range 20 {
			top := math.Inf(-1)
			for _, v := range s[i*step+1 : (i+1)*step+1] {
				top = math.Max(top, v)
			}
			near(t, fmt.Sprintf("%s, step %d", name, i), top, -38+float64(i), 0.1)
		}
	}
	rising("case 11: max S", measure(tone(eleven...)), shortTerm, 600)
	rising("case 14: max M", measure(tone(fourteen...)), momentary, 80)
}

// Cases 15 to 19: sines whose samples miss their peaks.
func TestEBUTech3341Cases15To23TruePeak(t *testing.T) {
	peak := func(name string, x []float32, want float64) {
		t.Helper()
		for _, where := range []int{0, 2040, 2047} { // wherever the meter's pieces begin
			m := NewMeter(rate, Stereo)
			m.Write(make([]float32, 2*where))
			for _, v := range x {
				m.Write([]float32{v, v})
			}
			if got := m.Result().TruePeak; !(got <= want+0.2 && got >= want-0.4) {
				t.Errorf("%s, after %d samples: %.3f dBTP, want %.1f +0.2 −0.4", name, where, got, want)
			}
		}
	}
	for i, c := range []struct{ divisor, phase, amplitude, want float64 }{
		{4, 0, 0.5, -6}, {4, 45, 0.5, -6}, {6, 60, 0.5, -6}, {8, 67.5, 0.5, -6}, {4, 45, 1.41, 3},
	} {
		x := make([]float32, rate/5)
		for n := range x { // faded in and out: a sine that begins at once rings at its edges
			fade := math.Min(1, float64(min(n, len(x)-n))/2000)
			x[n] = float32(fade * c.amplitude * math.Sin(2*math.Pi*float64(n)/c.divisor+c.phase*math.Pi/180))
		}
		peak(fmt.Sprintf("case %d", 15+i), x, c.want)
	}
	// Cases 20 to 23: one loud period of fs/6, made at four times the rate and
	// taken down from its four offsets.
	const over = 4
	wide := make([]float64, over*2400)
	for n := range wide {
		a := 0.5 * math.Min(1, float64(min(n, len(wide)-n))/2000)
		if n >= over*1200 && n < over*1206 {
			a = 1
		}
		wide[n] = a * math.Sin(2*math.Pi*float64(n)/(6*over))
	}
	for offset := range over {
		var x []float32
		for n := offset; n < len(wide); n += over {
			x = append(x, float32(lowPass(wide, n, over)))
		}
		peak(fmt.Sprintf("case %d", 20+offset), x, 0)
	}
}

// lowPass is x at n, limited in band to 0.48 of the rate divided by over.
func lowPass(x []float64, n, over int) float64 {
	sum := 0.0
	const width = 64
	for k := -width * over; k <= width*over; k++ {
		if n+k < 0 || n+k >= len(x) {
			continue
		}
		u := float64(k) / float64(over)
		h := 0.96
		if k != 0 {
			h = math.Sin(0.96*math.Pi*u) / (math.Pi * u)
		}
		sum += x[n+k] * h * (0.5 + 0.5*math.Cos(math.Pi*u/width)) / float64(over)
	}
	return sum
}

// EBU Tech 3342 (2023) §3, table 1, cases 1 to 4 (5 and 6 are recordings).
func TestEBUTech3342Cases1To4LoudnessRange(t *testing.T) {
	for i, c := range []struct {
		levels []float64
		want   float64
	}{
		{[]float64{-20, -30}, 10}, {[]float64{-20, -15}, 5}, {[]float64{-40, -20}, 20}, {[]float64{-50, -35, -20, -35, -50}, 15},
	} {
		var parts []part
		for _, l := range c.levels {
			parts = append(parts, part{l, 20})
		}
		near(t, fmt.Sprintf("case %d: LRA", i+1), measure(tone(parts...)).Range, c.want, 1)
	}
}
