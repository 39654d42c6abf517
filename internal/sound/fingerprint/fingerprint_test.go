package fingerprint_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ffmpeg", append([]string{"-v", "error", "-y"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// Copies of real music, as they turn up in a library, and other music beside them.
func TestCopiesAreFoundAndOtherMusicIsNot(t *testing.T) {
	dir := t.TempDir()
	songs, _ := filepath.Glob("/usr/share/games/wesnoth/1.16/data/core/music/[bceflms]*.ogg")
	if len(songs) < 5 {
		t.Fatal("no music: 'make deps-test' installs it")
	}
	x := fingerprint.NewIndex()
	prints := map[string]fingerprint.Print{}
	songs = songs[:5]
	for i, song := range songs {
		songs[i] = filepath.Join(dir, fmt.Sprintf("%d.wav", i))
		run(t, "-t", "30", "-i", song, "-ar", "44100", songs[i])
		p, err := fingerprint.Of(t.Context(), songs[i])
		if err != nil {
			t.Fatal(err)
		}
		prints[songs[i]] = p
		x.Add(songs[i], p)
	}
	for name, args := range map[string][]string{
		"another encoding":      {"-c:a", "libmp3lame", "-b:a", "96k"},
		"quieter, mono, 22 kHz": {"-af", "volume=-12dB", "-ac", "1", "-ar", "22050", "-b:a", "64k"},
		"limited and louder":    {"-af", "volume=9dB,alimiter=limit=0.7:level=false"},
		"the start cut off":     {"-ss", "7.3"},
		"silence before":        {"-af", "adelay=2500:all=1"},
		"the first half only":   {"-t", "15"},
		"seven seconds of it":   {"-ss", "11", "-t", "7"},
		"1 % slower":            {"-af", "atempo=0.99"},
		"pitched up 1 %":        {"-af", "asetrate=44541,aresample=44100"},
		"pitched down 1 %":      {"-af", "asetrate=43659,aresample=44100,atempo=1.010101"},
		"through an equaliser":  {"-af", "bass=g=6:f=120,treble=g=5:f=4000,equalizer=f=1000:t=q:w=1:g=-5", "-b:a", "128k"},
	} {
		file := filepath.Join(dir, "-"+name+".mp3")
		run(t, append(append([]string{"-i", songs[3]}, args...), "file:"+file)...)
		versions, err := fingerprint.Versions(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		found := x.Find("", versions...)
		if len(found) != 1 || found[0].ID != songs[3] {
			share, offset := fingerprint.Difference(prints[songs[3]], versions[0])
			t.Errorf("%s: found %v; the difference is %.3f at %d", name, found, share, offset)
			continue
		}
		t.Logf("%-22s %.3f", name, found[0].Difference)
	}
	for _, path := range songs {
		if found := x.Find(path, prints[path]); len(found) != 0 {
			t.Errorf("%s is taken for %v", filepath.Base(path), found)
		}
	}
}

func TestPlainSoundHasNoFingerprint(t *testing.T) {
	dir := t.TempDir()
	for _, lavfi := range []string{"anullsrc=d=20", "sine=440:d=2", "sine=440:d=30"} {
		file := filepath.Join(dir, "x.wav")
		run(t, "-f", "lavfi", "-i", lavfi, file)
		if p, err := fingerprint.Of(t.Context(), file); !errors.Is(err, fingerprint.ErrPlain) {
			t.Errorf("%s: %d items, %v", lavfi, len(p), err)
		}
	}
	list := filepath.Join(dir, "list.mp3")
	if err := os.WriteFile(list, []byte("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:1/x.ts\n#EXT-X-ENDLIST\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var refused *ffmpeg.RefusedError
	if _, err := fingerprint.Of(t.Context(), list); !errors.As(err, &refused) {
		t.Errorf("a playlist: %v", err)
	}
}

// melody is a print as Chromaprint makes them: items that change a few bits at a time.
func melody(rng *rand.Rand, n int) fingerprint.Print {
	p, v := make(fingerprint.Print, n), rng.Uint32()
	for i := range p {
		for range rng.IntN(9) {
			v ^= 1 << rng.IntN(32)
		}
		p[i] = v
	}
	return p
}

// damaged flips a share of all bits, and cuts the start off.
func damaged(rng *rand.Rand, p fingerprint.Print, share float64, from int) fingerprint.Print {
	var out fingerprint.Print
	for _, v := range p[from:] {
		for b := range 32 {
			if rng.Float64() < share {
				v ^= 1 << b
			}
		}
		out = append(out, v)
	}
	return out
}

func TestIndexFindsWhatAFullComparisonWould(t *testing.T) { findsWhatIsThere(t, 1000, 40) }

// findsWhatIsThere fills an index and asks it for damaged copies and for strangers.
func findsWhatIsThere(t *testing.T, tracks, asked int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	x := fingerprint.NewIndex()
	var prints []fingerprint.Print
	for i := range tracks {
		prints = append(prints, melody(rng, 200+rng.IntN(700)))
		x.Add(fmt.Sprint(i), prints[i])
	}
	for _, share := range []float64{0, 0.03, 0.08, 0.12} {
		missed := 0
		for range asked {
			n := rng.IntN(len(prints))
			p := damaged(rng, prints[n], share, rng.IntN(80))
			if found := x.Find("", p); len(found) != 1 || found[0].ID != fmt.Sprint(n) {
				missed++
			}
		}
		if 20*missed > asked {
			t.Errorf("%d of %d missed or mistaken at %.0f %% of bits flipped", missed, asked, 100*share)
		}
	}
	for range 2 * asked {
		if found := x.Find("", melody(rng, 600)); len(found) != 0 {
			t.Errorf("a new track is taken for %v", found)
		}
	}
	x.Remove("77")
	x.Add("78", prints[77])
	if found := x.Find("", prints[77]); len(found) != 1 || found[0].ID != "78" || x.Len() != tracks-1 {
		t.Errorf("after a change: %v, %d tracks", found, x.Len())
	}
}
