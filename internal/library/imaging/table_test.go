package imaging

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/sound/stinger"
	"github.com/athir-radio/athir/internal/sound/synth"
)

// seedsEnv asks for as many seeds with a whole set each: two sweepers, a song's
// drop, an ID, a voice drop and all sixteen stingers. It takes some minutes.
const seedsEnv = "ATHIR_IMAGING_SEEDS"

// The mission's table of generated assets.
var table = map[Kind]struct {
	name        *regexp.Regexp
	least, most float64
}{
	Sweeper:   {regexp.MustCompile(`^sweepers/SWP_(INTRO|VOX)_\d{8}T\d{6}_[0-9a-f]{8}\.mp3$`), 8.5, 9},
	SongDrop:  {regexp.MustCompile(`^sweepers/SWP_DROP_SONG_\d{8}T\d{6}_[0-9a-f]{8}\.mp3$`), 8.5, 9},
	VoiceDrop: {regexp.MustCompile(`^sweepers/SWP_DROP_VOICE_\d{8}T\d{6}_[0-9a-f]{8}\.mp3$`), 3.5, 4},
	ID:        {regexp.MustCompile(`^sweepers/ID_\d{8}T\d{6}_[0-9a-f]{8}\.mp3$`), 4, 5},
	Stinger:   {regexp.MustCompile(`^sfx/SFX_[A-Z_]+_\d{8}T\d{6}_[0-9a-f]{8}\.mp3$`), 0.26, 1.63},
}

// orders are those of a run, beside the pieces that tests share: so many seeds in
// full, or one voiced kind in turn and some of the stingers.
func orders() []Order {
	var out []Order
	full, _ := strconv.Atoi(os.Getenv(seedsEnv))
	for seed := range uint64(full) {
		out = append(out, Order{Sweepers: 2, SongDrops: 1, IDs: 1, VoiceDrops: 1, Stingers: 16, Seed: seed + 1})
	}
	if full > 0 {
		return out
	}
	if few {
		return []Order{{Stingers: 1, Designs: []stinger.Design{stinger.Zap}, Seed: 1}}
	}
	for seed := range uint64(20) {
		o := Order{Seed: seed + 1, Stingers: 1, Designs: stinger.Designs()[seed%16 : seed%16+1]}
		switch seed {
		case 0:
			o.Sweepers = 1
		case 1:
			o.SongDrops = 1
		case 2:
			o.IDs = 1
		case 3:
			o.VoiceDrops = 1
		}
		out = append(out, o)
	}
	return out
}

func TestAssetsKeepTheTableWhateverTheSeed(t *testing.T) {
	m, dir := maker(t, func(o *Options) { o.Songs, o.Workers = songs(realSong), 1 })
	var mu sync.Mutex
	var lufsOff, highest float64 = 0, -100
	count := map[Kind]int{}
	var seeds errgroup.Group
	seeds.SetLimit(runtime.GOMAXPROCS(0))
	for _, o := range orders() {
		seeds.Go(func() error {
			own, err := New(m.o) // one Maker makes one order at a time
			if err != nil {
				return err
			}
			r, err := own.Make(t.Context(), o, nil)
			if err != nil || len(r.Failed) > 0 {
				return fmt.Errorf("seed %d: %w, failed: %v", o.Seed, err, r.Failed)
			}
			for _, a := range r.Made {
				h := hear(t, filepath.Join(dir, filepath.FromSlash(a.Path)))
				a.keepsTheTable(t, h)
				mu.Lock()
				count[a.Kind]++
				if highest = max(highest, h.dbtp); a.Kind != Stinger {
					lufsOff = max(lufsOff, math.Abs(h.lufs+14))
				}
				mu.Unlock()
			}
			return nil
		})
	}
	if err := seeds.Wait(); err != nil {
		t.Error(err)
	}
	for _, o := range []Order{{Sweepers: 1}, {SongDrops: 1}, {IDs: 1}, {VoiceDrops: 1}} {
		_, a, h := shared(t, o)
		a.keepsTheTable(t, h)
		count[a.Kind]++
	}
	t.Logf("%v: at most %.2f LU off, at most %.2f dBTP", count, lufsOff, highest)
}

