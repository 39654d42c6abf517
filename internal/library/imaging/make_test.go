package imaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/stinger"
)

func TestSameSeedSongsAndVoiceMakeTheSame(t *testing.T) {
	order, song := Order{Sweepers: 1, SongDrops: 1, IDs: 1, VoiceDrops: 1, Stingers: 2}, ""
	if few {
		order.Sweepers, order.SongDrops, order.IDs = 0, 0, 0
	} else {
		song = wavFile(t, clicks(0.3, 0.55, 40))
	}
	of := func(seed uint64) Order {
		order.Seed = seed
		return order
	}
	make := func(seed uint64) ([]Asset, map[string][]byte) {
		m, dir := maker(t, func(o *Options) { o.Voice, o.Master, o.Songs = hummer{}, copier{}, songs(song) })
		r, err := m.Make(t.Context(), of(seed), nil)
		if err != nil || len(r.Failed) > 0 {
			t.Fatal(err, r.Failed)
		}
		sounds := map[string][]byte{}
		for i, a := range r.Made {
			sound, err := os.ReadFile(filepath.Join(dir, a.Path))
			if err != nil {
				t.Fatal(err)
			}
			sounds[fmt.Sprint(i)] = sound
			r.Made[i].Path = strings.Split(a.Path, "T")[0] // without the time
		}
		return r.Made, sounds
	}
	first, firstSounds := make(11)
	again, againSounds := make(11)
	other := plan(of(12), defaultPhrases())
	for i := range first {
		a, b := first[i], again[i]
		if (a.Song == nil) != (b.Song == nil) || a.Song != nil && *a.Song != *b.Song {
			t.Errorf("the same seed cut %+v and then %+v", a.Song, b.Song)
		}
		a.Song, b.Song = nil, nil
		if a != b || !bytes.Equal(firstSounds[fmt.Sprint(i)], againSounds[fmt.Sprint(i)]) {
			t.Errorf("the same seed made\n%+v and then\n%+v", a, b)
		}
		if first[i].Seed == other[i].seed {
			t.Errorf("seeds 11 and 12 both gave %+v", first[i])
		}
	}
	// The order of one kind changes nothing of another.
	fewer := plan(Order{VoiceDrops: 2, Seed: 11}, defaultPhrases())
	if i := slices.IndexFunc(first, func(a Asset) bool { return a.Kind == VoiceDrop }); fewer[0].seed != first[i].Seed {
		t.Error("a voice drop's seed depends on how many sweepers and stingers are ordered")
	}
}

func TestPhrasesAreDealtWithoutRepeatsAndEachKindHasADozen(t *testing.T) {
	for kind, phrases := range defaultPhrases() {
		if len(phrases) < 12 {
			t.Errorf("%s has %d phrases", kind, len(phrases))
		}
		for _, p := range phrases {
			if !strings.Contains(p, stationMark) {
				t.Errorf("%s: %q does not name the station", kind, p)
			}
		}
	}
	seen := map[string]bool{}
	for _, it := range plan(Order{VoiceDrops: 12, Seed: 5}, defaultPhrases()) {
		if seen[it.phrases[0]] {
			t.Errorf("%q comes twice before all were heard", it.phrases[0])
		}
		seen[it.phrases[0]] = true
	}
}

// Every phrase of ours is spoken by the offline voice within its time: one that
// is not would never air.
func TestEveryPhraseFitsItsTimeInTheOfflineVoice(t *testing.T) {
	b := &booth{voice: espeak(t), dir: t.TempDir(), takes: map[string]func() (take, error){}}
	limits := map[Kind]float64{Sweeper: sweeperSpan().least - lastHit - earliest, VoiceDrop: dropSpan().least - 1.4, ID: 2.5}
	limits[SongDrop] = limits[Sweeper]
	for kind, phrases := range defaultPhrases() {
		if few { // the longest in writing
			slices.SortFunc(phrases, func(a, b string) int { return len(b) - len(a) })
			phrases = phrases[:3]
		}
		for _, p := range phrases {
			took, err := b.say(t.Context(), withStation(p, stationName))
			if err != nil {
				t.Fatal(err)
			}
			if got := float64(len(took.samples)) / 44100; got > limits[kind]*mostFast {
				t.Errorf("%s: %q takes %.2f s of %.2f", kind, p, got, limits[kind])
			}
		}
	}
}

