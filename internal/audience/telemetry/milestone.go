package telemetry

import (
	"context"
	"time"
)

// Milestone is a number of listeners that was reached.
type Milestone struct {
	Kind      string `json:"kind" enum:"level,peak" doc:"A round number, or more than ever before today"`
	Level     int    `json:"level" doc:"The round number, or the former peak"`
	Listeners int    `json:"listeners" doc:"All listeners at that moment"`
	At        int64  `json:"at" doc:"Epoch milliseconds"`
}

const (
	// firstLevel is followed by 250, 500, 1000, 2500 …
	firstLevel = 100
	// leastPeak is the smallest peak that is announced, so that a new station is
	// not told of every listener.
	leastPeak = 10
)

// marks is the state of the milestones. It is stored as JSON.
//
// A level is reached when the count rises to it, and can be reached again after
// the count has fallen below nine tenths of it; it is announced once a day. The
// peak is announced once a day, when the count passes the peak of all days before:
// a growing audience would otherwise set a new one with every listener.
type marks struct {
	Standing int              `json:"standing,omitempty"` // highest level reached and not left
	Told     map[int]struct{} `json:"told,omitempty"`     // levels, today
	Day      int64            `json:"day,omitempty"`      // its begin
	Peak     int              `json:"peak,omitempty"`
	Before   int              `json:"before,omitempty"` // the peak of all days before
	PeakTold bool             `json:"peakTold,omitempty"`
}

// levelAt returns the highest level that n reaches; 0 for none.
func levelAt(n int) int {
	level, steps := 0, [...]float64{2.5, 2, 2}
	for next, i := firstLevel, 0; next <= n; i++ {
		level = next
		next = int(float64(next) * steps[i%3])
	}
	return level
}

// step takes a count and returns the milestones it reaches; day is when the
// count's day began, in epoch milliseconds.
func (m *marks) step(total int, day, at int64) (reached []Milestone) {
	if day != m.Day {
		m.Day, m.Told, m.Before, m.PeakTold = day, nil, m.Peak, false
	}
	if total*10 < m.Standing*9 {
		m.Standing = levelAt(total)
	}
	if level := levelAt(total); level > m.Standing {
		m.Standing = level
		if _, told := m.Told[level]; !told {
			if m.Told == nil {
				m.Told = map[int]struct{}{}
			}
			m.Told[level] = struct{}{}
			reached = append(reached, Milestone{"level", level, total, at})
		}
	}
	m.Peak = max(m.Peak, total)
	if m.Before > 0 && total > m.Before && total >= leastPeak && !m.PeakTold {
		m.PeakTold = true
		reached = append(reached, Milestone{"peak", m.Before, total, at})
	}
	return reached
}

// reach announces milestones. They are saved first, so that each is announced once.
func (t *Telemetry) reach(ctx context.Context, total int, now time.Time) {
	reached := t.marks.step(total, Day.begin(now, t.opt.Zone).UnixMilli(), now.UnixMilli())
	if len(reached) == 0 {
		return
	}
	if err := t.book.write(ctx, t.marks, now); err != nil {
		t.opt.Log.Warn("milestone not saved, it may be announced again after a restart", "err", err)
	}
	for _, m := range reached {
		t.opt.Log.Info("listener milestone", "kind", m.Kind, "level", m.Level, "listeners", m.Listeners)
		t.opt.Reached(m)
	}
}
