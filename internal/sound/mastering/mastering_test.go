package mastering_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/mastering"
)

// sound makes a file with ffmpeg; args follow the input's.
func sound(t *testing.T, path, lavfi string, args ...string) string {
	t.Helper()
	args = append([]string{"-v", "error", "-y", "-f", "lavfi", "-i", lavfi}, args...)
	if out, err := exec.Command("ffmpeg", append(args, "file:"+path)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", path, err, out)
	}
	return path
}

// music is something with beats and a spectrum, of a level.
func music(seconds, level float64) string {
	return fmt.Sprintf("aevalsrc='%[2]g*(sin(2*PI*220*t)+0.5*sin(2*PI*331*t)+0.8*exp(-12*mod(t,0.5))*(2*random(0)-1))|"+
		"%[2]g*(sin(2*PI*221*t)+0.5*sin(2*PI*440*t)+0.8*exp(-12*mod(t,0.5))*(2*random(1)-1))':d=%[1]g:s=44100", seconds, level)
}

func station(t *testing.T) mastering.Profile {
	t.Helper()
	p, err := mastering.Named(mastering.Station)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var (
	integrated = regexp.MustCompile(`(?m)^\s+I:\s+(\S+) LUFS`)
	truePeak   = regexp.MustCompile(`(?m)^\s+Peak:\s+(\S+) dBFS`)
)

// check measures a mastered file with ffmpeg's meter, which is not ours.
func check(t *testing.T, name, path string, rec mastering.Record) {
	t.Helper()
	if math.Abs(rec.Integrated+rec.Short+14) > 0.5 || rec.TruePeak > -1.5 {
		t.Errorf("%s: recorded at %.2f LUFS, %.2f dBTP", name, rec.Integrated, rec.TruePeak)
	}
	out, err := exec.Command("ffmpeg", "-hide_banner", "-nostats", "-i", "file:"+path, "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-").CombinedOutput()
	i, p := integrated.FindSubmatch(out), truePeak.FindSubmatch(out)
	if err != nil || i == nil || p == nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	lufs, _ := strconv.ParseFloat(string(i[1]), 64)
	dbtp, _ := strconv.ParseFloat(string(p[1]), 64)
	if rec.Gated && math.Abs(lufs-rec.Integrated) > 0.11 {
		t.Errorf("%s: ffmpeg reads %.1f LUFS, the record says %.2f", name, lufs, rec.Integrated)
	}
	if dbtp > -1.45 || math.Abs(dbtp-rec.TruePeak) > 0.25 {
		t.Errorf("%s: ffmpeg reads %.1f dBTP, the record says %.2f", name, dbtp, rec.TruePeak)
	}
}

func TestOddFilesAreMastered(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	surround := "aevalsrc='0.2*sin(880*t)|0.2*sin(990*t)|0.3*sin(1500*t)|0.5*sin(300*t)|0.1*sin(2200*t)|0.1*sin(2500*t)':c=5.1:d=1:s=96000"
	for name, c := range map[string]struct {
		path     string
		duration time.Duration
		channels int
	}{
		"mono at 8 kHz":     {sound(t, at("telephone.wav"), music(1, 0.2), "-ac", "1", "-ar", "8000"), time.Second, 1},
		"5.1 at 96 kHz":     {sound(t, at("surround.flac"), surround), time.Second, 6},
		"clipped":           {sound(t, at("clipped.wav"), music(1, 4), "-c:a", "pcm_s16le"), time.Second, 2},
		"quiet":             {sound(t, at("quiet.flac"), music(1, 0.003), "-sample_fmt", "s32"), time.Second, 2},
		"0.3 s":             {sound(t, at("short.wav"), music(0.3, 0.2)), 300 * time.Millisecond, 2},
		"one impulse":       {sound(t, at("click.wav"), "aevalsrc='0.02*sin(700*t)+0.9*eq(n,30000)':d=24:s=44100"), 24 * time.Second, 1},
		"video":             {sound(t, at("film.mp4"), music(1, 0.2), "-f", "lavfi", "-i", "testsrc=d=1:s=64x64", "-shortest"), time.Second, 2},
		"Opus, called .mp3": {sound(t, at("really-ogg.mp3"), music(1, 0.2), "-f", "ogg", "-c:a", "libopus"), time.Second, 2},
	} {
		m := mastering.New(mastering.Options{})
		out := filepath.Join(dir, "out", name+".mp3")
		rec, err := m.Do(t.Context(), mastering.Job{In: c.path, Out: out, Profile: station(t)}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		check(t, name, out, rec)
		if (rec.Duration-c.duration).Abs() > 30*time.Millisecond || rec.SourceChannels != c.channels {
			t.Errorf("%s: %v of audio, %d channels at the source", name, rec.Duration, rec.SourceChannels)
		}
		info, err := ffmpeg.Probe(t.Context(), out)
		if err != nil || info.Codec != "mp3" || info.Channels != 2 || info.SampleRate != 44100 && info.SampleRate != 48000 {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		if rec.Gated == (name == "0.3 s") {
			t.Errorf("%s: gated is %v", name, rec.Gated)
		}
	}
}

// Dry strokes far over what lies between them: the limiter goes no deeper than 8 dB, the
// file comes out quieter than the target and says so, and is not refused.
func TestStrokesAreNotFlattenedForLoudness(t *testing.T) {
	dir := t.TempDir()
	in := sound(t, filepath.Join(dir, "tabla.wav"), "aevalsrc='0.9*exp(-150*mod(t,0.5))*sin(2*PI*180*t)+0.004*sin(2*PI*90*t)':d=25:s=44100", "-c:a", "pcm_s24le")
	out := filepath.Join(dir, "tabla.mp3")
	rec, err := mastering.New(mastering.Options{}).Do(t.Context(), mastering.Job{In: in, Out: out, Profile: station(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	linear := -1.5 - rec.SourcePeak
	if rec.Method != mastering.Limited || rec.Reduction > 8.3 || rec.Reduction < 6 || rec.Gain > linear+8 || rec.TruePeak > -1.5 {
		t.Errorf("%s, %.1f dB deep, gain %.1f dB where %.1f are linear, %.2f dBTP", rec.Method, rec.Reduction, rec.Gain, linear, rec.TruePeak)
	}
	if rec.Integrated > -14.5 || math.Abs(rec.Short-(-14-rec.Integrated)) > 0.01 || rec.Attempts > 2 {
		t.Errorf("at %.2f LUFS, said to be %.2f LU short, after %d attempts", rec.Integrated, rec.Short, rec.Attempts)
	}
}

// What is under 3 s is held to the target by its short-term maximum, silence included, so
// that it is heard beside music that was limited; what is longer, as ever. A file made so
// is fit when it is looked at again.
func TestBriefSoundsAreLouder(t *testing.T) {
	dir := t.TempDir()
	m := mastering.New(mastering.Options{})
	profile := station(t)
	profile.Brief = true
	for seconds, louder := range map[float64]float64{0.3: 6, 1: 4.77, 2: 1.76, 4: 0} {
		in := sound(t, filepath.Join(dir, fmt.Sprint(seconds, ".wav")), fmt.Sprintf("sine=500:d=%g:r=44100,aformat=channel_layouts=stereo", seconds))
		out := filepath.Join(dir, fmt.Sprint(seconds, ".mp3"))
		rec, err := m.Do(t.Context(), mastering.Job{In: in, Out: out, Profile: profile}, nil)
		if err != nil || math.Abs(rec.Loudness+14) > 0.2 || math.Abs(rec.Integrated-(-14+louder)) > 0.3 || rec.TruePeak > -1.5 {
			t.Errorf("%v s: %.2f LUFS, by the short term %.2f, %.2f dBTP, %v; want %.2f LU louder", seconds, rec.Integrated, rec.Loudness, rec.TruePeak, err, louder)
		}
		again, err := m.Do(t.Context(), mastering.Job{In: out, Out: filepath.Join(dir, "again.mp3"), Profile: profile, KeepFit: true, Measure: true}, nil)
		if err != nil || !again.Fit {
			t.Errorf("%v s: what was made is not fit: %+v, %v", seconds, again.Outcome, err)
		}
	}
}

// A file that was held down is not taken for a quiet one and limited again.
func TestWhatWasHeldDownIsFit(t *testing.T) {
	dir := t.TempDir()
	m := mastering.New(mastering.Options{})
	in := sound(t, filepath.Join(dir, "tabla.wav"), "aevalsrc='0.9*exp(-150*mod(t,0.5))*sin(2*PI*180*t)+0.004*sin(2*PI*90*t)':d=6:s=44100,aformat=channel_layouts=stereo")
	out := filepath.Join(dir, "tabla.mp3")
	rec, err := m.Do(t.Context(), mastering.Job{In: in, Out: out, Profile: station(t)}, nil)
	if err != nil || rec.Short < 1 {
		t.Fatalf("%+v, %v", rec, err)
	}
	again, err := m.Do(t.Context(), mastering.Job{In: out, Out: filepath.Join(dir, "again.mp3"), Profile: station(t), KeepFit: true}, nil)
	if err != nil || !again.Fit || math.Abs(again.Short-rec.Short) > 0.1 {
		t.Errorf("%+v, %v", again, err)
	}
	other, err := mastering.Named("-16")
	if err != nil {
		t.Fatal(err)
	}
	if again, err = m.Do(t.Context(), mastering.Job{In: out, Out: filepath.Join(dir, "again.mp3"), Profile: other, KeepFit: true, Measure: true}, nil); err != nil || again.Fit && again.Integrated < -16.5 {
		t.Errorf("for another target: %+v, %v", again, err)
	}
}

// A recording on an offset is neither refused nor raised with it: it comes out about
// zero, from the first sample to the last.
func TestOffsetIsRemoved(t *testing.T) {
	dir := t.TempDir()
	in := sound(t, filepath.Join(dir, "offset.wav"), "aevalsrc='0.0535+0.12*sin(2*PI*440*t)|0.0535+0.12*sin(2*PI*550*t)':d=12:s=44100", "-c:a", "pcm_f32le")
	out := filepath.Join(dir, "offset.mp3")
	rec, err := mastering.New(mastering.Options{}).Do(t.Context(), mastering.Job{In: in, Out: out, Profile: station(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "offset", out, rec)
	if math.Abs(rec.SourceOffset-0.0535) > 0.001 || rec.Method != mastering.Linear {
		t.Errorf("%+v", rec)
	}
	var heard []float32
	if err := ffmpeg.Decode(t.Context(), out, ffmpeg.Decoding{Rate: 44100, Channels: 2}, func(s []float32) error {
		heard = append(heard, s...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	mean := func(s []float32) (sum float64) {
		for _, v := range s {
			sum += float64(v)
		}
		return sum / float64(len(s))
	}
	const part = 2 * 4410 // of whole periods
	for where, s := range map[string][]float32{"all": heard, "start": heard[:part], "end": heard[len(heard)-part:]} {
		if m := mean(s); math.Abs(m) > 0.002 {
			t.Errorf("%s: the mean is %.4f", where, m)
		}
	}
}

func TestUnfitFilesAreRefusedWithTheirReason(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	cut := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data[:len(data)*2/3], 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := at("text.mp3")
	if err := os.WriteFile(text, []byte(strings.Repeat("no music\n", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	// Three hours of a telephone line, without writing them: a hole behind a header.
	long := sound(t, at("long.wav"), "sine=200:d=1:r=8000", "-c:a", "pcm_u8", "-bitexact")
	data, err := os.ReadFile(long)
	if err != nil {
		t.Fatal(err)
	}
	const size = 3 * 3600 * 8000
	binary.LittleEndian.PutUint32(data[4:], size+36)
	binary.LittleEndian.PutUint32(data[40:], size)
	if err := errors.Join(os.WriteFile(long, data[:44], 0o600), os.Truncate(long, size+44)); err != nil {
		t.Fatal(err)
	}
	m := mastering.New(mastering.Options{Longest: time.Hour})
	for name, c := range map[string]struct {
		path string
		want mastering.Reason
	}{
		"silence":        {sound(t, at("silence.flac"), "anullsrc=d=2"), mastering.Silent},
		"near silence":   {sound(t, at("hiss.flac"), music(2, 0.0008), "-sample_fmt", "s32"), mastering.TooQuiet},
		"50 ms":          {sound(t, at("blip.wav"), music(0.05, 0.2)), mastering.TooShort},
		"3 h, 1 allowed": {long, mastering.TooLong},
		"cut MP3":        {cut(sound(t, at("cut.mp3"), music(6, 0.2))), mastering.Truncated},
		"cut WAV":        {cut(sound(t, at("cut.wav"), music(6, 0.2))), mastering.Truncated},
		"cut M4A":        {cut(sound(t, at("cut.m4a"), music(6, 0.2))), mastering.Truncated},
		"text":           {text, mastering.NotAudio},
		"a folder":       {dir, mastering.NotAudio},
		"silent film":    {sound(t, at("film.mp4"), "testsrc=d=1:s=64x64"), mastering.NotAudio},
	} {
		out := filepath.Join(dir, "out", name+".mp3")
		_, err := m.Do(t.Context(), mastering.Job{In: c.path, Out: out, Profile: station(t)}, nil)
		var refused *mastering.RefusedError
		if !errors.As(err, &refused) || refused.Reason != c.want || refused.Text == "" {
			t.Errorf("%s: %v (%+v), want %s", name, err, refused, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: refused, and there all the same", name)
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, "out"))
	if err == nil && len(left) > 0 {
		t.Errorf("refused files left %v", left)
	}
}

func TestTagsPictureAndAnyFileName(t *testing.T) {
	dir := t.TempDir()
	pic := func(name string, side int) string { // noise does not compress
		img := image.NewRGBA(image.Rect(0, 0, side, side))
		rng := rand.New(rand.NewPCG(1, uint64(side)))
		for i := range img.Pix {
			img.Pix[i] = byte(rng.Uint32())
		}
		var b bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tags := []string{
		"-metadata", "title=أنتَ عمري \"live\" -i x", "-metadata", "artist=أم كلثوم", "-metadata", "date=1964",
		"-metadata", "lyrics=سطر\nسطر ثان", "-metadata", "comment=\u202eevil\x01", "-metadata", "REPLAYGAIN_TRACK_GAIN=-9 dB",
		"-metadata", "license=CC-BY-4.0",
	}
	small := sound(t, filepath.Join(dir, "small.mp3"), music(1.5, 0.2), append([]string{"-i", pic("small.png", 100), "-map", "0:a", "-map", "1:v", "-c:v", "copy", "-disposition:v", "attached_pic"}, tags...)...)
	large := sound(t, filepath.Join(dir, "large.mp3"), music(1.5, 0.2), "-i", pic("large.png", 700), "-map", "0:a", "-map", "1:v", "-c:v", "copy", "-disposition:v", "attached_pic")
	data, err := os.ReadFile(small)
	if err != nil {
		t.Fatal(err)
	}
	m := mastering.New(mastering.Options{})
	t.Chdir(dir) // so that a relative name can begin with a dash
	for i, name := range []string{"-i.mp3", "two\nlines '%d' \"q\" أغنية caf\xe9.mp3", "http:::x.mp3"} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join("out", mastering.OutName(name))
		job := mastering.Job{In: name, Out: out, Profile: station(t)}
		if i == 0 {
			job.Tags = map[string]string{"title": "Break", "genre": "Break", "date": ""}
		}
		if _, err := m.Do(t.Context(), job, nil); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		info, err := ffmpeg.Probe(t.Context(), out)
		want := map[string]string{"title": "أنتَ عمري \"live\" -i x", "artist": "أم كلثوم", "date": "1964", "comment": "evil", "license": "CC-BY-4.0", "replaygain_track_gain": ""}
		if i == 0 {
			want["title"], want["genre"], want["date"] = "Break", "Break", ""
		}
		for tag, value := range want {
			if info.Tags[tag] != value {
				t.Errorf("%q: %s is %q, want %q (%v)", name, tag, info.Tags[tag], value, err)
			}
		}
		if !strings.Contains(fmt.Sprint(info.Tags), "سطر\nسطر ثان") {
			t.Errorf("%q: the lyrics are gone: %q", name, info.Tags)
		}
		head, err := os.ReadFile(out)
		if err != nil || string(head[:4]) != "ID3\x04" || info.Picture == "" {
			t.Errorf("%q: begins %q, picture %q, %v", name, head[:4], info.Picture, err)
		}
	}
	if _, err := m.Do(t.Context(), mastering.Job{In: large, Out: "out/large.mp3", Profile: station(t)}, nil); err != nil {
		t.Fatal(err)
	}
	if info, err := ffmpeg.Probe(t.Context(), "out/large.mp3"); err != nil || info.Picture != "" {
		t.Errorf("a picture of megabytes: %q, %v", info.Picture, err)
	}
}

func TestCuePointsMarkWhereSoundIs(t *testing.T) {
	dir := t.TempDir()
	in := sound(t, filepath.Join(dir, "late.flac"), music(4, 0.1), "-af", "adelay=1200:all=1,apad=pad_dur=1.8")
	rec, err := mastering.New(mastering.Options{}).Do(t.Context(), mastering.Job{In: in, Out: filepath.Join(dir, "late.mp3"), Profile: station(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, d := range map[string]time.Duration{
		"in": rec.CueIn - 1200*time.Millisecond, "out": rec.CueOut - 5200*time.Millisecond, "end": rec.Duration - 7*time.Second,
	} {
		if d.Abs() > 40*time.Millisecond {
			t.Errorf("%s is %v off: %v to %v of %v", what, d, rec.CueIn, rec.CueOut, rec.Duration)
		}
	}
}

// Debian's music packages, of very different loudness: an excerpt of each.
func TestRealMusicComesOutAtTheTarget(t *testing.T) { masterRealMusic(t, 1) }

// masterRealMusic masters excerpts of so many files of each package.
func masterRealMusic(t *testing.T, each int) {
	dir := t.TempDir()
	var found []string
	for _, pattern := range []string{
		"/usr/share/games/singularity/music/*.ogg", "/usr/share/games/wesnoth/1.16/data/core/music/*.ogg",
		"/usr/share/games/asc/music/*", "/usr/share/hyperrogue/music/*.ogg", "/usr/share/hyperrogue/sounds/*.ogg",
	} {
		all, _ := filepath.Glob(pattern)
		if len(all) == 0 {
			t.Fatalf("no file %s: 'make deps-test' installs them", pattern)
		}
		for i := range each {
			found = append(found, all[i*(len(all)-1)/max(1, each-1)])
		}
	}
	m := mastering.New(mastering.Options{})
	methods := map[mastering.Method]int{}
	within := 0
	for i, path := range found {
		in := filepath.Join(dir, fmt.Sprintf("%02d.wav", i))
		if out, err := exec.Command("ffmpeg", "-v", "error", "-ss", "0", "-t", "6", "-i", path, "-map", "0:a:0", "-c:a", "pcm_f32le", in).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", path, err, out)
		}
		out := filepath.Join(dir, fmt.Sprintf("%02d.mp3", i))
		rec, err := m.Do(t.Context(), mastering.Job{In: in, Out: out, Profile: station(t)}, nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		check(t, filepath.Base(path), out, rec)
		methods[rec.Method]++
		if math.Abs(rec.Integrated+rec.Short+14) <= 0.2 && (rec.Short == 0 || rec.Reduction > 7.5) {
			within++
		}
		t.Logf("%-28s %6.1f LUFS %6.1f dBTP: %s %+5.1f dB, %d attempts: %.2f LUFS %.2f dBTP", filepath.Base(path), rec.SourceIntegrated, rec.SourcePeak,
			rec.Method, rec.Gain, rec.Attempts, rec.Integrated, rec.TruePeak)
	}
	if within < len(found)-1 || methods[mastering.Limited] == 0 {
		t.Errorf("%d of %d within 0.2 LU; %v", within, len(found), methods)
	}
}
