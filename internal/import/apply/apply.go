// Package apply carries a plan out through the running station's own HTTP API, with its key:
// files through the uploads of the library, what is said of them, playlists, people and webhooks.
// It replaces and deletes nothing. A journal notes each step, so that a run that was stopped or
// killed goes on where it was and does nothing twice.
package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/import/plan"
	"github.com/athir-radio/athir/internal/kit/retry"
)

// Stage is a part of an import.
type Stage string

// Stages, in their order.
const (
	Files     Stage = "files"
	Notes     Stage = "notes"
	Playlists Stage = "playlists"
	People    Stage = "people"
	Webhooks  Stage = "webhooks"
)

// Progress says how far a stage is.
type Progress struct {
	Stage       Stage
	Done, Total int
	Now         string // what is being done
}

// Options are what Run needs.
type Options struct {
	Station Station
	Plan    *plan.Plan
	Source  *model.Station // the tracks' files
	Journal *Journal
	Batch   string                                           // what is uploaded is told together under it; the same in every run
	Temp    string                                           // folder of files on their way; empty: the system's
	Show    func(Progress)                                   // nil: nobody looks
	Wait    func(ctx context.Context, d time.Duration) error // nil: retry.Pause
}

const (
	chunk    = 50 // files that are uploaded before the next are
	together = 3  // uploads at a time
	attempts = 6
	first    = 500 * time.Millisecond // pause before the second attempt; it doubles
	longest  = 15 * time.Second
	look     = 500 * time.Millisecond // between two looks at what the library makes of files
	mostLook = 40                     // of the library, until it has what it took
)

// Report is what an import did.
type Report struct {
	Copied    int          `json:"copied"`
	There     int          `json:"there"`
	Noted     int          `json:"noted"`
	Playlists int          `json:"playlists"`
	Items     int          `json:"items"` // tracks that were put into playlists
	Invited   []Invited    `json:"invited"`
	Webhooks  []Made       `json:"webhooks"`
	Not       []NotBrought `json:"not"`
	Stopped   bool         `json:"stopped"`
}

// Invited is a person who sets a password at a link.
type Invited struct {
	Login string `json:"login"`
	Token string `json:"token"`
	Until int64  `json:"until"` // epoch milliseconds
}

// Made is a webhook with the secret that only this answer shows.
type Made struct {
	Address string `json:"address"`
	Secret  string `json:"secret"`
}

// NotBrought is something that did not come over, and why.
type NotBrought struct {
	Stage Stage      `json:"stage"`
	What  string     `json:"what"`
	Why   plan.Words `json:"why"`
}

// applier is one run.
type applier struct {
	Options
	station Station
	journal *Journal
	batch   string
	paths   map[string]string // id of the source → path in the library
	taken   []*plan.Track     // by the library, which may not list them yet
	untold  untold

	mu     sync.Mutex
	report Report
}

// Run carries a plan out. What it returns is what was done also where an error stops it: a
// context that ended, the station away, its disk full.
func Run(ctx context.Context, o Options) (Report, error) {
	if o.Show == nil {
		o.Show = func(Progress) {}
	}
	if o.Wait == nil {
		o.Wait = retry.Pause
	}
	a := &applier{Options: o, station: o.Station, journal: o.Journal, batch: o.Batch, paths: map[string]string{}}
	a.report = Report{Invited: []Invited{}, Webhooks: []Made{}, Not: []NotBrought{}}
	a.untold = a.journal.untold()
	err := a.run(ctx)
	if told := a.journal.told(); told != nil {
		err = errors.Join(err, told)
	}
	a.report.Stopped = err != nil
	return a.report, err
}

func (a *applier) run(ctx context.Context) error {
	for _, stage := range []func(context.Context) error{a.files, a.notes, a.playlists, a.people, a.webhooks} {
		if err := stage(ctx); err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err
		}
	}
	return nil
}

// again tries until it works or cannot: a station that restarts is waited for. What try does
// it must look for before it does it again.
func (a *applier) again(ctx context.Context, try func() error) error {
	for n := 0; ; n++ {
		err := try()
		if err == nil || ctx.Err() != nil || n+1 >= attempts {
			return err
		}
		pause := retry.Doubled(first, longest, n+1)
		var refused *Refused
		switch {
		case errors.Is(err, errAgain):
			pause = 0
		case !transient(err):
			return err
		case errors.As(err, &refused) && refused.After > 0:
			pause = refused.After
		}
		if err := a.Wait(ctx, pause); err != nil {
			return err
		}
	}
}

