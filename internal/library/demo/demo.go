// Package demo builds the demo media library: music of Debian packages, copied
// and tagged, and generated imaging, voice and a little Arabic instrumental
// music where Debian has none, so that every rule of the rotation has material.
//
// It downloads nothing, installs nothing, changes no file outside its
// directory, and leaves alone what it did not make or has made already.
package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/station"
)

// Stage is a part of the work. Music comes first, so that a station can start
// on it while imaging is still being made.
type Stage string

// The stages, in order.
const (
	Music   Stage = "music"
	Imaging Stage = "imaging"
)

// Progress is how far a stage is.
type Progress struct {
	Stage       Stage
	Done, Total int    // assets
	Path        string // the one just done, relative to Dir; empty at the start of a stage
}

// Options say what to build, and where.
type Options struct {
	// Dir is the media root. It is made when missing.
	Dir string
	// Log, when not nil, is told of every tenth of a stage.
	Log *slog.Logger
	// Progress, when not nil, is told of every asset, one call at a time.
	Progress func(Progress)
	// BeforeImaging, when not nil, is called once the music of packages is in place, and
	// returns when the rest may be made. Its error ends the build. It is not called where
	// there is no such music, because the air waits for what is generated then, nor where
	// nothing is left to make.
	BeforeImaging func(ctx context.Context) error
	// Nice is the niceness, 0 to 19, of all that generates imaging. Copies of music are
	// made as fast as they can: they take a second of processor time in all.
	Nice int
	// Share is where packages keep their data; /usr/share when empty.
	Share string

	// only, when not nil, picks the assets to build: tests build a few of each kind.
	only func(asset) bool
}

// Report says what a build found and did.
type Report struct {
	Made, Kept int // assets
	Tracks     int // of them music
	// Missing names the music packages of which no file was found.
	Missing []string
	Elapsed time.Duration
}

func (r Report) String() string {
	return fmt.Sprintf("demo library: %d tracks of music, %d assets made, %d kept, in %s",
		r.Tracks, r.Made, r.Kept, r.Elapsed.Round(10*time.Millisecond))
}

// asset is one file of the library and how to make it.
type asset struct {
	path   string // relative to the media root
	stage  Stage
	size   int64 // bytes, of what is copied
	credit credit
	// recipe changes whenever the file would come out differently.
	recipe string
	// make writes the finished file to a temporary path, by programs of that niceness.
	make func(ctx context.Context, temp string, nice int) error
}

// workDir holds the record of what is built, and files in the making. Scanners
// skip it because of its dot.
const workDir = ".athir-demo"

// Build makes what is missing or out of date in the library and returns when
// all is done. Bulletins, sweepers and effects are made once: the station's own
// take their place. Only whole files ever appear under their names: a build that is
// killed leaves the others for the next one. A second build of the same
// directory waits for the first.
//
// It needs ffmpeg and espeak-ng when something has to be generated; a missing program
// is a *proc.MissingError.
func Build(ctx context.Context, opt Options) (Report, error) {
	begin := time.Now()
	if opt.Share == "" {
		opt.Share = "/usr/share"
	}
	work := filepath.Join(opt.Dir, workDir)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return Report{}, fmt.Errorf("make the demo library: %w", err)
	}
	unlock, err := lock(filepath.Join(work, "lock"))
	if err != nil {
		return Report{}, err
	}
	defer unlock()

	tracks, missing, err := packageTracks(opt.Share)
	if err != nil {
		return Report{}, err
	}
	b := &build{opt: opt, temp: filepath.Join(work, "temp"), report: Report{Missing: missing}}
	if len(missing) > 0 && opt.Log != nil {
		opt.Log.Warn("music packages not installed", "missing", missing,
			"remedy", "apt-get install "+strings.Join(missing, " "))
	}
	generated := generatedAssets()
	if opt.only != nil {
		leave := func(a asset) bool { return !opt.only(a) }
		tracks, generated = slices.DeleteFunc(tracks, leave), slices.DeleteFunc(generated, leave)
	}
	if err := b.prepare(work, append(append([]asset{}, tracks...), generated...)); err != nil {
		return b.report, err
	}
	if err := b.stage(ctx, Music, tracks); err != nil {
		return b.report, err
	}
	if opt.BeforeImaging != nil && len(tracks) > 0 && len(b.missing(generated)) > 0 {
		if err := opt.BeforeImaging(ctx); err != nil {
			return b.report, fmt.Errorf("wait before the demo library's imaging: %w", err)
		}
	}
	if err := b.stage(ctx, Imaging, generated); err != nil {
		return b.report, err
	}
	b.report.Elapsed = time.Since(begin)
	return b.report, nil
}

// build is one run of Build.
type build struct {
	opt    Options
	temp   string
	record *record

	mu     sync.Mutex
	report Report
	tenth  int // of the stage, that the log was told of
}

