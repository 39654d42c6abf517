// Package origin reads another system's station, from a file or an address, and plans and
// carries out its import into the running station: what the command line and the studio share.
package origin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/azuracast"
	"github.com/athir-radio/athir/internal/import/libretime"
	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/import/plan"
	"github.com/athir-radio/athir/internal/kit/fetch"
)

// Folder is where journals are, in the station's data.
func Folder(data string) string { return filepath.Join(data, "imports") }

// Options say what is read: File, or Address.
type Options struct {
	System string // azuracast.System, libretime.System
	File   string // absolute
	// Address of a running system, what opens it, and what reaches it.
	Address, Key, User, Password string
	Fetch                        *fetch.Client

	Station string // which one, where there are several
	Media   fs.FS  // the other station's media folder; nil: none

	Into apply.Station
	Dir  string // of journals: Folder
	// Temp is for files on their way. Empty: Dir, and the system's for a look.
	Temp string
	// Look only: an earlier run's journal is read, and none is made.
	Look bool
}

// ReadError is a fault of what was read, or of the way to it.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// Import is a station that was read, with its plan.
type Import struct {
	Plan *plan.Plan

	into    apply.Station
	batch   string
	from    *model.Station
	journal *apply.Journal // nil for a look at what was never begun
	temp    *temporary     // nil: none of its own
}

// Open reads and plans. Faults of the source are a *ReadError. Close is to be called.
func Open(ctx context.Context, o Options) (_ *Import, err error) {
	i := &Import{into: o.Into}
	opened := false
	defer func() {
		if !opened { // nor after a panic does a journal stay locked
			err = errors.Join(err, i.Close())
		}
	}()
	if !o.Look {
		if err := os.MkdirAll(o.Dir, 0o750); err != nil {
			return nil, fmt.Errorf("make the folder of imports: %w", err)
		}
	}
	if folder := cmp.Or(o.Temp, o.Dir); o.Temp != "" || !o.Look {
		if i.temp, err = newTemporary(folder); err != nil {
			return nil, err
		}
	}
	lib, err := o.Into.Library(ctx)
	if err != nil {
		return nil, err
	}
	temp := ""
	if i.temp != nil {
		temp = i.temp.path
	}
	if i.from, err = read(ctx, o, temp); err != nil {
		return nil, &ReadError{err}
	}
	if err := i.remember(o); err != nil {
		return nil, err
	}
	var mem plan.Memory
	if i.journal != nil {
		mem = i.journal.Memory()
	}
	i.Plan = plan.Make(i.from, lib, mem)
	opened = true
	return i, nil
}

// remember opens the journal of the station that was read.
func (i *Import) remember(o Options) (err error) {
	host := ""
	if u, err := url.Parse(o.Address); err == nil {
		host = u.Host + strings.TrimRight(u.Path, "/")
	}
	i.batch = apply.JournalName(o.System, host, i.from.ID, i.from.Name)
	_, missing := os.Stat(filepath.Join(o.Dir, i.batch))
	if !o.Look || missing == nil {
		i.journal, err = apply.OpenJournal(o.Dir, i.batch)
	}
	return err
}

func read(ctx context.Context, o Options, temp string) (*model.Station, error) {
	switch o.System {
	case azuracast.System:
		return azuracast.Read(ctx, azuracast.Source{File: o.File, Address: o.Address, Key: o.Key, Fetch: o.Fetch, Station: o.Station, Media: o.Media, Temp: temp})
	case libretime.System:
		return libretime.Read(ctx, libretime.Source{File: o.File, Address: o.Address, Key: o.Key, User: o.User, Password: o.Password, Fetch: o.Fetch, Media: o.Media, Temp: temp})
	}
	return nil, fmt.Errorf("no reader for %q", o.System)
}

// Apply carries the plan out. What it returns is what was done also where an error stops it.
func (i *Import) Apply(ctx context.Context, show func(apply.Progress)) (apply.Report, error) {
	if i.journal == nil {
		return apply.Report{}, errors.New("the plan is only looked at")
	}
	temp := ""
	if i.temp != nil {
		temp = i.temp.path
	}
	return apply.Run(ctx, apply.Options{Station: i.into, Plan: i.Plan, Source: i.from, Journal: i.journal, Batch: i.batch, Temp: temp, Show: show})
}

// Close ends the reading and removes its files; the journal stays.
func (i *Import) Close() error {
	var err error
	if i.from != nil && i.from.Close != nil {
		err = i.from.Close()
	}
	if i.temp != nil {
		err = errors.Join(err, i.temp.remove())
	}
	if i.journal != nil {
		err = errors.Join(err, i.journal.Close())
	}
	return err
}
