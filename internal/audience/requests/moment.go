package requests

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// moment is what a decision needs of the station and of one listener.
type moment struct {
	air     Air
	kept    *kept
	base    facts // without the track's
	tracks  map[string]Request
	artists map[string]Request
	heard   map[string]time.Time // of artists
	next    map[string]time.Time
	opens   map[station.Category]time.Time
	plays   map[station.Category]bool // what airs now
	zone    *time.Location
}

type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// moment looks at everything once, for many tracks.
func (r *Requests) moment(ctx context.Context, db queryer, from sender) (*moment, error) {
	now, kept := r.opt.Now(), r.kept.Load()
	m := &moment{
		air: r.opt.Air(), kept: kept, plays: map[station.Category]bool{}, tracks: map[string]Request{}, artists: map[string]Request{}, heard: map[string]time.Time{},
		next: map[string]time.Time{}, opens: map[station.Category]time.Time{}, zone: r.opt.Zone,
	}
	m.base = facts{now: now, limits: r.opt.Limits, closed: kept.closed, queue: len(kept.open), rest: m.air.Rest, artistGap: m.air.ArtistGap}
	for _, n := range m.air.Next {
		if _, known := m.next[n.Path]; !known {
			m.next[n.Path] = n.At
		}
	}
	for _, a := range m.air.Heard {
		for _, key := range rotation.ArtistKeys(a.Artist) {
			if a.At.After(m.heard[key]) {
				m.heard[key] = a.At
			}
		}
	}
	for _, q := range kept.open {
		q.ExpectedAt = m.next[q.Track.Path]
		m.tracks[q.Track.Path] = q
		for _, key := range rotation.ArtistKeys(q.Track.Artist) {
			m.artists[key] = q
		}
		if at := q.ExpectedAt; !at.IsZero() && (m.base.frees.IsZero() || at.Before(m.base.frees)) {
			m.base.frees = at
		}
		m.count(q, from)
	}
	var err error
	if m.base.mine, err = times(ctx, db, "asker", from.asker, now); err == nil {
		m.base.addressDay, err = times(ctx, db, "address", from.address, now)
	}
	return m, err
}

func (m *moment) count(q Request, from sender) {
	if from.address != nil && string(q.address) == string(from.address) {
		m.base.addressQueue++
	}
	if from.wider != nil && string(q.wider) == string(from.wider) {
		m.base.widerQueue++
	}
}

// times returns when a listener, or an address, asked within a day, oldest first. What
// the studio refused or nobody could plan is not counted against the listener.
func times(ctx context.Context, db queryer, column string, who []byte, now time.Time) ([]time.Time, error) {
	if who == nil {
		return nil, nil
	}
	rows, err := db.QueryContext(ctx, `SELECT at FROM requests WHERE `+column+` = ? AND at > ? AND at <= ? AND status NOT IN ('refused', 'expired') ORDER BY at`,
		who, now.Add(-day).UnixMilli(), now.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("read earlier requests: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var out []time.Time
	for rows.Next() {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return nil, err
		}
		out = append(out, time.UnixMilli(at))
	}
	return out, rows.Err()
}

// of returns the facts of a track.
func (m *moment) of(t station.Track) facts {
	f := m.base
	m.add(&f, t, rotation.ArtistKeys(t.Artist))
	return f
}

// add puts the facts of a track, whose artists have these keys, in the place of another's.
func (m *moment) add(f *facts, t station.Track, artists []string) {
	q, asked := m.tracks[t.Path]
	f.asked, f.askedAt = asked, q.ExpectedAt
	f.comingAt, f.coming = m.next[t.Path]
	f.aired = m.air.Aired(t.Path)
	f.artistAsked, f.artistAskedAt, f.artistAired = false, time.Time{}, time.Time{}
	for _, key := range artists {
		if q, asked := m.artists[key]; asked {
			f.artistAsked, f.artistAskedAt = true, q.ExpectedAt
		}
		if at := m.heard[key]; at.After(f.artistAired) {
			f.artistAired = at
		}
	}
	f.playsAt = time.Time{}
	if f.plays = m.airs(t.Category); !f.plays {
		f.playsAt = m.opensAt(t.Category)
	}
	f.ownRest, f.limited, f.limitedUntil = 0, false, time.Time{}
	if t.Own != nil && t.Own.Limits != (station.Limits{}) {
		f.ownRest = t.Own.Limits.Rest
		f.limited, f.limitedUntil = m.limited(&t.Own.Limits, t.Path)
	}
}

// limited reports whether the limits of a track keep it off the air now, its rest apart, and
// until when; zero where that is unknown.
func (m *moment) limited(l *station.Limits, path string) (bool, time.Time) {
	now, from := m.base.now, m.base.now
	if l.PerDay > 0 {
		starts := m.air.Starts(path)
		if n := len(starts); n >= l.PerDay && starts[n-l.PerDay].Add(day).After(now) {
			from = starts[n-l.PerDay].Add(day)
		}
	}
	if l.Open(from.In(m.zone)) {
		return from.After(now), from
	}
	local := from.In(m.zone)
	if first := l.From; first > station.DateOf(local) { // it is a day of the calendar
		local = time.Date(int(first/10_000), time.Month(first/100%100), int(first%100), 0, 0, 0, 0, m.zone)
		if l.Open(local) {
			return true, local
		}
	}
	for range 25 { // all hours of a day, and the one that a clock is set back by
		local = time.Date(local.Year(), local.Month(), local.Day(), local.Hour()+1, 0, 0, 0, m.zone)
		if l.Open(local) {
			return true, local
		}
	}
	return true, time.Time{} // its last day is over
}

// airs reports whether a category airs now.
func (m *moment) airs(c station.Category) bool {
	plays, known := m.plays[c]
	if !known {
		plays = m.air.Plays(c, m.base.now)
		m.plays[c] = plays
	}
	return plays
}

// opensAt is when a category that does not air now does so again; zero where that is
// not within a day.
func (m *moment) opensAt(c station.Category) time.Time {
	if at, known := m.opens[c]; known {
		return at
	}
	var at time.Time
	for ahead := m.base.now.Truncate(time.Minute).Add(time.Minute); ahead.Sub(m.base.now) <= day; ahead = ahead.Add(time.Minute) {
		if m.air.Plays(c, ahead) {
			at = ahead
			break
		}
	}
	m.opens[c] = at
	return at
}
