package rider_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"regexp"
	"strconv"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/rider"
)

var (
	integrated = regexp.MustCompile(`(?m)^\s+I:\s+(\S+) LUFS`)
	truePeak   = regexp.MustCompile(`(?m)^\s+Peak:\s+(\S+) dBFS`)
)

// judged is what ffmpeg's meter, which is not ours, says of sound: LUFS and dBTP.
func judged(t *testing.T, sound []float32) (lufs, dbtp float64) {
	t.Helper()
	var raw bytes.Buffer
	for _, v := range sound {
		_ = binary.Write(&raw, binary.LittleEndian, v)
	}
	var said bytes.Buffer
	_, err := proc.Run(t.Context(), proc.Spec{
		Name: "meter", Path: "ffmpeg", Stdin: &raw, Stderr: &said, Drain: proc.DrainWhole,
		Args: []string{"-hide_banner", "-nostats", "-f", "f32le", "-ar", "48000", "-ac", "2", "-i", "pipe:0", "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-"},
	}, nil)
	out := said.Bytes()
	i, p := integrated.FindSubmatch(out), truePeak.FindSubmatch(out)
	if err != nil || i == nil || p == nil {
		t.Fatalf("%v: %s", err, out)
	}
	lufs, _ = strconv.ParseFloat(string(i[1]), 64)
	dbtp, _ = strconv.ParseFloat(string(p[1]), 64)
	return lufs, dbtp
}

// Whoever speaks first: ten seconds after a voice began it is at the target.
func TestVoicesFarAndNearComeOutAlike(t *testing.T) {
	for _, order := range [][]float64{{-44, -30, -17}, {-17, -44, -30}} {
		var all []float32
		for i, level := range order {
			all = append(all, voice(t, 20, level, uint64(i))...)
		}
		r := rider.New(rate, target)
		out := ride(r, all, nil)
		if _, peak := judged(t, out); peak > -1.5 {
			t.Errorf("%v: peaks at %.1f dBTP", order, peak)
		}
		for i, level := range order {
			from := 20 * float64(i)
			lufs, _ := judged(t, seconds(out, from+10, from+20))
			t.Logf("%v: %v LUFS comes out at %.1f, in the ten seconds before at %.1f", order, level, lufs, measure(seconds(out, from, from+10)).Integrated)
			if math.Abs(lufs-target) > 2 {
				t.Errorf("%v: the voice at %v LUFS comes out at %.1f", order, level, lufs)
			}
		}
	}
}

// Nobody knows the voice yet, and it is far away: it is heard after two seconds. Known, it
// is right from its first word.
func TestANewVoiceIsSoonAudibleAndAKnownOneAtOnce(t *testing.T) {
	far := voice(t, 12, -44, 0)
	r := rider.New(rate, target)
	out := ride(r, far, nil)
	if lufs := measure(seconds(out, 2, 4)).Integrated; lufs < target-4 {
		t.Errorf("after two seconds at %.1f LUFS", lufs)
	}
	gain := r.Remembered()
	r = rider.New(rate, target)
	r.Recall(gain)
	out = ride(r, far, nil)
	if lufs := measure(seconds(out, 0, 2)).Integrated; math.Abs(lufs-target) > 3 {
		t.Errorf("a known voice begins at %.1f LUFS, with %+.1f dB", lufs, gain)
	}
	r.Recall(math.NaN())
	if r.Gain() != rider.StartGain {
		t.Errorf("a gain that is no number became %v", r.Gain())
	}
	r.Recall(1e9)
	if r.Gain() != rider.MostGain {
		t.Errorf("a gain beyond all became %v", r.Gain())
	}
}

// Ten seconds in which only the room is heard: the gain stands, the noise comes out no
// louder than it was between the words and is hushed, and the next word is whole.
func TestInAPauseTheGainStandsAndTheRoomIsHushed(t *testing.T) {
	for _, level := range []float64{-44, -17} {
		words := voice(t, 12, level, 0)
		in := mix(joined(words, make([]float32, 2*10*rate), words), noise(7, -60))
		r := rider.New(rate, target)
		low, high := math.Inf(1), math.Inf(-1)
		out := ride(r, in, func(second float64) {
			if second >= 13 && second < 22 {
				low, high = min(low, r.Gain()), max(high, r.Gain())
			}
		})
		if high-low > 1e-9 {
			t.Errorf("voice at %v: the gain moves from %.2f to %.2f dB in the pause", level, low, high)
		}
		room := measure(seconds(in, 13, 22)).Integrated
		for second := 13.0; second < 22; second++ {
			if lufs := measure(seconds(out, second, second+1)).Integrated; lufs > room+high+0.5 {
				t.Errorf("voice at %v: the room is raised to %.1f LUFS after %.0f s", level, lufs, second-12)
			}
		}
		if lufs := measure(seconds(out, 17, 22)).Integrated; lufs > -45 {
			t.Errorf("voice at %v: the room is heard at %.1f LUFS", level, lufs)
		}
		before, after := measure(seconds(out, 9, 12)).Integrated, measure(seconds(out, 22, 25)).Integrated
		if math.Abs(before-after) > 2.5 {
			t.Errorf("voice at %v: %.1f LUFS before the pause, %.1f after it", level, before, after)
		}
	}
}

