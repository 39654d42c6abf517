package onbackup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/athir-radio/athir/internal/config"
)

// Why a backup was made. Its file is named so.
type Why string

// The reasons.
const (
	ByHand          Why = "by hand"
	Scheduled       Why = "scheduled"
	BeforeMigration Why = "before a migration"
)

// keptBeforeMigrations is how many backups of BeforeMigration stay.
const keptBeforeMigrations = 3

const (
	suffix     = ".tar.zst"
	partSuffix = ".part"
	timeFormat = "20060102T150405Z"
)

// marks end the name of a backup by its reason, before the suffix.
func (w Why) mark() string {
	switch w {
	case Scheduled:
		return "-scheduled"
	case BeforeMigration:
		return "-before-migration"
	}
	return ""
}

// prefix begins the names of a station's backups.
func prefix(cfg *config.Config) string { return "athir-" + slug(cfg.Name) + "-" }

// slug keeps of a name what is a letter or a digit, in any script.
func slug(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	runes := []rune(strings.Join(words, "-"))
	return cmp.Or(strings.Trim(string(runes[:min(len(runes), 40)]), "-"), "station")
}

// fileName is that of the nth backup of a second.
func fileName(cfg *config.Config, at time.Time, why Why, n int) string {
	which := ""
	if n > 1 {
		which = fmt.Sprintf("-%d", n)
	}
	return prefix(cfg) + at.UTC().Format(timeFormat) + which + why.mark() + suffix
}

// nthOf says which of a second's backups a name is of, by what follows its time.
func nthOf(rest string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(rest, "-"), "-")
	if n, err := strconv.Atoi(number); err == nil {
		return n
	}
	return 1
}

// Found is a backup in a folder. That it has its name says that it was verified.
type Found struct {
	File  string
	Made  time.Time
	Why   Why
	Bytes int64
}

// List returns the station's backups in its folder for them, the newest first.
func List(cfg *config.Config) ([]Found, error) { return list(cfg, cfg.BackupDir()) }

// Latest returns the newest of the station's backups in its folder for them; its zero value
// where there is none.
func Latest(cfg *config.Config) (Found, error) {
	all, err := List(cfg)
	if err != nil || len(all) == 0 {
		return Found{}, err
	}
	return all[0], nil
}

func list(cfg *config.Config, dir string) (out []Found, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	nth := map[string]int{}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), prefix(cfg))
		rest, whole := strings.CutSuffix(rest, suffix)
		if !ours || !whole || len(rest) < len(timeFormat) {
			continue
		}
		at, err := time.Parse(timeFormat, rest[:len(timeFormat)])
		info, ierr := e.Info()
		if err != nil || ierr != nil || !info.Mode().IsRegular() {
			continue
		}
		why := ByHand
		for _, w := range []Why{Scheduled, BeforeMigration} {
			if strings.HasSuffix(rest, w.mark()) {
				why = w
			}
		}
		out = append(out, Found{filepath.Join(dir, e.Name()), at, why, info.Size()})
		nth[out[len(out)-1].File] = nthOf(rest[len(timeFormat):])
	}
	slices.SortFunc(out, func(a, b Found) int {
		return cmp.Or(b.Made.Compare(a.Made), cmp.Compare(nth[b.File], nth[a.File]), cmp.Compare(b.File, a.File))
	})
	return out, nil
}

// prune removes the oldest scheduled backups over keep, and the oldest of those before
// migrations over their own bound. Those made by hand stay.
func prune(cfg *config.Config, keep int) (removed []string, err error) {
	all, err := List(cfg)
	if err != nil {
		return nil, err
	}
	left := map[Why]int{Scheduled: keep, BeforeMigration: keptBeforeMigrations}
	for _, b := range all {
		n, bounded := left[b.Why]
		if !bounded {
			continue
		}
		if left[b.Why]--; n > 0 {
			continue
		}
		if rerr := os.Remove(b.File); rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		removed = append(removed, b.File)
	}
	return removed, err
}
