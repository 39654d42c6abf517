package telemetry

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/store"
)

const (
	// patience bounds one write.
	patience = 10 * time.Second
	// mostPending bounds the minutes, and the airings, that wait while the disk
	// cannot be written.
	mostPending = 1500
	// airingsKept is how long airings are kept: enough for a yearly report, and
	// some weeks to write it.
	airingsKept = 400 * 24 * time.Hour
	// mostRows bounds the airings in one answer.
	mostRows = 20_000
)

// book stores counts and airings. It writes once a minute, so a crash loses less
// than a minute, which shows as a gap.
type book struct {
	db   *store.DB
	zone *time.Location

	minutes []minute // not written yet, oldest first
	written time.Time
	heard   map[string]Aired // airings not written yet, by ID
	kept    string           // marks as they are on disk, as JSON
}

// minute is one minute's counts, or a part of them.
type minute struct {
	at time.Time
	sums
	crowd census.Crowd // sums over the samples
}

func (b *book) add(c Count) {
	at := Minute.begin(c.At, b.zone)
	if n := len(b.minutes); n == 0 || !b.minutes[n-1].at.Equal(at) {
		b.minutes = append(b.minutes, minute{at: at})
		b.minutes = b.minutes[max(0, len(b.minutes)-mostPending):]
	}
	m := &b.minutes[len(b.minutes)-1]
	m.add(c)
	m.crowd.Join(c.Crowd)
}

func (b *book) aired(all []Aired) {
	for _, a := range all {
		if b.heard == nil {
			b.heard = map[string]Aired{}
		}
		if _, there := b.heard[a.ID]; there || len(b.heard) < mostPending {
			b.heard[a.ID] = a
		}
	}
}

// due reports that a minute has passed since the last write.
func (b *book) due(now time.Time) bool {
	at := Minute.begin(now, b.zone)
	if b.written.IsZero() {
		b.written = at
	}
	return !b.written.Equal(at)
}

// write saves everything that is pending in one transaction.
func (b *book) write(ctx context.Context, m marks, now time.Time) error {
	b.written = Minute.begin(now, b.zone)
	state, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(b.minutes) == 0 && len(b.heard) == 0 && string(state) == b.kept {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = b.db.Write(ctx, func(tx *sql.Tx) error {
		for _, m := range b.minutes {
			for _, by := range []By{Minute, Hour, Day} {
				if err := keepSums(ctx, tx, by, by.begin(m.at, b.zone), m.sums); err != nil {
					return err
				}
			}
		}
		if err := b.keepCrowd(ctx, tx); err != nil {
			return err
		}
		for _, a := range b.heard {
			if err := keepAired(ctx, tx, a); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `UPDATE telemetry_state SET marks = ?`, string(state)); err != nil {
			return err
		}
		return prune(ctx, tx, now)
	})
	if err != nil {
		return err
	}
	b.minutes, b.heard, b.kept = nil, nil, string(state)
	return nil
}

// keepSums adds to a stored point: part of it may be stored already, from before a
// restart, and hours and days grow minute by minute.
func keepSums(ctx context.Context, tx *sql.Tx, by By, at time.Time, s sums) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO telemetry_history (by, at, n, counted, total, hls, stream, icecast, fewest, most, bits, most_bits, came, went)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (by, at) DO UPDATE SET
			n = n + excluded.n, counted = counted + excluded.counted, total = total + excluded.total,
			hls = hls + excluded.hls, stream = stream + excluded.stream, icecast = icecast + excluded.icecast,
			fewest = min(fewest, excluded.fewest), most = max(most, excluded.most),
			bits = bits + excluded.bits, most_bits = max(most_bits, excluded.most_bits),
			came = came + excluded.came, went = went + excluded.went`,
		by, at.UnixMilli(), s.n, s.counted, s.total, s.hls, s.stream, s.direct, s.fewest, s.most, s.bits, s.mostBits, s.came, s.went)
	return err
}

func keepAired(ctx context.Context, tx *sql.Tx, a Aired) error {
	ended := int64(0)
	if !a.EndedAt.IsZero() {
		ended = a.EndedAt.UnixMilli()
	}
	start := sql.NullInt64{Int64: int64(a.Start), Valid: a.Counted}
	end := sql.NullInt64{Int64: int64(a.End), Valid: a.Counted}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO telemetry_airings (id, started, ended, path, title, artist, category, type, kind, n, total, at_start, at_end, came, went, album, isrc, label, composer)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET ended = excluded.ended, n = excluded.n, total = excluded.total,
			at_start = excluded.at_start, at_end = excluded.at_end, came = excluded.came, went = excluded.went`,
		a.ID, a.StartedAt.UnixMilli(), ended, []byte(a.Path), a.Title, a.Artist, a.Category, a.Type, a.Kind,
		a.samples, a.sum, start, end, a.Came, a.Went, a.Album, a.ISRC, a.Label, a.Composer)
	return err
}

func prune(ctx context.Context, tx *sql.Tx, now time.Time) error {
	for _, by := range []By{Minute, Hour, Day} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM telemetry_history WHERE by = ? AND at < ?`, by, now.Add(-by.Kept()).UnixMilli()); err != nil {
			return err
		}
		if by == Minute {
			continue // no crowd is kept by the minute
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM telemetry_crowd WHERE by = ? AND at < ?`, by, now.Add(-by.Kept()).UnixMilli()); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM telemetry_airings WHERE started < ?`, now.Add(-airingsKept).UnixMilli())
	return err
}
