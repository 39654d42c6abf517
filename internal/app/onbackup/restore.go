package onbackup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/archive"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/lock"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/swap"
)

// Restoring is what Restore needs. Data, From or Copy, and Confirm are required.
type Restoring struct {
	Data string    // absolute data directory
	Env  []string  // as os.Environ gives it
	From io.Reader // the backup
	Copy string    // folder of a continuous copy, in its place
	// Control puts back only what the control plane alone uses, beside a node that goes on:
	// database and configuration, and files that are missing.
	Control bool
	DryRun  bool
	// Confirm is asked before anything is touched; an error ends the restore. Show is told
	// how far the reading is and may be nil.
	Confirm func(Plan) error
	Show    func(Progress)
}

// Row is what becomes of one part.
type Row struct {
	What   string     `json:"what"`
	Name   string     `json:"name"`
	There  *Extent    `json:"there"`  // null: nothing is there
	Backup *Extent    `json:"backup"` // null: nothing is in the backup
	Action Action     `json:"action"`
	place  place      // where it goes
	files  []archived // what is put there
}

// archived is a file as it lies in the staging folder.
type archived struct{ staged, target string }

// Extent is how much something is, and when it was last changed.
type Extent struct {
	Files int       `json:"files"`
	Bytes int64     `json:"bytes"`
	Last  time.Time `json:"last"`
}

func (e *Extent) add(bytes int64, at time.Time) *Extent {
	if e == nil {
		e = &Extent{}
	}
	e.Files++
	e.Bytes += bytes
	if at.After(e.Last) {
		e.Last = at
	}
	return e
}

// Action is what is done with a part.
type Action string

// The actions.
const (
	Replaced  Action = "replaced"
	Added     Action = "what is missing is added" // nothing that is there is touched
	Untouched Action = "stays"
)

// Plan is what a restore will do.
type Plan struct {
	Manifest archive.Manifest `json:"-"`
	Made     time.Time        `json:"made"`
	Station  string           `json:"station"`
	Data     string           `json:"data"`
	Rows     []Row            `json:"parts"`
	Undo     string           `json:"undo"` // folder to which goes what was there
	// Continuous: it is of a continuous copy, which reaches until Made. Left is what of it
	// cannot be used, for people.
	Continuous bool     `json:"continuous,omitempty"`
	Left       []string `json:"left,omitempty"`
	Done       bool     `json:"done"`
}

// journalName is the file of a restore that is not finished, within the data directory.
const journalName = "restore.json"

// controlNote is the note of a swap that only needs the control plane's lock.
const controlNote = "control"

// Restore puts a backup in the place of what a station has. All of it is read and
// verified before anything is touched; what was there is moved into Plan.Undo. A kill
// leaves the old state, or one that the next start or the next call brings to its end.
func Restore(ctx context.Context, r Restoring) (plan Plan, err error) {
	if r.Show == nil {
		r.Show = func(Progress) {}
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("restore: %w", err)
		}
	}()
	base := r.Data
	if !r.DryRun {
		if err := os.MkdirAll(filepath.Join(r.Data, "node"), 0o755); err != nil { //nolint:gosec // as a first start makes it
			return plan, fmt.Errorf("%w: choose another folder with --data", err)
		}
		release, err := locks(r.Data, r.Control)
		if err != nil {
			return plan, err
		}
		defer release()
		if err := swap.Finish(filepath.Join(r.Data, journalName)); err != nil {
			return plan, fmt.Errorf("finish the restore before: %w", err)
		}
		sweepStaging(r.Data)
	} else if _, err := os.Stat(base); err != nil {
		base = os.TempDir()
	}
	at := time.Now().UTC().Format(timeFormat)
	staging, err := os.MkdirTemp(base, stagingPrefix+at+"-")
	if err != nil {
		return plan, err
	}
	defer os.RemoveAll(staging) //nolint:errcheck // the next restore sweeps it
	m, left, err := r.stage(ctx, staging)
	if err != nil {
		return plan, fmt.Errorf("nothing was changed: %w", err)
	}
	plan = Plan{Manifest: m, Made: m.Made, Station: m.Station, Data: r.Data, Continuous: r.Copy != "", Left: left, Undo: freeName(filepath.Join(r.Data, "before-restore-"+at))}
	if plan.Rows, err = r.rows(staging); err != nil {
		return plan, fmt.Errorf("nothing was changed: %w", err)
	}
	if err := r.Confirm(plan); err != nil || r.DryRun {
		return plan, err
	}
	if err := r.swap(staging, plan); err != nil {
		return plan, err
	}
	plan.Done = true
	return plan, nil
}

