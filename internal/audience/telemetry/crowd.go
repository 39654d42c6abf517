package telemetry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
)

// everySeconds is what one sample of one listener stands for.
const everySeconds = int64(Every / time.Second)

// crowdKey is a row of the crowd's table.
type crowdKey struct {
	by         By
	at         int64
	kind, name string
}

// crowds sums the pending minutes up by hour and day: after a day without a disk they are
// 1,500 minutes of a hundred names, and one row of each name and hour is written.
func (b *book) crowds() map[crowdKey]int64 {
	out := map[crowdKey]int64{}
	for _, m := range b.minutes {
		for _, by := range []By{Hour, Day} {
			at := by.begin(m.at, b.zone).UnixMilli()
			for name, n := range m.crowd.Devices {
				out[crowdKey{by, at, "device", name}] += int64(n) * everySeconds
			}
			for code, n := range m.crowd.Countries {
				out[crowdKey{by, at, "country", code}] += int64(n) * everySeconds
			}
		}
	}
	return out
}

// keepCrowd adds the pending listeners to their hours and days, by kind.
func (b *book) keepCrowd(ctx context.Context, tx *sql.Tx) error {
	all := b.crowds()
	if len(all) == 0 {
		return nil
	}
	add, err := tx.PrepareContext(ctx, `INSERT INTO telemetry_crowd (by, at, kind, name, seconds) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (by, at, kind, name) DO UPDATE SET seconds = seconds + excluded.seconds`)
	if err != nil {
		return err
	}
	defer add.Close() //nolint:errcheck // with the transaction
	for row, seconds := range all {
		if _, err := add.ExecContext(ctx, row.by, row.at, row.kind, row.name, seconds); err != nil {
			return err
		}
	}
	return nil
}

// Share is how long the listeners of one name listened, together.
type Share struct {
	Name    string // as kit/census has it, or a way to listen
	Seconds int64
}

// Hours are its listener hours.
func (s Share) Hours() float64 { return float64(s.Seconds) / 3600 }

// Audience is who listened in a period, the most first. Nobody is told from another: it is
// made of sums.
type Audience struct {
	Devices, Countries, Ways []Share
	Since                    time.Time // since when devices and countries are counted; zero: nothing was yet
}

// Audience returns who listened in the hours that begin in [from, to), or in the days where
// hours of that time are kept no longer. The hour, or day, that from lies in counts as a whole.
func (t *Telemetry) Audience(ctx context.Context, from, to time.Time) (Audience, error) {
	by := Hour
	if from.Before(t.opt.Now().Add(-Hour.Kept())) {
		by = Day
	}
	out, err := t.book.audience(ctx, by, by.begin(from, t.book.zone), to)
	if err != nil {
		return Audience{}, fmt.Errorf("read who listened: %w", err)
	}
	return out, nil
}

func (b *book) audience(ctx context.Context, by By, from, to time.Time) (out Audience, err error) {
	for kind, into := range map[string]*[]Share{"device": &out.Devices, "country": &out.Countries} {
		*into, err = b.shares(ctx, `SELECT name, SUM(seconds) AS s FROM telemetry_crowd WHERE by = ? AND at >= ? AND at < ? AND kind = ? GROUP BY name ORDER BY s DESC, name`,
			by, from.UnixMilli(), to.UnixMilli(), kind)
		if err != nil {
			return out, err
		}
	}
	if out.Ways, err = b.ways(ctx, by, from, to); err != nil {
		return out, err
	}
	var since sql.NullInt64
	if err := b.db.Read().QueryRowContext(ctx, `SELECT MIN(at) FROM telemetry_crowd WHERE by = 'day'`).Scan(&since); err != nil {
		return out, err
	}
	if since.Valid {
		out.Since = time.UnixMilli(since.Int64)
	}
	return out, nil
}

// ways are those by which anybody listened, the most first.
func (b *book) ways(ctx context.Context, by By, from, to time.Time) ([]Share, error) {
	return b.shares(ctx, `WITH sums AS (SELECT SUM(hls) AS hls, SUM(stream) AS stream, SUM(icecast) AS icecast FROM telemetry_history WHERE by = ? AND at >= ? AND at < ?),
		ways AS (SELECT 'hls' AS name, hls AS n FROM sums UNION ALL SELECT 'stream', stream FROM sums UNION ALL SELECT 'icecast', icecast FROM sums)
		SELECT name, n * ? FROM ways WHERE n > 0 ORDER BY n DESC`, by, from.UnixMilli(), to.UnixMilli(), everySeconds)
}

func (b *book) shares(ctx context.Context, query string, args ...any) (out []Share, err error) {
	err = store.Each(ctx, b.db.Read(), func(rows *sql.Rows) error {
		var s Share
		err := rows.Scan(&s.Name, &s.Seconds)
		out = append(out, s)
		return err
	}, query, args...)
	return out, err
}
