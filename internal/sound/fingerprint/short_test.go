package fingerprint_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/sound/stinger"
	"github.com/athir-radio/athir/internal/sound/synth"
	"github.com/athir-radio/athir/internal/sound/wav"
)

func TestShortSoundsAreFoundAgainAndOthersAreNot(t *testing.T) { shortCopies(t, 2, "64k") }

// shortCopies makes every stinger of so many seeds, encodes each at the bit rates, and
// compares each with all.
func shortCopies(t *testing.T, seeds int, rates ...string) {
	t.Helper()
	type copied struct {
		of, rate string
		short    fingerprint.Short
	}
	dir, made := t.TempDir(), map[string]fingerprint.Short{}
	var copies []copied
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for _, design := range stinger.Designs() {
		for seed := range seeds {
			g.Go(func() error {
				id := fmt.Sprintf("%s %d", design, seed)
				file := filepath.Join(dir, id+".wav")
				if err := os.WriteFile(file, wav.Float32(synth.Rate, 2, stinger.Make(design, uint64(seed)).Interleaved()), 0o600); err != nil {
					return err
				}
				s, err := fingerprint.ShortOf(t.Context(), file)
				if err != nil {
					return err
				}
				mu.Lock()
				made[id] = s
				mu.Unlock()
				for _, rate := range rates {
					out := filepath.Join(dir, id+rate+".mp3")
					run(t, "-i", file, "-b:a", rate, "-ar", "32000", out)
					s, err := fingerprint.ShortOf(t.Context(), out)
					if err != nil {
						return err
					}
					mu.Lock()
					copies = append(copies, copied{id, rate, s})
					mu.Unlock()
				}
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	nearest, between := fingerprint.Far, ""
	missed, mistaken, worst := 0, 0, map[string][]float64{}
	for _, c := range copies {
		for id, s := range made {
			d := s.Difference(c.short)
			if id == c.of {
				worst[c.rate] = append(worst[c.rate], d)
				if d > fingerprint.SameShort {
					missed++
					t.Errorf("%s at %s differs by %.2f dB", id, c.rate, d)
				}
				continue
			}
			if d < nearest {
				nearest, between = d, id+" and "+c.of
			}
			if d <= fingerprint.SameShort {
				mistaken++
				t.Errorf("%s is taken for %s: %.2f dB", c.of, id, d)
			}
		}
	}
	for _, rate := range rates {
		slices.Sort(worst[rate])
		t.Logf("%d at %s: they differ by %.2f dB, at most %.2f", len(worst[rate]), rate, worst[rate][len(worst[rate])/2], slices.Max(worst[rate]))
	}
	t.Logf("%d sounds, %d copies: %d missed, %d mistaken; the nearest others are %s: %.2f dB", len(made), len(copies), missed, mistaken, between, nearest)
}

func TestShortSoundOfTheSameSamplesIsTheSame(t *testing.T) {
	dir := t.TempDir()
	a, b, quiet := filepath.Join(dir, "a.wav"), filepath.Join(dir, "b.flac"), filepath.Join(dir, "quiet.wav")
	run(t, "-f", "lavfi", "-i", "aevalsrc=0.5*sin(2*PI*t*(400+900*t))*exp(-4*t):d=0.8:s=22050", "-c:a", "pcm_s16le", a)
	run(t, "-i", a, "-metadata", "title=another name", b)
	run(t, "-f", "lavfi", "-i", "anullsrc=d=1", quiet)
	one, err := fingerprint.ShortOf(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := fingerprint.ShortOf(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if d := one.Difference(other); d != 0 || !one.Equal(other) {
		t.Errorf("the same samples in another file: %.2f dB", d)
	}
	if _, err := fingerprint.ShortOf(t.Context(), quiet); !errors.Is(err, fingerprint.ErrPlain) {
		t.Errorf("silence: %v", err)
	}
}

func TestShortSoundsAreStoredWhole(t *testing.T) {
	short := rapid.Custom(func(t *rapid.T) fingerprint.Short {
		frames := rapid.IntRange(1, 200).Draw(t, "frames")
		b := append([]byte{1}, rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash")...)
		b = append(b, byte(frames), 0)
		s, err := fingerprint.ShortFromBytes(append(b, rapid.SliceOfN(rapid.Byte(), 16*frames, 16*frames).Draw(t, "levels")...))
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := short.Draw(t, "a"), short.Draw(t, "b")
		back, err := fingerprint.ShortFromBytes(a.Bytes())
		if err != nil || !slices.Equal(back.Bytes(), a.Bytes()) || a.Difference(back) != 0 {
			t.Errorf("it came back otherwise: %v", err)
		}
		if d := a.Difference(b); d < 0 || d > fingerprint.Far {
			t.Errorf("they differ by %.2f dB", d)
		}
	})
}

func FuzzStoredShortSound(f *testing.F) {
	f.Add([]byte{1})
	f.Add(append(append([]byte{1}, make([]byte, 32)...), 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := fingerprint.ShortFromBytes(b)
		if err != nil {
			if !errors.Is(err, fingerprint.ErrShortForm) {
				t.Errorf("%v", err)
			}
			return
		}
		if !slices.Equal(s.Bytes(), b) {
			t.Errorf("%d bytes came back otherwise", len(b))
		}
		if d := s.Difference(s); d != 0 {
			t.Errorf("it differs from itself by %.2f dB", d)
		}
	})
}
