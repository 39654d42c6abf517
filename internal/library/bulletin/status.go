package bulletin

import (
	"path/filepath"
	"time"
)

// Status describes the bulletins now.
type Status struct {
	Latest    string    // file of the newest in the deck; empty when there is none
	LatestAt  time.Time // the time it tells
	Headlines []string  // the next would read these
	// HeadlinesProblem says why there are none.
	HeadlinesProblem string
	Sentence         string // the time as it would be told now
	Making           bool
	Last             *Result   // the last that was made since the start
	Tried            time.Time // when the last try began; zero before the first
	Err              error     // why the last try made none
}

// Status looks at the deck and the headline file.
func (m *Maker) Status() Status {
	s := Status{Sentence: TimeSentence(m.now(), m.o.Zone)}
	if all, err := bulletins(m.o.Dir); err == nil && len(all) > 0 {
		s.Latest, s.LatestAt = filepath.Join(m.o.Dir, all[0].name), all[0].made
	}
	var err error
	if s.Headlines, err = ReadHeadlines(m.o.Headlines); err != nil {
		s.HeadlinesProblem = err.Error()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.Making, s.Tried, s.Err = m.making, m.tried, m.lastErr
	if m.last.Path != "" {
		last := m.last
		s.Last = &last
	}
	return s
}
