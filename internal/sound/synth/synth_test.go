package synth

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/sound/synth/synthtest"
)

func source() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func db(ratio float64) float64 { return 10 * math.Log10(ratio) }

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > within {
		t.Errorf("%s is %.3f, want %.3f ± %.3f", what, got, want, within)
	}
}

func TestEdgedTonesHoldTheirHarmonicsAndFoldLittleBack(t *testing.T) {
	const hz = 2637.0 // no divisor of the rate: what folds back lies between harmonics
	for name, tone := range map[string][]float32{
		"saw": Saw(1, Flat(hz), 0.3), "square": Square(1, Flat(hz), 0.3, 0.5), "nasal": Square(1, Flat(hz), 0.3, 0.2),
	} {
		s := synthtest.Of(tone)
		fundamental := s.Band(hz-20, hz+20)
		var folded float64
		for low := 100.0; low < 16000; low += 10 {
			if away := math.Abs(low - hz*math.Round(low/hz)); away > 40 {
				folded = max(folded, s.Band(low, low+10))
			}
		}
		if level := db(folded / fundamental); level > -50 {
			t.Errorf("%s: %.1f dB between its harmonics, want under -50", name, level)
		}
		if name == "saw" {
			near(t, "saw's third harmonic, dB", db(s.Band(3*hz-20, 3*hz+20)/fundamental), 20*math.Log10(1.0/3), 0.5)
		}
		if level := db(s.Band(0, 20) / fundamental); level > -60 {
			t.Errorf("%s: %.1f dB of DC", name, level)
		}
	}
}

func TestPinkNoiseHasTheSamePowerInEveryOctave(t *testing.T) {
	s := synthtest.Of(Pink(8, source()))
	first := s.Band(60, 120)
	for low := 120.0; low < 12000; low *= 2 {
		near(t, "octave above 60 Hz, dB", db(s.Band(low, 2*low)/first), 0, 1)
	}
	white := synthtest.Of(White(4, source()))
	near(t, "octave of white noise, dB", db(white.Band(4000, 8000)/white.Band(2000, 4000)), 3, 0.5)
}

func TestFilterLetsItsBandThroughAndStaysStableWhenSwept(t *testing.T) {
	through := func(band Band, hz float64) float64 {
		tone := Sine(0.5, Flat(hz), 0)
		return 20 * math.Log10(synthtest.RMS(Filter(tone, band, Flat(1000), 0.7071)[Frames(0.1):])*math.Sqrt2)
	}
	near(t, "low-pass at its cutoff", through(LowPass, 1000), -3, 0.1)
	near(t, "low-pass two octaves above", through(LowPass, 4000), -24.5, 1)
	near(t, "low-pass two octaves beneath", through(LowPass, 250), 0, 0.1)
	near(t, "high-pass two octaves beneath", through(HighPass, 250), -24, 0.5)
	near(t, "band-pass at its middle", through(BandPass, 1000), 0, 0.1)
	near(t, "band-pass three octaves off", through(BandPass, 8000), -15.5, 1.5)
	if v := through(Notch, 1000); v > -50 {
		t.Errorf("notch at its middle lets %.1f dB through", v)
	}
	// Beyond both ends of hearing and back, 50 times a second, with resonance.
	wild := func(t float64) float64 { return 1000 * math.Pow(100, math.Sin(2*math.Pi*50*t)) }
	for _, v := range Filter(White(2, source()), LowPass, wild, 8) {
		if math.IsNaN(float64(v)) || math.Abs(float64(v)) > 20 {
			t.Fatalf("a swept filter gave %v", v)
		}
	}
}

func TestRoomDecaysAsAskedAndIsWide(t *testing.T) {
	dry := Silence(1.5)
	dry.Add(0, Sine(0.001, Flat(500), 0), 1, 0)
	for _, decay := range []float64{0.4, 1} {
		wet := Room{Size: 0.5, Decay: decay, Damp: 15000}.Of(dry)
		e := synthtest.Envelope(wet[0], 0.05)
		fell := 20 * math.Log10(e[2]/e[7]) // over 0.25 s
		near(t, "seconds to fall by 60 dB", 60*0.25/fell, decay, 0.25*decay)
		var both, same float64
		for i := range wet[0] {
			same += float64(wet[0][i]) * float64(wet[1][i])
			both += (float64(wet[0][i])*float64(wet[0][i]) + float64(wet[1][i])*float64(wet[1][i])) / 2
		}
		near(t, "correlation of its sides", same/both, 0, 0.4)
	}
}

