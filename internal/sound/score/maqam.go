// Package score composes and plays the music under and around the voice: beds
// with a beat, and a station's signature of a few notes. Scales are Arabic
// maqamat, the rhythms those of a darbuka; the sound is between a takht and a
// radio.
//
// It is pure: chance comes in as a *rand.Rand, and the same chance plays the
// same samples. It knows nothing of voices, levels on air or files.
package score

import "math"

// Maqam is a scale of seven degrees, in quarter tones above its tonic, and the
// notes that make a chord on it: where the third is neutral (neither major nor
// minor) a triad would beat, so it is left open.
type Maqam struct {
	steps [7]int
	open  bool // chords of root, fifth and octave only
}

// The scales, as they are commonly written down in 24 equal quarter tones.

// Rast is grave and bright, its third neutral.
func Rast() Maqam { return Maqam{[7]int{0, 4, 7, 10, 14, 18, 21}, true} }

// Bayati is warm, its second neutral.
func Bayati() Maqam { return Maqam{[7]int{0, 3, 6, 10, 14, 16, 20}, true} }

// Hijaz is longing, by its wide second step.
func Hijaz() Maqam { return Maqam{[7]int{0, 2, 8, 10, 14, 16, 20}, false} }

// Nahawand is minor.
func Nahawand() Maqam { return Maqam{[7]int{0, 4, 6, 10, 14, 16, 20}, false} }

// Kurd is minor with a low second.
func Kurd() Maqam { return Maqam{[7]int{0, 2, 6, 10, 14, 16, 20}, false} }

// Ajam is major.
func Ajam() Maqam { return Maqam{[7]int{0, 4, 8, 10, 14, 18, 22}, false} }

// hz is a degree's pitch; degrees go on above and below the octave.
func (m Maqam) hz(tonic float64, degree int) float64 {
	octave := int(math.Floor(float64(degree) / 7))
	return tonic * math.Exp2(float64(octave)+float64(m.steps[degree-7*octave])/24)
}

// chord is the pitches of a chord on a degree.
func (m Maqam) chord(tonic float64, degree int) []float64 {
	if m.open {
		root := m.hz(tonic, degree)
		return []float64{root, 1.4983 * root, 2 * root}
	}
	return []float64{m.hz(tonic, degree), m.hz(tonic, degree+2), m.hz(tonic, degree+4), 2 * m.hz(tonic, degree)}
}
