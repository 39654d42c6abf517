package telemetry

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"
)

const sumsColumns = `at, n, counted, total, hls, stream, icecast, fewest, most, bits, most_bits, came, went`

// each calls fn with every point that begins in [from, to).
func (b *book) each(ctx context.Context, by By, from, to time.Time, fn func(at int64, s *sums)) error {
	rows, err := b.db.Read().QueryContext(ctx, `SELECT `+sumsColumns+` FROM telemetry_history
		WHERE by = ? AND at >= ? AND at < ? ORDER BY at`, by, from.UnixMilli(), to.UnixMilli())
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var at int64
		var s sums
		if err := rows.Scan(&at, &s.n, &s.counted, &s.total, &s.hls, &s.stream, &s.direct, &s.fewest, &s.most,
			&s.bits, &s.mostBits, &s.came, &s.went); err != nil {
			return err
		}
		fn(at, &s)
	}
	return rows.Err()
}

func (b *book) history(ctx context.Context, by By, from, to time.Time) ([]Point, error) {
	out := []Point{}
	err := b.each(ctx, by, from, to, func(at int64, s *sums) { out = append(out, s.point(at)) })
	return out, err
}

// recent returns the minutes of the last hour, for the first update after a start.
func (b *book) recent(ctx context.Context, now time.Time) ([]StatsPoint, error) {
	var out []StatsPoint
	this := Minute.begin(now, b.zone)
	err := b.each(ctx, Minute, this.Add(-(mostPoints-1)*time.Minute), this, func(at int64, s *sums) {
		out = append(out, s.statsPoint(at))
	})
	return out, err
}

const airedColumns = `id, started, ended, path, title, artist, category, type, kind, n, total, at_start, at_end, came, went, album, isrc, label, composer`

func scanAired(row interface{ Scan(into ...any) error }) (Aired, error) {
	var a Aired
	var started, ended int64
	var path []byte
	var start, end sql.NullInt64
	err := row.Scan(&a.ID, &started, &ended, &path, &a.Title, &a.Artist, &a.Category, &a.Type, &a.Kind, &a.samples, &a.sum, &start, &end, &a.Came, &a.Went,
		&a.Album, &a.ISRC, &a.Label, &a.Composer)
	a.Path, a.StartedAt = string(path), time.UnixMilli(started)
	if ended != 0 {
		a.EndedAt = time.UnixMilli(ended)
	}
	a.Counted, a.Start, a.End = start.Valid, int(start.Int64), int(end.Int64)
	return a, err
}

func (b *book) airings(ctx context.Context, from, to time.Time, limit int) ([]Aired, error) {
	return b.airedWhere(ctx, `started >= ? AND started < ?`, limit, from.UnixMilli(), to.UnixMilli())
}

func (b *book) airingsOf(ctx context.Context, path string, limit int) ([]Aired, error) {
	return b.airedWhere(ctx, `path = ?`, limit, []byte(path))
}

func (b *book) airedWhere(ctx context.Context, where string, limit int, args ...any) ([]Aired, error) {
	rows, err := b.db.Read().QueryContext(ctx, `SELECT `+airedColumns+` FROM telemetry_airings
		WHERE `+where+` ORDER BY started DESC, id DESC LIMIT ?`, append(args, min(limit, mostRows))...) //nolint:gosec // where is a constant
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	out := []Aired{}
	for rows.Next() {
		a, err := scanAired(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, rows.Err()
}

// lastAiring returns a tracker that continues with the newest stored airing, which
// may still be on air, or have ended while nothing was counted.
func (b *book) lastAiring(ctx context.Context) (tracker, error) {
	all, err := b.airings(ctx, time.UnixMilli(0), time.UnixMilli(1<<50), 1)
	if err != nil || len(all) == 0 {
		return tracker{}, err
	}
	return tracker{now: &all[0], restored: true}, nil
}

func (b *book) marks(ctx context.Context) (marks, error) {
	var m marks
	if err := b.db.Read().QueryRowContext(ctx, `SELECT marks FROM telemetry_state`).Scan(&b.kept); err != nil {
		return m, err
	}
	return m, json.Unmarshal([]byte(b.kept), &m)
}
