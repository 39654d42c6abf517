package onbackup

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/mirror"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/web/api"
)

const (
	// followEvery is the time between two steps of a continuous copy. A step that fails is
	// made good by the next, so that with one of them, and a second for each, no more is lost
	// than mostBehind.
	followEvery = 2 * time.Second
	// mostBehind is how far the copy may be behind before somebody is told.
	mostBehind = 10 * time.Second
	// atEase is how far behind the database's pieces may be for files to be copied beside them.
	atEase = 2 * followEvery
	// keepGone is how long a file stays in the copy after it has gone here: an older state of
	// the database, which a restore may fall back to, may know it.
	keepGone = time.Hour
	// scanShare of the time is what looking for new files may take: one part in so many.
	scanShare = 20
)

// continuous follows the station into the folder of backup.continuous.
//
//	belief               evidence                             acts by
//	well                 the newest step worked               a step every followEvery
//	away, full           the step's error                     the same: a step that fails costs nothing
//	chain broken         what is in the log is not enough     a whole copy; where that fails, ever later
//	slow, hanging        no step ends                         waiting, with files left until it is well
//
// Nothing of the station waits for any of it.
type continuous struct {
	db      *store.Follower
	state   *mirror.Mirror // single files, within each step
	trees   *mirror.Mirror // folders of files, beside the steps
	began   time.Time
	hold    func(ctx context.Context) error
	seen    string // the generation that state was written beside
	failing atomic.Pointer[string]
}

// follow makes the continuous copy of a station; nil where none is wanted.
func (k *Keeper) follow() *continuous {
	cfg := k.Config
	if cfg.Backup.Continuous == "" {
		return nil
	}
	c := &continuous{began: time.Now()}
	var single, trees []place
	for _, p := range (Choice{}).of(cfg) {
		switch {
		case p.tree:
			trees = append(trees, p)
		case p.name != databaseName:
			single = append(single, p)
		}
	}
	c.state = &mirror.Mirror{To: cfg.Backup.Continuous, Folder: copiedState, List: listOf(single), Fit: func(name string, text []byte) error { return fits(cfg, name, text) }}
	c.trees = &mirror.Mirror{To: cfg.Backup.Continuous, Folder: copiedFiles, List: listOf(trees), Keep: keepGone}
	c.db = &store.Follower{
		DB: k.Database, To: cfg.Backup.Continuous, Every: followEvery, Log: k.Log,
		Beside: c.beside,
		Room:   func(bytes int64) error { return ownRoom(cfg.DataDir, bytes) },
	}
	c.hold = k.Hold
	return c
}

// listOf lists the files of places. What is gone of a folder is spare, unless all of it is: it
// may be a disk that is not mounted.
func listOf(places []place) func() ([]mirror.File, func(string) bool, error) {
	return func() (out []mirror.File, spare func(string) bool, err error) {
		there := map[string]bool{}
		for _, p := range places {
			files, _, err := p.walk()
			if err != nil {
				return nil, nil, err
			}
			for _, f := range files {
				out = append(out, mirror.File{Name: f.Name, Path: f.path, Bytes: f.Bytes, Mode: f.Mode, Modified: f.Modified})
			}
			there[p.name] = p.tree && len(files) > 0
		}
		return out, func(name string) bool {
			p, ours := placeOf(places, name)
			return ours && there[p.name]
		}, nil
	}
}

// patient holds files up while the database's pieces are behind, and a while for the air.
func (c *continuous) patient() func(ctx context.Context) error {
	hold := shed.AtMost(c.hold, shed.Most)
	return func(ctx context.Context) error {
		for c.behind() > atEase {
			if err := retry.Pause(ctx, followEvery/4); err != nil {
				return err
			}
		}
		return hold(ctx)
	}
}

// fits refuses what a restore would refuse: the one before stays in the copy.
func fits(cfg *config.Config, name string, text []byte) error {
	switch {
	case name == settingsName:
		_, err := config.Parse(text, nil, cfg.Env)
		return err
	case name == stationName:
		return policy.Check(text)
	}
	return nil
}

