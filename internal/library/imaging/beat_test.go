package imaging

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/synth"
)

// realSong has a drum kit: what is a beat can be said of it.
const realSong = "/usr/share/games/singularity/music/Media Threat.ogg"

// strike is where a voice is struck, found otherwise than the package does: the
// first 4 ms whose energy over the 30 ms after it is ten times that of the 30 ms
// before, once it is within 14 dB of the voice's loudest.
func strike(mono []float32) float64 {
	energy := func(from, to int) float64 {
		var sum float64
		for _, v := range mono[max(0, from):min(len(mono), max(0, to))] {
			sum += float64(v) * float64(v)
		}
		return sum
	}
	const reach, step = synth.Rate * 3 / 100, synth.Rate / 250
	var loudest float64
	for at := 0; at < len(mono); at += step {
		loudest = max(loudest, energy(at, at+reach))
	}
	best, where := 0.0, 0
	for at := 0; at < len(mono); at += step {
		after, before := energy(at, at+reach), energy(at-reach, at)
		if after < loudest/25 {
			if best > 0 && at > where+synth.Rate/10 {
				break
			}
			continue
		}
		if rise := after / (before + loudest/1000); rise > best {
			best, where = rise, at
		}
		if at > where+synth.Rate/8 {
			break
		}
	}
	return synth.Seconds(where)
}

// late is by how much a finished file runs behind what went into it, found by
// correlation with the voice, in seconds.
func late(mix mixdown, heard synth.Sound) float64 {
	best, where := 0.0, 0
	for lag := -2500; lag <= 2500; lag += 5 {
		var sum float64
		for i := 0; i < mix.dry.Frames(); i += 7 {
			if j := i + lag; j >= 0 && j < heard.Frames() {
				sum += float64(mix.dry[0][i]) * float64(heard[0][j])
			}
		}
		if sum > best {
			best, where = sum, lag
		}
	}
	return synth.Seconds(where)
}

// clicks is so many seconds of a drum machine: every beat is known to the sample.
func clicks(first, period, long float64) synth.Sound {
	rng := rand.New(rand.NewPCG(1, 2))
	out := synth.Silence(long)
	for i, at := 0, first; at < long-1; i, at = i+1, at+period {
		kick := synth.Shape(synth.Sine(0.2, synth.Glide(160, 60, 0.08, 0.6), 0), synth.Strike(0.001, 0, 0.2))
		out.Add(at, kick, 0.8, 0)
		if i%2 == 1 {
			snare := synth.Shape(synth.Filter(synth.White(0.15, rng), synth.HighPass, synth.Flat(1200), 0.7), synth.Decay(0.15))
			out.Add(at, snare, 0.4, 0)
		}
		hat := synth.Shape(synth.Filter(synth.White(0.05, rng), synth.HighPass, synth.Flat(7000), 0.7), synth.Decay(0.05))
		out.Add(at+period/2, hat, 0.15, 0.3)
	}
	out.Add(0, synth.Sine(long, synth.Flat(220), 0), 0.03, 0)
	return out
}

func TestVoiceLandsOnTheBeatOfADrumMachine(t *testing.T) {
	tempi := []float64{76, 100, 123.4}
	if few {
		tempi = tempi[2:]
	}
	for i, bpm := range tempi {
		first, period := 0.31, 60/bpm
		m, _ := maker(t, func(o *Options) { o.Songs = songs(wavFile(t, clicks(first, period, 30))) })
		mix, a, h := mixOf(t, m, Order{SongDrops: 1, Seed: uint64(i)})
		voice := strike(mix.dry[0]) + late(mix, h.sound)
		inSong := a.Song.From.Seconds() + voice
		off := math.Remainder(inSong-first, period)
		t.Logf("%.1f bpm: voice struck at %.3f s, %+.0f ms off the beat; told %s by %s", bpm, voice, 1000*off, a.BeatAt, a.BeatBy)
		if a.BeatBy != FromTracker {
			t.Errorf("%.1f bpm: beat found by %s", bpm, a.BeatBy)
		}
		if math.Abs(off) > 0.030 {
			t.Errorf("%.1f bpm: the voice is struck %.0f ms off the beat", bpm, 1000*off)
		}
	}
}

