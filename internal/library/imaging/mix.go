package imaging

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/athir-radio/athir/internal/sound/score"
	"github.com/athir-radio/athir/internal/sound/stinger"
	"github.com/athir-radio/athir/internal/sound/synth"
)

// The lengths of finished files in seconds. A little room is left to the
// mission's own limits, because some players count what an MP3 encoder adds.
type span struct{ least, most float64 }

func sweeperSpan() span { return span{8.55, 8.90} }
func dropSpan() span    { return span{3.55, 3.88} }
func idSpan() span      { return span{4.15, 4.85} }

// of a chance between 0 and 1.
func (s span) at(share float64) float64 { return s.least + share*(s.most-s.least) }

// mixdown is an asset before it is mastered, with its parts for measurements.
type mixdown struct {
	out   synth.Sound
	bed   synth.Sound // before it was ducked, at its level in the mix
	voice synth.Sound // in its space, as it is in the mix
	dry   synth.Sound // the voice alone
	duck  []float32   // the bed's gain at each frame
}

// What decides by chance within an item, each from its own.
const (
	ofLength = iota + 1
	ofMusic
	ofSong
	ofNoise
	ofLayers
)

// underVoice is how a bed makes way: quick and early enough that the first
// sound is clear, and down through the pauses between words. It takes a while to
// come back, so that no pumping is heard.
func underVoice(depth float64) synth.Ducker {
	return synth.Ducker{Depth: depth, Threshold: -30, Attack: 0.04, Release: 0.24, Hold: 0.28, Ahead: 0.14}
}

// mixed lays a voice over a bed that makes way for it.
func mixed(bed, dry, full synth.Sound, duck synth.Ducker) mixdown {
	m := mixdown{bed: bed.Clone(), voice: full, dry: dry}
	m.duck = duck.Duck(bed, dry)
	m.out = bed
	m.out.Mix(0, full, 1)
	return m
}

// ducked is by how many dB of power the bed is lowered while the voice is heard.
func (m mixdown) ducked() float64 {
	env := envelope(m.dry[0])
	var alone, under float64
	for i := range m.duck {
		if at := i * 1000 / synth.Rate; at >= len(env) || env[at] < 0.02 {
			continue
		}
		power := float64(m.bed[0][i])*float64(m.bed[0][i]) + float64(m.bed[1][i])*float64(m.bed[1][i])
		alone += power
		under += power * float64(m.duck[i]) * float64(m.duck[i])
	}
	if alone == 0 || under == 0 {
		return 0
	}
	return 10 * math.Log10(alone/under)
}

// studio is the room the voice of everything that has one stands in.
func studio() synth.Room { return synth.Room{Size: 0.45, Decay: 0.9, Damp: 6500, Predelay: 0.022} }

// sweeper is a voice tag over a music bed: a hit, the voice on a beat, the music
// again, and a last hit that rings out.
func (s *session) sweeper(ctx context.Context, it item, a *Asset) (mixdown, error) {
	seconds := sweeperSpan().at(it.chance(ofLength).Float64())
	v, err := s.booth.vocal(ctx, it, s.m.o.Station, seconds-lastHit-earliest)
	if err != nil {
		return mixdown{}, err
	}
	bed, err := s.bed(ctx, it, seconds)
	if err != nil {
		return mixdown{}, err
	}
	end := bed.beats[len(bed.beats)-1]
	if bed.cut == nil {
		a.BeatBy = FromScore
	} else {
		a.Song, a.BeatBy = bed.cut, bed.cut.BeatBy
	}
	at := bed.landing(v, seconds)
	level(bed.sound, -16.5)
	s.layers(it, bed.sound, bed.beats[0], end)
	dry, full := v.placed(at, seconds, studio(), 0.2)
	m := mixed(bed.sound, dry, full, underVoice(11))
	m.out.Fade(0.003, 0.35)
	a.spoken(v, at, m)
	return m, nil
}

const (
	lastHit  = 1.35 // seconds from a sweeper's last hit to its end
	earliest = 0.9  // before the voice begins, so that the music is heard first
)

// backing is a bed, and where its beats are; the last is where it ends on a hit.
type backing struct {
	sound synth.Sound
	beats []float64
	cut   *Cut
}

// bed is cut from a song where the item wants one, else composed.
func (s *session) bed(ctx context.Context, it item, seconds float64) (backing, error) {
	if it.kind == SongDrop || it.prefix == voxPrefix && len(s.songs) > 0 {
		b, err := s.fromSong(ctx, it, seconds)
		if err == nil || it.kind == SongDrop || ctx.Err() != nil {
			return b, err
		}
		s.m.o.Log.Warn("no song could be cut: the sweeper gets composed music", "err", err)
	}
	mood := score.Bright
	if it.prefix == voxPrefix {
		mood = score.Warm
	}
	music := score.Play(mood, seconds, it.chance(ofMusic))
	return backing{sound: music.Sound, beats: music.Beats}, nil
}

// landing is the beat for the voice: with about as much music before it as
// after, but never over the last hit.
func (b backing) landing(v vocal, seconds float64) float64 {
	end := b.beats[len(b.beats)-1]
	after := v.seconds() - v.onset
	wanted := max(earliest, 0.42*(end-v.seconds())) + v.onset
	best := -1.0
	for _, at := range b.beats {
		if at-v.onset < 0.35 || at+after > seconds-0.35 {
			continue
		}
		if best < 0 || math.Abs(at-wanted) < math.Abs(best-wanted) {
			best = at
		}
	}
	if best < 0 { // a beat too slow for the room there is
		return wanted
	}
	return best
}