func TestDuckerGoesDownBeforeTheKeyAndComesBackAfterIt(t *testing.T) {
	bed := Planes(Sine(3, Flat(300), 0))
	key := Silence(2)
	key.Add(1, Sine(0.4, Flat(1000), 0), 1, 0)
	key.Add(1.6, Sine(0.4, Flat(1000), 0), 1, 0) // a pause of 0.2 s between words
	d := Ducker{Depth: 12, Threshold: -20, Attack: 0.02, Release: 0.2, Hold: 0.3, Ahead: 0.1}
	gain := d.Duck(bed, key)
	at := func(seconds float64) float64 { return 20 * math.Log10(float64(gain[Frames(seconds)])) }
	near(t, "dB long before the key", at(0.8), 0, 0.01)
	near(t, "dB as the key begins", at(1), -12, 0.5)
	near(t, "dB in its pause", at(1.5), -12, 0.1)
	near(t, "dB once it is over", at(2.98), 0, 0.5)
	near(t, "level of the bed under the key", synthtest.RMS(bed[0][Frames(1.1):Frames(1.9)])*math.Sqrt2, math.Pow(10, -12.0/20), 0.01)
	for i := 1; i < len(gain); i++ {
		if math.Abs(float64(gain[i]-gain[i-1])) > 0.002 {
			t.Fatalf("gain jumps at %.3f s", Seconds(i))
		}
	}
}

func TestDriveAndPressTakePeaksDownAndKeepLoudness(t *testing.T) {
	crest := func(s Sound) float64 { return 20 * math.Log10(s.Peak()/synthtest.RMS(s[0])) }
	hit := Planes(Shape(Sine(0.6, Flat(200), 0), Decay(0.6)))
	before := crest(hit)
	driven := hit.Clone()
	driven.Drive(4, 0)
	if after := crest(driven); after > before-3 || driven.Peak() > 1 {
		t.Errorf("drive: crest %.1f to %.1f dB at a peak of %.2f", before, after, driven.Peak())
	}
	even := Planes(Shape(Sine(2, Flat(1000), 0), func(t float64) float64 { return 1 - 0.9*math.Floor(min(t, 1)) }))
	Press{Threshold: -20, Ratio: 4, Attack: 0.0001, Release: 0.1}.On(even)
	loud, quiet := synthtest.RMS(even[0][Frames(0.2):Frames(0.8)]), synthtest.RMS(even[0][Frames(1.6):])
	near(t, "dB between what were 20 dB apart", 20*math.Log10(loud/quiet), 5, 1)
}

func TestMixCutsWhatDoesNotFitAndFadesEndInSilence(t *testing.T) {
	s := Silence(0.1)
	one := make([]float32, Frames(0.1))
	for i := range one {
		one[i] = 1
	}
	s.Mix(-0.05, Planes(one), 1)
	s.Mix(0.09, Planes(one), 1)
	if !slices.Equal(s[0], s[1]) || s[0][0] != 1 || s[0][Frames(0.06)] != 0 || s[0][Frames(0.095)] != 1 || s.Frames() != Frames(0.1) {
		t.Errorf("a mix over both ends is wrong")
	}
	s.Fade(0.02, 0.02)
	if s[0][0] != 0 || s[1][s.Frames()-1] != 0 || s[0][Frames(0.03)] != 1 {
		t.Error("fades do not begin and end in silence, or reach further than they should")
	}
	left := Silence(0.1)
	left.Add(0, one, 1, -1)
	near(t, "what a hard pan leaves on the other side", synthtest.RMS(left[1]), 0, 1e-6)
	if !slices.Equal(Pink(0.1, source()), Pink(0.1, source())) {
		t.Error("one seed made two noises")
	}
}
