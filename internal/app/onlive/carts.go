package onlive

import (
	"fmt"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/live/carts"
	"github.com/athir-radio/athir/internal/station"
)

// cartFiles finds the files of carts in the library.
type cartFiles struct {
	library func() *media.Snapshot
	airs    func(rel string) string // the path of what airs
	remote  bool                    // the node is elsewhere, and pulls files by their path in the library

	mu  sync.Mutex
	of  *media.Snapshot
	odd map[string]int // its tracks whose path is no UTF-8, by that path as it is shown
}

// find implements carts.Options.Find. It asks no disk, which may hang: the studio looks each
// second.
func (f *cartFiles) find(file string) (carts.File, bool) {
	t, known := f.track(file)
	if !known {
		return carts.File{}, false
	}
	airs := f.airs(t.Path)
	out := carts.File{Path: airs, Title: t.Title, DurationMS: t.Duration.Milliseconds(), Stamp: fmt.Sprintf("%x-%x", t.Size, t.ModTime.UnixNano())}
	if f.remote { // of what airs, only that it is another is known there
		out.Path, out.Stamp = t.Path, out.Stamp+"-"+path.Base(airs)
	}
	return out, true
}

// track finds one as the API shows it: what is no UTF-8 in a path is replaced there.
func (f *cartFiles) track(file string) (station.Track, bool) {
	lib := f.library()
	t, known := lib.Find(file)
	if known || !strings.ContainsRune(file, utf8.RuneError) {
		return t, known
	}
	i, known := f.oddOnes(lib)[file]
	if !known {
		return station.Track{}, false
	}
	return lib.Tracks[i], true
}

// oddOnes goes through a library once, and not for each cart of each look: a wall may have 160
// such names, and a library a hundred thousand files.
func (f *cartFiles) oddOnes(lib *media.Snapshot) map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == lib {
		return f.odd
	}
	f.of, f.odd = lib, map[string]int{}
	for i, t := range lib.Tracks {
		if utf8.ValidString(t.Path) {
			continue
		}
		shown := string([]rune(t.Path))
		if _, had := f.odd[shown]; !had {
			f.odd[shown] = i
		}
	}
	return f.odd
}
