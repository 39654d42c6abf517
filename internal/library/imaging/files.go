package imaging

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/synth"
	"github.com/athir-radio/athir/internal/sound/wav"
)

// The decks, below the media folder.
const (
	sweepersDir = "sweepers"
	sfxDir      = "sfx"
)

// How the names of our files begin. A song's drop and a voice drop share the
// mission's prefix SWP_DROP; the word behind it tells an operator which it is.
const (
	introPrefix = "SWP_INTRO"
	voxPrefix   = "SWP_VOX"
	songPrefix  = "SWP_DROP_SONG"
	dropPrefix  = "SWP_DROP_VOICE"
	idPrefix    = "ID"
	sfxPrefix   = "SFX"
)

const (
	fileSuffix = ".mp3"
	tempPrefix = ".imaging-" // hidden, so that no scan takes it for music
)

// Old lists the imaging of each deck that has the mission's names (SWP_, ID_,
// SFX_), as paths relative to the media folder, sorted. A deck that does not
// exist is empty.
func Old(dir string) ([]string, error) {
	var out []string
	for _, deck := range []struct {
		dir      string
		prefixes []string
	}{{sweepersDir, []string{"SWP_", "ID_"}}, {sfxDir, []string{"SFX_"}}} {
		entries, err := os.ReadDir(filepath.Join(dir, deck.dir))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("list old imaging: %w", err)
		}
		for _, e := range entries {
			ours := slices.ContainsFunc(deck.prefixes, func(p string) bool { return strings.HasPrefix(e.Name(), p) })
			if ours && e.Type().IsRegular() {
				out = append(out, path.Join(deck.dir, e.Name()))
			}
		}
	}
	return out, nil
}

// designName is what a name and a result call an item's design.
func (it item) designName() string {
	switch it.prefix {
	case introPrefix:
		return "INTRO"
	case voxPrefix:
		return "VOX"
	}
	return string(it.design)
}

func (it item) deck() string {
	if it.kind == Stinger {
		return sfxDir
	}
	return sweepersDir
}

// fileName sorts by time within its prefix, and tells the seed.
func (it item) fileName(at time.Time, again int) string {
	stem := it.prefix
	if it.kind == Stinger {
		stem += "_" + it.designName()
	}
	stem = fmt.Sprintf("%s_%s_%08x", stem, at.UTC().Format("20060102T150405"), it.seed)
	if again > 0 {
		stem += fmt.Sprintf("_%d", again)
	}
	return stem + fileSuffix
}

// workplace is a hidden folder in a deck for unfinished files, which move into the deck
// when whole. It is locked while in use.
type workplace struct {
	deck string
	path string
	lock *os.File
}

func newWorkplace(deck string) (*workplace, error) {
	if err := os.MkdirAll(deck, 0o755); err != nil {
		return nil, fmt.Errorf("make the deck's folder: %w", err)
	}
	sweep(deck)
	dir, err := os.MkdirTemp(deck, tempPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	w := &workplace{deck: deck, path: dir}
	if w.lock, err = os.Open(dir); err == nil {
		err = unix.Flock(int(w.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		w.close()
		return nil, fmt.Errorf("lock the temporary folder: %w", err)
	}
	return w, nil
}

func (w *workplace) close() {
	_ = os.RemoveAll(w.path) // else the next run sweeps it
	if w.lock != nil {
		_ = w.lock.Close()
	}
}

// Sweep removes leftovers of killed orders from the decks of a media folder. Every order
// begins with it.
func Sweep(dir string) {
	for _, deck := range []string{sweepersDir, sfxDir} {
		sweep(filepath.Join(dir, deck))
	}
}

// sweep removes leftovers of killed runs. A run at work holds its lock; one that has not
// locked its folder yet is recognised by the folder's age.
func sweep(deck string) {
	entries, err := os.ReadDir(deck)
	if err != nil {
		return // making the folder reports the error
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), tempPrefix) || time.Since(info.ModTime()) < time.Second {
			continue
		}
		left := filepath.Join(deck, e.Name())
		f, err := os.Open(left)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(left)
		}
		_ = f.Close()
	}
}

// place masters a sound and puts the file into the deck once it is on disk.
func (w *workplace) place(ctx context.Context, master mastering.Desk, it item, at time.Time, sound synth.Sound) (string, mastering.Outcome, error) {
	stem := filepath.Join(w.path, fmt.Sprintf("%s-%d", it.kind, it.nth))
	in, out := stem+".wav", stem+fileSuffix
	if err := os.WriteFile(in, wav.Float32(synth.Rate, 2, sound.Interleaved()), 0o600); err != nil {
		return "", mastering.Outcome{}, fmt.Errorf("write the mix: %w", err)
	}
	defer os.Remove(in) //nolint:errcheck // the folder goes with all that is in it
	rec, err := master.Do(ctx, mastering.OwnJob(in, out), nil)
	if err != nil {
		return "", mastering.Outcome{}, fmt.Errorf("master the mix: %w", err)
	}
	if err := file.Settle(out, 0o644); err != nil {
		return "", mastering.Outcome{}, fmt.Errorf("write the file: %w", err)
	}
	for again := 0; ; again++ {
		name := it.fileName(at, again)
		// A link, unlike a rename, never replaces a file.
		err := os.Link(out, filepath.Join(w.deck, name))
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil { // a file system without links
			err = os.Rename(out, filepath.Join(w.deck, name))
		}
		if err != nil {
			return "", mastering.Outcome{}, fmt.Errorf("move the file into place: %w", err)
		}
		return path.Join(it.deck(), name), rec.Outcome, nil
	}
}
