package bulletin

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	filePrefix = "NEWS_"
	fileSuffix = ".mp3"
	deckName   = "news"
	tempPrefix = ".bulletin-" // hidden, so that no scan takes it for music
)

// Keep says which bulletins stay in the deck: the newest always, and of the
// others those that are among the newest and young enough.
type Keep struct {
	Newest int           // 6 when zero
	Within time.Duration // 24 h when zero
}

// retired lists the bulletins that should leave a folder. newest is the one just made
// and stays, whatever the others' names. Another that tells a time in the future was
// made for a start that has moved, or by a wrong clock, and leaves.
func retired(dir, newest string, now time.Time, keep Keep) ([]string, error) {
	if keep.Newest <= 0 {
		keep.Newest = 6
	}
	if keep.Within <= 0 {
		keep.Within = 24 * time.Hour
	}
	all, err := bulletins(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	kept := 1 // the newest
	for _, b := range all {
		age := now.Sub(b.made)
		switch {
		case b.name == newest:
		case age >= 0 && age <= keep.Within && kept < keep.Newest:
			kept++
		default:
			out = append(out, filepath.Join(dir, b.name))
		}
	}
	return out, nil
}

// aired is a bulletin in the deck.
type aired struct {
	name string
	made time.Time
}

// bulletins lists those in a folder, newest first.
func bulletins(dir string) ([]aired, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list bulletins: %w", err)
	}
	var out []aired
	for _, e := range entries {
		if made, ok := madeAt(e.Name()); ok && e.Type().IsRegular() {
			out = append(out, aired{e.Name(), made})
		}
	}
	slices.SortFunc(out, func(a, b aired) int { return cmp.Or(b.made.Compare(a.made), cmp.Compare(a.name, b.name)) })
	return out, nil
}

// sinceNames is when names began to hold a time: a smaller number, as in NEWS_1.mp3, is
// an operator's own.
const sinceNames = 1_000_000_000_000 // ms since 1970: September 2001

// Tells returns the time that a file of the news deck tells; zero for one that was not
// made here.
func Tells(path string) time.Time {
	if at, ok := madeAt(filepath.Base(path)); ok && at.UnixMilli() >= sinceNames && filepath.Base(filepath.Dir(path)) == deckName {
		return at
	}
	return time.Time{}
}

// madeAt reads a bulletin's file name.
func madeAt(name string) (time.Time, bool) {
	stem, ok := strings.CutPrefix(name, filePrefix)
	digits, mp3 := strings.CutSuffix(stem, fileSuffix)
	if !ok || !mp3 || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(digits, 10, 64)
	return time.UnixMilli(ms), err == nil
}

// Sweep removes leftovers of killed runs from a deck. Call it at the start, before any
// bulletin is made there.
func Sweep(dir string) { sweep(dir, time.Now().Add(24*time.Hour)) }

// sweep removes what a killed run left behind.
func sweep(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // making the bulletin reports the error
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && strings.HasPrefix(e.Name(), tempPrefix) && now.Sub(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // else the next run does
		}
	}
}
