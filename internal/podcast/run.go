package podcast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/station"
)

const (
	lookEvery    = time.Minute
	flushEvery   = 30 * time.Second
	compareEvery = 10 * time.Minute
	sweepEvery   = 6 * time.Hour
	// mostUnsaid is of how many posts it may not be said whether they are withdrawn until the origin
	// is taken to be away: one that is damaged keeps no other in its show.
	mostUnsaid = 3
)

// Run makes episodes, keeps as many as are to be kept, and counts, until ctx ends.
func (p *Podcasts) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for kind, origin := range p.opt.Origins {
		all.Go(func() { p.follow(ctx, kind, origin) })
	}
	all.Go(func() { p.tend(ctx) })
	p.makeAll(ctx)
	all.Wait()
	return nil
}

// follow looks for what has come and gone at an origin. One that hangs keeps no other from it.
func (p *Podcasts) follow(ctx context.Context, kind Kind, origin Origin) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	failing := false
	for ctx.Err() == nil {
		err := errors.Join(p.withdraw(ctx, kind, origin), p.look(ctx, kind, origin))
		if err != nil && !failing && ctx.Err() == nil {
			p.opt.Log.Warn("cannot look for new episodes: it is tried again", "kind", kind, "err", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-p.wake[kind]:
		}
	}
}

// look makes episodes of what a kind's origin has that is new.
func (p *Podcasts) look(ctx context.Context, kind Kind, origin Origin) error {
	wanted := kind != Library && slices.ContainsFunc(p.Shows(), func(s *Show) bool { return s.From.Kind == kind && s.Removed == 0 })
	if !wanted {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, offersWithin)
	defer cancel()
	all, err := origin.Offers(within)
	if err != nil {
		return fmt.Errorf("list what can become an episode: %w", err)
	}
	all = slices.SortedStableFunc(slices.Values(all), func(a, b Raw) int { return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Source.Key, b.Source.Key)) })
	var failed error
	for slug, s := range p.book.Load().shelves {
		if s.From.Kind == kind && s.Removed == 0 {
			failed = errors.Join(failed, p.take(ctx, slug, s, all))
		}
	}
	return failed
}

// take makes episodes of a show of what is new to it and fits.
func (p *Podcasts) take(ctx context.Context, slug string, seen *shelf, all []Raw) error {
	offered, now := map[string]bool{}, p.opt.Now()
	some := slices.ContainsFunc(all, seen.wants)
	if len(seen.gone) > 0 {
		for _, r := range all {
			offered[idOf(seen.GUID, r.Source)] = true
		}
	}
	old := func(s *shelf, id string) bool {
		return !offered[id] && now.UnixMilli()-s.gone[id] > goneFor.Milliseconds()
	}
	for id := range seen.gone {
		some = some || old(seen, id)
	}
	if !some {
		return nil
	}
	err := p.change(ctx, slug, func(s *shelf) error {
		if s.Removed != 0 {
			return nil
		}
		for id := range s.gone {
			if old(s, id) {
				delete(s.gone, id)
			}
		}
		for _, r := range all {
			if !s.wants(r) {
				continue
			}
			if _, err := s.add(r, now); err != nil {
				p.opt.Log.Warn("a show takes no more episodes", "show", slug, "err", err)
				return nil
			}
		}
		return nil
	})
	if err == nil {
		nudge(p.ready)
	}
	return err
}

// wants reports whether a show makes an episode of something by itself.
func (s *shelf) wants(r Raw) bool {
	if r.Source.Key == "" || r.Source.Kind != s.From.Kind || r.Began.UnixMilli() < s.Created {
		return false
	}
	types := s.From.Types
	if len(types) == 0 {
		types = []string{"song", "mashup"}
	}
	switch {
	case s.From.Kind == Live && len(s.From.Streams) > 0 && !slices.Contains(s.From.Streams, r.Stream):
		return false
	case s.From.Kind == Posts && !slices.Contains(types, r.Type):
		return false
	}
	if r.Duration != 0 && r.Duration < time.Duration(s.From.Shortest)*time.Second {
		return false
	}
	id := idOf(s.GUID, r.Source)
	_, gone := s.gone[id]
	return !gone && s.records[id] == nil
}

// withdraw takes away what may no longer be heard, with its file, and withholds what may not be
// heard now.
func (p *Podcasts) withdraw(ctx context.Context, kind Kind, origin Origin) error {
	if kind != Posts {
		return nil
	}
	var failed []error
	for slug, s := range p.book.Load().shelves {
		for id, r := range s.records {
			if r.Source.Kind != kind {
				continue
			}
			if err := p.withdrawOne(ctx, slug, id, origin, r); err != nil {
				failed = append(failed, err)
			}
			if len(failed) == mostUnsaid {
				return errors.Join(failed...)
			}
		}
	}
	return errors.Join(failed...)
}

