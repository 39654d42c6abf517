package telemetry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

// Track is what one file was to its listeners in a period.
type Track struct {
	Path                    string
	Title, Artist, Category string // as of its latest airing
	Plays                   int
	Aired                   time.Duration // on the air, all plays together
	Counted                 int           // of its plays, those with a count of listeners
	ListenerHours           float64
	Start                   float64 // listeners when it began, on average over Counted
	Came, Went              int     // while it aired
	// Kept is, of those who listened when it began or came while it aired, the share that had
	// not left when it ended. It is valid where Reached is above zero.
	Kept    float64
	Reached int
}

// TrackSort orders tracks.
type TrackSort string

// The orders, the most first; ByTitle from the first letter.
const (
	ByPlays TrackSort = "plays"
	ByHours TrackSort = "hours"
	ByKept  TrackSort = "kept"
	ByLeft  TrackSort = "left"
	ByTitle TrackSort = "title"
)

func (s TrackSort) order() string {
	switch s {
	case ByHours:
		return "listened DESC"
	case ByKept:
		return "CASE WHEN reached > 0 THEN 1.0 * stayed / reached ELSE -1 END DESC, reached DESC"
	case ByLeft:
		return "went DESC"
	case ByTitle:
		return "title COLLATE NOCASE, artist COLLATE NOCASE"
	default:
		return "plays DESC, listened DESC"
	}
}

// mostWait is how long a report waits for the one before it.
const mostWait = 10 * time.Second

// report takes the turn of what reads months of airings: that takes a second of a processor,
// which whoever is on the air needs as well, however many ask.
func (t *Telemetry) report(ctx context.Context) (done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	select {
	case t.reports <- struct{}{}:
		return func() { <-t.reports }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("other reports are being made, try again: %w", station.ErrUnavailable)
	}
}

// Tracks sums up the airings of each file that began in [from, to), of one category or of all
// where it is empty, and says how many files there are. What is on the air counts up to now,
// and not for what was kept. At most 20,000 are returned.
func (t *Telemetry) Tracks(ctx context.Context, from, to time.Time, category string, sort TrackSort, limit int) (out []Track, total int, err error) {
	done, err := t.report(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	out = []Track{}
	err = store.Each(ctx, t.book.db.Read(), func(rows *sql.Rows) error {
		var one Track
		var path []byte
		var aired, starts, latest int64
		var listened float64
		var stayed int
		if err := rows.Scan(&path, &one.Title, &one.Artist, &one.Category, &latest, &one.Plays, &aired, &one.Counted,
			&listened, &starts, &one.Came, &one.Went, &one.Reached, &stayed, &total); err != nil {
			return err
		}
		one.Path, one.Aired, one.ListenerHours = string(path), time.Duration(aired)*time.Millisecond, listened/time.Hour.Seconds()/1000
		if one.Counted > 0 {
			one.Start = float64(starts) / float64(one.Counted)
		}
		if one.Reached > 0 {
			one.Kept = float64(stayed) / float64(one.Reached)
		}
		out = append(out, one)
		return nil
	}, `SELECT *, COUNT(*) OVER () FROM (
			SELECT path, title, artist, category, MAX(started), COUNT(*) AS plays, SUM(length), COUNT(at_start) AS counted,
				SUM(CASE WHEN at_start IS NULL THEN 0.0 WHEN n = 0 THEN 1.0 * at_start * length ELSE 1.0 * total / n * length END) AS listened,
				COALESCE(SUM(at_start), 0), SUM(came), SUM(went) AS went, SUM(heard) AS reached, SUM(MAX(heard - went, 0)) AS stayed
			FROM (
				SELECT path, title, artist, category, started, n, total, at_start,
					MAX(CASE ended WHEN 0 THEN ?1 ELSE ended END - started, 0) AS length,
					CASE WHEN at_start IS NULL THEN 0 ELSE came END AS came, CASE WHEN at_start IS NULL THEN 0 ELSE went END AS went,
					CASE WHEN at_start IS NULL OR ended = 0 THEN 0 ELSE at_start + came END AS heard
				FROM telemetry_airings WHERE started >= ?2 AND started < ?3 AND path <> x'' AND (?4 = '' OR category = ?4)
			) GROUP BY path
		) ORDER BY `+sort.order()+`, path LIMIT ?5`, t.opt.Now().UnixMilli(), from.UnixMilli(), to.UnixMilli(), category, min(limit, mostRows))
	if err != nil {
		return nil, 0, fmt.Errorf("sum up tracks: %w", err)
	}
	return out, total, nil
}
