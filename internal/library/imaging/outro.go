package imaging

import (
	"math/rand/v2"
	"slices"

	"github.com/athir-radio/athir/internal/sound/stinger"
	"github.com/athir-radio/athir/internal/sound/synth"
)

// outro is one way to end a sweeper or a drop: what leads into the last hit, and what
// rings on from it. It adds to a bed whose last beat is at a time.
type outro struct {
	name string
	play func(bed synth.Sound, at float64, rng *rand.Rand)
}

// outros are dealt like cards: the pieces of one order end each in another way, as long
// as there are enough.
func outros() []outro {
	return []outro{
		{"rise", func(bed synth.Sound, at float64, rng *rand.Rand) {
			into(bed, at+0.1, effect(stinger.Riser, rng), 0.4)
			bed.Mix(at, effect(stinger.Impact, rng), 0.7)
		}},
		{"rush", func(bed synth.Sound, at float64, rng *rand.Rand) {
			into(bed, at+0.1, effect(stinger.WhooshUp, rng), 0.5)
			bed.Mix(at, effect(stinger.Drop, rng), 0.7)
		}},
		{"backwards", func(bed synth.Sound, at float64, rng *rand.Rand) {
			struck := effect(stinger.Metallic, rng)
			back := struck.Clone()
			for _, plane := range back {
				slices.Reverse(plane)
			}
			into(bed, at, back, 0.45)
			bed.Mix(at, struck, 0.5)
			bed.Mix(at, effect(stinger.Subdrop, rng), 0.5)
		}},
		{"glitter", func(bed synth.Sound, at float64, rng *rand.Rand) { // nothing leads into it
			bed.Mix(at-0.02, effect(stinger.Shimmer, rng), 0.6)
		}},
		{"stutter", func(bed synth.Sound, at float64, rng *rand.Rand) {
			into(bed, at, effect(stinger.Glitch, rng), 0.5)
			bed.Mix(at, effect(stinger.Zap, rng), 0.55)
		}},
		{"echoes", func(bed synth.Sound, at float64, rng *rand.Rand) {
			call := synth.Silence(lastHit)
			call.Mix(0, effect(stinger.BlipDown, rng), 1)
			call.Echo(0.29, 0.5)
			bed.Mix(at, call, 0.6)
		}},
	}
}

// effect is a stinger at the level of the others.
func effect(design stinger.Design, rng *rand.Rand) synth.Sound {
	sound := stinger.Make(design, rng.Uint64())
	level(sound, -15)
	return sound
}

// into mixes a sound in so that it ends at a time.
func into(bed synth.Sound, end float64, sound synth.Sound, gain float64) {
	bed.Mix(end-sound.Seconds(), sound, gain)
}