func (p *Podcasts) withdrawOne(ctx context.Context, slug, id string, origin Origin, r *record) error {
	within, cancel := context.WithTimeout(ctx, withdrawnWithin)
	defer cancel()
	is, err := origin.Standing(within, r.Source.Key)
	if err != nil {
		return fmt.Errorf("ask whether post %.40s may still be heard: %w", r.Source.Key, err)
	}
	if is == Withdrawn {
		p.work.stop(slug, id)
		return p.takeBack(ctx, slug, id)
	}
	if withheld := is == Withheld; withheld != r.Withheld {
		return p.withhold(ctx, slug, id, withheld)
	}
	return nil
}

// withhold keeps an episode from listeners, whatever its state, or no longer does.
func (p *Podcasts) withhold(ctx context.Context, slug, id string, withheld bool) error {
	_, err := p.episode(ctx, slug, id, func(_ *shelf, r *record) error {
		r.Withheld = withheld
		if !withheld && r.State == Failed && r.lost == "" { // that may have been the reason
			r.again, r.tries = p.opt.Now().UnixMilli(), 0
		}
		return nil
	})
	if errors.Is(err, station.ErrNotFound) {
		return nil // it went meanwhile
	}
	if err == nil {
		nudge(p.ready)
		p.opt.Log.Info("whether an episode is heard follows its post", "show", slug, "episode", id, "withheld", withheld)
	}
	return err
}

// takeBack removes an episode as if it had never been. Its file goes first: a kill leaves an
// episode without a file, which is looked at again, and no file of which nobody knows.
func (p *Podcasts) takeBack(ctx context.Context, slug, id string) error {
	err := p.change(ctx, slug, func(s *shelf) error {
		r := s.records[id]
		if r == nil {
			return nil
		}
		if r.File != "" {
			if err := os.Remove(p.path(slug, r.File)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove the file of a post that was withdrawn: %w", err)
			}
			if err := file.SyncDir(filepath.Join(p.opt.Dir, slug)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove the file of a post that was withdrawn: %w", err)
			}
			p.step("withdrew a file")
		}
		s.touch(p.opt.Now())
		delete(s.records, id)
		return nil
	})
	if err == nil {
		p.opt.Log.Info("an episode is gone: its post was withdrawn or rejected", "show", slug, "episode", id)
	}
	return err
}

// makeAll makes episodes, one at a time, as they come.
func (p *Podcasts) makeAll(ctx context.Context) {
	swept := time.Time{}
	for ctx.Err() == nil {
		if now := p.opt.Now(); now.Sub(swept) >= sweepEvery {
			if err := p.sweep(); err != nil {
				p.opt.Log.Warn("cannot sweep the folder of podcasts: it is tried again", "err", err)
			}
			swept = now
		}
		for p.makeNext(ctx) {
			if err := p.keep(ctx); err != nil && ctx.Err() == nil {
				p.opt.Log.Warn("cannot remove old episodes: it is tried again", "err", err)
			}
		}
		_, soon := p.book.Load().waiting(p.opt.Now().UnixMilli())
		pause := time.NewTimer(max(time.Second, min(lookEvery, time.Duration(min(soon-p.opt.Now().UnixMilli(), lookEvery.Milliseconds()))*time.Millisecond)))
		select {
		case <-ctx.Done():
		case <-pause.C:
		case <-p.ready:
		}
		pause.Stop()
	}
}

// tend does what is due from time to time, and counts what is left as ctx ends.
func (p *Podcasts) tend(ctx context.Context) {
	var compared, kept time.Time
	for {
		now := p.opt.Now()
		var failed error
		if now.Sub(compared) >= compareEvery {
			compared, failed = now, p.compare(ctx)
		}
		if now.Sub(kept) >= lookEvery {
			kept, failed = now, errors.Join(failed, p.keep(ctx))
		}
		failed = errors.Join(failed, p.flush(context.WithoutCancel(ctx)))
		if failed != nil && ctx.Err() == nil {
			p.opt.Log.Warn("cannot keep podcasts in order: it is tried again", "err", failed)
		}
		if retry.Pause(ctx, flushEvery) != nil {
			break
		}
	}
	if err := p.flush(context.WithoutCancel(ctx)); err != nil {
		p.opt.Log.Warn("the newest downloads of episodes are not counted", "err", err)
	}
}