// In a real song the truth is what is struck in the song by another detector,
// aubio's of onsets, over the whole of it.
func TestVoiceLandsOnTheBeatOfARealSong(t *testing.T) {
	out, err := proc.Output(t.Context(), proc.Spec{Name: "aubioonset", Path: "aubioonset", Args: []string{"-i", realSong, "-t", "0.2"}}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	struck := seconds(string(out))
	seeds := uint64(2)
	if few {
		seeds = 1
	}
	for seed := range seeds {
		mix, a, h := shared(t, Order{SongDrops: 1, Seed: seed})
		inSong := a.Song.From.Seconds() + strike(mix.dry[0]) + late(mix, h.sound)
		off := inSong - nearest(struck, inSong)
		t.Logf("voice struck at %.3f s of the song, %+.0f ms off what is struck in it; told %s", inSong, 1000*off, a.BeatAt)
		if a.BeatBy != FromTracker || math.Abs(off) > 0.030 {
			t.Errorf("%.0f ms off, beat by %s", 1000*off, a.BeatBy)
		}
	}
}

// Where the tracker hears nothing steady, is not installed or fails, what is struck
// hardest stands for the beats. What becomes of beats, the tests above hear.
func TestWithoutATrackerOrASteadyBeatTheStrongestOnsetsStandIn(t *testing.T) {
	found := func(t *testing.T, sound synth.Sound, struck []float64) {
		t.Helper()
		beats, by, err := findBeats(t.Context(), sound.Mono(), t.TempDir(), trackTime)
		on := 0
		for _, at := range beats {
			if math.Abs(at-nearest(struck, at)) < 0.03 {
				on++
			}
		}
		// Some follow a stronger one closely, and what breaks off is heard as well.
		if err != nil || by != FromOnsets || 3*on < 2*len(struck) || 4*on < 3*len(beats) {
			t.Errorf("%d of %d beats are on the %d that were struck, by %s, %v", on, len(beats), len(struck), by, err)
		}
	}
	t.Run("no steady beat", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		loose := synth.Silence(20)
		var struck []float64
		for at := 0.4; at < 19; at += 0.5 + 1.1*rng.Float64() {
			bow := synth.Shape(synth.Saw(1, synth.Flat(110+200*rng.Float64()), 0), synth.Strike(0.002, 0.1, 0.9))
			loose.Add(at, bow, 0.5, 0)
			struck = append(struck, at)
		}
		found(t, loose, struck)
	})
	const first, period, long = 0.2, 0.5, 8
	machine := clicks(first, period, long)
	var struck []float64
	for at := first; at < long-1; at += period {
		struck = append(struck, at)
	}
	for name, tracker := range map[string]string{"no tracker": "", "a tracker that fails": "#!/bin/sh\nexit 3\n"} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			if tracker != "" {
				if err := os.WriteFile(filepath.Join(bin, "aubiotrack"), []byte(tracker), 0o700); err != nil { //nolint:gosec // a program
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", bin)
			found(t, machine, struck)
		})
	}
}

// On a busy machine the tracker may not be done in time. That is said, so that another
// song is tried first, and nobody takes it for a song without a steady beat.
func TestTrackerThatIsNotDoneInTimeIsSaidToBe(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "aubiotrack"), []byte("#!/bin/sh\nexec /bin/sleep 3600\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	beats, by, err := findBeats(t.Context(), clicks(0.2, 0.5, 8).Mono(), t.TempDir(), 50*time.Millisecond)
	if !errors.Is(err, errLate) || by != FromOnsets || len(beats) == 0 {
		t.Errorf("%d beats by %s, %v", len(beats), by, err)
	}
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
