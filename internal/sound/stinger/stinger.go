// Package stinger makes the station's stingers: short effects in sixteen
// designs, synthesised from nothing but a seed. One seed makes the same samples
// every time; other seeds make other pitches, lengths and colours of the same
// character.
//
// It is pure. It neither masters nor writes files: what it makes is shaped so
// that it reaches -14 LUFS under -1.5 dBTP with little limiting.
package stinger

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/athir-radio/athir/internal/sound/synth"
	"github.com/athir-radio/athir/internal/station"
)

// Shortest and Longest bound a stinger, in seconds. What is made keeps a margin
// to both: an encoder rounds up to its frames.
const (
	Shortest = 0.26
	Longest  = 1.63
)

// Design is the character of a stinger, and part of its file's name.
type Design string

// The designs.
const (
	Riser      Design = "RISER"
	RiserDown  Design = "RISER_DOWN"
	WhooshUp   Design = "WHOOSH_UP"
	WhooshDown Design = "WHOOSH_DOWN"
	Zap        Design = "ZAP"
	BlipUp     Design = "BLIP_UP"
	BlipDown   Design = "BLIP_DOWN"
	Glitch     Design = "GLITCH"
	Drop       Design = "DROP"
	Metallic   Design = "METALLIC"
	Sweep      Design = "SWEEP"
	Shimmer    Design = "SHIMMER"
	Pulse      Design = "PULSE"
	Laser      Design = "LASER"
	Subdrop    Design = "SUBDROP"
	Impact     Design = "IMPACT"
)

// recipe is how a design is made: its bounds in seconds, and its layers.
type recipe struct {
	design    Design
	low, high float64
	make      func(take) synth.Sound
	release   float64 // seconds over which its end fades
	drive     float64 // how hard the finished mix is pressed
	purpose   string
}

func recipes() []recipe {
	return []recipe{
		{Riser, 1.15, 1.55, riser, 0.10, 2, "builds up to what follows: a song, a jingle"},
		{RiserDown, 1.15, 1.55, riserDown, 0.20, 2.2, "lets the tension out: from a lively song into a calm one"},
		{WhooshUp, 0.60, 1.00, whooshUp, 0.06, 1.4, "a rush of air upwards between two items"},
		{WhooshDown, 0.60, 1.00, whooshDown, 0.10, 1.4, "a rush of air that settles: into speech"},
		{Zap, 0.29, 0.42, zap, 0.05, 1.7, "an electric spark: cuts off what was before"},
		{BlipUp, 0.29, 0.40, blipUp, 0.05, 1.3, "two quick notes up: something begins"},
		{BlipDown, 0.29, 0.40, blipDown, 0.05, 1.3, "two quick notes down: something is over"},
		{Glitch, 0.45, 0.75, glitch, 0.01, 2.2, "a stutter of broken signal: between modern songs"},
		{Drop, 0.85, 1.25, drop, 0.15, 1.6, "a synthesiser falls into its bass: before a beat comes in"},
		{Metallic, 0.80, 1.30, metallic, 0.25, 4, "struck metal: a full stop with an edge"},
		{Sweep, 1.00, 1.45, sweep, 0.12, 1.4, "a held chord behind a filter that opens and closes"},
		{Shimmer, 1.10, 1.55, shimmer, 0.25, 1.5, "a glitter of high bells: towards something gentle"},
		{Pulse, 0.80, 1.20, pulse, 0.05, 1.8, "a chord that throbs in time: news, a countdown"},
		{Laser, 0.48, 0.80, laser, 0.06, 1.5, "several shots from a toy gun: playful"},
		{Subdrop, 1.15, 1.55, subdrop, 0.12, 1.5, "a fall into the lowest bass: felt more than heard"},
		{Impact, 0.90, 1.40, impact, 0.30, 6, "one heavy hit and its echo: underlines what comes"},
	}
}

// Designs lists the sixteen designs in the mission's order.
func Designs() []Design {
	var all []Design
	for _, r := range recipes() {
		all = append(all, r.design)
	}
	return all
}

// Parse returns the design of a name, in any case and with - for _. Any other
// name is station.ErrInvalid.
func Parse(name string) (Design, error) {
	wanted := Design(strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(name), "-", "_")))
	if _, ok := recipeOf(wanted); !ok {
		return "", fmt.Errorf("stinger design %q: %w: choose from %v", name, station.ErrInvalid, Designs())
	}
	return wanted, nil
}

