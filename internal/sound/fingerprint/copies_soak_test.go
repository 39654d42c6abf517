//go:build soak

package fingerprint_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/sound/score"
	"github.com/athir-radio/athir/internal/sound/synth"
	"github.com/athir-radio/athir/internal/sound/wav"
)

const (
	wantedTracks = 200
	wantedOthers = 2000
	long, brief  = 42, 20 // seconds of an excerpt: of the tracks, of the others
)

// excerpt is a part of a real piece that overlaps no other.
type excerpt struct {
	id, piece     string
	from, seconds int
}

// excerpts cuts the music that the tests install: tracks from as many pieces as there are, each
// piece's next one far from its last, and others from what is left.
func excerpts(t *testing.T) (tracks, others []excerpt) {
	t.Helper()
	var rounds [64][]excerpt // the first of each piece, the second of each…
	pieces := 0
	for _, dir := range []string{"/usr/share/games/wesnoth/1.16/data/core/music", "/usr/share/games/singularity/music", "/usr/share/games/asc/music", "/usr/share/hyperrogue/music"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			out, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", path).Output()
			length, parseErr := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
			if err != nil || parseErr != nil {
				return nil // some of the package's files are no music: what counts is how many are
			}
			pieces++
			slots := int(length) / long
			for i := range slots {
				place := 2 * i // every other one first
				if place >= slots {
					place = 2*(i-(slots+1)/2) + 1
				}
				rounds[i] = append(rounds[i], excerpt{fmt.Sprintf("%s %d", filepath.Base(path), place*long), path, place * long, long})
			}
			return nil
		})
		if err != nil {
			t.Fatalf("%v: 'make deps-test' installs the music", err)
		}
	}
	for _, round := range rounds {
		for _, e := range round {
			if len(tracks) < wantedTracks {
				tracks = append(tracks, e)
				continue
			}
			for half := range 2 {
				o := e
				o.from, o.seconds = e.from+half*long/2, brief
				o.id = fmt.Sprintf("%s %d", filepath.Base(e.piece), o.from)
				others = append(others, o)
			}
		}
	}
	if len(tracks) < wantedTracks {
		t.Fatalf("%d tracks of %d pieces: 'make deps-test' installs the music", len(tracks), pieces)
	}
	t.Logf("%d tracks of %d s and %d others of %d s, cut from %d real pieces", len(tracks), long, len(others), brief, pieces)
	return tracks, others
}

// alteration is what is done to a copy: one of a kind.
type alteration struct {
	kind, name, ext string
	args            []string
}

func alterations() [][]alteration {
	of := func(kind string, all ...alteration) []alteration {
		for i := range all {
			all[i].kind, all[i].ext = kind, cmp.Or(all[i].ext, "mp3")
		}
		return all
	}
	filter := func(name, filter string) alteration {
		return alteration{name: name, args: []string{"-af", filter, "-b:a", "96k"}}
	}
	return [][]alteration{
		of("re-encoded",
			alteration{name: "MP3 at 64k", args: []string{"-b:a", "64k"}},
			alteration{name: "MP3 at 128k", args: []string{"-b:a", "128k"}},
			alteration{name: "Opus at 48k", ext: "opus", args: []string{"-c:a", "libopus", "-b:a", "48k"}},
			alteration{name: "AAC at 96k", ext: "m4a", args: []string{"-c:a", "aac", "-b:a", "96k"}},
			alteration{name: "mono, 22,050 Hz, 48k", args: []string{"-ac", "1", "-ar", "22050", "-b:a", "48k"}}),
		of("trimmed",
			alteration{name: "5 s off the start", args: []string{"-ss", "5", "-b:a", "96k"}},
			alteration{name: "10 s off the start", args: []string{"-ss", "10.06", "-b:a", "96k"}},
			alteration{name: "15 s off the end", args: []string{"-t", strconv.Itoa(long - 15), "-b:a", "96k"}}),
		of("pitched",
			filter("speed and pitch +1 %", "asetrate=44541,aresample=44100"),
			filter("speed and pitch -1 %", "asetrate=43659,aresample=44100"),
			filter("pitch alone +1 %", "asetrate=44541,aresample=44100,atempo=0.990099"),
			filter("pitch alone -1 %", "asetrate=43659,aresample=44100,atempo=1.010101")),
		of("tempo", filter("tempo alone +1 %", "atempo=1.01"), filter("tempo alone -1 %", "atempo=0.99")),
		of("level and tone",
			filter("9 dB louder, limited", "volume=9dB,alimiter=limit=0.7:level=false"),
			filter("18 dB quieter", "volume=-18dB"),
			filter("equaliser +6, -5, +5 dB", "bass=g=6:f=120,treble=g=5:f=4000,equalizer=f=1000:t=q:w=1:g=-5")),
		of("something before",
			filter("4 s of silence before", "adelay=4000:all=1"),
			alteration{name: "5 s of a jingle before", args: []string{"-t", "5", "-i", "/usr/share/games/wesnoth/1.16/data/core/music/victory.ogg",
				"-filter_complex", "[1:a]aresample=44100,aformat=channel_layouts=stereo[a];[0:a]aformat=channel_layouts=stereo[b];[a][b]concat=n=2:v=0:a=1", "-b:a", "96k"}}),
	}
}

