package scheduler

import (
	"context"
	"fmt"
	"maps"
	"reflect"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// Configure puts a configuration in force. Where it changes what is planned
// (the mix, a clock, the daypart of an entry to come) the rotation is rebuilt
// at once, otherwise the next rebuild uses it. On an error the previous
// configuration stays in force; a wrong cfg wraps station.ErrInvalid.
func (s *Scheduler) Configure(ctx context.Context, cfg rotation.Config) (rebuilt bool, err error) {
	if err := cfg.Validate(); err != nil {
		return false, err
	}
	err = s.askCalm(ctx, func(ctx context.Context) error {
		was := s.cfg
		s.cfg = cfg
		defer s.publish()
		reason, due := s.replans(was)
		if !due {
			return nil
		}
		if err := s.rebuild(ctx, change{reason: reason}); err != nil {
			s.cfg = was
			return err
		}
		rebuilt = true
		return nil
	})
	return rebuilt, err
}

// replans reports whether the configuration in force plans differently from was,
// and what differs. While the disk is full the rebuild is tried, and the change refused,
// as it was when the disk became full.
func (s *Scheduler) replans(was rotation.Config) (reason string, due bool) {
	tracks, _ := s.opt.Library.Tracks()
	if s.restart || s.problem != "" && !s.full || len(s.rot.Entries) == 0 || len(tracks) == 0 {
		return "", false // a rebuild is due anyway
	}
	switch {
	case !maps.Equal(was.GenreSplit, s.cfg.GenreSplit) || was.MashupChance != s.cfg.MashupChance || was.SFXChance != s.cfg.SFXChance:
		return "mix", true
	case !reflect.DeepEqual(was.Clocks, s.cfg.Clocks):
		return "clocks", true
	}
	if key := rotation.DaypartKey(s.cfg, s.now()); key != s.rot.Daypart {
		return fmt.Sprintf("daypart %s", key), true
	}
	left := s.left()
	next := s.view.Load().NextStart()
	if next.IsZero() {
		next = s.opt.Now()
	}
	for _, at := range rotation.Expected(left, next.In(s.opt.Zone)) {
		if key := rotation.DaypartKey(s.cfg, at); key != rotation.DaypartKey(was, at) {
			return fmt.Sprintf("daypart %s", key), true
		}
	}
	return "", false
}
