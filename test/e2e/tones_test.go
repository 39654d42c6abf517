package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// allDay are the defaults without dayparts, and shortRules let tracks of a few seconds
// pass as music too. The default dayparts would make the hour decide what a test
// hears: from 02:00 to 05:00 in Cairo nothing but English is music.
const (
	allDay     = `{"DAYPARTS": []}`
	shortRules = `{"DAYPARTS": [], "ROTATION": {"MUSIC_MIN_MS": 1000}}`
)

// deck is a folder of tone-coded tracks: ids from up to below to.
type deck struct {
	folder   string
	from, to int
	length   time.Duration
}

// decks has material for every rule. Music is in both languages' decks, so
// that the hour of the day makes no difference.
var decks = []deck{
	{"music/arabic_hits", 0, 10, 6 * time.Second},
	{"music/english", 10, 18, 6 * time.Second},
	{"music/mashups", 18, 20, 6 * time.Second},
	{"jingles", 20, 24, 3 * time.Second},
	{"sweepers", 24, 27, 3 * time.Second},
	{"ads", 27, 30, 4 * time.Second},
	{"news", 30, 32, 5 * time.Second},
	{"shorts", 32, 36, 5 * time.Second},
	{"sfx", 36, 39, time.Second},
}

// fill makes the tone-coded library once per folder, in parallel.
func fill(t *testing.T, media string, decks []deck) {
	t.Helper()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, d := range decks {
		for id := d.from; id < d.to; id++ {
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				// One artist a track: only the length of a rest can part them.
				place(t, filepath.Join(media, d.folder, fmt.Sprintf("tone %02d أغنية.mp3", id)), time.Now().Add(-time.Hour), aircheck.Track{
					ID: id, Duration: d.length, Title: fmt.Sprintf("نغمة %02d", id), Artist: fmt.Sprintf("فنان %02d", id),
				})
			})
		}
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// recordings are the files of the tracks that were made, by track: most stations
// have the same library.
var recordings sync.Map // aircheck.Track to func() (string, error)

// place puts a tone-coded track into a library, as an old file: the scanner need
// not wait for it to settle. It is a copy, for the station to move or remove.
func place(t *testing.T, path string, when time.Time, track aircheck.Track) {
	t.Helper()
	record, _ := recordings.LoadOrStore(track, sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp(filepath.Dir(binary), "tone-")
		if err != nil {
			return "", err
		}
		made := filepath.Join(dir, "tone.mp3")
		return made, aircheck.WriteMP3(t.Context(), made, track)
	}))
	made, err := record.(func() (string, error))()
	if err != nil {
		t.Error(err)
		return
	}
	sound, err := os.ReadFile(made)
	if err != nil {
		t.Error(err)
		return
	}
	err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, sound, 0o600), os.Chtimes(path, when, when))
	if err != nil {
		t.Error(err)
	}
}

// toneOf is the track number in a file's name.
func toneOf(file string) int {
	_, after, ok := strings.Cut(file, "tone ")
	number, _, _ := strings.Cut(after, " ")
	id, err := strconv.Atoi(number)
	if !ok || err != nil {
		return -1
	}
	return id
}

// tones are the track numbers of a rotation.
func tones(entries []entry) []int {
	out := make([]int, len(entries))
	for i, e := range entries {
		out[i] = toneOf(e.File)
	}
	return out
}
