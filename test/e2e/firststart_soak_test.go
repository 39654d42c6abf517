//go:build soak

package e2e

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	run "github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/internal/sound/mastering"
)

// firstStart is what one first start was like for a listener who was there from the
// first byte.
type firstStart struct {
	onAir    time.Duration // from the command to the log line
	byte     time.Duration // from the command to the first byte of audio
	song     time.Duration // from the command until a whole second of a song was heard; 0: never
	before   []string      // what was heard before it, and how long
	imaging  bool          // a jingle, sweeper or the like was heard before it
	songs    int           // different ones that began
	elements int           // different imaging that began
	twice    []string      // imaging that began twice
	file     string        // the first song
	lufs     float64       // of the first 30 s of it
	off      float64       // LU by which that differs from the mastered file's
	peak     float64       // dBTP of all that was heard
	gaps     []time.Duration
	alarms   []string
	parts    int // connections: more than one, and the stream broke off
	heard    time.Duration
	load     string   // of the machine at the end: what else ran on it
	line     []string // events of the log, with the seconds from the command on
}

// firstStart starts the station, listens, stops it, and tells what was heard. calm ends
// what keeps the machine busy: it is called before the judgement, which takes its time.
func (s *station) firstStart(listen time.Duration, shelf *shelf, calm func()) (f firstStart) {
	s.t.Helper()
	s.launch()
	s.t.Cleanup(s.stop)
	s.showLog()
	ear := &firstEar{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); ear.run(ctx, s) }()
	s.t.Cleanup(func() { cancel(); <-done })
	s.within("audio from Icecast", untilSong, func() bool { return !ear.began().IsZero() })
	began := ear.began()
	enough := func() time.Time {
		song := s.firstSong()
		if song.IsZero() {
			return began.Add(max(listen, untilSong))
		}
		return later(began.Add(listen), song.Add(songHeard+10*time.Second))
	}
	for time.Now().Before(enough()) {
		select {
		case <-s.ended:
			s.t.Fatal("the station has ended")
		case <-time.After(200 * time.Millisecond):
		}
	}
	plays := s.plays()
	cancel()
	<-done
	load, _ := os.ReadFile("/proc/loadavg") // Linux has it
	f.load, _, _ = strings.Cut(string(load), " ")
	s.stop()
	calm()

	f.parts, f.byte = ear.parts, began.Sub(s.began)
	f.readLog(s)
	f.songs, f.elements = len(byFile(plays, true)), len(byFile(plays, false))
	for file, n := range byFile(plays, false) {
		if n > 1 {
			f.twice = append(f.twice, file)
		}
	}
	f.listen(s, ear, shelf)
	return f
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

var (
	playing = regexp.MustCompile(`^time=(\S+) .*msg="now playing".* file=("(?:[^"\\]|\\.)*"|\S+)`)
	stamp   = regexp.MustCompile(`^time=(\S+) `)
	alarmOf = regexp.MustCompile(`msg="dead-air guard: alarm".* kind=(\S+)`)
)

// logTime is the time of a log line.
func logTime(line string) time.Time {
	if m := stamp.FindStringSubmatch(line); m != nil {
		at, _ := time.Parse(time.RFC3339Nano, m[1]) // our own log
		return at
	}
	return time.Time{}
}

// firstSong is when the log first told of a song; zero before.
func (s *station) firstSong() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.log {
		if m := playing.FindStringSubmatch(l); m != nil && isSong(strings.Trim(m[2], `"`)) {
			return logTime(l)
		}
	}
	return time.Time{}
}

// readLog takes over what the log tells: the moments on the way, and the alarms.
func (f *firstStart) readLog(s *station) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]bool{}
	for _, l := range s.log {
		at := logTime(l).Sub(s.began)
		if m := alarmOf.FindStringSubmatch(l); m != nil {
			f.alarms = append(f.alarms, m[1])
		}
		for _, e := range []struct{ name, words string }{
			{"on air", `msg="on air"`}, {"first of the music copied", `msg="building the demo library"`}, {"loudness check", `msg="loudness check started"`},
			{"rotation", `msg="rotation rebuilt"`}, {"song marked", `file=`}, {"music copied", `stage=music`}, {"imaging", `stage=imaging`},
			{"library complete", `msg="demo library complete"`}, {"mastering held up", `held up: what is on the air needs the machine`},
		} {
			ok := strings.Contains(l, e.words) && !seen[e.name]
			switch e.name {
			case "song marked":
				m := playing.FindStringSubmatch(l)
				ok = ok && m != nil && isSong(strings.Trim(m[2], `"`))
			case "music copied":
				done := regexp.MustCompile(`done=(\d+) total=(\d+)`).FindStringSubmatch(l)
				ok = ok && done != nil && done[1] == done[2]
			}
			if ok {
				seen[e.name] = true
				f.line = append(f.line, fmt.Sprintf("%s %.1f", e.name, at.Seconds()))
			}
		}
		if strings.Contains(l, `msg="on air"`) && f.onAir == 0 {
			f.onAir = at
		}
	}
}

