//go:build soak

package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// An operator's first hour: a station without a song becomes one of their own in the browser
// alone, by the keyboard but for the drag of the songs. Its steps and seconds are printed;
// docs/figures.md has those of another program beside them. ATHIR_SONGS: how many instead of 200.
func TestSoakAnOperatorsFirstHour(t *testing.T) {
	songs := 200
	if text := os.Getenv("ATHIR_SONGS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 25 {
			t.Fatalf("ATHIR_SONGS=%s: a number from 25", text) // each band has five
		}
		songs = n
	}
	folder := t.TempDir()
	bands(t, filepath.Join(folder, "songs"), songs)
	logo(t, filepath.Join(folder, "logo.png"))
	s := newStation(t, withKeys, asInstalled)
	s.start()
	s.eventually("the studio answers", func() bool { _, err := s.status(); return err == nil })
	s.pages([]string{"ATHIR_KEY=" + testStationKey, "ATHIR_HOUR=" + folder}, "firsthour.spec.ts")
}

// asInstalled is a station that nobody has touched: its programme is the built-in one, and
// songs are mastered.
func asInstalled(s *station) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.data, "station.json")); err != nil {
		s.t.Fatal(err)
	}
	s.env = append(s.env, "ATHIR_LIBRARY_MASTERING=true", "ATHIR_GUARD_ENABLED=true", "BULLETIN_HOURS=1")
}

// logo draws a disc on nothing.
func logo(t *testing.T, path string) {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 400, 400))
	for y := range 400 {
		for x := range 400 {
			if math.Hypot(float64(x-200), float64(y-200)) < 180 {
				picture.SetRGBA(x, y, color.RGBA{0x1f, 0x7a, 0x5c, 0xff})
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// bands writes songs of twenty bands or fewer, each with a melody of its own: no two are taken for one
// recording. Half of the bands are Arabic.
func bands(t *testing.T, dir string, n int) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i := range n {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			band := i % min(20, n/5)
			artist, title := fmt.Sprintf("Band %02d", band), fmt.Sprintf("Song %03d", i)
			if band%2 == 1 {
				artist, title = fmt.Sprintf("فرقة %02d", band), fmt.Sprintf("أغنية %03d", i)
			}
			encode := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "s16le", "-ar", "22050", "-ac", "1", "-i", "pipe:0",
				"-ar", "44100", "-b:a", "128k", "-compression_level", "9", "-metadata", "artist="+artist, "-metadata", "title="+title, filepath.Join(dir, fmt.Sprintf("%03d.mp3", i)))
			encode.Stdin = bytes.NewReader(tuneOf(uint64(i)))
			if out, err := encode.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// tuneOf is 65 s of notes by chance, as 16-bit samples at 22,050 Hz.
func tuneOf(seed uint64) []byte {
	const rate, note, notes = 22050, 22050 / 4, 260
	chance := rand.New(rand.NewPCG(seed, 1))
	out := make([]byte, 0, note*notes*2)
	for range notes {
		hz := 220 * math.Pow(2, float64(chance.IntN(25))/12)
		for k := range note {
			at := float64(k) / note
			v := math.Sin(2*math.Pi*hz*float64(k)/rate) + 0.4*math.Sin(4*math.Pi*hz*float64(k)/rate)
			sample := uint16(int16(9000 * v * (1 - at)))
			out = append(out, byte(sample), byte(sample>>8))
		}
	}
	return out
}