const stagingPrefix = ".restore-"

// freeName is path, or one after it where that is taken.
func freeName(path string) string {
	name := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d", path, n)
	}
}

func sweepStaging(data string) {
	old, _ := filepath.Glob(filepath.Join(data, stagingPrefix+"*"))
	for _, dir := range old {
		_ = os.RemoveAll(dir)
	}
}

// locks keeps the station from its files: all of it, or the control plane alone.
func locks(data string, control bool) (release func(), err error) {
	dir := filepath.Join(data, "node")
	var held []*lock.Lock
	release = func() {
		for _, l := range held {
			l.Release()
		}
	}
	names := []string{"control", "backup", "node"}
	if control {
		names = names[:2]
	}
	for _, name := range names {
		l, err := lock.Acquire(dir, name)
		if err != nil {
			release()
			if errors.Is(err, lock.ErrHeld) && name == "node" {
				err = fmt.Errorf("%w (the control plane does not run: --control puts database and configuration back while the air goes on)", err)
			} else if errors.Is(err, lock.ErrHeld) && name == "backup" {
				err = fmt.Errorf("a backup is being made: %w", err)
			} else if errors.Is(err, lock.ErrHeld) && control {
				err = fmt.Errorf("the control plane runs, so that nothing can be put under it: %w", err)
			}
			return nil, err
		}
		held = append(held, l)
	}
	return release, nil
}

// stage reads the whole backup into a folder of its own. left is what of it cannot be used.
func (r Restoring) stage(ctx context.Context, staging string) (m archive.Manifest, left []string, err error) {
	root, err := os.OpenRoot(staging)
	if err != nil {
		return m, nil, err
	}
	defer root.Close() //nolint:errcheck // what it made is synced below
	free, size, err := file.Space(staging)
	if err != nil {
		return m, nil, err
	}
	var done int64
	e := examination{
		env: r.Env, most: int64(free) - int64(min(Reserve, size/20)), keep: root, //nolint:gosec // sizes of a disk
		hold: func(ctx context.Context) error { return ctx.Err() },
		show: func(n int64) { done += n; r.Show(Progress{"read", done, 0}) },
	}
	if r.Copy != "" {
		m, left, err = rebuild(ctx, r.Copy, e)
	} else {
		m, err = examine(ctx, r.From, e)
	}
	if err != nil {
		return m, nil, err
	}
	_, newer, err := store.Ahead(m.Schema, Schemas())
	if err != nil {
		return m, nil, err
	}
	if len(newer) > 0 {
		return m, nil, fmt.Errorf("%w (%s of the backup has version %d, this program knows %d)", archive.ErrNewer, newer[0].Slice, newer[0].Have, newer[0].To)
	}
	dir, err := os.Open(staging) //nolint:gosec // our own
	if err != nil {
		return m, nil, err
	}
	return m, left, errors.Join(unix.Syncfs(int(dir.Fd())), dir.Close())
}

