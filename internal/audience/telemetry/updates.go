package telemetry

import (
	"math"
	"time"
)

const (
	// mostPoints is the length of an update's history, in minutes.
	mostPoints = 60
	// tellAtLeast is the pause between updates while nothing changes.
	tellAtLeast = 30 * time.Second
)

// Stats is the payload of the event "stats_update".
type Stats struct {
	Listeners int    `json:"listeners" doc:"By the mission's rule: the relay's count, else the streaming server's"`
	Bandwidth int64  `json:"bandwidth" doc:"What all listeners take, bits per second"`
	Source    string `json:"source" doc:"Server that counted the listeners"`
	At        int64  `json:"at" doc:"Epoch milliseconds of the count"`
	// ServerTime is later than At by what the count took; whoever hears several takes the
	// one that came fastest.
	ServerTime int64        `json:"serverTime" doc:"The station's clock as this was sent, in epoch milliseconds; at least every half minute"`
	Breakdown  Parts        `json:"breakdown" doc:"All listeners, by the way they listen"`
	History    []StatsPoint `json:"history" doc:"Minutes of the last hour, newest last; the last one is still going on"`
}

// StatsPoint is one minute of an update's history.
type StatsPoint struct {
	At        int64 `json:"at"`
	Listeners int   `json:"listeners" doc:"On average, by the same rule"`
	Bandwidth int64 `json:"bandwidth"`
}

func (s *sums) statsPoint(at int64) StatsPoint {
	n := float64(s.n)
	return StatsPoint{at, int(math.Round(float64(s.counted) / n)), int64(math.Round(s.bits / n))}
}

// updates makes the stats_update events and remembers the latest.
type updates struct {
	past []StatsPoint // whole minutes
	now  minute

	told Count
	at   time.Time
}

func (u *updates) add(c Count, zone *time.Location) {
	at := Minute.begin(c.At, zone)
	if u.now.n > 0 && !u.now.at.Equal(at) {
		u.past = append(u.past, u.now.statsPoint(u.now.at.UnixMilli()))
		u.now.sums = sums{}
	}
	u.now.at = at
	u.now.add(c)
}

// due reports whether an update should be sent.
func (u *updates) due(c Count) bool {
	return c.Parts != u.told.Parts || c.Source != u.told.Source || c.Listeners != u.told.Listeners || c.At.Sub(u.at) >= tellAtLeast
}

// stats returns the update for a count.
func (u *updates) stats(c Count) Stats {
	oldest := c.At.Add(-mostPoints * time.Minute).UnixMilli()
	for len(u.past) > 0 && (u.past[0].At < oldest || len(u.past) >= mostPoints) {
		u.past = u.past[1:]
	}
	out := Stats{
		Listeners: c.Listeners, Bandwidth: int64(math.Round(c.Bandwidth.Total)), Source: c.Source, At: c.At.UnixMilli(), Breakdown: c.Parts,
		History: append([]StatsPoint{}, u.past...),
	}
	if u.now.n > 0 {
		out.History = append(out.History, u.now.statsPoint(u.now.at.UnixMilli()))
	}
	return out
}

// follow sends an update if one is due.
func (t *Telemetry) follow(c Count, answered bool) {
	u := &t.updates
	if answered {
		u.add(c, t.opt.Zone)
	}
	if u.due(c) {
		u.told, u.at = c, c.At
		told := u.stats(c)
		told.ServerTime = t.opt.Now().UnixMilli()
		t.opt.Tell("stats_update", told)
	}
}
