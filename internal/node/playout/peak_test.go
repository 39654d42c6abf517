package playout_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/internal/sound/wav"
	"github.com/athir-radio/athir/test/aircheck"
)

const (
	rate    = 44100
	ceiling = -1.5 // dBTP
)

// sound is a stereo file to play, made sample by sample: at returns both channels.
func (r *rig) sound(name string, long time.Duration, at func(i int) (float64, float64)) string {
	r.t.Helper()
	var samples []int16
	for i := range int(long.Seconds() * rate) {
		left, right := at(i)
		samples = append(samples, wav.Quantize(left), wav.Quantize(right))
	}
	return r.pcm(name, samples)
}

func (r *rig) pcm(name string, samples []int16) string {
	r.t.Helper()
	file := filepath.Join(r.dir, name)
	if err := os.WriteFile(file, wav.PCM16(rate, 2, samples), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return file
}

// hot is a master as loud as it gets: bass, noise and a drum's strokes driven far into
// the limiter of the mastering, with true peaks at the ceiling.
func (r *rig) hot(name string, long time.Duration, seed uint64) string {
	r.t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // sound that can be repeated
	var frames []float32
	period := 0.37 + 0.01*float64(seed%7)
	for i := range int(long.Seconds() * rate) {
		now := float64(i) / rate
		stroke := math.Exp(-60 * math.Mod(now, period))
		v := 0.3*math.Sin(2*math.Pi*(50+float64(seed%5)*7)*now) + 0.9*stroke*(rng.Float64()*2-1) + 0.15*math.Sin(2*math.Pi*9000*now)
		frames = append(frames, float32(v+0.2*(rng.Float64()*2-1)), float32(v+0.2*(rng.Float64()*2-1)))
	}
	limiter := loudness.NewLimiter(rate, 2, 9, ceiling-0.02)
	frames = append(limiter.Process(frames), limiter.Flush()...)
	samples := make([]int16, len(frames))
	for i, v := range frames {
		samples[i] = wav.Quantize(float64(v))
	}
	got := measure(frames)
	r.t.Logf("%s: %.1f LUFS, %.2f dBTP", name, got.Integrated, got.TruePeak)
	return r.pcm(name, samples)
}

func measure(frames []float32) *loudness.Measurement {
	m := loudness.NewMeter(rate, []float64{1, 1})
	m.Write(frames)
	return m.Result()
}

// decoded is audio as it leaves the engine, or the decoder of a listener, in stereo.
func (o *offline) decoded() []float32 {
	o.t.Helper()
	out, err := proc.Output(o.t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
		"-v", "error", "-i", o.file, "-f", "f32le", "-ac", "2", "pipe:1",
	}}, 1<<28)
	if err != nil {
		o.t.Fatal(err)
	}
	frames := make([]float32, len(out)/4)
	if err := binary.Read(bytes.NewReader(out), binary.LittleEndian, frames); err != nil {
		o.t.Fatal(err)
	}
	return frames
}

// closed is audio without the step at its end, where the engine was ended in the middle
// of a wave: filters ring at a step.
func closed(frames []float32) []float32 {
	const ramp = rate / 100
	for i := range min(ramp, len(frames)/2) {
		last := len(frames) - 2*i - 2
		frames[last] *= float32(i) / ramp
		frames[last+1] *= float32(i) / ramp
	}
	return frames
}

func lines(entries ...string) []byte { return pad("#EXTM3U\n" + strings.Join(entries, "\n") + "\n") }

// Whatever airs, its true peaks at the encoder's input keep the station's ceiling.
func TestNothingThatAirsPeaksAboveTheCeiling(t *testing.T) {
	t.Parallel()
	for name, play := range peaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := play(newRig(t))
			o.ended()
			got := measure(closed(o.decoded()))
			t.Logf("%.2f dBTP, %.2f dBFS, %.1f LUFS", got.TruePeak, got.SamplePeak, got.Integrated)
			if got.TruePeak > ceiling+0.005 { // a hundredth of a decibel is what a meter shows
				t.Errorf("%.2f dBTP, want at most %.2f", got.TruePeak, ceiling)
			}
		})
	}
}