func TestAVoiceTooLongIsMadeFasterOrAnotherPhraseIsTaken(t *testing.T) {
	phrases := Phrases{VoiceDrop: {"endless {station}", "longer {station}"}}
	m, _ := maker(t, func(o *Options) {
		o.Station, o.Phrases, o.Master = "athir", phrases, copier{}
		o.Voice = hummer{seconds: func(text string) float64 {
			if strings.HasPrefix(text, "endless") {
				return 9
			}
			return 2.4 // more than the 2.1 to 2.5 s there are, but not by much
		}}
	})
	for seed := range uint64(2) {
		s, err := m.open(t.Context(), Order{VoiceDrops: 1})
		if err != nil {
			t.Fatal(err)
		}
		var a Asset
		mix, err := s.mix(t.Context(), plan(Order{VoiceDrops: 1, Seed: seed}, m.o.Phrases)[0], &a)
		s.close()
		if err != nil {
			t.Fatal(err)
		}
		if a.Text != "longer athir" || a.Tempo > mostFast {
			t.Errorf("%q at %.2f", a.Text, a.Tempo)
		}
		// No word is cut: the voice in the mix is as long as it was spoken, and over before the file is.
		env := envelope(mix.dry[0])
		from, to := 0, 0
		for i, v := range env {
			if v > 0.01 && from == 0 {
				from = i
			}
			if v > 0.01 {
				to = i
			}
		}
		if got, want := float64(to-from)/1000, 2.4/a.Tempo; got < want-0.05 || got > want+0.05 || to > len(env)-300 {
			t.Errorf("%.2f s of voice until %d of %d ms, spoken in %.2f", got, to, len(env), want)
		}
	}
	m.o.Phrases[VoiceDrop] = []string{"endless {station}"}
	_, err := m.Make(t.Context(), Order{VoiceDrops: 1}, nil)
	if err == nil || !strings.Contains(err.Error(), "shorter phrases") {
		t.Errorf("nine seconds in a drop: %v", err)
	}
}

func TestWithoutAVoiceThereAreStingersAndAClearError(t *testing.T) {
	silent := errors.New("no engine could speak")
	m, dir := maker(t, func(o *Options) { o.Voice, o.Master = hummer{fail: silent}, copier{} })
	var told []Progress
	r, err := m.Make(t.Context(), Order{Sweepers: 2, IDs: 1, VoiceDrops: 1, Stingers: 2}, func(p Progress) { told = append(told, p) })
	if !errors.Is(err, ErrUnspoken) || !errors.Is(err, silent) {
		t.Errorf("error: %v", err)
	}
	files := all(t, dir)
	if len(r.Made) != 2 || len(r.Failed) != 4 || len(files) != 2 || !strings.HasPrefix(files[0], "sfx/SFX_") {
		t.Errorf("made %v, failed %v, files %v", r.Made, r.Failed, files)
	}
	if len(told) != 6 || told[5].Done != 6 || told[5].Of != 6 {
		t.Errorf("progress: %+v", told)
	}
}

