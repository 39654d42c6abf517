package mastering_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/mastering"
)

// samples decodes a file to mono.
func samples(t *testing.T, path string) []float32 {
	t.Helper()
	var all []float32
	if err := ffmpeg.Decode(t.Context(), path, ffmpeg.Decoding{Rate: 44100, Channels: 1}, func(s []float32) error {
		all = append(all, s...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSilenceAtTheEndsIsLeftOutWithoutAClick(t *testing.T) {
	dir := t.TempDir()
	ms := time.Millisecond
	// A hum under the music goes on through the silence: a cut without a fade would click.
	hum := func(pad string) string {
		return music(2, 0.1) + "," + pad + ",aeval='val(0)+0.0008*sin(2*PI*60*t)|val(1)'"
	}
	for name, c := range map[string]struct {
		lavfi         string
		in, out, left time.Duration
	}{
		"both ends":        {hum("adelay=1200:all=1,apad=pad_dur=1.8"), 1170 * ms, 1500 * ms, 2330 * ms},
		"too little":       {hum("adelay=250:all=1,apad=pad_dur=0.9"), 0, 0, 3150 * ms},
		"a quiet entrance": {music(2, 0.1) + ",volume='if(lt(t,1),0.03,1)':eval=frame", 0, 0, 2000 * ms},
	} {
		in, out := sound(t, filepath.Join(dir, name+".flac"), c.lavfi, "-sample_fmt", "s32"), filepath.Join(dir, name+".mp3")
		rec, err := mastering.New(mastering.Options{}).Do(t.Context(), mastering.Job{In: in, Out: out, Profile: station(t), Trim: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		check(t, name, out, rec)
		if (rec.TrimmedIn-c.in).Abs() > 20*ms || (rec.TrimmedOut-c.out).Abs() > 40*ms || (rec.Duration-c.left).Abs() > 40*ms {
			t.Errorf("%s: %v and %v are cut, %v is left", name, rec.TrimmedIn, rec.TrimmedOut, rec.Duration)
		}
		if c.in > 0 && (rec.CueIn-30*ms).Abs() > 15*ms || c.out > 0 && (rec.CueOut-rec.Duration+300*ms).Abs() > 40*ms {
			t.Errorf("%s: cue points at %v and %v of %v: not of the mastered file", name, rec.CueIn, rec.CueOut, rec.Duration)
		}
		pcm := samples(t, out)
		if first, last := math.Abs(float64(pcm[0])), math.Abs(float64(pcm[len(pcm)-1])); c.in > 0 && first > 2e-4 || c.out > 0 && last > 2e-4 {
			t.Errorf("%s: begins at %.5f and ends at %.5f", name, first, last)
		}
	}
}

// What an operator keeps of a file is what airs, to the frame, whatever silence there is;
// the end that is not given is trimmed as ever.
func TestWhatIsKeptOfAFileIsWhatAirs(t *testing.T) {
	dir, ms := t.TempDir(), time.Millisecond
	in := sound(t, filepath.Join(dir, "in.flac"), music(4, 0.1)+",adelay=1200:all=1,apad=pad_dur=1.8", "-sample_fmt", "s32") // 7 s
	for name, c := range map[string]struct{ from, to, in, out time.Duration }{
		"both":                 {2000 * ms, 4500 * ms, 2000 * ms, 2500 * ms},
		"the beginning":        {500 * ms, 0, 500 * ms, 1500 * ms},
		"the end":              {0, 3000 * ms, 1170 * ms, 4000 * ms},
		"more than there is":   {0, 60_000 * ms, 1170 * ms, 0},
		"another, longer file": {50_000 * ms, 60_000 * ms, 1170 * ms, 0},
	} {
		out := filepath.Join(dir, name+".mp3")
		job := mastering.Job{In: in, Out: out, Profile: station(t), Trim: true, From: c.from, To: c.to, KeepFit: true}
		rec, err := mastering.New(mastering.Options{}).Do(t.Context(), job, nil)
		if err != nil {
			t.Fatal(err)
		}
		check(t, name, out, rec)
		left := 7000*ms - rec.TrimmedIn - rec.TrimmedOut
		if (rec.TrimmedIn-c.in).Abs() > 20*ms || c.to <= 7000*ms && (rec.TrimmedOut-c.out).Abs() > 40*ms || (rec.Duration-left).Abs() > 40*ms {
			t.Errorf("%s: %v and %v are cut, %v is left", name, rec.TrimmedIn, rec.TrimmedOut, rec.Duration)
		}
	}
}

func TestFileThatIsFitIsLeftAsItIs(t *testing.T) {
	dir := t.TempDir()
	m := mastering.New(mastering.Options{})
	made := filepath.Join(dir, "made.mp3")
	in := sound(t, filepath.Join(dir, "in.wav"), music(2, 0.3))
	if _, err := m.Do(t.Context(), mastering.Job{In: in, Out: made, Profile: station(t), Trim: true}, nil); err != nil {
		t.Fatal(err)
	}
	other, err := mastering.Named("-16")
	if err != nil {
		t.Fatal(err)
	}
	renamed := filepath.Join(dir, "made.wav")
	if err := os.Link(made, renamed); err != nil {
		t.Fatal(err)
	}
	remade := func(name string, args ...string) string {
		return sound(t, filepath.Join(dir, name), "anullsrc=d=2:r=44100,aformat=channel_layouts=stereo", append([]string{"-i", made, "-b:a", "192k"}, args...)...)
	}
	for name, c := range map[string]struct {
		path    string
		profile mastering.Profile
		fit     bool
	}{
		"what we made":           {made, station(t), true},
		"another profile":        {made, other, false},
		"2 LU quieter":           {remade("quiet.mp3", "-map", "1:a", "-af", "volume=-2dB"), station(t), false},
		"silence at its end":     {remade("padded.mp3", "-filter_complex", "[1][0]concat=n=2:v=0:a=1"), station(t), false},
		"another format":         {remade("made.ogg", "-map", "1:a", "-c:a", "libvorbis"), station(t), false},
		"by another name":        {renamed, station(t), false},
		"a rate we do not make":  {remade("low.mp3", "-map", "1:a", "-ar", "22050"), station(t), false},
		"the source of all this": {in, station(t), false},
	} {
		out := filepath.Join(dir, "out", name+".mp3")
		job := mastering.Job{In: c.path, Out: out, Profile: c.profile, Trim: true, KeepFit: true}
		// What is fit is found before anything is made: a copy of one kind will do.
		job.Measure = !c.fit && name != "silence at its end"
		rec, err := m.Do(t.Context(), job, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, there := os.Stat(out)
		if rec.Fit != c.fit || (there == nil) == (c.fit || job.Measure) || (rec.Out == "") != c.fit {
			t.Errorf("%s: fit is %v, the copy at %q (%v)", name, rec.Fit, rec.Out, there)
		}
		if job.Measure {
			continue
		}
		if math.Abs(rec.Integrated-c.profile.Target) > 0.5 || rec.TruePeak > -1.5 || rec.Duration < 1900*time.Millisecond {
			t.Errorf("%s: recorded at %.2f LUFS, %.2f dBTP, %v", name, rec.Integrated, rec.TruePeak, rec.Duration)
		}
	}
}