// listen judges the audio.
func (f *firstStart) listen(s *station, ear *firstEar, shelf *shelf) {
	t := s.t
	t.Helper()
	path := filepath.Join(t.TempDir(), "heard.ogg")
	if err := os.WriteFile(path, ear.body, 0o600); err != nil {
		t.Fatal(err)
	}
	if keep := os.Getenv("AIRCHECK_DIR"); keep != "" {
		_ = os.WriteFile(filepath.Join(keep, strings.ReplaceAll(t.Name(), "/", " ")+".ogg"), ear.body, 0o600)
	}
	sound := decoded(t, path)
	f.heard = sound.duration()
	all := loudness.NewMeter(heardRate, loudness.Stereo)
	all.Write(sound)
	f.peak = all.Result().TruePeak
	f.gaps = sound.cut(sound.audible(0), sound.duration()).silences(100 * time.Millisecond)

	spans := shelf.spans(captured(t, path, f.heard), shelf.sounds(t, s, f.heard))
	i := slices.IndexFunc(spans, span.song)
	start := f.heard
	if i >= 0 {
		first := spans[i]
		f.file, start = first.file, max(0, first.offset)
		if i > 0 {
			start = max(start, min(spans[i-1].to, first.from))
		}
		start = sound.audible(start)
		f.song = ear.arrival(0)(min(f.heard, start+time.Second)).Sub(s.began)
	}
	f.hear(sound, spans, start)
	if i < 0 {
		return
	}
	end := min(start+songHeard, f.heard)
	if i+1 < len(spans) {
		end = min(end, max(spans[i+1].offset, spans[i+1].from-2*time.Second))
	}
	file := decoded(t, filepath.Join(s.media, f.file))
	gain := f.loudness(t, file, sound.cut(start, end), start-spans[i].offset)
	// A sound too short for a fingerprint: the song begins as its file does.
	soon := spans[i].offset + file.above(clearLevel-gain, 0) - sound.above(clearLevel, 0)
	if i == 0 && spans[i].offset >= 0 && soon > shortSound {
		f.before = append(f.before, fmt.Sprintf("something short %.1f s", soon.Seconds()))
	}
}

// crossed is how long a cross is, in which neither sound is told from the other.
const crossed = 3 * time.Second

// clearLevel (dBFS) is what nobody takes for a soft beginning. shortSound is how far the beginning of a song as heard may be from that of its file: a
// fingerprint tells it to an eighth of a second.
const (
	clearLevel = -40
	shortSound = 300 * time.Millisecond
)

// ownSilence is what a song may have of silence at its start, and airs with: see
// docs/mastering.md.
const ownSilence = 2 * time.Second

// hear says what was heard before the first song began.
func (f *firstStart) hear(sound pcm, spans []span, start time.Duration) {
	add := func(what string, d time.Duration) {
		if d >= 300*time.Millisecond {
			f.before = append(f.before, fmt.Sprintf("%s %.1f s", what, d.Seconds()))
		}
	}
	silent := func(d time.Duration) {
		if d > ownSilence {
			add("nothing", d)
		}
	}
	loud := sound.audible(0)
	silent(min(loud, start))
	at := min(loud, start)
	for _, sp := range spans {
		if sp.from >= start || sp.song() {
			break
		}
		if sp.offset-at > crossed {
			add("unknown", sp.offset-at)
		}
		to := min(max(sp.to, at), start)
		if sp.file != emergencyFile {
			f.imaging = true
		}
		add(sp.file, to-min(max(at, sp.offset), to))
		at = to
	}
	if rest := sound.cut(at, start); len(rest) > 0 && rest.level() < audibleLevel {
		silent(start - at)
	} else if start-at > crossed {
		add("unknown", start-at)
	}
}

// loudness compares the first song as heard with the same stretch of its file, raised
// to the target of its profile: a song may begin more softly than it goes on. It returns
// the gain (dB) that the song was heard with.
func (f *firstStart) loudness(t *testing.T, source pcm, heard pcm, offset time.Duration) (gain float64) {
	t.Helper()
	profile, err := mastering.Named(mastering.Station)
	if err != nil {
		t.Fatal(err)
	}
	stretch := integrated(source.cut(offset, offset+heard.duration()))
	f.lufs = integrated(heard)
	f.off = f.lufs - (profile.Target + stretch - integrated(source))
	return f.lufs - stretch
}