func TestAnAssetThatFailsTakesNoOtherWithIt(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.mp3")
	if err := os.WriteFile(broken, []byte("this is no sound"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, dir := maker(t, func(o *Options) { o.Voice, o.Master, o.Songs = hummer{}, copier{}, songs(broken) })
	r, err := m.Make(t.Context(), Order{Sweepers: 2, SongDrops: 1}, nil)
	if err != nil || len(r.Made) != 2 || len(r.Failed) != 1 || r.Failed[0].Kind != SongDrop || !strings.Contains(r.Failed[0].Err.Error(), "broken.mp3") {
		t.Errorf("made %v, failed %v, %v", r.Made, r.Failed, err)
	}
	if r.Made[1].Design != "VOX" || r.Made[1].Song != nil || r.Made[1].BeatBy != FromScore {
		t.Errorf("a sweeper over a song that cannot be cut has composed music: %+v", r.Made[1])
	}
	if len(all(t, dir)) != 2 {
		t.Errorf("files: %v", all(t, dir))
	}
}

func TestCancelledOrderEndsAndLeavesNothingHalf(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	m, dir := maker(t, func(o *Options) { o.Voice, o.Master = hummer{}, copier{} })
	r, err := m.Make(ctx, Order{Stingers: 200, Designs: []stinger.Design{stinger.Zap}}, func(p Progress) {
		if p.Done == 3 {
			cancel(enough)
		}
	})
	if !errors.Is(err, enough) || len(r.Failed) != 0 || len(r.Made) == 200 {
		t.Errorf("%d made, %v failed, %v", len(r.Made), r.Failed, err)
	}
	if files := all(t, dir); len(files) != len(r.Made) {
		t.Errorf("%d files of %d that were told", len(files), len(r.Made))
	}
}

func TestKilledRunLeavesNoHalfFileAndTheNextRunSweeps(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	ended := make(chan error, 1)
	go func() {
		_, err := proc.Run(ctx, proc.Spec{Name: "child", Path: self, Env: []string{childDir + "=" + dir}, Stop: 9}, nil)
		ended <- err
	}()
	testkit.Eventually(t, "two pieces are half written", func() bool { return len(halves(t, dir)) >= 2 })
	m, _ := maker(t, func(o *Options) { o.Dir, o.Voice, o.Master = dir, hummer{}, copier{} })
	next := func() { // each order begins so
		t.Helper()
		aged(t, dir)
		s, err := m.open(t.Context(), Order{IDs: 1, Stingers: 1})
		if err != nil {
			t.Fatal(err)
		}
		s.close()
	}
	next()
	if len(halves(t, dir)) != 2 {
		t.Error("a run at work was swept")
	}
	kill()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, f := range all(t, dir) {
		if !strings.Contains(f, "/.imaging-") && !strings.HasSuffix(f, ".mp3") {
			t.Errorf("a scan would find %s", f)
		}
	}
	next()
	for _, f := range all(t, dir) {
		if strings.Contains(f, "/.") {
			t.Errorf("left behind: %s", f)
		}
	}
}

// halves are the half-written MP3s below a folder.
func halves(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", ".imaging-*", "*.mp3"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// aged makes the work folders below dir look older than a moment.
func aged(t *testing.T, dir string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", ".imaging-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		before := time.Now().Add(-time.Minute)
		if err := os.Chtimes(f, before, before); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOldListsImagingByItsNamesAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	if old, err := Old(dir); err != nil || len(old) != 0 {
		t.Errorf("without decks: %v, %v", old, err)
	}
	for _, f := range []string{
		"sweepers/SWP_VOX_1.mp3", "sweepers/ID_2.mp3", "sweepers/SWP_DROP_3.ogg", "sweepers/promo.mp3", "sweepers/.SWP_half.mp3",
		"sweepers/SFX_not_here.mp3", "sfx/SFX_ZAP_4.mp3", "sfx/ID_not_here.mp3", "sfx/boing.wav", "music/SWP_song.mp3",
	} {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old, err := Old(dir)
	want := []string{"sweepers/ID_2.mp3", "sweepers/SWP_DROP_3.ogg", "sweepers/SWP_VOX_1.mp3", "sfx/SFX_ZAP_4.mp3"}
	if err != nil || !slices.Equal(old, want) {
		t.Errorf("%v, %v", old, err)
	}
}

func TestOrdersThatMakeNoSenseAreRefused(t *testing.T) {
	m, dir := maker(t, func(o *Options) { o.Voice, o.Master = hummer{}, copier{} })
	for _, o := range []Order{{}, {Stingers: -1, IDs: 2}, {Stingers: 5000}, {Designs: []stinger.Design{stinger.Zap}}} {
		if _, err := m.Make(t.Context(), o, nil); err == nil {
			t.Errorf("%+v was made", o)
		}
	}
	if len(all(t, dir)) != 0 {
		t.Error(all(t, dir))
	}
}
