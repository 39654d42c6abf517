package deadair

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/internal/sound/score"
	"github.com/athir-radio/athir/internal/sound/stinger"
	"github.com/athir-radio/athir/internal/sound/synth"
)

// minutesOf names the environment variable that says how many minutes of real
// music are judged: 3 by itself.
const minutesOf = "ATHIR_GUARD_MINUTES"

// recordings are the songs of Debian's packages that the demo library is made of.
func recordings(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, dir := range []string{"/usr/share/games/wesnoth/1.16/data/core/music", "/usr/share/games/singularity/music"} {
		songs, err := filepath.Glob(filepath.Join(dir, "*.ogg"))
		if err != nil || len(songs) == 0 {
			t.Fatalf("no music in %s: apt-get install wesnoth-1.16-music singularity-music", dir)
		}
		out = append(out, songs...)
	}
	return out
}

// listenTo judges what is heard as the guard does, and returns every fault that
// would be one: where a repetition or a rest is in the recording itself, it is not.
func listenTo(j *Judge, pcm []int16) (faults []string, suspected int) {
	silence, loop := false, false
	for at := 0; at+blockSize <= len(pcm); at += blockSize {
		j.Add(pcm[at : at+blockSize])
		v := j.Verdict()
		when := (time.Duration(at) * time.Second / Rate).Round(time.Second).String()
		if silent := v.Silent >= 4*time.Second; silent && !silence {
			silence = true
			suspected++
			if from := max(0, at-20*Rate); Rests(pcm[from:min(len(pcm), at+10*Rate)], at-from, -50) == 0 {
				faults = append(faults, "silence at "+when)
			}
		}
		if v.Looping > 0 && !loop {
			loop = true
			suspected++
			if from := max(0, at-20*Rate); !repeats(pcm[from:min(len(pcm), at+Rate)]) {
				faults = append(faults, "loop at "+when+" of "+v.Period.String())
			}
		}
	}
	return faults, suspected
}

// Real music as it airs, at the station's loudness and with its silent ends cut
// off, its songs one after the other with half a second between, is no dead air.
//
//	ATHIR_GUARD_MINUTES=30 go test -run RealMusic -v ./internal/sound/deadair
func TestRealMusicIsNoDeadAir(t *testing.T) {
	minutes := 1.5
	if text := os.Getenv(minutesOf); text != "" {
		var err error
		if minutes, err = strconv.ParseFloat(text, 64); err != nil {
			t.Fatalf("%s: %v", minutesOf, err)
		}
	}
	songs := recordings(t)
	rand.New(rand.NewPCG(7, 8)).Shuffle(len(songs), func(i, j int) { songs[i], songs[j] = songs[j], songs[i] }) //nolint:gosec // a test's choice
	j := NewJudge(-50)
	heard, suspicions := time.Duration(0), 0
	each := time.Duration(max(minutes/float64(len(songs)), 0.75) * float64(time.Minute))
	for i := 0; heard.Minutes() < minutes; i++ {
		song := songs[i%len(songs)]
		pcm := decoded(t, song, each)
		heard += time.Duration(len(pcm)) * time.Second / Rate
		faults, suspected := listenTo(j, append(pcm, make([]int16, Rate/2)...))
		suspicions += suspected
		for _, f := range faults {
			t.Errorf("%s: %s", filepath.Base(song), f)
		}
	}
	t.Logf("%.1f minutes of %d songs: %d faults would have been told but for what the recordings hold themselves", heard.Minutes(), len(songs), suspicions)
}

// decoded is a song as its mastered copy airs, but for the limiter.
func decoded(t *testing.T, path string, most time.Duration) []int16 {
	t.Helper()
	var song []float32
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: Rate, Channels: 1, First: most}, func(part []float32) error {
		song = append(song, part...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	meter := loudness.NewMeter(Rate, loudness.Mono)
	meter.Write(song)
	found := meter.Result()
	gain := float32(math.Pow(10, (-14-3-found.Integrated)/20)) // 3 dB: the other channel
	begin, end := found.Sound(40)
	pcm := make([]int16, 0, len(song))
	for _, v := range song[int(begin.Seconds()*Rate):min(len(song), int(end.Seconds()*Rate))] {
		pcm = append(pcm, int16(32767*max(-1, min(1, v*gain))))
	}
	return pcm
}

// Our own imaging has drones, beats and long tails, made by arithmetic: none of
// it is dead air, one piece after the other.
func TestGeneratedImagingIsNoDeadAir(t *testing.T) {
	j := NewJudge(-50)
	hear := func(name string, s synth.Sound) {
		t.Helper()
		faults, suspected := listenTo(j, atRate(s))
		for _, f := range faults {
			t.Errorf("%s: %s", name, f)
		}
		if suspected > 0 {
			t.Logf("%s repeats itself, as it is meant to", name)
		}
	}
	for i, design := range stinger.Designs() {
		if i%12 > 0 {
			continue // each kind of sound there is, not each stinger
		}
		hear(string(design), stinger.Make(design, 1))
	}
	for mood := range score.Mood(2) {
		bed := score.Play(mood, 6, rand.New(rand.NewPCG(1, uint64(mood)))) //nolint:gosec // a test's choice
		hear("bed "+strconv.Itoa(int(mood)), bed.Sound)
	}
}

// atRate mixes down and averages so many samples to one: good enough for ears that
// hear below a kilohertz.
func atRate(s synth.Sound) []int16 {
	out := make([]int16, len(s[0])*Rate/synth.Rate)
	for n := range out {
		from, to := n*synth.Rate/Rate, min((n+1)*synth.Rate/Rate, len(s[0]))
		sum := float32(0)
		for k := from; k < to; k++ {
			sum += s[0][k] + s[1][k]
		}
		out[n] = int16(32767 * max(-1, min(1, sum/float32(2*(to-from)))))
	}
	return out
}