// A mastered song keeps the ceiling by itself: the limiter leaves each of its samples as
// it is, however loud the song.
func TestAMasteredSongPassesUnchanged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const long = 8 * second
	file := r.hot("a.wav", long, 2)
	r.push(lines(file, file))
	o := r.offline()
	o.play(long)
	o.ended()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	song, err := wav.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	aired := o.decoded()
	// To within a step of sixteen bits: the engine reads them and writes them as parts of
	// 32767, and cuts off what is left over.
	same := func(aired, file float32) bool {
		const scale = 32767. / 32768 * 32767 / 32768
		return math.Abs(float64(aired)-float64(file)*scale) <= 1./32768
	}
	// The emergency audio with which an engine begins is over after half a second, and what
	// the limiter did to it 1.5 s later. The cross begins two seconds before the end.
	const from, to = 2 * 3 * rate, 2 * (int(long/second) - 3) * rate
	shift := -1
	for s := range 2 * rate {
		n := 0
		for n < 1000 && same(aired[from+s+n], song.Samples[from+n]) {
			n++
		}
		if n == 1000 {
			shift = s
			break
		}
	}
	if shift < 0 {
		t.Fatal("the song is not on the air as it is")
	}
	t.Logf("the song begins %.1f ms into the audio", float64(shift)/2/rate*1000)
	for i := from; i < to; i++ {
		if got, want := aired[i+shift], song.Samples[i]; !same(got, want) {
			t.Fatalf("sample %d is %v on the air and %v in the file", i, got, want)
		}
	}
}

// A file of float samples may hold some that are no numbers: they are heard as silence,
// and the rest as it is.
func TestSamplesThatAreNoNumbersDoNotSilenceTheStation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	samples := make([]float32, 0, 2*5*rate)
	for i := range 5 * rate {
		v := float32(0.1 * math.Cos(2*math.Pi*aircheck.Frequency(4)*float64(i)/rate))
		switch i {
		case 2 * rate:
			v = float32(math.NaN())
		case 2*rate + 1000:
			v = float32(math.Inf(1))
		}
		samples = append(samples, v, v)
	}
	file := filepath.Join(r.dir, "broken.wav")
	if err := os.WriteFile(file, wav.Float32(rate, 2, samples), 0o600); err != nil {
		t.Fatal(err)
	}
	r.push(lines(gained("1", file), file))
	o := r.offline()
	o.play(7 * second)
	pcm := o.end()
	for _, at := range []time.Duration{second, 28 * second / 10, 57 * second / 10} { // before, after, and in the entry after
		want := -19.0
		if at > 5*second {
			want = -20
		}
		if got := amplitude(pcm.Cut(at, at+second/10), 4); math.Abs(got-want) > 0.1 {
			t.Errorf("at %s the tone is at %.2f dBFS, want %.2f", at, got, want)
		}
	}
}

// Three decibels into the limiter, a bass tone stays a bass tone.
func TestTheLimiterDoesNotDistortBass(t *testing.T) {
	t.Parallel()
	for _, hz := range []int{30, 60} {
		r := newRig(t)
		file := r.sound("bass.wav", 6*second, func(i int) (float64, float64) {
			v := 0.5 * math.Sin(2*math.Pi*float64(hz*i)/rate)
			return v, v
		})
		r.push(lines(gained("7.52", file))) // 1.5 dBFS
		o := r.offline()
		o.play(5 * second)
		o.ended()
		aired := o.decoded()[2*2*rate : 2*4*rate]
		harmonic := func(n int) float64 {
			var re, im float64
			for i := 0; i < len(aired); i += 2 {
				phase := 2 * math.Pi * float64(n*hz) * float64(i/2) / rate
				re, im = re+float64(aired[i])*math.Cos(phase), im+float64(aired[i])*math.Sin(phase)
			}
			return 4 * math.Hypot(re, im) / float64(len(aired))
		}
		power := 0.0
		for n := 2; n <= 20; n++ {
			power += math.Pow(harmonic(n), 2)
		}
		level, thd := 20*math.Log10(harmonic(1)), 100*math.Sqrt(power)/harmonic(1)
		t.Logf("%d Hz: %.2f dBFS, distortion %.3f %%", hz, level, thd)
		if thd >= 1 || level > ceiling || level < ceiling-0.5 {
			t.Errorf("%d Hz: %.2f dBFS, distortion %.3f %%, want %.1f and less than 1 %%", hz, level, thd, ceiling)
		}
	}
}

