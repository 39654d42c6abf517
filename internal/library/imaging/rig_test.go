package imaging

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
	"github.com/athir-radio/athir/internal/sound/stinger"
	"github.com/athir-radio/athir/internal/sound/synth"
	"github.com/athir-radio/athir/internal/sound/wav"
)

// childDir, set in the environment, makes this test binary a program that makes
// a drop and a stinger there and gets stuck when half of it is written, for a test to kill.
const childDir = "ATHIR_TEST_IMAGING_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		stuck, err := New(Options{Dir: dir, Voice: hummer{}, Master: stuckDesk{}, Workers: 2})
		if err == nil {
			_, err = stuck.Make(context.Background(), Order{VoiceDrops: 1, Stingers: 1, Designs: []stinger.Design{stinger.Zap}}, nil)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testkit.Main(m)
}

// stuckDesk writes half a file and never comes to an end.
type stuckDesk struct{}

func (stuckDesk) Do(_ context.Context, job mastering.Job, _ func(float64)) (mastering.Record, error) {
	half, err := os.ReadFile(job.In)
	if err == nil {
		err = os.WriteFile(job.Out, half[:len(half)/2], 0o600)
	}
	if err != nil {
		return mastering.Record{}, err
	}
	select {}
}

// announcer is the offline voice, for real. What was said once is not said
// again: it takes a while.
type announcer struct{ booth *speech.Booth }

var saidBefore sync.Map // text to speech.Clip

func (a announcer) Say(ctx context.Context, text string) (speech.Clip, error) {
	if said, ok := saidBefore.Load(text); ok {
		return said.(speech.Clip), nil
	}
	c, err := a.booth.Say(ctx, text)
	if err != nil {
		return c, err
	}
	saidBefore.Store(text, c)
	return c, nil
}

func espeak(t testing.TB) announcer {
	t.Helper()
	e, err := speech.NewEspeak("ar", 8)
	if err != nil {
		t.Fatal(err)
	}
	b, err := speech.New(speech.Options{Steps: []speech.Step{{Engine: e, Limit: time.Minute}}})
	if err != nil {
		t.Fatal(err)
	}
	return announcer{b}
}

func maker(t testing.TB, change func(*Options)) (*Maker, string) {
	t.Helper()
	dir := t.TempDir()
	o := Options{Dir: dir, Voice: espeak(t), Master: mastering.New(mastering.Options{})}
	if change != nil {
		change(&o)
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m, o.Dir
}

func songs(paths ...string) func(context.Context) ([]Song, error) {
	return func(context.Context) ([]Song, error) {
		var out []Song
		for _, p := range paths {
			out = append(out, Song{Path: p, Title: filepath.Base(p)})
		}
		return out, nil
	}
}

// heard is a finished file as a player decodes it.
type heard struct {
	sound  synth.Sound
	length float64 // seconds, decoded
	told   float64 // seconds, as its headers say
	lufs   float64
	dbtp   float64
	tags   map[string]string
}

func hear(t *testing.T, path string) heard {
	t.Helper()
	var h heard
	meter := loudness.NewMeter(synth.Rate, loudness.Stereo)
	err := ffmpeg.Decode(t.Context(), path, ffmpeg.Decoding{Rate: synth.Rate, Channels: 2}, func(s []float32) error {
		meter.Write(s)
		for i := 0; i < len(s); i += 2 {
			h.sound[0], h.sound[1] = append(h.sound[0], s[i]), append(h.sound[1], s[i+1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	info, err := ffmpeg.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	r := meter.Result()
	h.length, h.told, h.lufs, h.dbtp, h.tags = h.sound.Seconds(), info.Duration.Seconds(), r.Integrated, r.TruePeak, info.Tags
	return h
}

// mixOf makes one asset of a kind as far as its mix, and finishes it, so that a
// test can compare the file with what went into it.
func mixOf(t *testing.T, m *Maker, o Order) (mixdown, Asset, heard) {
	t.Helper()
	s, err := m.open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	it := plan(o, m.o.Phrases)[0]
	a := Asset{Kind: it.kind, Design: it.designName(), Seed: it.seed}
	mix, err := s.mix(t.Context(), it, &a)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.finish(t.Context(), it, mix, &a); err != nil {
		t.Fatal(err)
	}
	return mix, a, hear(t, filepath.Join(m.o.Dir, filepath.FromSlash(a.Path)))
}

// pieces are what several tests listen to, each made once.
var pieces = struct {
	sync.Mutex
	made map[string]piece
}{made: map[string]piece{}}

type piece struct {
	mix   mixdown
	asset Asset
	heard heard
}

// shared is mixOf with the real voice, desk and song, made once for all tests.
func shared(t *testing.T, o Order) (mixdown, Asset, heard) {
	t.Helper()
	pieces.Lock()
	defer pieces.Unlock()
	key := fmt.Sprintf("%+v", o)
	p, ok := pieces.made[key]
	if !ok {
		m, _ := maker(t, func(o *Options) { o.Songs = songs(realSong) })
		p.mix, p.asset, p.heard = mixOf(t, m, o)
		pieces.made[key] = p
	}
	return p.mix, p.asset, p.heard
}

// hummer gives so many seconds of a vowel for every text; a test may give it
// other lengths by text, or have it fail.
type hummer struct {
	seconds func(text string) float64
	fail    error
}

func (h hummer) Say(_ context.Context, text string) (speech.Clip, error) {
	if h.fail != nil {
		return speech.Clip{}, h.fail
	}
	seconds := 1.5
	if h.seconds != nil {
		seconds = h.seconds(text)
	}
	vowel := synth.Saw(seconds, synth.Flat(140), 0)
	synth.Filter(vowel, synth.BandPass, synth.Flat(700), 1)
	return speech.Clip{WAV: wav.Float32(synth.Rate, 1, vowel), Voice: "hummer"}, nil
}

// copier leaves the sound as it is, where a test does not listen to it.
type copier struct{}

func (copier) Do(_ context.Context, job mastering.Job, _ func(float64)) (mastering.Record, error) {
	sound, err := os.ReadFile(job.In)
	if err != nil {
		return mastering.Record{}, err
	}
	return mastering.Record{Outcome: mastering.Outcome{Duration: time.Second}}, os.WriteFile(job.Out, sound, 0o600)
}

// wavFile writes a sound where a decoder finds it.
func wavFile(t *testing.T, s synth.Sound) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "song.wav")
	if err := os.WriteFile(path, wav.Float32(synth.Rate, 2, s.Interleaved()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// all lists the files below a folder, hidden ones too.
func all(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() || path != dir && strings.HasPrefix(filepath.Base(path), ".") {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
