package aircopy

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("aircopy", migrations) }

// state is the decision on a file.
type state string

const (
	asIs    state = "as_is"   // the file itself airs
	copied  state = "copy"    // its copy airs
	refused state = "refused" // neither
	lost    state = "lost"    // its copy is missing or changed: to be made again
)

// row is the last decision on a file. It holds until the next one: when a file has
// changed, its old copy airs until a new one is made.
type row struct {
	size, mtime int64
	category    station.Category
	profile     string
	state       state
	reason      string
	// copy may be set in any state: the copy of an earlier decision stays until
	// nothing uses it.
	copy     string
	copySize int64
	mastering.Outcome
	trimmed time.Duration // cut off both ends
	// from and to are what of the file airs, where an operator has said so.
	from, to time.Duration
	at       time.Time
}

// current reports that the decision is on the file as it is now.
func (w row) current(t station.Track) bool {
	return w.size == t.Size && w.mtime == t.ModTime.UnixNano()
}

// settled reports that nothing is to be done about a file.
func (w row) settled(t station.Track, profile string) bool {
	from, to := cutOf(t)
	return w.current(t) && w.profile == profile && w.from == from && w.to == to && w.state != lost
}

// cutOf is what of a file is to air; 0: from its beginning, to its end.
func cutOf(t station.Track) (from, to time.Duration) {
	if t.Own == nil {
		return 0, 0
	}
	return t.Own.Cut.In, t.Own.Cut.Out
}

// airs reports that the file or its copy can air now. A copy stays usable when its
// file changes; a file that airs itself does not.
func (w row) airs(t station.Track) bool {
	return w.state == copied || w.state == asIs && w.current(t)
}

func migrate(ctx context.Context, db *store.DB) error {
	return db.Upgrade(ctx, Schema())
}

func load(ctx context.Context, db *store.DB) (map[string]row, error) {
	rows, err := db.Read().QueryContext(ctx, `SELECT rel, size, mtime_ns, category, profile, state, reason, copy, copy_size,
		duration_us, cue_in_us, cue_out_us, trimmed_us, lufs, dbtp, gain_db, method, at_ms, short_lu, from_us, to_us FROM aircopy`)
	if err != nil {
		return nil, fmt.Errorf("load the copies on air: %w", err)
	}
	defer func() { _ = rows.Close() }()
	all := map[string]row{}
	same := map[string]string{} // words that repeat: one copy of each
	word := func(b sql.RawBytes) string {
		if s, ok := same[string(b)]; ok {
			return s
		}
		s := string(b)
		same[s] = s
		return s
	}
	for rows.Next() {
		var w row
		var rel, category, profile, state, reason, name, method sql.RawBytes
		var duration, in, out, trimmed, at, from, to int64
		if err := rows.Scan(&rel, &w.size, &w.mtime, &category, &profile, &state, &reason, &name, &w.copySize,
			&duration, &in, &out, &trimmed, &w.Integrated, &w.TruePeak, &w.Gain, &method, &at, &w.Short, &from, &to); err != nil {
			return nil, fmt.Errorf("load the copies on air: %w", err)
		}
		w.category, w.profile, w.reason, w.copy, w.Method = station.Category(word(category)), word(profile), word(reason), string(name), mastering.Method(word(method))
		w.state = stateOf(string(state))
		w.Fit = w.state == asIs
		w.Duration, w.CueIn, w.CueOut, w.trimmed = micros(duration), micros(in), micros(out), micros(trimmed)
		w.from, w.to = micros(from), micros(to)
		w.at = time.UnixMilli(at)
		all[string(rel)] = w
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("load the copies on air: %w", err)
	}
	return all, nil
}

// stateOf reads a state; one that we do not know is to be decided again.
func stateOf(s string) state {
	switch known := state(s); known {
	case asIs, copied, refused:
		return known
	}
	return lost
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// save writes a decision, even while the station stops.
func save(ctx context.Context, db *store.DB, rel string, w row) error {
	ctx = context.WithoutCancel(ctx)
	err := db.Write(ctx, func(tx *sql.Tx) error { return insert(ctx, tx, rel, w) })
	if err != nil {
		return fmt.Errorf("save the outcome of mastering: %w", err)
	}
	return nil
}

func insert(ctx context.Context, tx *sql.Tx, rel string, w row) error {
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO aircopy VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		[]byte(rel), w.size, w.mtime, string(w.category), w.profile, string(w.state), w.reason, []byte(w.copy), w.copySize,
		w.Duration.Microseconds(), w.CueIn.Microseconds(), w.CueOut.Microseconds(), w.trimmed.Microseconds(),
		w.Integrated, w.TruePeak, w.Gain, string(w.Method), w.at.UnixMilli(), w.Short, w.from.Microseconds(), w.to.Microseconds())
	return err
}

// drop forgets a file (whole), or only its leftover copy.
func drop(ctx context.Context, db *store.DB, rel string, whole bool) error {
	query := "UPDATE aircopy SET copy = x'', copy_size = 0 WHERE rel = ?"
	if whole {
		query = "DELETE FROM aircopy WHERE rel = ?"
	}
	ctx = context.WithoutCancel(ctx)
	err := db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query, []byte(rel))
		return err
	})
	if err != nil {
		return fmt.Errorf("forget an on-air copy: %w", err)
	}
	return nil
}