// prepare makes the folders, drops what a killed build left behind, and writes
// the credits, before the first file can be seen by a scanner.
func (b *build) prepare(work string, assets []asset) error {
	if err := os.RemoveAll(b.temp); err != nil {
		return fmt.Errorf("clear the demo library's temporary files: %w", err)
	}
	dirs := []string{b.temp}
	for _, c := range station.Categories() {
		if c != station.Social { // listeners' posts fill that one
			dirs = append(dirs, filepath.Join(b.opt.Dir, folder(c)))
		}
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make the demo library: %w", err)
		}
	}
	if err := writeAttribution(b.opt.Dir, b.temp, assets); err != nil {
		return err
	}
	for _, a := range assets {
		if folderCategory(a.path).Music() {
			b.report.Tracks++
		}
	}
	var err error
	b.record, err = openRecord(filepath.Join(work, "built.json"), b.temp)
	return err
}

// stage makes the assets that are missing. Music is copied as many files at a time as
// there are processors: the air waits for it. The rest is made one at a time and as
// nicely as the options say, because a station is on the air meanwhile.
func (b *build) stage(ctx context.Context, stage Stage, assets []asset) error {
	b.tell(Progress{Stage: stage, Total: len(assets)})
	todo := b.missing(assets)
	done := len(assets) - len(todo)
	b.report.Kept += done
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	if stage == Imaging {
		group.SetLimit(1)
	}
	for _, a := range todo {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if stage == Imaging {
				proc.Politely(b.opt.Nice)
			}
			outdone := b.outdone(a)
			if !outdone {
				if err := b.makeInTime(ctx, a); err != nil {
					return fmt.Errorf("make %s: %w", a.path, err)
				}
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			done++
			if outdone {
				b.report.Kept++
			} else {
				b.report.Made++
			}
			b.tell(Progress{Stage: stage, Done: done, Total: len(assets), Path: a.path})
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	b.tell(Progress{Stage: stage, Done: len(assets), Total: len(assets)})
	return nil
}

// missing returns what is not there or out of date.
func (b *build) missing(assets []asset) (todo []asset) {
	for _, a := range assets {
		if b.record.has(a) && exists(filepath.Join(b.opt.Dir, a.path)) || renewed(folderCategory(a.path)) && b.record.knows(a) {
			continue
		}
		todo = append(todo, a)
	}
	return todo
}

// renewed reports whether a station makes its own files of a category and archives
// what they replace: a demo file of such a category is built only once.
func renewed(c station.Category) bool {
	return c == station.News || c == station.Sweepers || c == station.SFX
}

// outdone reports whether the asset is a bulletin and the station has made a real
// one, which tells the time; the demo's bulletins are only a test.
func (b *build) outdone(a asset) bool {
	if folderCategory(a.path) != station.News {
		return false
	}
	there, _ := filepath.Glob(filepath.Join(b.opt.Dir, folder(station.News), "NEWS_[1-9]*.mp3")) // the pattern is sound
	return len(there) > 0
}

// makeInTime makes an asset, and tries again what did not end in time. The belief is that
// the machine is busy, and what is made at a low priority waits for ever so long; each
// attempt takes a minute. If the belief is wrong, this asset and those after it are
// missing, and the station airs without them.
func (b *build) makeInTime(ctx context.Context, a asset) error {
	for attempt := 1; ; attempt++ {
		err := b.make(ctx, a)
		var late interface{ Timeout() bool }
		if !errors.As(err, &late) || !late.Timeout() || ctx.Err() != nil {
			return err
		}
		if b.opt.Log != nil {
			b.opt.Log.Warn("demo library: not made in time, trying again: the machine is busy", "path", a.path, "attempt", attempt, "err", err)
		}
	}
}

func (b *build) make(ctx context.Context, a asset) error {
	temp := filepath.Join(b.temp, strings.ReplaceAll(a.path, "/", "__"))
	if err := a.make(ctx, temp, b.opt.Nice); err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(b.opt.Dir, a.path)); err != nil {
		return err
	}
	return b.record.add(a)
}

func (b *build) tell(p Progress) {
	if b.opt.Progress != nil {
		b.opt.Progress(p)
	}
	if p.Done == 0 {
		b.tenth = 0
	}
	if p.Total > 0 && p.Done*10/p.Total > b.tenth && b.opt.Log != nil {
		b.tenth = p.Done * 10 / p.Total
		b.opt.Log.Info("building the demo library", "stage", string(p.Stage), "done", p.Done, "total", p.Total)
	}
}

// folder is where a category's files live under the media root.
func folder(c station.Category) string {
	if c.Music() {
		return "music/" + string(c)
	}
	return string(c)
}

func folderCategory(path string) station.Category {
	return station.Category(filepath.Base(filepath.Dir(path)))
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// lock waits for the directory's lock, which the system drops with the process.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the demo library: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock the demo library: %w", err)
	}
	return func() { _ = f.Close() }, nil
}