// ownRoom refuses a whole copy that would take the data's disk below what stays free for
// the air.
func ownRoom(dir string, need int64) error {
	free, size, err := file.Space(dir)
	if err != nil {
		return err
	}
	if want := uint64(max(need, 0)) + min(Reserve, size/20); free < want { //nolint:gosec // a size
		return fmt.Errorf("%w: the database is copied beside itself first, and %s has %d MiB too little: free some", ErrNoRoom, dir, mebi(want-free))
	}
	return nil
}

// beside copies the single files that have changed.
func (c *continuous) beside() error {
	if s := c.db.Status(); s.Err != "" || s.Generation != c.seen {
		c.seen = s.Generation
		c.state.Forget() // it may be another folder by now
	}
	return c.state.Scan(context.Background())
}

// run copies until ctx ends, and then what is left. What hangs is left to itself then.
func (c *continuous) run(ctx context.Context) {
	files := make(chan struct{})
	go func() {
		defer close(files)
		c.files(ctx)
	}()
	c.db.Run(ctx)
	select {
	case <-files:
	case <-time.After(followEvery): // it hangs as the database's has
	}
}

// files copies what is in folders, whenever the copy of the database is well.
func (c *continuous) files(ctx context.Context) {
	generation := ""
	for pause := followEvery / 2; retry.Pause(ctx, pause) == nil; {
		s := c.db.Status()
		if pause = followEvery; s.Err != "" || s.Until.IsZero() {
			continue
		}
		if s.Generation != generation {
			generation = s.Generation
			c.trees.Forget()
		}
		began := time.Now()
		c.trees.Hold = c.patient()
		err := c.trees.Scan(ctx)
		why := ""
		if err != nil && ctx.Err() == nil {
			why = fmt.Sprintf("copy files to %s: %v", c.db.To, err)
		}
		if was := c.failing.Swap(&why); why != "" && (was == nil || *was == "") {
			c.db.Log.Warn("files are not copied continuously, which is tried again", "err", why)
		}
		pause = max(pause, scanShare*time.Since(began))
	}
}

// behind is the time of which everything would be lost now.
func (c *continuous) behind() time.Duration {
	until := c.db.Status().Until
	if until.IsZero() {
		until = c.began
	}
	return max(0, time.Since(until))
}

// problem says what is wrong with the copy; empty: nothing.
func (c *continuous) problem() string {
	behind, s := c.behind(), c.db.Status()
	why := ""
	if p := c.failing.Load(); p != nil {
		why = *p
	}
	switch {
	case behind <= mostBehind:
		return why
	case s.Err != "":
		return s.Err
	}
	return fmt.Sprintf("copy to %s: nothing is written for %.0f seconds: the folder is slow, or does not answer", c.db.To, behind.Seconds())
}

// continuous tells of the continuous copy; nil where there is none.
func (k *Keeper) continuous() *api.Continuous {
	if k.Config.Backup.Continuous == "" {
		return nil
	}
	out := &api.Continuous{To: k.Config.Backup.Continuous}
	if c := k.copying.Load(); c != nil {
		s := c.db.Status()
		out.Bytes, out.Waiting, out.Error = s.Bytes, c.trees.Waiting(), c.problem()
		if !s.Until.IsZero() {
			out.Until = s.Until.UnixMilli()
		}
	}
	return out
}

// Reach is how far the continuous copy of a station reaches, by the newest piece in its
// folder, and how much later the newest commit is that still stands in the database's log. An
// error names the folder.
func Reach(cfg *config.Config) (until time.Time, behind time.Duration, err error) {
	until, _, err = store.Reach(cfg.Backup.Continuous)
	if err != nil {
		return until, 0, err
	}
	if info, err := os.Stat(cfg.Database() + "-wal"); err == nil {
		behind = max(0, info.ModTime().Sub(until))
	}
	return until, behind, nil
}
