package stinger

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/internal/station"
)

func TestStingersAreOfTheLengthTheTableAllowsCleanAndAudibleFromTheStart(t *testing.T) {
	const frame = 0.0523 // seconds: two frames of an MP3, by which an encoder may round up
	for _, d := range Designs() {
		each(t, d, func(t *testing.T, seed int, h heard) {
			if s := h.sound.Seconds(); s < Shortest || s+frame > Longest || len(h.sound[0]) != len(h.sound[1]) {
				t.Errorf("%s %d: %.3f s long", d, seed, s)
			}
			for side, plane := range h.sound {
				var sum float64
				for i, v := range plane {
					sum += float64(v)
					if math.IsNaN(float64(v)) || v > 0.71 || v < -0.71 {
						t.Fatalf("%s %d: sample %d is %v", d, seed, i, v)
					}
				}
				if dc := sum / float64(len(plane)); math.Abs(dc) > 0.003 {
					t.Errorf("%s %d: DC of %.4f", d, seed, dc)
				}
				if first, last := plane[0], plane[len(plane)-1]; first != 0 || last != 0 || math.Abs(float64(plane[len(plane)-20])) > 0.03 {
					t.Errorf("%s %d side %d: clicks at an end", d, seed, side)
				}
			}
			begin, end := measure(h).Sound(30)
			if rest := h.sound.Seconds() - end.Seconds(); begin > 10*time.Millisecond || rest > 0.15 {
				t.Errorf("%s %d: sound begins at %v and ends %.3f s early", d, seed, begin, rest)
			}
		})
	}
}

func measure(h heard) *loudness.Measurement {
	m := loudness.NewMeter(44100, loudness.Stereo)
	m.Write(h.sound.Interleaved())
	return m.Result()
}

// Mastering brings all to -14 LUFS under -1.5 dBTP and takes 0.9 dB of room for
// what the encoder does to peaks: 11.6 dB need no limiter.
func TestStingersReachTheirLoudnessUnderTheirPeak(t *testing.T) {
	for _, d := range Designs() {
		low, high, limited := 99.0, 0.0, 0
		each(t, d, func(t *testing.T, seed int, h heard) {
			m := measure(h)
			room := m.TruePeak - m.Integrated
			low, high = min(low, room), max(high, room)
			if room > 11.6 {
				limited++
			}
			if reached := m.Limited(-14-m.Integrated, -2.4); room > 13 || reached < -14.2 {
				t.Errorf("%s %d: peak %.1f dB over loudness; behind a limiter it is at %.2f LUFS", d, seed, room, reached)
			}
		})
		t.Logf("%-11s peak %4.1f to %4.1f dB over loudness, %d of %d need a limiter", d, low, high, limited, seeds)
	}
}

func TestOneSeedMakesOneSoundAndOthersMakeOthers(t *testing.T) {
	for _, d := range Designs() {
		all := everything()[d]
		if again := Make(d, 3); !slices.Equal(again[0], all[3].sound[0]) || !slices.Equal(again[1], all[3].sound[1]) {
			t.Errorf("%s: the same seed made another sound", d)
		}
		lengths, wide := map[int]bool{}, 0.0
		for _, h := range all {
			lengths[h.sound.Frames()] = true
			var side, both float64
			for i := range h.mono {
				l, r := float64(h.sound[0][i]), float64(h.sound[1][i])
				side, both = side+(l-r)*(l-r), both+l*l+r*r
			}
			wide += side / both / seeds
		}
		if len(lengths) < seeds-2 {
			t.Errorf("%s: %d lengths from %d seeds", d, len(lengths), seeds)
		}
		t.Logf("%-11s share of the sides in its power: %.3f", d, wide)
		if wide < 0.002 {
			t.Errorf("%s: is mono", d)
		}
	}
}

func TestDesignsAreTheMissionsSixteenAndParse(t *testing.T) {
	want := []Design{
		"RISER", "RISER_DOWN", "WHOOSH_UP", "WHOOSH_DOWN", "ZAP", "BLIP_UP", "BLIP_DOWN", "GLITCH",
		"DROP", "METALLIC", "SWEEP", "SHIMMER", "PULSE", "LASER", "SUBDROP", "IMPACT",
	}
	if !slices.Equal(Designs(), want) {
		t.Errorf("the designs are %v", Designs())
	}
	for _, d := range want {
		if d.Purpose() == "" {
			t.Errorf("%s has no purpose", d)
		}
	}
	if d, err := Parse(" whoosh-up"); d != WhooshUp || err != nil {
		t.Errorf("whoosh-up parses as %q, %v", d, err)
	}
	for _, name := range []string{"", "BOOM", "RISER_", "../RISER"} {
		if _, err := Parse(name); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%q: %v, want it refused", name, err)
		}
	}
	if s := Make("BOOM", 1); s.Frames() != 0 {
		t.Error("what is no design made a sound")
	}
}
