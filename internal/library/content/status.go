package content

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Status describes the library and the pipeline now (mission: GET
// /api/content/status). Times are epoch milliseconds, 0 for never.
type Status struct {
	Categories map[station.Category]Holding `json:"categories"` // all ten
	Running    *Running                     `json:"running,omitempty"`
	LastRun    *Result                      `json:"lastRun,omitempty"` // of a refresh or fetch
	NextRunAt  int64                        `json:"nextRunAt"`         // 0: not by itself
	Sources    []Health                     `json:"sources"`
	Disk       Disk                         `json:"disk"`
}

// Holding is one category.
type Holding struct {
	Tracks   int     `json:"tracks"`
	Minutes  float64 `json:"minutes"`
	Fetched  int     `json:"fetched"`  // of the tracks, brought in by the pipeline
	Archived int     `json:"archived"` // files in the archive
	Leaving  int     `json:"leaving"`  // not planned any more, archived once they are off the air
}

// Running is what the pipeline is doing.
type Running struct {
	Name      string `json:"name"` // refresh, fetch, restore or scrub
	StartedAt int64  `json:"startedAt"`
	Step      Step   `json:"step"`
	English   string `json:"english"`
	Arabic    string `json:"arabic"`
	Done      int    `json:"done"`
	Total     int    `json:"total"` // 0 while unknown
	Detail    string `json:"detail"`
}

// Health is a source's record since the start.
type Health struct {
	Name      string `json:"name"`
	LastOK    int64  `json:"lastOk"`
	LastError string `json:"lastError"` // empty when the last time was well
	ErrorAt   int64  `json:"errorAt"`
	// Unavailable: it cannot work here at all; LastError names the remedy.
	Unavailable bool `json:"unavailable"`
}

// Disk is the room there is.
type Disk struct {
	Free         uint64 `json:"free"`    // bytes, where the media folder is
	Total        uint64 `json:"total"`   // 0: the media folder cannot be reached
	Low          bool   `json:"low"`     // nothing is fetched
	Problem      string `json:"problem"` // why, and what helps; empty when all is well
	ArchiveFiles int    `json:"archiveFiles"`
	ArchiveBytes int64  `json:"archiveBytes"`
}

func (c *Content) healthOf(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.health[name]
	h.Name, h.Unavailable = name, errors.Is(err, station.ErrUnavailable)
	switch {
	case err == nil:
		h.LastOK, h.LastError = c.now().UnixMilli(), ""
	case !errors.Is(err, context.Canceled):
		h.LastError, h.ErrorAt = err.Error(), c.now().UnixMilli()
	}
	c.health[name] = h
}

// Status looks at the decks, the journal and the disk.
func (c *Content) Status(ctx context.Context) (Status, error) {
	s := Status{Categories: map[station.Category]Holding{}, Sources: []Health{}}
	if err := c.holdings(ctx, &s); err != nil {
		return s, err
	}
	last, err := c.lastRun(ctx)
	if err != nil {
		return s, err
	}
	s.LastRun = last
	c.mu.Lock()
	for _, src := range c.opt.Sources {
		h := c.health[src.Name()]
		h.Name = src.Name()
		s.Sources = append(s.Sources, h)
	}
	if r := c.running; r != nil {
		s.Running = &Running{r.name, r.since.UnixMilli(), r.at.Step, r.at.Step.English(), r.at.Step.Arabic(), r.at.Done, r.at.Total, r.at.Detail}
	}
	started := c.started
	c.mu.Unlock()
	if !started.IsZero() {
		s.NextRunAt = millis(c.next(started))
	}
	s.Disk.Free, s.Disk.Total, err = c.opt.Free(c.opt.Media)
	if err != nil { // the rest is what an operator needs now
		s.Disk.Free, s.Disk.Total = 0, 0
		s.Disk.Low, s.Disk.Problem = true, fmt.Sprintf("the media folder cannot be reached: is its disk mounted? %v", err)
	} else if err := c.space(); err != nil {
		s.Disk.Low, s.Disk.Problem = true, station.Reason(err)
	}
	return s, nil
}

func (c *Content) holdings(ctx context.Context, s *Status) error {
	fetched, err := c.placedPaths(ctx)
	if err != nil {
		return err
	}
	for _, category := range station.Categories() {
		s.Categories[category] = Holding{}
	}
	hidden := c.Hidden()
	length := map[station.Category]time.Duration{}
	for _, t := range c.opt.Registry.Tracks() {
		if hidden[t.Path] {
			continue
		}
		h := s.Categories[t.Category]
		h.Tracks++
		length[t.Category] += t.Duration
		if fetched[t.Path] {
			h.Fetched++
		}
		s.Categories[t.Category] = h
	}
	open, err := c.entries(ctx, "state IN ('archived', 'kept', 'retiring')")
	if err != nil {
		return err
	}
	for _, e := range open {
		h := s.Categories[e.category]
		if e.state == archived {
			h.Archived++
			s.Disk.ArchiveFiles++
			s.Disk.ArchiveBytes += e.stamp.size
		} else {
			h.Leaving++
		}
		s.Categories[e.category] = h
	}
	for category, d := range length {
		h := s.Categories[category]
		h.Minutes = float64(d.Round(6*time.Second)) / float64(time.Minute)
		s.Categories[category] = h
	}
	return nil
}

func (c *Content) placedPaths(ctx context.Context) (map[string]bool, error) {
	rows, err := c.db.Read().QueryContext(ctx, "SELECT path FROM content_item WHERE state = 'placed'")
	if err != nil {
		return nil, fmt.Errorf("look up what was fetched: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err says it
	out := map[string]bool{}
	for rows.Next() {
		var path []byte
		if err := rows.Scan(&path); err != nil {
			return nil, err
		}
		out[string(path)] = true
	}
	return out, rows.Err()
}

func (c *Content) lastRun(ctx context.Context) (*Result, error) {
	var text string
	err := c.db.Read().QueryRowContext(ctx, "SELECT result FROM content_run WHERE ended_ms > 0 ORDER BY id DESC LIMIT 1").Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last run: %w", err)
	}
	var r Result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, fmt.Errorf("read the last run: %w", err)
	}
	return &r, nil
}
