package demo

import (
	"math"
	"math/rand/v2"
)

// maqam is a scale of seven degrees, in quarter tones above the tonic.
type maqam [7]int

// The scales as they are commonly written down in 24 equal quarter tones.
var (
	rast     = maqam{0, 4, 7, 10, 14, 18, 21}
	bayati   = maqam{0, 3, 6, 10, 14, 16, 20}
	hijaz    = maqam{0, 2, 8, 10, 14, 16, 20}
	nahawand = maqam{0, 4, 6, 10, 14, 16, 20}
	kurd     = maqam{0, 2, 6, 10, 14, 16, 20}
	ajam     = maqam{0, 4, 8, 10, 14, 18, 22}
)

// freq is a degree of the scale in Hz; degrees go on above and below the octave.
func (m maqam) freq(tonic float64, degree int) float64 {
	octave := int(math.Floor(float64(degree) / 7))
	return tonic * math.Pow(2, float64(octave)+float64(m[degree-7*octave])/24)
}

// The rhythms, one letter an eighth: D dum, T tek, k a light tek.
const (
	maqsum = "DT-TD-Tk"
	saidi  = "DT-DD-Tk"
	baladi = "DD-TD-Tk"
	wahda  = "D--kT-k-"
)

// piece is what the takht, our small ensemble, is asked to play.
type piece struct {
	scale  maqam
	tonic  float64 // Hz
	rhythm string
	tempo  float64 // quarters a minute
	bars   int
	seed   uint64
}

// note is a melody's note, in eighths from the start of its phrase.
type note struct {
	at, length float64
	degree     int
}

// play renders a piece: an unmeasured opening on the oud, then phrases of two
// bars in which oud, qanun and ney take turns, and a close on the tonic.
func (p piece) play() pcm {
	rng := rand.New(rand.NewPCG(p.seed, 0x61746869))
	eighth := 30 / p.tempo
	opening := 6.0
	if p.bars < 8 {
		opening = 0
	}
	strokes := darbuka{dum: dum(), tek: tek(rng), riq: riq(rng)}
	out := silence(opening + float64(p.bars*8)*eighth + 3)
	out.add(0, pad([]float64{p.tonic / 2, p.tonic * 0.75, p.tonic}, out.seconds()), 0.16, 0)

	motif := p.phrase(rng)
	if opening > 0 {
		p.open(out, motif, rng)
	}
	for bar := 0; bar < p.bars; bar += 2 {
		at := opening + float64(bar*8)*eighth
		if bar%8 == 4 {
			motif = p.answer(motif, rng)
		}
		p.melody(out, at, eighth, p.cadence(motif, bar), bar, rng)
		p.drums(out, at, eighth, min(2, p.bars-bar), strokes)
	}
	end := opening + float64(p.bars*8)*eighth
	out.add(end, oud(p.tonic, 2.8, rng), 0.7, 0)
	out.add(end+0.03, oud(p.tonic/2, 2.8, rng), 0.6, -0.1)
	out.add(end, dum(), 0.7, 0)
	out.reverb(0.5)
	out.fade(0.01, 1.2)
	return out
}

// phrase invents two bars: steps more often than leaps, near the tonic.
func (p piece) phrase(rng *rand.Rand) []note {
	shapes := [][]float64{{2, 1, 1, 2, 2}, {1, 1, 2, 2, 2}, {3, 1, 2, 2}, {2, 2, 1, 1, 2}, {4, 2, 1, 1}}
	var notes []note
	degree, at := rng.IntN(5), 0.0
	for range 2 {
		for _, length := range shapes[rng.IntN(len(shapes))] {
			notes = append(notes, note{at: at, length: length, degree: degree})
			at += length
			degree += []int{-2, -1, -1, 1, 1, 2, 0}[rng.IntN(7)]
			degree = min(max(degree, -2), 8)
		}
	}
	return notes
}

// answer keeps a phrase's rhythm and moves its notes.
func (p piece) answer(motif []note, rng *rand.Rand) []note {
	shift := 1 + rng.IntN(3)
	out := make([]note, len(motif))
	for i, n := range motif {
		n.degree = min(n.degree+shift-i%2, 9)
		out[i] = n
	}
	return out
}

// cadence ends every other phrase on the tonic and the others on the fifth.
func (p piece) cadence(motif []note, bar int) []note {
	out := append([]note(nil), motif...)
	last := &out[len(out)-1]
	last.degree = 4
	if bar%4 == 2 || bar+2 >= p.bars {
		last.degree = 0
		out[len(out)-2].degree = 1
	}
	return out
}

func (p piece) open(out pcm, motif []note, rng *rand.Rand) {
	at := 0.2
	for i, n := range motif[:min(len(motif), 8)] {
		length := 0.35 + 0.4*rng.Float64()
		out.add(at, oud(p.scale.freq(p.tonic, n.degree), 2.2, rng), 0.6, -0.1)
		if i == 3 { // risha: the pick trembles on a held note
			for k := range 6 {
				out.add(at+float64(k)*0.09, oud(p.scale.freq(p.tonic, n.degree), 1, rng), 0.3, -0.1)
			}
			length += 0.4
		}
		if at += length; at > 5.6 {
			return
		}
	}
}

func (p piece) melody(out pcm, at, eighth float64, notes []note, bar int, rng *rand.Rand) {
	section := bar / 8 % 3
	for _, n := range notes {
		start, length := at+n.at*eighth, n.length*eighth
		freq := p.scale.freq(p.tonic, n.degree)
		switch section {
		case 1: // the ney leads, the oud answers an octave below
			out.add(start, ney(freq*2, length+0.05, rng), 0.3, 0.25)
			out.add(start, oud(freq, length+0.8, rng), 0.35, -0.2)
		case 2: // the qanun doubles, a breath late, as a takht does
			out.add(start+0.015, qanun(freq*2, length+1, rng), 0.3, 0.35)
			fallthrough
		default:
			out.add(start, oud(freq, length+0.9, rng), 0.6, -0.15)
		}
	}
	out.add(at, oud(p.tonic/2, 2.5, rng), 0.4, 0)
}

// darbuka is one player's strokes, made once a piece.
type darbuka struct{ dum, tek, riq []float32 }

func (p piece) drums(out pcm, at, eighth float64, bars int, s darbuka) {
	for i := range bars * len(p.rhythm) {
		start := at + float64(i)*eighth
		switch p.rhythm[i%len(p.rhythm)] {
		case 'D':
			out.add(start, s.dum, 0.75, 0.05)
		case 'T':
			out.add(start, s.tek, 0.4, 0.15)
		case 'k':
			out.add(start, s.tek, 0.2, 0.15)
		}
		out.add(start, s.riq, 0.06+0.06*float64(1-i%2), 0.4)
	}
}
