package deadair

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// hear lets a judge hear samples as they come, 0.1 s at a time, and returns
// when each fault was first told; 0 for never.
func hear(pcm []int16, silence time.Duration) (silent, looping time.Duration, last Verdict) {
	j := NewJudge(-50)
	for at := 0; at+blockSize <= len(pcm); at += blockSize {
		j.Add(pcm[at : at+blockSize])
		last = j.Verdict()
		now := time.Duration(at+blockSize) * time.Second / Rate
		if silent == 0 && last.Silent >= silence {
			silent = now
		}
		if looping == 0 && last.Looping > 0 {
			looping = now
		}
	}
	return silent, looping, last
}

// sound makes s seconds of samples out of a function of time.
func sound(s float64, f func(t float64) float64) []int16 {
	out := make([]int16, int(s*Rate))
	for i := range out {
		out[i] = int16(32767 * max(-1, min(1, f(float64(i)/Rate))))
	}
	return out
}

func noise(s, amplitude float64) []int16 {
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's choice
	return sound(s, func(float64) float64 { return amplitude * (2*rng.Float64() - 1) })
}

func join(parts ...[]int16) (out []int16) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func repeat(part []int16, s float64) (out []int16) {
	for float64(len(out)) < s*Rate {
		out = append(out, part...)
	}
	return out
}

func TestSilenceIsWhatCannotBeHeard(t *testing.T) {
	music := noise(3, 0.3)
	for name, c := range map[string]struct {
		pcm  []int16
		want bool
	}{
		"digital silence":        {join(music, noise(4, 0)), true},
		"constant offset":        {join(music, sound(4, func(float64) float64 { return 0.4 })), true},
		"hiss at -60 dBFS":       {join(music, noise(4, 0.0017)), true},
		"silence that ticks":     {join(music, sound(5, func(t float64) float64 { return 0.8 * one(math.Mod(t, 1) < 0.01) })), true},
		"music":                  {noise(10, 0.3), false},
		"music at -45 dBFS":      {noise(10, 0.01), false},
		"a second between songs": {join(music, noise(1, 0), music), false},
		"speech with pauses":     {sound(12, func(t float64) float64 { return 0.3 * math.Sin(900*t) * one(math.Mod(t, 1.8) < 0.6) }), false},
	} {
		at, _, last := hear(c.pcm, 3500*time.Millisecond)
		if (at > 0) != c.want {
			t.Errorf("%s: silence told %v (%+v)", name, at > 0, last)
		}
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// However loud and long: silence is told for as long as it lasts, and no longer.
func TestSilenceIsMeasured(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, quiet := rapid.Float64Range(1, 2).Draw(t, "before"), rapid.Float64Range(0, 10).Draw(t, "quiet")
		level := rapid.Float64Range(0.02, 1).Draw(t, "level")
		j := NewJudge(-50)
		j.Add(noise(before, level))
		if v := j.Verdict(); v.Silent != 0 || !v.Sounding {
			t.Fatalf("music: %+v", v)
		}
		j.Add(noise(quiet, 0))
		// A tenth of it may be the end of the music.
		if got := j.Verdict().Silent.Seconds(); got < quiet-0.2 || got > quiet/0.9+0.2 {
			t.Fatalf("%.1f s of silence are told as %.1f s", quiet, got)
		}
		j.Add(noise(0.8, level)) // however long the silence was
		if v := j.Verdict(); v.Silent != 0 || !v.Sounding {
			t.Fatalf("music again: %+v", v)
		}
	})
}

// A stretch of anything that varies, cut out and played again and again.
func TestLoopsAreFound(t *testing.T) {
	phrase := func(s float64) []int16 { // notes of a random tune, with their decay
		rng := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a test's choice
		var out []int16
		for float64(len(out)) < s*Rate {
			hz, long := 100*math.Exp2(3*rng.Float64()), 0.03+0.2*rng.Float64()
			out = append(out, sound(long, func(t float64) float64 {
				return 0.4 * math.Exp(-4*t) * (math.Sin(2*math.Pi*hz*t) + 0.5*math.Sin(4*math.Pi*hz*t))
			})...)
		}
		return out[:int(s*Rate)]
	}
	for _, s := range []float64{0.0505, 0.237, 1, 5} {
		_, at, last := hear(join(phrase(6), repeat(phrase(6)[6*Rate-int(s*Rate):], 4*s+4)), time.Hour)
		if at == 0 {
			t.Errorf("%.3f s again and again is not found", s)
			continue
		}
		took := at - 6*time.Second
		t.Logf("%.3f s again and again: found after %s, as %s", s, took, last.Period)
		if last.Period == 0 || math.Abs(math.Mod(last.Period.Seconds()/s+0.5, 1)-0.5) > 0.02 {
			t.Errorf("%.3f s is told as %s", s, last.Period)
		}
		if s <= 1 && took > 6*time.Second {
			t.Errorf("%.3f s is found after %s", s, took)
		}
	}
}

func TestWhatIsNoLoop(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // a test's choice
	for name, pcm := range map[string][]int16{
		"a tone": sound(12, func(t float64) float64 { return 0.5 * math.Sin(2*math.Pi*440*t) }),
		"a hum":  sound(12, func(t float64) float64 { return 0.5 * math.Sin(2*math.Pi*50*t) }),
		"noise":  noise(12, 0.3),
		"a chord": sound(12, func(t float64) float64 {
			return 0.2 * (math.Sin(2*math.Pi*220*t) + math.Sin(2*math.Pi*277*t) + math.Sin(2*math.Pi*330*t))
		}),
		// Of its noise a sixteenth lies where loops are looked for.
		"a beat played by hand": sound(12, func(t float64) float64 {
			return 0.6*math.Exp(-8*math.Mod(t, 0.5))*math.Sin(2*math.Pi*60*t) + 0.3*(2*rng.Float64()-1)
		}),
	} {
		if _, at, last := hear(pcm, time.Hour); at != 0 {
			t.Errorf("%s is a loop after %s: %+v", name, at, last)
		}
	}
}

// Two tones together repeat more slowly than either does, and where one song gives way to the
// next they do for as long as that lasts.
func TestTonesThatCrossAreNoLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bin := func(name string) float64 { return float64(28+4*rapid.IntRange(0, 60).Draw(t, name)) * 44100 / 2048 }
		one, other, phase := bin("one"), bin("other"), rapid.Float64Range(0, 2*math.Pi).Draw(t, "phase")
		starts, cross := rapid.Float64Range(3.5, 4.5).Draw(t, "starts"), rapid.Float64Range(1, 3).Draw(t, "cross")
		level, curve := rapid.Float64Range(0.5, 1).Draw(t, "level"), rapid.Float64Range(0.4, 2).Draw(t, "curve")
		pcm := sound(10, func(at float64) float64 {
			in := max(0, min(1, (at-starts)/cross))
			return 0.4*math.Pow(1-in, curve)*math.Sin(2*math.Pi*one*at) + 0.4*level*math.Pow(in, curve)*math.Sin(2*math.Pi*other*at+phase)
		})
		if _, at, last := hear(pcm, time.Hour); at != 0 {
			t.Errorf("a loop after %s: %+v", at, last)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	pcm := noise(10, 0.3)
	j := NewJudge(-50)
	for b.Loop() {
		for at := 0; at+blockSize <= len(pcm); at += blockSize {
			j.Add(pcm[at : at+blockSize])
			j.Verdict()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/10, "ms/s-of-audio")
}
