package score

import (
	"math/rand/v2"

	"github.com/athir-radio/athir/internal/sound/synth"
)

// Mood is a bed's character.
type Mood int

// The moods.
const (
	Bright Mood = iota // quick, for an opening
	Warm               // slower, deeper
)

// Bed is music to speak over: it opens on a hit, keeps a beat, and ends on a
// last hit that rings out.
type Bed struct {
	Sound synth.Sound
	Beats []float64 // seconds; the first is the opening, the last the last hit
}

// lead is the silence before the first stroke, so that its attack is whole.
const lead = 0.02

// ring is how long the last hit is given.
const ring = 1.35

// plan is a bed before it is played.
type plan struct {
	scale  Maqam
	tonic  float64 // Hz
	beat   float64 // seconds
	beats  int     // before the last hit
	rhythm string  // eighths: D dum, T tek, k a light tek, K dum with clap
	chords []int   // degrees, one a half bar
	shine  float64 // Hz, how far the pad opens
}

// Play composes and plays a bed of a length in seconds, 4.5 or more.
func Play(mood Mood, seconds float64, rng *rand.Rand) Bed {
	p := compose(mood, seconds, rng)
	out := Bed{Sound: synth.Silence(seconds)}
	for i := range p.beats + 1 {
		out.Beats = append(out.Beats, lead+float64(i)*p.beat)
	}
	end := out.Beats[p.beats]
	dry, wet := synth.Silence(seconds), synth.Silence(seconds) // wet is what the room hears
	p.pads(wet, rng)
	p.basses(dry)
	p.drums(dry, wet, rng)
	p.melody(wet, rng)
	p.hit(dry, wet, lead, rng)
	p.hit(dry, wet, end, rng)

	room := synth.Room{Size: 0.8, Decay: 1.5, Damp: 5200, Predelay: 0.018}.Of(wet)
	out.Sound.Mix(0, dry, 1)
	out.Sound.Mix(0, wet, 0.9)
	out.Sound.Mix(0, room, 0.34)
	out.Sound.Level()
	out.Sound.Normalize(0.9)
	synth.Press{Threshold: -14, Ratio: 2.2, Attack: 0.012, Release: 0.16}.On(out.Sound)
	out.Sound.Drive(1.15, 0)
	out.Sound.Fade(0.004, min(0.7, ring/2))
	return out
}

func compose(mood Mood, seconds float64, rng *rand.Rand) plan {
	scales, rhythms, tempo := []Maqam{Ajam(), Hijaz(), Nahawand(), Rast()}, []string{"K-TKD-Tk", "D-TKD-Tk", "K-TDK-Tk"}, 108+14*rng.Float64()
	if mood == Warm {
		scales, rhythms, tempo = []Maqam{Nahawand(), Kurd(), Bayati(), Hijaz()}, []string{"D--kT-k-", "DT-TD-Tk", "D-kTD-T-"}, 90+14*rng.Float64()
	}
	p := plan{
		scale: scales[rng.IntN(len(scales))], rhythm: rhythms[rng.IntN(len(rhythms))],
		tonic: []float64{130.8, 146.8, 155.6}[rng.IntN(3)], beat: 60 / tempo, shine: 2600,
	}
	if mood == Warm {
		p.shine = 1500
	}
	// The tempo bends a little so that a whole number of beats ends where the ring begins.
	room := seconds - ring - lead
	p.beats = int(room/p.beat + 0.5)
	p.beat = room / float64(p.beats)
	turns := [][]int{{0, 0, -2, -1}, {0, 3, -1, 0}, {0, 0, 3, 4}, {0, -1, -2, -1}}
	p.chords = turns[rng.IntN(len(turns))]
	return p
}

// at is the time of an eighth.
func (p plan) at(eighth int) float64 { return lead + float64(eighth)*p.beat/2 }

// chord is the degree of the chord at an eighth; the last beats lead home.
func (p plan) chord(eighth int) int {
	if eighth >= 2*p.beats-2 {
		return -3 // the fourth below: it wants to go home
	}
	return p.chords[eighth/4%len(p.chords)]
}

func (p plan) pads(to synth.Sound, rng *rand.Rand) {
	for e := 0; e < 2*p.beats; e += 4 {
		length := min(4, 2*p.beats-e)
		at, seconds := p.at(e), p.at(length)-lead+0.1
		share := float64(e) / float64(2*p.beats)
		open := synth.Glide(500+share*p.shine*0.5, 700+share*p.shine, seconds, 1)
		// Each chord breathes with the beat, off it more than on it.
		breath := synth.Wave(1/p.beat, 0.35, 0.5)
		chord := pad(p.scale.chord(p.tonic, p.chord(e)), seconds, open, rng)
		chord.Shape(breath)
		to.Mix(at, chord, 0.5)
	}
	end := p.at(2 * p.beats)
	last := pad(append(p.scale.chord(p.tonic, 0), p.tonic/2), ring, synth.Glide(p.shine*1.6, 300, ring, 0.7), rng)
	last.Shape(synth.Strike(0.005, 0.1, 1.6*ring))
	to.Mix(end, last, 0.7)
}