// settings are those by which the places are found: the backup's own, where it has any
// and they are restored. Beside a running node they are those that it has.
func (r Restoring) settings(staging string) (*config.Config, error) {
	files := []string{filepath.Join(staging, settingsName), filepath.Join(r.Data, settingsName), config.LastFile(r.Data)}
	if r.Control {
		files = append(files[1:], files[0])
	}
	var wrong error
	for _, path := range files {
		text, err := os.ReadFile(path) //nolint:gosec // the station's own
		if err == nil {
			var cfg *config.Config
			if cfg, err = config.Parse(text, nil, r.Env); err == nil || path == files[0] && cfg != nil && !r.Control {
				cfg.DataDir = r.Data // what else is wrong with them says the next start
				return cfg, nil
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", path, err))
		}
	}
	return nil, errors.Join(fmt.Errorf("there are no settings, neither in the backup nor in %s", r.Data), wrong)
}

// rows compares what is there with what was staged.
func (r Restoring) rows(staging string) ([]Row, error) {
	cfg, err := r.settings(staging)
	if err != nil {
		return nil, err
	}
	var out []Row
	for _, p := range places(cfg) {
		staged := p
		staged.path = filepath.Join(staging, filepath.FromSlash(p.name))
		row := Row{What: p.what, Name: p.name, Action: Untouched, place: p}
		there, _, err := p.walk()
		if err != nil {
			return nil, err
		}
		for _, f := range there {
			row.There = row.There.add(f.Bytes, f.Modified)
		}
		files, _, err := staged.walk()
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			row.Backup = row.Backup.add(f.Bytes, f.Modified)
			target := p.path
			if p.tree {
				target = filepath.Join(p.path, filepath.FromSlash(strings.TrimPrefix(f.Name, p.name+"/")))
			}
			row.files = append(row.files, archived{f.path, target})
		}
		row.Action = r.action(cfg, row)
		if row.There != nil || row.Backup != nil {
			out = append(out, row)
		}
	}
	return out, nil
}

func (r Restoring) action(cfg *config.Config, row Row) Action {
	inside, err := filepath.Rel(cfg.DataDir, row.place.path)
	switch {
	case row.Backup == nil:
		return Untouched
	case err != nil || inside == ".." || strings.HasPrefix(inside, "../"):
		return Untouched // a file of the operator's, elsewhere
	case !r.Control:
		return Replaced
	case row.place.tree:
		return Added
	case row.place.onAir:
		return Untouched
	}
	return Replaced
}

// swap puts what was staged in place.
func (r Restoring) swap(staging string, plan Plan) error {
	j := swap.Journal{Clear: staging}
	if r.Control {
		j.Note = controlNote
	}
	for _, row := range plan.Rows {
		aside := func(path string) string {
			return filepath.Join(plan.Undo, filepath.FromSlash(row.Name)+strings.TrimPrefix(path, row.place.path))
		}
		switch row.Action {
		case Replaced:
			if row.Name == databaseName { // the log belongs to the old file, and would be taken for the new one's
				for _, end := range []string{"-wal", "-shm"} {
					j.Moves = append(j.Moves, swap.Move{Place: row.place.path + end, Aside: aside(row.place.path + end)})
				}
				// What the process before left to the next is of events that this database has not.
				left, _ := filepath.Glob(filepath.Join(r.Data, "handover*.json"))
				for _, path := range left {
					j.Moves = append(j.Moves, swap.Move{Place: path, Aside: filepath.Join(plan.Undo, filepath.Base(path))})
				}
			}
			j.Moves = append(j.Moves, swap.Move{New: filepath.Join(staging, filepath.FromSlash(row.Name)), Place: row.place.path, Aside: aside(row.place.path)})
		case Added:
			for _, f := range row.files {
				if _, err := os.Lstat(f.target); err != nil {
					j.Moves = append(j.Moves, swap.Move{New: f.staged, Place: f.target})
				}
			}
		}
	}
	journal := filepath.Join(r.Data, journalName)
	if err := swap.Begin(journal, j); err != nil {
		return err
	}
	if err := swap.Finish(journal); err != nil {
		return fmt.Errorf("the restore is not finished; the next start, or the same command, goes on with it: %w", err)
	}
	return nil
}

// Resume finishes a restore that was cut short, and reports whether there was one.
func Resume(data string) (finished bool, err error) {
	abs, err := filepath.Abs(data)
	if err != nil {
		return false, err
	}
	path := filepath.Join(abs, journalName)
	j, ok, err := swap.Pending(path)
	if err != nil {
		return false, fmt.Errorf("a restore was cut short, and its journal cannot be read: %s: %w: restore the backup again", path, err)
	}
	if !ok {
		return false, nil
	}
	release, err := locks(abs, j.Note == controlNote)
	if err != nil {
		return false, fmt.Errorf("a restore is not finished: %w", err)
	}
	defer release()
	if err := swap.Finish(path); err != nil {
		return false, fmt.Errorf("a restore was cut short and cannot be finished: %w", err)
	}
	return true, nil
}