// A stroke takes nothing from the music around it for longer than it has to.
func TestTheLimiterLetsGoOfAStrokeAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const stroke = 3 * rate
	file := r.sound("stroke.wav", 6*second, func(i int) (float64, float64) {
		v := 0.1 * math.Sin(2*math.Pi*1000*float64(i)/rate)
		if i >= stroke && i < stroke+20 {
			v = 0.84 * math.Sin(2*math.Pi*float64(i-stroke)/20) // with the gain 8 dB above the ceiling
		}
		return v, v
	})
	r.push(lines(gained("8.02", file)))
	o := r.offline()
	o.play(5 * second)
	o.ended()
	aired := o.decoded()
	loud := 0
	for i := range aired {
		if math.Abs(float64(aired[i])) > math.Abs(float64(aired[loud])) && i > 2*2*rate {
			loud = i
		}
	}
	tone := func(after time.Duration) float64 { // dB above where it was
		at := (loud/2 + int(after.Seconds()*rate)) * 2
		var re, im float64
		for i := range 441 {
			phase := 2 * math.Pi * 1000 * float64(i) / rate
			re, im = re+float64(aired[at+2*i])*math.Cos(phase), im+float64(aired[at+2*i])*math.Sin(phase)
		}
		return 20*math.Log10(2*math.Hypot(re, im)/441) - 20*math.Log10(0.1) - 8.02
	}
	for _, c := range []struct {
		after time.Duration
		least float64
	}{{-50 * time.Millisecond, -0.1}, {10 * time.Millisecond, -9}, {100 * time.Millisecond, -4}, {200 * time.Millisecond, -1.5}, {400 * time.Millisecond, -0.2}} {
		got := tone(c.after)
		t.Logf("%s after the stroke: %.2f dB", c.after, got)
		if got < c.least {
			t.Errorf("%s after the stroke the tone is at %.2f dB, want at least %.2f", c.after, got, c.least)
		}
	}
}

var peaks = map[string]func(r *rig) *offline{
	"two hot masters cross": func(r *rig) *offline {
		var list []string
		for seed := range uint64(6) {
			list = append(list, r.hot(string(rune('a'+seed))+".wav", 6*second, seed))
		}
		r.push(lines(list...))
		o := r.offline()
		o.playUntil("the last entry", entered(len(list)))
		o.play(4 * second)
		return o
	},
	"jingles over music": func(r *rig) *offline {
		var list []string
		for seed := range uint64(6) {
			file := r.hot(string(rune('a'+seed))+".wav", 3*second, seed)
			if seed%2 == 1 {
				file = "annotate:type=jingles,liq_cross_duration=0.5:" + file
			}
			list = append(list, file)
		}
		r.push(lines(list...))
		o := r.offline()
		o.playUntil("the last entry", entered(len(list)))
		o.play(2 * second)
		return o
	},
	"a song of clicks with 8 dB too much": func(r *rig) *offline {
		rng := rand.New(rand.NewPCG(3, 7)) //nolint:gosec // sound that can be repeated
		left := 0
		file := r.sound("clicks.wav", 12*second, func(i int) (float64, float64) {
			bed := 0.1 * math.Sin(2*math.Pi*440*float64(i)/rate)
			if left--; left < -2 {
				left = 200 + rng.IntN(20000)
			}
			if left < 0 {
				return bed + 0.74, -bed - 0.74 // three samples
			}
			return bed, bed
		})
		r.push(lines(gained("8", file), gained("8", file)))
		o := r.offline()
		o.play(21 * second)
		return o
	},
	"noise with 8 dB too much": func(r *rig) *offline {
		rng := rand.New(rand.NewPCG(4, 7)) //nolint:gosec // sound that can be repeated
		file := r.sound("noise.wav", 8*second, func(int) (float64, float64) { return 1.6 * (rng.Float64() - 0.5), 1.6 * (rng.Float64() - 0.5) })
		r.push(lines(gained("8", file), gained("8", file)))
		o := r.offline()
		o.play(12 * second)
		return o
	},
	"a live encoder at full scale": func(r *rig) *offline {
		r.push(lines(r.hot("a.wav", 30*second, 1)))
		o := r.offline()
		o.play(second)
		r.sound("live.wav", 10*second, func(i int) (float64, float64) {
			v := 1.0
			if i/37%2 == 0 {
				v = -1
			}
			return v, v
		})
		o.stream(filepath.Join(r.dir, "live.wav"))
		o.play(5 * second)
		return o
	},
	"emergency audio at full scale": func(r *rig) *offline {
		rng := rand.New(rand.NewPCG(5, 7)) //nolint:gosec // sound that can be repeated
		r.o.Emergency = r.sound("loud.wav", 3*second, func(int) (float64, float64) { return 2 * (rng.Float64() - 0.5), 2 * (rng.Float64() - 0.5) })
		r.push(lines())
		o := r.offline()
		o.play(8 * second)
		return o
	},
}