// invented is a piece that no other seed plays: for an ensemble, or one in six a bed. There are
// no more than 48 accompaniments of beds in a mood (scale, tonic and turn of chords), which differ
// in tempo and tune only: as far as chords go those are one piece, and count as such.
func invented(seed uint64) (piece string, s synth.Sound) {
	rng := rand.New(rand.NewPCG(seed, 13))
	if seed%6 == 0 {
		return "a bed", score.Play(score.Mood(rng.IntN(2)), 10+10*rng.Float64(), rng).Sound
	}
	return fmt.Sprint("a takht ", seed), score.Takht{
		Scale:  []score.Maqam{score.Rast(), score.Bayati(), score.Hijaz(), score.Nahawand(), score.Kurd(), score.Ajam()}[rng.IntN(6)],
		Tonic:  110 * (1 + rng.Float64()),
		Rhythm: []score.Rhythm{score.Maqsum, score.Saidi, score.Baladi, score.Wahda}[rng.IntN(4)],
		Tempo:  80 + 50*rng.Float64(),
		Bars:   4 + 2*rng.IntN(4),
	}.Play(rng)
}

// corpus is what the copies are looked for among.
type corpus struct {
	dir   string
	index *fingerprint.Index

	mu       sync.Mutex
	pieces   map[string]string // by id
	versions map[string][]fingerprint.Print
	plain    int // had no print
}

func (c *corpus) file(id, ext string) string {
	return filepath.Join(c.dir, strings.ReplaceAll(id, "/", "_")+"."+ext)
}

// cut makes a WAV file of an excerpt.
func (c *corpus) cut(t *testing.T, e excerpt) string {
	out := c.file(e.id, "wav")
	run(t, "-ss", strconv.Itoa(e.from), "-t", strconv.Itoa(e.seconds), "-i", e.piece, "-ac", "2", "-ar", "44100", out)
	return out
}