func (p plan) basses(to synth.Sound) {
	for e := range 2 * p.beats {
		switch p.rhythm[e%8] {
		case 'D', 'K':
			to.Add(p.at(e), bass(p.scale.hz(p.tonic/2, p.chord(e)), p.beat*0.9), 0.5, 0)
		}
	}
	to.Add(p.at(2*p.beats), bass(p.tonic/2, ring), 0.7, 0)
}

func (p plan) drums(dry, wet synth.Sound, rng *rand.Rand) {
	low, rim, jingle, hands := dum(), tek(rng), riq(rng), clap(rng)
	for e := range 2 * p.beats {
		// No hand plays twice alike.
		at, push := p.at(e)+0.004*(rng.Float64()-0.5)*float64(e%2), 0.85+0.3*rng.Float64()
		switch p.rhythm[e%8] {
		case 'D':
			dry.Add(p.at(e), low, 0.75*push, 0)
		case 'K':
			dry.Add(p.at(e), low, 0.8*push, 0)
			if e%8 != 0 {
				wet.Mix(p.at(e), hands, 0.3*push)
			}
		case 'T':
			wet.Add(at, rim, 0.5*push, 0.2)
		case 'k':
			wet.Add(at, rim, 0.25*push, 0.3)
		}
		dry.Add(at, jingle, (0.1+0.1*float64(e%2))*push, 0.45)
		dry.Add(at+p.beat/4, jingle, 0.07*push, -0.45)
	}
	// A roll into the last hit.
	end := p.at(2 * p.beats)
	for i := range 6 {
		wet.Add(end-float64(6-i)*p.beat/6, rim, 0.14+0.07*float64(i), 0.5-0.2*float64(i))
	}
}

// melody is a motif of one bar that comes back changed: loud at the opening and
// before the end, where no voice is, and sparse in between.
func (p plan) melody(to synth.Sound, rng *rand.Rand) {
	motif := p.motif(rng)
	for bar := 0; 8*bar < 2*p.beats; bar++ {
		gain := 0.36
		if bar > 0 && 8*(bar+1) < 2*p.beats-2 {
			gain = 0.2
		}
		for i, n := range motif {
			e := 8*bar + n.eighth
			if e >= 2*p.beats || bar%2 == 1 && i%2 == 1 {
				continue
			}
			degree := n.degree
			if bar%2 == 1 {
				degree += p.chord(e)
			}
			to.Add(p.at(e), qanun(p.scale.hz(2*p.tonic, degree), 1.2, rng), gain, 0.35)
			to.Add(p.at(e)+0.008, oud(p.scale.hz(p.tonic, degree), 1.1, rng), gain, -0.3)
		}
	}
	// Home: a run up to the octave, on the last hit.
	end := p.at(2 * p.beats)
	for i, degree := range []int{0, 2, 4, 7} {
		to.Add(end+0.035*float64(i), qanun(p.scale.hz(2*p.tonic, degree), ring, rng), 0.34, -0.4+0.25*float64(i))
	}
	to.Add(end, oud(p.tonic/2, ring, rng), 0.5, 0)
}

// note is a degree at an eighth of a bar.
type note struct{ eighth, degree int }

// motif goes by steps more than by leaps, and rests.
func (p plan) motif(rng *rand.Rand) []note {
	var out []note
	degree := []int{0, 2, 4, 7}[rng.IntN(4)]
	for e := 0; e < 8; e += 1 + rng.IntN(2) {
		out = append(out, note{e, degree})
		degree = min(max(degree+[]int{-2, -1, -1, 1, 1, 2}[rng.IntN(6)], -1), 8)
	}
	return out
}

// hit is where everything comes together.
func (p plan) hit(dry, wet synth.Sound, at float64, rng *rand.Rand) {
	dry.Add(at, dum(), 0.9, 0)
	wet.Mix(at, clap(rng), 0.35)
	crash := synth.Filter(synth.White(1.3, rng), synth.HighPass, synth.Flat(4200), 0.8)
	synth.Shape(crash, synth.Strike(0.002, 0.01, 1.3))
	wet.Add(at, crash, 0.16, 0.2)
}