func (a Asset) keepsTheTable(t *testing.T, h heard) {
	t.Helper()
	want := table[a.Kind]
	switch {
	case !want.name.MatchString(a.Path):
		t.Errorf("%s: not a name of a %s", a.Path, a.Kind)
	case h.length < want.least || h.length > want.most, h.told < want.least || h.told > want.most:
		t.Errorf("%s: %.3f s, by its headers %.3f; a %s has %.2f to %.2f", a.Path, h.length, h.told, a.Kind, want.least, want.most)
	case a.Kind == Stinger && h.lufs > -14.5 && h.lufs < -7.5 && h.dbtp <= -1.5: // louder, the shorter: mastering.Profile.Brief
	case math.Abs(h.lufs+14) > 0.5 || h.dbtp > -1.5:
		t.Errorf("%s: %.2f LUFS, %.2f dBTP", a.Path, h.lufs, h.dbtp)
	case math.Abs(h.lufs-a.LUFS) > 0.1 || math.Abs(h.dbtp-a.DBTP) > 0.1 || math.Abs(h.length-a.Duration.Seconds()) > 0.01:
		t.Errorf("%s: heard %.2f LUFS, %.2f dBTP, %.3f s; told %.2f, %.2f, %s", a.Path, h.lufs, h.dbtp, h.length, a.LUFS, a.DBTP, a.Duration)
	}
	tags := maps.Clone(h.tags)
	delete(tags, "encoder")    // LAME's, written by every encoder of MP3
	delete(tags, "encoded_by") // mastering's own mark
	if len(tags) != 3 || tags["artist"] != "Break" || tags["title"] != "Break" || tags["genre"] != "Break" {
		t.Errorf("%s: tags %v", a.Path, h.tags)
	}
	if hasVoice := a.Kind != Stinger; hasVoice != (a.Text != "" && a.Voice == "espeak-ng:ar" && a.Tempo >= 1 && a.Tempo <= mostFast) {
		t.Errorf("%s: text %q by %q at %.2f", a.Path, a.Text, a.Voice, a.Tempo)
	}
	if (a.Kind == SongDrop) != (a.Song != nil && a.Kind != Sweeper) {
		t.Errorf("%s: cut from %v", a.Path, a.Song)
	}
	if edge := max(math.Abs(float64(h.sound[0][0])), math.Abs(float64(h.sound[1][h.sound.Frames()-1]))); edge > 0.15 {
		t.Errorf("%s: clicks at an end: %.3f", a.Path, edge)
	}
}

// A finished file is what was heard of its parts: the bed as much lower under
// the voice as it was ducked, found by least squares in windows of 200 ms.
func TestBedMakesWayForTheVoiceInTheFinishedFile(t *testing.T) {
	for _, c := range []struct {
		kind  string
		order Order
	}{
		{"sweeper", Order{Sweepers: 1}},
		{"song drop", Order{SongDrops: 1}},
		{"ID", Order{IDs: 1}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			mix, a, h := shared(t, c.order)
			if h.sound.Frames() < mix.out.Frames() {
				t.Fatalf("%d frames of %d", h.sound.Frames(), mix.out.Frames())
			}
			env := envelope(mix.dry[0])
			first, last := 0, 0
			for i, v := range env {
				if v > 0.03 && first == 0 {
					first = i
				} else if v > 0.03 {
					last = i
				}
			}
			const window = synth.Rate / 5
			var alone, under []float64
			for at := 0; at+window < mix.out.Frames(); at += window {
				share, ok := bedShare(mix, h.sound, at, at+window)
				from, to := at*1000/synth.Rate, (at+window)*1000/synth.Rate
				switch {
				case !ok:
				case from > first && to < last:
					under = append(under, share)
				case to < first-200 || from > last+1100:
					alone = append(alone, share)
				}
			}
			if len(alone) < 2 || len(under) < 3 {
				t.Fatalf("only %d windows of bed and %d of voice", len(alone), len(under))
			}
			// The bed alone, as a median; under the voice, the worst window of all:
			// a bed that came back between two words would pump.
			bed, worst := median(alone), 0.0
			for _, u := range under {
				worst = max(worst, u)
			}
			depth, least := 20*math.Log10(bed/median(under)), 20*math.Log10(bed/worst)
			t.Logf("%s: bed %.1f dB lower under the voice, %.1f at least; told %.1f", c.kind, depth, least, a.Ducked)
			if depth < 6 || least < 5 || a.Ducked < 6 {
				t.Errorf("bed is %.1f dB lower, %.1f at least; told %.1f; at least 6 are asked for", depth, least, a.Ducked)
			}
		})
	}
}

// bedShare is how much of the bed is in a part of a finished file: x in
// heard = x*bed + y*voice. ok is false where there is too little bed to tell.
func bedShare(mix mixdown, heard synth.Sound, from, to int) (share float64, ok bool) {
	var bb, bv, vv, hb, hv float64
	for side := range heard {
		for i := from; i < to; i++ {
			b, v, h := float64(mix.bed[side][i]), float64(mix.voice[side][i]), float64(heard[side][i])
			bb, bv, vv, hb, hv = bb+b*b, bv+b*v, vv+v*v, hb+h*b, hv+h*v
		}
	}
	if bb < 1e-4*float64(to-from) {
		return 0, false
	}
	if vv < 1e-9 {
		return hb / bb, true
	}
	det := bb*vv - bv*bv
	return (hb*vv - hv*bv) / det, det > 0.3*bb*vv
}

func TestNamesAreNeverUsedTwice(t *testing.T) {
	at := time.Date(2026, 4, 6, 13, 5, 7, 0, time.UTC)
	m, dir := maker(t, func(o *Options) {
		o.Master, o.Now = copier{}, func() time.Time { return at }
	})
	seen := map[string]bool{}
	for range 3 { // the same seed at the same second
		r, err := m.Make(t.Context(), Order{Stingers: 2, Designs: []stinger.Design{stinger.Zap}, Seed: 9}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range r.Made {
			if seen[a.Path] {
				t.Errorf("%s is there already", a.Path)
			}
			seen[a.Path] = true
		}
	}
	if len(all(t, dir)) != 6 {
		t.Errorf("%v", all(t, dir))
	}
}
