package bell

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
)

// Condition is something that is looked at again and again.
type Condition struct {
	Kind alarm.Kind
	// Holds is how long it must be wrong to be an alarm, and well to be none.
	Holds time.Duration
	// Read returns what is wrong; empty: nothing. Not known: what was so before is so still.
	Read func(ctx context.Context) (wrong string, known bool)
}

// lookEvery is how often conditions are looked at, and lookWithin bounds one look.
const (
	lookEvery  = 5 * time.Second
	lookWithin = 3 * time.Second
)

// seen is how a condition was seen.
type seen struct {
	on      bool
	differs time.Time // since when it is not as it is told; zero: it is
}

// step takes one look, and returns whether the alarm begins or ends by it.
func (s *seen) step(wrong bool, holds time.Duration, now time.Time) (changed bool) {
	if wrong == s.on {
		s.differs = time.Time{}
		return false
	}
	if s.differs.IsZero() {
		s.differs = now
	}
	if now.Sub(s.differs) < holds {
		return false
	}
	s.on = wrong
	return true
}

// Watch raises and clears alarms by conditions, until ctx ends.
func (b *Bell) Watch(ctx context.Context, conditions []Condition) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	all := make([]seen, len(conditions))
	for {
		for i, c := range conditions {
			look, cancel := context.WithTimeout(ctx, lookWithin)
			wrong, known := c.Read(look)
			cancel()
			if !known || ctx.Err() != nil {
				continue
			}
			s, now := &all[i], time.Now()
			since := s.differs
			if !s.step(wrong != "", c.Holds, now) {
				continue
			}
			if since.IsZero() {
				since = now
			}
			if s.differs = (time.Time{}); s.on {
				b.Raise(c.Kind, wrong, since)
				b.opt.Log.Error("alarm", "kind", c.Kind, "cause", wrong)
			} else {
				b.Clear(c.Kind)
				b.opt.Log.Info("alarm over", "kind", c.Kind)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
