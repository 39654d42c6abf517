package score

import (
	"hash/fnv"
	"math/rand/v2"

	"github.com/athir-radio/athir/internal/sound/synth"
)

// notes of a signature.
const notes = 5

// Signature is the few notes a station is known by: its name decides them, so
// they are the same in every ID. Chance only colours them.
type Signature struct {
	scale   Maqam
	tonic   float64
	degrees [notes]int
	times   [notes]float64 // seconds
}

// SignatureOf returns a station's signature.
func SignatureOf(station string) Signature {
	h := fnv.New64a()
	_, _ = h.Write([]byte(station))
	own := rand.New(rand.NewPCG(h.Sum64(), 5))
	scales := []Maqam{Ajam(), Hijaz(), Nahawand(), Kurd()}
	s := Signature{scale: scales[own.IntN(len(scales))], tonic: []float64{261.6, 293.7, 311.1}[own.IntN(3)]}
	shapes := [][notes]int{{0, 4, 2, 4, 7}, {4, 2, 0, 4, 7}, {0, 2, 4, 3, 7}, {7, 4, 5, 4, 0}, {0, 1, 4, 2, 7}, {4, 5, 4, 1, 0}, {2, 4, 7, 6, 7}, {0, 4, 3, 1, 0}}
	s.degrees = shapes[own.IntN(len(shapes))]
	steps := [][notes]float64{{0, 1, 2, 3, 4}, {0, 1, 2, 4, 5}, {0, 2, 3, 4, 6}, {0, 2, 3, 5, 6}}
	eighth := 0.15 + 0.03*own.Float64()
	for i, e := range steps[own.IntN(len(steps))] {
		s.times[i] = lead + e*eighth
	}
	return s
}

// Last is when its last note is struck, in seconds.
func (s Signature) Last() float64 { return s.times[notes-1] }

// Play plays it; the last chord stays to the end of a length in seconds, and at
// a time the last notes come back from afar: once the name has been spoken.
func (s Signature) Play(seconds, again float64, rng *rand.Rand) synth.Sound {
	out, wet := synth.Silence(seconds), synth.Silence(seconds)
	for i, degree := range s.degrees {
		at := s.times[i]
		rest := seconds - at
		hz := s.scale.hz(s.tonic, degree)
		place := -0.5 + float64(i)/(notes-1)
		wet.Add(at, bell(2*hz, min(rest, 1.8)), 0.4, place)
		wet.Add(at, qanun(hz, min(rest, 2), rng), 0.34, -place)
		wet.Add(at, oud(hz/2, min(rest, 2), rng), 0.3, 0)
	}
	last, rest := s.Last(), seconds-s.Last()
	chord := append(s.scale.chord(s.tonic/2, 0), s.tonic/4)
	swell := pad(chord, last, synth.Glide(350, 2200, last, 1.5), rng)
	swell.Shape(synth.Swell(last, 1.4))
	wet.Mix(0, swell, 0.5)
	home := pad(chord, rest, synth.Glide(4200, 1100, rest, 0.6), rng)
	home.Shape(synth.Strike(0.006, 0.55*rest, 1.2*rest))
	wet.Mix(last, home, 0.6)
	out.Add(last, dum(), 0.8, 0)
	out.Add(last, bass(s.tonic/4, min(rest, 1.6)), 0.4, 0)
	for i, degree := range s.degrees[notes-3:] {
		at := again + s.times[notes-3+i] - s.times[notes-3]
		if at < seconds-0.4 {
			wet.Add(at, bell(2*s.scale.hz(s.tonic, degree), 1.4), 0.3, 0.6-0.6*float64(i))
			wet.Add(at, qanun(2*s.scale.hz(s.tonic, degree), 1.2, rng), 0.14, 0.6*float64(i)-0.6)
		}
	}
	sparkle := synth.Filter(synth.White(rest, rng), synth.HighPass, synth.Flat(6000), 0.8)
	wet.Add(last, synth.Shape(sparkle, synth.Strike(0.004, 0, 1.1)), 0.1, 0)

	room := synth.Room{Size: 1, Decay: 2.1, Damp: 6000, Predelay: 0.02}.Of(wet)
	out.Mix(0, wet, 0.9)
	out.Mix(0, room, 0.4)
	out.Level()
	out.Normalize(0.9)
	synth.Press{Threshold: -14, Ratio: 2, Attack: 0.01, Release: 0.2}.On(out)
	out.Fade(0.004, min(0.6, rest/2))
	return out
}