func integrated(p pcm) float64 {
	m := loudness.NewMeter(heardRate, loudness.Stereo)
	m.Write(p)
	return m.Result().Integrated
}

// captured is the fingerprint of what was heard.
func captured(t *testing.T, path string, length time.Duration) []uint32 {
	t.Helper()
	wav := filepath.Join(t.TempDir(), "heard.wav")
	// Streams that follow one another in a file are one for ffmpeg, not for fpcalc.
	if _, err := run.Output(t.Context(), run.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
		"-v", "error", "-nostdin", "-i", path, "-ac", "1", "-ar", "11025", wav,
	}}, 64<<10); err != nil {
		t.Fatal(err)
	}
	return (&shelf{prints: map[string][]uint32{}}).print(t, "", wav, length)
}

func (f firstStart) first() string {
	if len(f.before) == 0 {
		return "song"
	}
	return regexp.MustCompile(` [0-9.]+ s$`).ReplaceAllString(f.before[0], "")
}

func (f firstStart) String() string {
	gap := time.Duration(0)
	for _, g := range f.gaps {
		gap = max(gap, g)
	}
	return fmt.Sprintf("on air %.2f s, first byte %.2f s, a song %.2f s; before it: %s; %d songs, %d imaging (twice: %v) in %.0f s; first song %s: %.1f LUFS, %+.1f LU off; peak %.1f dBTP; %d gaps, longest %s; alarms %v; connections %d; load %s; log: %s",
		f.onAir.Seconds(), f.byte.Seconds(), f.song.Seconds(), strings.Join(f.before, ", "), f.songs, f.elements, f.twice, f.heard.Seconds(),
		f.file, f.lufs, f.off, f.peak, len(f.gaps), gap, f.alarms, f.parts, f.load, strings.Join(f.line, ", "))
}

// judge asserts what holds on any machine.
func (f firstStart) judge(t *testing.T) {
	t.Helper()
	if f.song == 0 {
		t.Fatalf("no song was heard within %s", f.heard)
	}
	if len(f.before) > 0 {
		t.Errorf("the first thing heard is no song: %s", strings.Join(f.before, ", "))
	}
	if len(f.alarms) > 0 {
		t.Errorf("alarms of dead air: %v", f.alarms)
	}
	if math.Abs(f.off) > off {
		t.Errorf("the first song is %+.1f LU off (%.1f LUFS in its first %s)", f.off, f.lufs, songHeard)
	}
	if f.peak > mostPeak {
		t.Errorf("a true peak of %.2f dBTP is heard", f.peak)
	}
	if len(f.twice) > 0 {
		t.Errorf("imaging is heard twice in the first %s: %v", f.heard.Round(time.Second), f.twice)
	}
}

var tableHead = []string{
	"| case (min / median / max) | starts | command → `on air`, s | `on air` → a second of a song, s | command → a second of a song, s | heard first | songs | imaging, different | imaging twice | first song, LUFS of 30 s | off its target, LU | peak, dBTP | gaps over 0.1 s | alarms |",
	"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
}

// row is a case's line of the table.
func row(name string, all []firstStart) string {
	each := func(value func(firstStart) float64) (out []float64) {
		for _, f := range all {
			out = append(out, value(f))
		}
		return out
	}
	heard := slices.DeleteFunc(slices.Clone(all), func(f firstStart) bool { return f.song == 0 })
	inSong := func(value func(firstStart) float64) (out []float64) {
		for _, f := range heard {
			out = append(out, value(f))
		}
		return out
	}
	first, gaps := []string{}, 0
	var alarms []string
	for _, f := range all {
		first, alarms, gaps = append(first, f.first()), append(alarms, f.alarms...), gaps+len(f.gaps)
	}
	return fmt.Sprintf("| %s | %d of %d | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %d | %s |", name, len(heard), len(all),
		spread(each(func(f firstStart) float64 { return f.onAir.Seconds() }), 1),
		spread(inSong(func(f firstStart) float64 { return (f.song - f.onAir).Seconds() }), 1),
		spread(inSong(func(f firstStart) float64 { return f.song.Seconds() }), 1),
		often(first),
		spread(each(func(f firstStart) float64 { return float64(f.songs) }), 0),
		spread(each(func(f firstStart) float64 { return float64(f.elements) }), 0),
		spread(each(func(f firstStart) float64 { return float64(len(f.twice)) }), 0),
		spread(inSong(func(f firstStart) float64 { return f.lufs }), 1),
		spread(inSong(func(f firstStart) float64 { return f.off }), 1),
		spread(each(func(f firstStart) float64 { return f.peak }), 1), gaps, often(alarms))
}