// A chair, a fan, a street: what does not speak is not brought up, also if it is there
// before anybody has spoken.
func TestARoomIsNoVoice(t *testing.T) {
	r := rider.New(rate, target)
	ride(r, noise(7, -52), nil) // -46 LUFS: above the absolute gate
	if r.Gain() > rider.StartGain {
		t.Errorf("the room is raised by %.1f dB", r.Gain())
	}
	if lufs := r.LUFS(); math.Abs(lufs+46) > 1 {
		t.Errorf("it says %.1f LUFS", lufs)
	}
}

// Dense music, far too quiet from the start, is brought up although it has no pauses that
// would tell it from a room.
func TestQuietMusicIsBroughtUp(t *testing.T) {
	for _, name := range []string{"By-Product.ogg", "Inevitable.ogg", "Through Space.ogg"} {
		in := at(t, music(t, "/usr/share/games/singularity/music/"+name, ffmpeg.Decoding{First: 30e9}), -42)
		out := ride(rider.New(rate, target), in, nil)
		if lufs := measure(seconds(out, 20, 30)).Integrated; math.Abs(lufs-target) > 3 {
			t.Errorf("%s: after 20 s at %.1f LUFS", name, lufs)
		}
	}
}

// A codec that sends nothing in pauses, and a room that is heard with every word.
func TestARoomThatComesAndGoesIsNotRaised(t *testing.T) {
	words := voice(t, 12, -24, 0)
	in := joined(mix(words, noise(7, -54)), make([]float32, 2*5*rate), noise(10, -54), make([]float32, 2*5*rate))
	r := rider.New(rate, target)
	ride(r, seconds(in, 0, 13), nil)
	before := r.Gain()
	ride(r, seconds(in, 13, 32), nil)
	if now := r.Gain(); now != before {
		t.Errorf("the gain went from %.2f to %.2f dB", before, now)
	}
}

func TestAShoutAfterAWhisperDoesNotHurt(t *testing.T) {
	in := joined(voice(t, 12, -44, 1), voice(t, 8, -12, 0))
	out := ride(rider.New(rate, target), in, nil)
	first := measure(seconds(out, 11.6, 13.5))
	if first.Momentary > target+5 || first.TruePeak > -1.5 {
		t.Errorf("the shout comes out at %.1f LUFS over 400 ms, %.2f dBTP", first.Momentary, first.TruePeak)
	}
	if lufs := measure(seconds(out, 12.5, 14.5)).Integrated; math.Abs(lufs-target) > 3 {
		t.Errorf("half a second later at %.1f LUFS", lufs)
	}
}

func TestMusicKeepsItsDynamics(t *testing.T) {
	const wesnoth = "/usr/share/games/wesnoth/1.16/data/core/music/"
	for _, path := range []string{
		wesnoth + "battle-epic.ogg", wesnoth + "main_menu.ogg", wesnoth + "sad.ogg", wesnoth + "the_dangerous_symphony.ogg",
		wesnoth + "vengeful.ogg", "/usr/share/games/singularity/music/Through Space.ogg",
	} {
		in := music(t, path, ffmpeg.Decoding{First: 60e9})
		before := measure(in)
		after := measure(ride(rider.New(rate, target), in, nil))
		t.Logf("%.1f LUFS, range %.1f LU → %.1f LUFS, range %.1f LU, %.2f dBTP", before.Integrated, before.Range, after.Integrated, after.Range, after.TruePeak)
		if after.Range < 0.6*before.Range {
			t.Errorf("%s: its range of %.1f LU becomes %.1f", path, before.Range, after.Range)
		}
		if math.Abs(after.Integrated-target) > 2 || after.TruePeak > -1.5 {
			t.Errorf("%s: %.1f LUFS, %.2f dBTP", path, after.Integrated, after.TruePeak)
		}
	}
}