func (a *applier) not(stage Stage, what string, why plan.Words) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.report.Not = append(a.report.Not, NotBrought{stage, what, why})
}

// refusal is what the station said of one file or playlist; an error that concerns them all is
// returned.
func refusal(err error) (plan.Words, error) {
	var refused *Refused
	if errors.As(err, &refused) && !refused.ours() {
		return refused.words(), nil
	}
	if errors.As(err, &refused) && refused.Words != nil {
		err = fmt.Errorf("%w: %s", err, refused.Words.En)
	}
	return plan.Words{}, err
}

// files brings all files, in the order of the source.
func (a *applier) files(ctx context.Context) error {
	sources := map[string]*model.Track{}
	for i := range a.Source.Tracks {
		sources[a.Source.Tracks[i].ID] = &a.Source.Tracks[i]
	}
	var todo []*plan.Track
	for i := range a.Plan.Tracks {
		switch t := &a.Plan.Tracks[i]; t.Do {
		case plan.There:
			a.paths[t.ID] = t.Path
			a.report.There++
		case plan.Bring:
			todo = append(todo, t)
		case plan.Not:
			a.not(Files, t.From, *cmp.Or(t.Why, &plan.Words{}))
		}
	}
	total := len(todo)
	for len(todo) > 0 {
		part := todo[:min(chunk, len(todo))]
		todo = todo[len(part):]
		done := total - len(todo) - len(part)
		if err := a.uploadAll(ctx, part, sources, done, total); err != nil {
			return err
		}
		if err := a.settle(ctx, part); err != nil {
			return err
		}
		a.Show(Progress{Files, total - len(todo), total, ""})
	}
	return nil
}

// opened is a track whose file is open.
type opened struct {
	t *plan.Track
	s *source
}

// uploadAll uploads the files of a part. They are opened one after another, in order: an archive
// that is a stream is read once.
func (a *applier) uploadAll(ctx context.Context, part []*plan.Track, sources map[string]*model.Track, done, total int) error {
	g, ctx := errgroup.WithContext(ctx)
	ready := make(chan opened)
	g.Go(func() error {
		defer close(ready)
		for i, t := range part {
			a.Show(Progress{Files, done + i, total, t.From})
			s, err := a.ready(ctx, t, sources[t.ID])
			if err != nil {
				return err
			}
			if s == nil {
				continue
			}
			select {
			case ready <- opened{t, s}:
			case <-ctx.Done():
				s.close()
				return ctx.Err()
			}
		}
		return nil
	})
	for range together {
		g.Go(func() error {
			for o := range ready {
				err := a.one(ctx, o)
				o.s.close()
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := g.Wait()
	for o := range ready { // of workers that stopped
		o.s.close()
	}
	return err
}

// ready opens a track's file; nil where nothing is to be sent.
func (a *applier) ready(ctx context.Context, t *plan.Track, from *model.Track) (*source, error) {
	if _, arrival := a.journal.upload(t); arrival != "" || a.journal.path(t) != "" || from == nil || from.Open == nil {
		return nil, nil
	}
	var s *source
	err := a.again(ctx, func() error {
		r, err := from.Open()
		if err != nil {
			return &unreadError{err}
		}
		s, err = newSource(from, r, a.Temp)
		return err
	})
	if err != nil {
		return nil, a.failed(ctx, t, err)
	}
	return s, nil
}

// failed tells of a file that does not come over. What another run may bring stops this one: a
// playlist without it would stay so.
func (a *applier) failed(ctx context.Context, t *plan.Track, err error) error {
	if ctx.Err() != nil {
		return err
	}
	var why plan.Words
	if unread := (*unreadError)(nil); !errors.As(err, &unread) {
		if why, err = refusal(err); err != nil {
			return err
		}
	} else if why = unread.words(); !unread.lacking() {
		return fmt.Errorf("%s: %w: when it can be read, import again", t.From, err)
	}
	a.not(Files, t.From, why)
	return a.journal.note(refusedLine(t, why))
}

func (a *applier) one(ctx context.Context, o opened) error {
	arrival, err := a.upload(ctx, o.t, o.s)
	if err == nil {
		return a.journal.note(entry{Kind: kindArrival, ID: o.t.ID, Arrival: arrival})
	}
	return a.failed(ctx, o.t, err)
}
