package onbackup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/web/api"
)

const (
	// settle is how long a started station is left to what is heard before a backup that is
	// overdue.
	settle = 2 * time.Minute
	// The pause after a backup that failed, doubled with each further one.
	firstPause, longestPause = 5 * time.Minute, 6 * time.Hour
	niceness                 = 10 // as for all production
)

// Keeper makes the station's scheduled backups.
type Keeper struct {
	Config  *config.Config
	Version string
	Log     *slog.Logger
	// Database is followed where the settings have a continuous copy.
	Database *store.DB
	// Hold may wait while the air needs the machine.
	Hold func(ctx context.Context) error

	last    atomic.Pointer[try] // of this process; nil before the first
	copying atomic.Pointer[continuous]
}

// try is the newest try at a scheduled backup.
type try struct {
	at       time.Time
	failures int    // in a row, this one included
	why      string // it failed; empty: it did not
}

func (k *Keeper) lastTry() try {
	if t := k.last.Load(); t != nil {
		return *t
	}
	return try{}
}

// Failing returns why the newest try at a backup failed, or why the continuous copy is
// behind; empty where all is well.
func (k *Keeper) Failing() string {
	why := k.lastTry().why
	if c := k.continuous(); why == "" && c != nil {
		why = c.Error
	}
	return why
}

// Status returns the newest backup there is, and what the newest try came to.
func (k *Keeper) Status() api.Backup {
	newest, err := Latest(k.Config)
	last := k.lastTry()
	out := api.Backup{File: newest.File, Why: string(newest.Why), Bytes: newest.Bytes, Verified: newest.File != "", Failures: last.failures, Error: last.why, Continuous: k.continuous()}
	if newest.File != "" {
		out.Made = newest.Made.UnixMilli()
	}
	if !last.at.IsZero() {
		out.TriedAt = last.at.UnixMilli()
	}
	if err != nil && out.Error == "" {
		out.Error = err.Error()
	}
	return out
}

// Run makes a backup whenever one is due, as a job on a board, and the continuous copy,
// until ctx ends.
func (k *Keeper) Run(ctx context.Context, board *jobs.Board) error {
	var copying sync.WaitGroup
	defer copying.Wait()
	if c := k.follow(); c != nil {
		k.copying.Store(c)
		copying.Go(func() { c.run(ctx) })
	}
	return k.schedule(ctx, board)
}

func (k *Keeper) schedule(ctx context.Context, board *jobs.Board) error {
	every := k.Config.Backup.Interval()
	if every == 0 {
		k.Log.Warn("no backups are made by themselves: backup.every is 0")
		return nil
	}
	started, failures := time.Now(), 0
	var tried time.Time
	for {
		at := due(newest(k.Config).Made, started, tried, every, failures)
		if retry.Pause(ctx, time.Until(at)) != nil {
			return nil
		}
		tried = time.Now()
		err := k.once(ctx, board)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			failures = 0
			k.last.Store(&try{at: tried})
		default:
			failures++
			k.last.Store(&try{tried, failures, err.Error()})
			last := newest(k.Config)
			k.Log.Warn("backup failed, and is tried again", "err", err, "failures", failures, "newest", last.File, "made", last.Made,
				"again", due(last.Made, started, tried, every, failures).Format(time.RFC3339))
		}
	}
}

// due is when the next backup is made: every so long after the newest, which a clock that
// was set back may have put into the future; soon after a start that finds it overdue; and
// after a failure ever later. tried is zero before the first.
func due(newest, started, tried time.Time, every time.Duration, failures int) time.Time {
	if failures > 0 {
		return tried.Add(retry.Doubled(firstPause, min(longestPause, every), failures))
	}
	at, now := newest.Add(every), started
	if tried.After(now) {
		now = tried
	}
	switch {
	case at.After(now.Add(every)):
		return now.Add(every)
	case tried.IsZero() && at.Before(started.Add(settle)):
		return started.Add(settle)
	case !tried.IsZero() && at.Before(tried.Add(every/2)): // what was made is not the newest that is found
		return tried.Add(every)
	}
	return at
}

// newest is the newest scheduled backup; its zero value where there is none.
func newest(cfg *config.Config) Found {
	all, _ := List(cfg) // a folder that cannot be read has none, and making one says why
	for _, b := range all {
		if b.Why == Scheduled {
			return b
		}
	}
	return Found{}
}

// once makes one backup as a job.
func (k *Keeper) once(ctx context.Context, board *jobs.Board) error {
	j, err := board.Start("backup", "backup", k.work)
	if err != nil {
		return err
	}
	_, err = board.Wait(ctx, j.ID)
	return err
}

func (k *Keeper) work(ctx context.Context, t *jobs.Task) (result any, err error) {
	var r Report
	err = nicely(func() error {
		r, err = Make(ctx, Options{
			Config: k.Config, Version: k.Version, Why: Scheduled, Hold: shed.AtMost(k.Hold, shed.Most),
			Show: func(p Progress) {
				t.Show(jobs.Progress{Step: p.Step, Done: int(p.Done >> 10), Total: int(p.Total >> 10), Detail: "KiB"})
			},
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	removed, perr := prune(k.Config, k.Config.Backup.Keep)
	if perr != nil {
		k.Log.Warn("old backups cannot be removed", "err", perr)
	}
	k.Log.Info("backup made", "file", r.File, "bytes", r.Bytes, "files", r.Files, "removed", len(removed))
	return r, nil
}

// nicely does work in a thread of its own, which gives way to others.
func nicely(work func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), niceness)
		done <- work()
	}()
	return <-done
}

// Metrics tell how old the newest backup is, and whether new ones fail.
func (k *Keeper) Metrics() []api.Metric {
	cfg, started := k.Config, time.Now()
	one := func(read func(newest Found) float64) func(func(float64, string)) {
		return func(add func(float64, string)) {
			newest, _ := Latest(cfg)
			add(read(newest), "")
		}
	}
	return []api.Metric{
		{Name: "backup_continuous_lag_seconds", Help: "Of how much time everything would be lost with the machine: since when backup.continuous has had nothing new; 0 where there is none.", Read: func(add func(float64, string)) {
			behind := 0.0
			if c := k.copying.Load(); c != nil {
				behind = c.behind().Seconds()
			}
			add(behind, "")
		}},
		{Name: "backup_last_success_timestamp_seconds", Help: "When the newest verified backup in backup.to was made; 0: there is none.", Read: one(func(b Found) float64 {
			if b.File == "" {
				return 0
			}
			return float64(b.Made.Unix())
		})},
		{Name: "backup_last_bytes", Help: "Size of that backup.", Read: one(func(b Found) float64 { return float64(b.Bytes) })},
		{Name: "backup_failed_tries", Help: "Tries at a scheduled backup that failed since the last that worked, since the control plane started.", Read: func(add func(float64, string)) {
			add(float64(k.lastTry().failures), "")
		}},
		{Name: "backup_overdue_seconds", Help: "For how long a backup has been due by backup.every; 0 where none are scheduled.", Read: func(add func(float64, string)) {
			every := cfg.Backup.Interval()
			if every == 0 {
				add(0, "")
				return
			}
			add(max(0, time.Since(due(newest(cfg).Made, started, time.Time{}, every, 0)).Seconds()), "")
		}},
	}
}

// errNoCopy refuses a migration without a copy of the database.
var errNoCopy = errors.New("the tables are not migrated without a copy of the database: free some space, set backup.to to another disk, or set backup.before_migration: false to go on without one")

func refused(err error) error { return fmt.Errorf("%w (%w)", errNoCopy, err) }