// add puts a file into the index, and forgets the file unless it is kept.
func (c *corpus) add(t *testing.T, id, piece, file string, keep bool) error {
	v, err := fingerprint.Versions(t.Context(), file)
	if !keep {
		err = errors.Join(err, os.Remove(file))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(err, fingerprint.ErrPlain) {
		c.plain++
		return nil
	}
	if err == nil {
		c.index.Add(id, v[0])
		c.pieces[id], c.versions[id] = piece, v
	}
	return err
}

func (c *corpus) fill(t *testing.T, tracks, others []excerpt) {
	t.Helper()
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for _, e := range tracks {
		g.Go(func() error { return c.add(t, e.id, e.piece, c.cut(t, e), true) })
	}
	for _, e := range others {
		g.Go(func() error { return c.add(t, e.id, e.piece, c.cut(t, e), false) })
	}
	for seed := range uint64(max(0, wantedOthers-len(others))) {
		g.Go(func() error {
			id := fmt.Sprint("invented ", seed)
			file := c.file(id, "wav")
			piece, sound := invented(seed)
			if err := os.WriteFile(file, wav.Float32(synth.Rate, 2, sound.Interleaved()), 0o600); err != nil {
				return err
			}
			return c.add(t, id, piece, file, false)
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d prints in the index, %d too plain for one", c.index.Len(), c.plain)
}

// tally is how one alteration was found.
type tally struct {
	kind                 string
	copies, same, alike  int
	differences          []float64
	repeats, falsePrints []string // matches with another part of the piece, and with other music
	beds                 int      // matches of a bed with another
}

func (y *tally) take(c *corpus, id string, found []fingerprint.Match) {
	y.copies++
	for _, m := range found {
		c.mu.Lock()
		own, other := c.pieces[id], c.pieces[m.ID]
		c.mu.Unlock()
		match := fmt.Sprintf("%s as %s (%.3f, %.0f %% covered)", id, m.ID, m.Difference, 100*m.Covered)
		switch {
		case m.ID == id:
			y.alike++
			y.differences = append(y.differences, m.Difference)
			if m.Difference <= fingerprint.Same {
				y.same++
			}
		case own == other && own == "a bed":
			y.beds++
		case own == other:
			y.repeats = append(y.repeats, match)
		default:
			y.falsePrints = append(y.falsePrints, match)
		}
	}
}

func (y *tally) String() string {
	slices.Sort(y.differences)
	n := len(y.differences)
	middle, worst := 0.0, 0.0
	if n > 0 {
		middle, worst = y.differences[n/2], y.differences[n-1]
	}
	return fmt.Sprintf("%4d copies, found %5.1f %% (as the same %5.1f %%), difference %.3f, at most %.3f; %d repeats, %d false",
		y.copies, 100*float64(y.alike)/float64(y.copies), 100*float64(y.same)/float64(y.copies), middle, worst, len(y.repeats), len(y.falsePrints))
}

func TestSoakCopiesAreFoundAmongTwoThousandOthers(t *testing.T) {
	tracks, others := excerpts(t)
	c := &corpus{dir: t.TempDir(), index: fingerprint.NewIndex(), pieces: map[string]string{}, versions: map[string][]fingerprint.Print{}}
	c.fill(t, tracks, others)
	names, tallies := c.copies(t, tracks)
	total := map[string]*tally{}
	for _, name := range names {
		y := tallies[name]
		t.Logf("%-24s %v", name, y)
		if total[y.kind] == nil {
			total[y.kind] = &tally{kind: y.kind}
		}
		sum := total[y.kind]
		sum.copies, sum.same, sum.alike = sum.copies+y.copies, sum.same+y.same, sum.alike+y.alike
		sum.differences = append(sum.differences, y.differences...)
		sum.repeats, sum.falsePrints = append(sum.repeats, y.repeats...), append(sum.falsePrints, y.falsePrints...)
	}
	for _, kind := range slices.Sorted(maps.Keys(total)) {
		y := total[kind]
		t.Logf("all %-20s %v", kind, y)
		least := map[string]float64{"re-encoded": 0.99, "trimmed": 0.99, "something before": 0.99}[kind]
		if recall := float64(y.alike) / float64(y.copies); recall < cmp.Or(least, 0.95) {
			t.Errorf("%s: %.1f %% are found", kind, 100*recall)
		}
		for _, f := range y.falsePrints {
			t.Errorf("%s: %s", kind, f)
		}
	}
	c.strangers(t)
	c.twentyThousand(t)
}

// copies alters each track in six ways, one of each kind, and looks for it.
func (c *corpus) copies(t *testing.T, tracks []excerpt) (names []string, tallies map[string]*tally) {
	t.Helper()
	tallies = map[string]*tally{}
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for _, kind := range alterations() {
		for _, a := range kind {
			names, tallies[a.name] = append(names, a.name), &tally{kind: a.kind}
		}
		for i, e := range tracks {
			a := kind[i%len(kind)]
			g.Go(func() error {
				out := c.file(e.id+a.name, a.ext)
				run(t, append(append([]string{"-i", c.file(e.id, "wav")}, a.args...), "file:"+out)...)
				versions, err := fingerprint.Versions(t.Context(), out)
				if err = errors.Join(err, os.Remove(out)); err != nil && !errors.Is(err, fingerprint.ErrPlain) {
					return err
				}
				found := c.index.Find("", versions...)
				mu.Lock()
				defer mu.Unlock()
				tallies[a.name].take(c, e.id, found)
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	return names, tallies
}

// strangers looks for everything in the index among everything else.
func (c *corpus) strangers(t *testing.T) {
	t.Helper()
	y := &tally{}
	for _, id := range slices.Sorted(maps.Keys(c.versions)) {
		y.take(c, id, c.index.Find(id, c.versions[id]...))
	}
	t.Logf("%d recordings that are no copies: %d match another part of their piece, %d a bed another bed, %d are false", y.copies, len(y.repeats), y.beds, len(y.falsePrints))
	for _, r := range y.repeats {
		t.Logf("repeats: %s", r)
	}
	for _, f := range y.falsePrints {
		t.Errorf("false: %s", f)
	}
}

// twentyThousand prints what a large index takes. Its prints of two minutes are made of
// seconds of the real ones, backwards, so that keys are as frequent as in music.
func (c *corpus) twentyThousand(t *testing.T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	ids := slices.Sorted(maps.Keys(c.versions))
	made := func() fingerprint.Print {
		p := make(fingerprint.Print, 0, 950)
		for len(p) < 940 {
			from := c.versions[ids[rng.IntN(len(ids))]][0]
			at := rng.IntN(len(from) - 8)
			part := slices.Clone(from[at : at+8])
			slices.Reverse(part)
			p = append(p, part...)
		}
		return p
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, x := heap(), fingerprint.NewIndex()
	const n, asked = 20_000, 100
	for i := range n {
		x.Add(strconv.Itoa(i), made())
	}
	after := heap()
	begin := time.Now()
	for range asked {
		x.Find("", made(), made(), made(), made(), made())
	}
	t.Logf("an index of %d prints of two minutes: %.0f MB, %.1f KB each; Find by five prints: %v",
		x.Len(), float64(after-before)/1e6, float64(after-before)/n/1e3, (time.Since(begin) / asked).Round(10*time.Microsecond))
}
