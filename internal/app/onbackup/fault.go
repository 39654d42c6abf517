package onbackup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/crowd"
	"github.com/athir-radio/athir/internal/kit/reexec"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/store"
)

// A control plane whose database cannot be read must not be started again and again: it
// would never mend, and its port would answer nobody. It says what is wrong instead, and
// goes on once the file is another.
//
//	belief            evidence                                   acts by
//	damaged           SQLite says NOTADB or CORRUPT              saying so until the file changes
//	of a newer version  a slice's version above the program's    the same
//	full, busy, unwritable  SQLITE_FULL, BUSY, permissions       nothing: it passes, and starts are tried again

// Fault is why the control plane waits.
type Fault struct {
	File  string // absolute
	Newer bool   // else it is damaged
	Err   error
	// Backup is the newest that fits; its File is empty where there is none.
	Backup Found
	cfg    *config.Config
	seen   [2]look
}

// KeepUp runs the control plane. While its database cannot be read it waits at the same
// port, and runs it again once that is another file.
func KeepUp(ctx context.Context, r role.Role, control func(context.Context, role.Role) error) error {
	for {
		err := control(ctx, r)
		fault, waits := FaultOf(r.Config, err)
		if !waits || ctx.Err() != nil || r.Handover.CanGoBack() { // the program before this one can read it
			return err
		}
		if r.Handover.Returned() {
			if err := fault.GoBack(ctx, r.Log); err == nil {
				continue
			} else if fault.Newer {
				r.Log.Error("the database cannot be put back as it was before the upgrade", "err", err)
			}
		}
		bound := doors.NewBound(r.Config, r.Log)
		if err := r.Run(ctx, role.Work{
			Run:  func(ctx context.Context) error { return fault.Wait(ctx, r.Log, bound, r.Handover) },
			Well: role.Reached(r.Config.Ports.Control, "/ping"),
		}); !errors.Is(err, ErrMended) {
			return err
		}
	}
}

// FaultOf reads from an error of the control plane whether its database is to be restored.
func FaultOf(cfg *config.Config, err error) (*Fault, bool) {
	newer := errors.Is(err, store.ErrNewer)
	if !newer && !errors.Is(err, store.ErrNotDatabase) {
		return nil, false
	}
	f := &Fault{File: cfg.Database(), Newer: newer, Err: err, cfg: cfg, seen: looks(cfg)}
	f.Backup, _ = Fitting(cfg)
	return f, true
}

// What is wrong, in one sentence for everybody: without paths.
func (f *Fault) what() (en, ar string) {
	name := filepath.Base(f.File)
	if f.Newer {
		return name + " was written by a newer version of Athir", "كتب " + name + " إصدارٌ أحدث من أثير"
	}
	return name + " is damaged", name + " تالف"
}

// look is what tells one file from another at the same path.
type look struct {
	dev, ino uint64
	size     int64
	modified time.Time
}

// looks are the files that a mend would change: the database and its log.
func looks(cfg *config.Config) (out [2]look) {
	for i, path := range []string{cfg.Database(), cfg.Database() + "-wal"} {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		out[i] = look{size: info.Size(), modified: info.ModTime()}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && i == 0 {
			out[i].dev, out[i].ino = st.Dev, st.Ino
		}
		if info.Size() == 0 && i == 1 { // who only reads makes an empty log
			out[i] = look{}
		}
	}
	return out
}

// ErrMended ends Wait: the database can be opened again.
var ErrMended = errors.New("the database is another file now")

// lookEvery is how often Wait looks whether the file is another.
const lookEvery = time.Second

// Wait says what is wrong, once in the log and all the time at the control port, and
// returns ErrMended once the file is another one and nobody is restoring it.
func (f *Fault) Wait(ctx context.Context, log *slog.Logger, bound *crowd.Bound, handover *reexec.Handover) error {
	en, _ := f.what()
	attrs := []any{"file", f.File, "err", f.Err}
	if f.Backup.File != "" {
		attrs = append(attrs, "backup", f.Backup.File, "made", f.Backup.Made, "restore", f.command())
	} else {
		attrs = append(attrs, "backup", "none in "+f.cfg.BackupDir(), "remedy", f.command())
	}
	log.Error(en+": the air goes on, and the control plane waits until it is restored", attrs...)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return doors.Named("control port", doors.Serve(ctx, doors.NewServer(f.cfg.Public(f.cfg.Ports.Control), f.Handler()), bound, handover))
	})
	g.Go(func() error {
		for retry.Pause(ctx, lookEvery) == nil {
			if f.mended() {
				log.Info("the database is another file now, starting again", "file", f.File)
				return ErrMended // which ends the server
			}
		}
		return ctx.Err()
	})
	return g.Wait()
}

// mended reports that the files are others, and that nobody puts them in place just now.
func (f *Fault) mended() bool {
	_, err := os.Stat(filepath.Join(f.cfg.DataDir, journalName))
	if begun := err == nil; !begun && looks(f.cfg) == f.seen {
		return false
	}
	if _, err := Resume(f.cfg.DataDir); err != nil {
		return false
	}
	release, err := locks(f.cfg.DataDir, true)
	if err != nil {
		return false
	}
	release()
	return looks(f.cfg) != f.seen
}

// command is what mends it, for a shell of this machine.
func (f *Fault) command() string {
	if f.Backup.File != "" {
		return Command(f.cfg, f.Backup.File, true)
	}
	if f.Newer {
		return "install the version that wrote it"
	}
	return fmt.Sprintf("mv %s %s", quoted(f.File), quoted(f.File+".damaged")) // and begin anew
}

// publicCommand is command without paths of this machine.
func (f *Fault) publicCommand() string {
	if f.Backup.File == "" {
		return ""
	}
	return "athir restore --control --data DIR DIR/" + filepath.Base(f.Backup.File)
}