// layers puts an effect at both ends of a sweeper: an opening, and the item's outro.
func (s *session) layers(it item, bed synth.Sound, first, end float64) {
	rng := it.chance(ofLayers)
	openings := []stinger.Design{stinger.Impact, stinger.Subdrop, stinger.Metallic}
	bed.Mix(first, effect(openings[rng.IntN(len(openings))], rng), 0.55)
	outros()[it.outro].play(bed, end, rng)
}

// voiceDrop is a voice that a rush of pink noise carries in and out.
func (s *session) voiceDrop(ctx context.Context, it item, a *Asset) (mixdown, error) {
	const rise = 0.95 // seconds of rush before the voice
	seconds := dropSpan().at(it.chance(ofLength).Float64())
	v, err := s.booth.vocal(ctx, it, s.m.o.Station, seconds-rise-0.45)
	if err != nil {
		return mixdown{}, err
	}
	rng := it.chance(ofNoise)
	at := rise + 0.05
	gone := at + v.seconds() - v.onset
	bed := synth.Silence(seconds)
	top := 5200 + 2600*rng.Float64()
	bed.Mix(0, whoosh(at+0.3, at-0.02, 180, top, rng), 1)
	away := min(seconds-gone+0.2, 1.5)
	bed.Mix(gone-0.2, whoosh(away, 0.35, 0.8*top, 160, rng), 0.8)
	// The bed between them, a breath of the same noise.
	air := synth.Noises(seconds, synth.Pink, rng)
	air.Filter(synth.BandPass, synth.Glide(900, 2400, seconds, 1), 0.6)
	air.Shape(synth.Arch(at, seconds, 1))
	bed.Mix(0, air, 0.16)
	pull := stinger.Make(stinger.Riser, rng.Uint64())
	level(pull, -24)
	bed.Mix(at-pull.Seconds()+0.1, pull, 1)
	level(bed, -16)
	bed.Mix(at-0.01, thump(rng), 0.5)
	dry, full := v.placed(at, seconds, synth.Room{Size: 0.9, Decay: 1.6, Damp: 5500, Predelay: 0.03}, 0.3)
	m := mixed(bed, dry, full, underVoice(12))
	m.out.Fade(0.01, 0.3)
	a.spoken(v, at, m)
	a.BeatAt = 0 // there is no beat
	return m, nil
}

// whoosh is pink noise whose band sweeps from one pitch to another, in Hz, is
// loudest at a time, and passes from one side to the other.
func whoosh(seconds, top, from, to float64, rng *rand.Rand) synth.Sound {
	band := synth.Glide(from, to, seconds, 1.2)
	place := synth.Line(-0.8, 0.8, seconds)
	if rng.IntN(2) == 0 {
		place = synth.Line(0.8, -0.8, seconds)
	}
	noise := synth.Pink(seconds, rng)
	for range 2 {
		synth.Filter(noise, synth.BandPass, band, 1.5)
	}
	out := synth.Pan(noise, place)
	wide := synth.Noises(seconds, synth.Pink, rng)
	wide.Filter(synth.BandPass, band.Scaled(1.4), 1.3)
	out.Mix(0, wide, 0.35)
	out.Shape(synth.Arch(top, seconds, 1.7))
	return out
}

// thump is the soft blow a voice lands on.
func thump(rng *rand.Rand) synth.Sound {
	low := synth.Shape(synth.Sine(0.9, synth.Glide(110, 44, 0.25, 0.6), 0), synth.Strike(0.003, 0.02, 0.9))
	synth.Drive(low, 1.8, 0.1)
	skin := synth.Filter(synth.White(0.15, rng), synth.LowPass, synth.Flat(1800), 0.7)
	synth.Shape(skin, synth.Decay(0.12))
	out := synth.Silence(0.9)
	out.Add(0, low, 0.9, 0)
	out.Add(0, skin, 0.25, 0)
	return out
}

// id is the station's signature, and its name on the last note.
func (s *session) id(ctx context.Context, it item, a *Asset) (mixdown, error) {
	seconds := idSpan().at(it.chance(ofLength).Float64())
	signature := score.SignatureOf(s.m.o.Station)
	v, err := s.booth.vocal(ctx, it, s.m.o.Station, seconds-signature.Last()-0.35)
	if err != nil {
		return mixdown{}, err
	}
	at := signature.Last()
	if late := at + 0.18; late+v.seconds()-v.onset < seconds-0.5 {
		at = late // a breath after the note, where there is time
	}
	spoken := at + v.seconds() - v.onset
	bed := signature.Play(seconds, min(spoken-0.05, seconds-1.1), it.chance(ofMusic))
	level(bed, -16.5)
	dry, full := v.placed(at, seconds, synth.Room{Size: 0.7, Decay: 1.4, Damp: 6000, Predelay: 0.025}, 0.26)
	m := mixed(bed, dry, full, underVoice(8.5))
	m.out.Fade(0.003, 0.4)
	a.spoken(v, at, m)
	a.BeatAt = 0
	return m, nil
}

// spoken records how the voice was used.
func (a *Asset) spoken(v vocal, at float64, m mixdown) {
	a.Text, a.Voice, a.Tempo = v.text, v.voice, v.tempo
	a.BeatAt = time.Duration(at * float64(time.Second)).Round(time.Millisecond)
	a.Ducked = m.ducked()
}
