package telemetry

import (
	"bytes"
	"context"
	"database/sql"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
)

const (
	// fillEvery is how often it is looked for what airings lack and the library has by now.
	fillEvery = 10 * time.Minute
	// filesAtOnce is how many files' airings are looked at each time, the next ones each time:
	// 10,000 are gone through in some three hours.
	filesAtOnce = 500
)

// fill writes to airings what was not known of their recordings when they aired. What is
// written is never changed: a report of a month stays what it is when the file has gone.
func (t *Telemetry) fill(ctx context.Context) {
	now := t.opt.Now()
	if t.opt.Known == nil || now.Sub(t.filled).Abs() < fillEvery {
		return
	}
	t.filled = now
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	last, err := t.book.fill(ctx, t.filledTo, t.opt.Known)
	if err != nil {
		t.opt.Log.Warn("cannot complete what is known of recordings that aired, will try again", "err", err)
		return
	}
	t.filledTo = last
}

// fill looks at the files whose paths follow one, and returns the last of them; nil at the end.
func (b *book) fill(ctx context.Context, after []byte, known func(path, title, artist string) (Release, bool)) (last []byte, err error) {
	type found struct {
		path          []byte
		title, artist string
		Release
	}
	var all []found
	seen := 0 // files, each of which may have held several recordings in turn
	err = store.Each(ctx, b.db.Read(), func(rows *sql.Rows) error {
		var one found
		if err := rows.Scan(&one.path, &one.title, &one.artist, &one.Album, &one.ISRC, &one.Label, &one.Composer); err != nil {
			return err
		}
		if seen == 0 || !bytes.Equal(last, one.path) {
			seen, last = seen+1, one.path
		}
		if is, there := known(string(one.path), one.title, one.artist); there && one.or(is) != one.Release {
			one.Release = is
			all = append(all, one)
		}
		return nil
	}, `SELECT path, title, artist, MIN(album), MIN(isrc), MIN(label), MIN(composer) FROM telemetry_airings
		WHERE `+isMusic+` AND path IN (SELECT DISTINCT path FROM telemetry_airings WHERE `+isMusic+` AND path > COALESCE(?, x'') ORDER BY path LIMIT ?)
		GROUP BY path, title, artist ORDER BY path`, after, filesAtOnce)
	if seen < filesAtOnce {
		last = nil
	}
	if err != nil || len(all) == 0 {
		return last, err
	}
	return last, b.db.Write(ctx, func(tx *sql.Tx) error {
		for _, one := range all {
			if _, err := tx.ExecContext(ctx, `UPDATE telemetry_airings SET album = IIF(album = '', ?, album), isrc = IIF(isrc = '', ?, isrc),
				label = IIF(label = '', ?, label), composer = IIF(composer = '', ?, composer)
				WHERE path = ? AND title = ? AND artist = ? AND `+isMusic, one.Album, one.ISRC, one.Label, one.Composer, one.path, one.title, one.artist); err != nil {
				return err
			}
		}
		return nil
	})
}
