package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/playlist"
)

func (o Options) dataChecks(now alive) []check {
	cfg := o.Config
	return []check{
		{"database", patient, func(ctx context.Context) Result {
			problem, err := store.QuickCheck(ctx, cfg.Database(), now.control != 0)
			return judgeDatabase(cfg.Database(), now.control != 0, problem, err)
		}},
		{"playlist", usual, func(context.Context) Result {
			items, err := readPlaylist(cfg.Playlist())
			return judgePlaylist(cfg.Playlist(), items, err)
		}},
		{"countries", usual, func(context.Context) Result {
			return judgeCountries(census.OpenAtlas(slog.New(slog.DiscardHandler), cfg.GeoIPFile).State(), time.Now())
		}},
		{"backup", usual, func(context.Context) Result {
			dir := cfg.BackupDir()
			_, err := os.Stat(dir) // NewestBackup knows no folder from an empty one
			newest := time.Time{}
			if err == nil {
				newest, err = o.NewestBackup()
			}
			return judgeBackup(dir, newest, time.Now(), err)
		}},
		{"continuous copy", usual, func(ctx context.Context) Result {
			return judgeCopy(cfg.Backup.Continuous, o.lookAtCopy(ctx), now.control != 0)
		}},
	}
}

// copied is what can be seen of a continuous copy.
type copied struct {
	until  time.Time     // the newest that is in it
	behind time.Duration // how much later the newest commit here is
	beside bool          // it is on the data's own disk
	err    error
}

// lookAtCopy looks at the folder of the continuous copy, which may be another machine's and
// hang: then the error is ctx's.
func (o Options) lookAtCopy(ctx context.Context) copied {
	dir := o.Config.Backup.Continuous
	if dir == "" {
		return copied{}
	}
	seen := make(chan copied, 1)
	go func() {
		var c copied
		var here, there unix.Stat_t
		if c.err = unix.Stat(dir, &there); c.err == nil {
			c.beside = unix.Stat(o.Config.DataDir, &here) == nil && here.Dev == there.Dev
			c.until, c.behind, c.err = o.Reach()
		}
		seen <- c
	}()
	select {
	case c := <-seen:
		return c
	case <-ctx.Done():
		return copied{err: ctx.Err()}
	}
}

// lateCopy is how far behind a continuous copy may be: what a station loses at most.
const lateCopy = 10 * time.Second

func judgeCopy(dir string, c copied, running bool) Result {
	reaches := "it reaches until " + c.until.UTC().Format(time.DateTime) + " UTC"
	switch {
	case dir == "":
		return skipped("backup.continuous is empty: there is none")
	case errors.Is(c.err, fs.ErrNotExist):
		return wrong("mount its disk, or make it for the station's user", "the folder %s is not there", dir)
	case errors.Is(c.err, context.DeadlineExceeded):
		return wrong("look at the mount, and at the machine that it is of", "the folder %s does not answer within %s", dir, usual)
	case errors.Is(c.err, fs.ErrPermission):
		return skipped("%s: run this as the station's user", c.err)
	case errors.Is(c.err, store.ErrNoCopy) && running:
		return wrong("if the setting is new, have the station read it: systemctl reload athir, or kill -HUP to athir run; otherwise the log says why", "%s: nothing was copied yet", dir)
	case errors.Is(c.err, store.ErrNoCopy):
		return skipped("%s is empty: the station fills it while it runs", dir)
	case c.err != nil:
		return wrong("the log says why nothing is copied", "%s", oneLine(c.err.Error()))
	case c.behind > lateCopy:
		return wrong("the log says why nothing is copied", "%s is %.0f seconds behind the database: %s", dir, c.behind.Seconds(), reaches)
	case c.beside:
		return warning("choose a folder on another disk or another machine with backup.continuous", "%s is on the disk of the data, and goes with it", dir)
	}
	return well("%.0f seconds behind the newest commit at most: %s", c.behind.Seconds(), reaches)
}

func judgeDatabase(path string, running bool, problem string, err error) Result {
	const restore = "stop the station and put a backup in its place"
	switch {
	case errors.Is(err, fs.ErrNotExist) && running:
		return wrong("do not stop the station: put the file back, or rename the rescued copy beside it", "%s is gone under the running station: nothing is kept", path)
	case errors.Is(err, fs.ErrNotExist):
		return skipped("%s is not there yet: the first start makes it", path)
	case errors.Is(err, store.ErrUnfinished):
		return skipped("%s was not closed well: the next start sees to that", path)
	case errors.Is(err, context.DeadlineExceeded):
		return warning("try again when the machine is less busy", "%s is too large to be read through within %s", path, patient)
	case err != nil:
		return wrong(restore, "%s cannot be read: %s", path, oneLine(err.Error()))
	case problem != "":
		return wrong(restore, "%s is damaged: %s", path, oneLine(problem))
	}
	return well("%s is whole", path)
}

// readPlaylist reads the playlist, again where it is just being written.
func readPlaylist(path string) (items int, err error) {
	for range 5 {
		var text []byte
		if text, err = os.ReadFile(path); err != nil { //nolint:gosec // the station's own file
			return 0, err
		}
		var all []playlist.Item
		if all, err = playlist.Decode(text); !errors.Is(err, playlist.ErrTorn) {
			return len(all), err
		}
	}
	return 0, err
}

func judgePlaylist(path string, items int, err error) Result {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return skipped("%s is not there yet: the first start makes it", path)
	case err != nil:
		return wrong("a running station writes it anew by itself; find what else writes into its folder", "%s: %s", path, oneLine(err.Error()))
	case items == 0:
		return warning("put music into the media folder", "%s is empty: nothing can be played", path)
	}
	return well("%d entries, as they were written", items)
}

// oldBackup is the age of a backup that should have been followed by another.
const oldBackup = 49 * time.Hour

func judgeBackup(dir string, newest, now time.Time, err error) Result {
	const remedy = "the log says why no newer one was made"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return skipped("there is no %s", dir)
	case err != nil:
		return skipped("%s: run this as the station's user", err)
	case newest.IsZero():
		return warning(remedy, "%s holds no backup", dir)
	case now.Sub(newest) > oldBackup:
		return warning(remedy, "the newest backup in %s is %s old", dir, fmt.Sprintf("%.0f hours", now.Sub(newest).Hours()))
	}
	return well("the newest is %.0f hours old", now.Sub(newest).Hours())
}

// oldCountries is after what time a database of countries tells many listeners wrongly.
const oldCountries = 183 * 24 * time.Hour

func judgeCountries(state census.State, now time.Time) Result {
	const remedy = "fetch the file anew, or leave geoip_file empty (docs/telemetry.md)"
	switch {
	case state.File == "":
		return skipped("geoip_file is not set")
	case state.Problem != "":
		return warning(remedy, "countries of listeners are not told: %s: %s", state.File, state.Problem)
	case now.Sub(state.BuiltAt) > oldCountries:
		return warning(remedy, "%s is of %s", state.File, state.BuiltAt.Format(time.DateOnly))
	}
	return well("%s is of %s", state.File, state.BuiltAt.Format(time.DateOnly))
}