// Purpose says in a few words what the design is for; empty for no design.
func (d Design) Purpose() string {
	r, _ := recipeOf(d)
	return r.purpose
}

func recipeOf(d Design) (recipe, bool) {
	for _, r := range recipes() {
		if r.design == d {
			return r, true
		}
	}
	return recipe{}, false
}

// Make makes a stinger of at least Shortest and at most Longest seconds, with a
// peak of 0.7, from silence to silence. An unknown design gives an empty Sound.
func Make(design Design, seed uint64) synth.Sound {
	r, ok := recipeOf(design)
	if !ok {
		return synth.Sound{}
	}
	name := fnv.New64a()
	_, _ = name.Write([]byte(design)) // a hash takes everything
	k := take{rng: rand.New(rand.NewPCG(seed, name.Sum64()))}
	k.seconds = k.between(r.low, r.high)
	k.hand = k.one(-1, 1)
	return finish(r.make(k), r)
}

// finish glues the layers with a soft clip, takes out what cannot be heard and
// gives both ends silence.
func finish(s synth.Sound, r recipe) synth.Sound {
	s.Level()
	s.Normalize(1)
	s.Drive(r.drive, 0)
	s.Fade(0.0015, r.release)
	centre(s)
	s.Normalize(0.7)
	return s
}

// centre subtracts the remaining DC along an arch too slow to be heard: a third of a
// second is too short for a filter.
func centre(s synth.Sound) {
	arch := synth.Arch(s.Seconds()/2, s.Seconds(), 1)
	for _, plane := range s {
		var sum float64
		for _, v := range plane {
			sum += float64(v)
		}
		for i := range plane {
			plane[i] -= float32(2 * sum / float64(len(plane)) * arch(synth.Seconds(i)))
		}
		plane[len(plane)-1] = 0
	}
}

// take is one stinger in the making.
type take struct {
	rng     *rand.Rand
	seconds float64
	hand    float64 // -1 or 1: the side on which it begins
}

// between is a number from a range, all alike.
func (k take) between(low, high float64) float64 { return low + (high-low)*k.rng.Float64() }

// pitch is a frequency from a range in Hz, all intervals alike.
func (k take) pitch(low, high float64) float64 {
	return low * math.Exp2(k.rng.Float64()*math.Log2(high/low))
}

// one is one of several.
func (k take) one(of ...float64) float64 { return of[k.rng.IntN(len(of))] }

// part is a layer's length: what is left of the stinger from a time on.
func (k take) part(from float64) float64 { return max(0, k.seconds-from) }

// layer mixes a Sound in at a time so that its loudest moment has a level in
// dB: the balance of the layers then holds whatever the seed made of each.
func layer(out synth.Sound, at float64, s synth.Sound, db float64) {
	if loud := loudest(s); loud > 0 {
		out.Mix(at, s, synth.Decibels(db)/loud)
	}
}

// loudest is the highest RMS of both sides together over 40 ms.
func loudest(s synth.Sound) float64 {
	window := min(synth.Frames(0.04), s.Frames())
	var sum, best float64
	power := func(i int) float64 { return float64(s[0][i])*float64(s[0][i]) + float64(s[1][i])*float64(s[1][i]) }
	for i := range s.Frames() {
		sum += power(i)
		if i >= window {
			sum -= power(i - window)
		}
		best = max(best, sum)
	}
	return math.Sqrt(best / float64(2*max(1, window)))
}

// click is the first instant of a hit: a few milliseconds of bright noise.
func (k take) click(hz, decay float64) synth.Sound {
	s := synth.Noises(decay, synth.White, k.rng)
	s.Filter(synth.BandPass, synth.Flat(hz), 0.8)
	s.Shape(synth.Strike(0.0005, 0.001, decay))
	s.Width(0.5)
	return s
}

// ring mixes a room's answer in, at a level against the sound itself in dB.
func ring(s synth.Sound, room synth.Room, db float64) {
	wet := room.Of(s)
	wet.Filter(synth.HighPass, synth.Flat(150), 0.7) // bass in a room is mud
	if loud := loudest(wet); loud > 0 {
		s.Mix(0, wet, synth.Decibels(db)*loudest(s)/loud)
	}
}
