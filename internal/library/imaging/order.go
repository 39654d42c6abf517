package imaging

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/athir-radio/athir/internal/sound/stinger"
)

// Kind is what an asset is.
type Kind string

// The kinds, as the mission has them.
const (
	Sweeper   Kind = "sweeper"    // SWP_INTRO, SWP_VOX: a voice over a music bed
	SongDrop  Kind = "song_drop"  // SWP_DROP: a voice on the beat of a song of the library
	VoiceDrop Kind = "voice_drop" // SWP_DROP: a voice over a whoosh
	ID        Kind = "id"         // ID: the station's name and its signature
	Stinger   Kind = "stinger"    // SFX: a short effect without a voice
)

// Order says how many of each kind are wanted.
type Order struct {
	Sweepers, SongDrops, IDs, VoiceDrops, Stingers int
	// Designs of the stingers, taken in turn; all sixteen when empty.
	Designs []stinger.Design
	// Seed of every choice: the same seed, songs and voice make the same.
	Seed uint64
}

// most is the largest number of assets in one order: more is a slip of the hand.
const most = 1000

func (o Order) check() error {
	total := 0
	for _, n := range []int{o.Sweepers, o.SongDrops, o.IDs, o.VoiceDrops, o.Stingers} {
		if n < 0 || n > most {
			return fmt.Errorf("%d ordered: 0 to %d can be made at once", n, most)
		}
		total += n
	}
	switch {
	case total == 0:
		return errors.New("the order asks for nothing")
	case total > most:
		return fmt.Errorf("%d ordered in all: up to %d can be made at once", total, most)
	}
	return nil
}

// item is one asset of an order with everything that chance decides beforehand.
// The rest is drawn from its own seed, so that no item depends on another's.
type item struct {
	kind    Kind
	prefix  string // of the file's name
	design  stinger.Design
	phrases []string // in the order they are tried
	seed    uint32
	nth     int // of its kind in this order
	outro   int // index in outros; of sweepers and song drops
}

// plan lists an order's assets. Phrases are dealt like cards: none comes twice
// before all of its kind have been heard.
func plan(o Order, phrases Phrases) []item {
	var out []item
	kinds := uint64(0)
	add := func(kind Kind, count int, prefix func(i int) string) {
		kinds++ // each kind has its own chance: one sweeper more changes no station ID
		deal := rand.New(rand.NewPCG(o.Seed, kinds))
		deck := deal.Perm(max(1, len(phrases[kind])))
		ends := rand.New(rand.NewPCG(^o.Seed, kinds)).Perm(len(outros()))
		for i := range count {
			it := item{kind: kind, prefix: prefix(i), seed: deal.Uint32(), nth: i, outro: ends[i%len(ends)]}
			for k := range phrases[kind] {
				it.phrases = append(it.phrases, phrases[kind][deck[(i+k)%len(deck)]])
			}
			out = append(out, it)
		}
	}
	add(Sweeper, o.Sweepers, func(i int) string { return []string{introPrefix, voxPrefix}[i%2] })
	add(SongDrop, o.SongDrops, func(int) string { return songPrefix })
	add(ID, o.IDs, func(int) string { return idPrefix })
	add(VoiceDrop, o.VoiceDrops, func(int) string { return dropPrefix })
	designs := o.Designs
	if len(designs) == 0 {
		designs = stinger.Designs()
	}
	from := len(out)
	add(Stinger, o.Stingers, func(int) string { return sfxPrefix })
	for i := range out[from:] {
		out[from+i].design = designs[i%len(designs)]
	}
	return out
}

// chance of an item, for one of the things it decides.
func (it item) chance(of uint64) *rand.Rand { return rand.New(rand.NewPCG(uint64(it.seed), of)) }
