package check

import (
	"errors"
	"math"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/sound/mastering"
)

// The bounds of what is refused, and of what is only noted.
const (
	mostSilent  = 0.6  // share of the time between the first and the last sound
	mostClipped = 0.1  // share of the samples; a pure tone at full scale has 2 %
	someClipped = 0.01 // noted
	deadRatio   = 1e-4 // of the powers of two channels: 40 dB
	sumLost     = 0.02 // of the power is left on one loudspeaker: 17 dB less
	sumLess     = 0.3  // noted: 5 dB less
	sumSame     = 0.999
	steadyFrom  = 6 * time.Second // a shorter tone or noise may be an effect
	steadyBy    = 1.0             // dB: by less than that, second by second, a steady sound varies
	narrowHz    = 4500            // noted: there is nothing over it
	narrowShare = 1e-5
)

// judge refuses what is heard in a file, nearest to the sound first: what cannot be played,
// what is not there, its length, its faults, what it is.
func (h *heard) judge(want Want) *refusal.Refusal {
	sound := h.end - h.begin
	switch {
	case h.broken:
		return refuse(refusal.Damaged, "its samples are no numbers")
	case sound <= 0, sound < want.Shortest/10 && h.levels.Duration >= want.Shortest: // a click
		return refusal.New(refusal.Silent)
	case sound < want.Shortest:
		return &refusal.Refusal{Code: refusal.TooShort, Found: sound, Shortest: want.Shortest, Longest: want.Longest}
	case sound > want.Longest:
		return &refusal.Refusal{Code: refusal.TooLong, Found: sound, Shortest: want.Shortest, Longest: want.Longest}
	case h.silent > mostSilent:
		return &refusal.Refusal{Code: refusal.Silent, Share: h.silent}
	}
	if r := h.level(); r != nil {
		return r
	}
	switch {
	case h.clipped > mostClipped:
		return &refusal.Refusal{Code: refusal.Clipped, Share: h.clipped}
	case h.stereo && math.Min(h.left, h.right) < deadRatio*math.Max(h.left, h.right):
		return refusal.New(refusal.DeadChannel)
	case h.stereo && h.together() < sumLost:
		return refusal.New(refusal.OutOfPhase)
	case sound >= steadyFrom && h.varies() < steadyBy:
		return refusal.New(refusal.Noise)
	}
	return nil
}

// level refuses what mastering could not bring to the station's loudness.
func (h *heard) level() *refusal.Refusal {
	profile, err := mastering.Named(mastering.Station)
	if err == nil {
		_, err = mastering.Decide(profile, profile.LevelsOf(h.levels))
	}
	var refused *mastering.RefusedError
	if !errors.As(err, &refused) {
		return nil
	}
	switch refused.Reason {
	case mastering.Silent:
		return refusal.New(refusal.Silent)
	case mastering.TooQuiet:
		return refuse(refusal.TooQuiet, refused.Text)
	}
	return refuse(refusal.Damaged, refused.Text)
}

// together is the share of the power that is left on one loudspeaker.
func (h *heard) together() float64 {
	return 2 * h.middle / math.Max(h.left+h.right, 1e-30)
}

// varies is how much (dB) the bands vary from second to second: the deviation of each about
// its mean, averaged over those within 50 dB of the loudest. A tone and noise hardly do.
func (h *heard) varies() float64 {
	per := max(1, int(time.Second/h.frameTime))
	var seconds [][bandCount]float64
	for at := 0; at+per <= len(h.bands); at += per {
		var mean [bandCount]float64
		for _, frame := range h.bands[at : at+per] {
			for b, p := range frame {
				mean[b] += float64(p) / float64(per)
			}
		}
		seconds = append(seconds, mean)
	}
	if len(seconds) < 3 {
		return math.Inf(1)
	}
	var whole [bandCount]float64
	loudest := 0.0
	for b := range bandCount {
		for _, s := range seconds {
			whole[b] += s[b] / float64(len(seconds))
		}
		loudest = math.Max(loudest, whole[b])
	}
	sum, n := 0.0, 0.0
	for b := range bandCount {
		if whole[b] > loudest*1e-5 {
			sum += deviation(seconds, b)
			n++
		}
	}
	return sum / math.Max(1, n)
}

// deviation of one band, in decibels.
func deviation(seconds [][bandCount]float64, b int) float64 {
	mean, square, n := 0.0, 0.0, float64(len(seconds))
	for _, s := range seconds {
		db := 10 * math.Log10(s[b]+1e-12)
		mean += db / n
		square += db * db / n
	}
	return math.Sqrt(math.Max(0, square-mean*mean))
}

// notes says what a moderator should know of the sound.
func (h *heard) notes() []string {
	var out []string
	add := func(n string, yes bool) {
		if yes {
			out = append(out, n)
		}
	}
	same := h.together()
	add(NoteClipped, h.clipped > someClipped)
	add(NoteOffset, h.levels.Displaced())
	add(NoteMono, !h.stereo || same > sumSame)
	add(NoteWide, h.stereo && same < sumLess)
	add(NoteNarrow, h.narrow())
	return out
}

// narrow reports that there is nothing in the treble.
func (h *heard) narrow() bool {
	all, treble := 0.0, 0.0
	for _, frame := range h.bands {
		for b, p := range frame {
			all += float64(p)
			if hz := lowestHz * math.Pow(highestHz/lowestHz, float64(b)/bandCount); hz >= narrowHz {
				treble += float64(p)
			}
		}
	}
	return treble < narrowShare*all
}
