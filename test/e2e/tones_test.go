package e2e

import (
	"context"
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

// shortRules lets tracks of a few seconds pass as music.
const shortRules = `{"ROTATION": {"MUSIC_MIN_MS": 1000}}`

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
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, d := range decks {
		for id := d.from; id < d.to; id++ {
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				path := filepath.Join(media, d.folder, fmt.Sprintf("tone %02d أغنية.mp3", id))
				write(t, path, "")
				// One artist a track: only the length of a rest can part them.
				err := aircheck.WriteMP3(ctx, path, aircheck.Track{
					ID: id, Duration: d.length, Title: fmt.Sprintf("نغمة %02d", id), Artist: fmt.Sprintf("فنان %02d", id),
				})
				// An old file: the scanner need not wait for it to settle.
				old := time.Now().Add(-time.Hour)
				if err = errors.Join(err, os.Chtimes(path, old, old)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
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
