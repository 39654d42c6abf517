package overlay

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/athir-radio/athir/internal/kit/store"
)

// Forget removes the deeds of more than a year ago. It is for who knows that the clock is
// right: one that is ahead would make all of them old.
func (o *Overlay) Forget(ctx context.Context) error {
	err := o.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM overlay_deed WHERE at < ?`, o.opt.Now().Add(-keptDeeds).UnixMilli())
		return err
	})
	if err != nil {
		return fmt.Errorf("remove old deeds: %w", err)
	}
	return nil
}

// Covers are the ids of all pictures that a note has, or had before or after a deed that can be
// taken back.
func (o *Overlay) Covers(ctx context.Context) (map[string]bool, error) {
	all := map[string]bool{}
	err := store.Each(ctx, o.opt.DB.Read(), func(rows *sql.Rows) error {
		var id sql.NullString
		if err := rows.Scan(&id); err != nil {
			return err
		}
		all[id.String] = true
		return nil
	}, `SELECT json_extract(note, '$.cover') FROM overlay_note WHERE note LIKE '%"cover":%'
		UNION SELECT json_extract(before, '$.cover') FROM overlay_change WHERE before LIKE '%"cover":%'
		UNION SELECT json_extract(after, '$.cover') FROM overlay_change WHERE after LIKE '%"cover":%'`)
	if err != nil {
		return nil, fmt.Errorf("read the pictures of tracks: %w", err)
	}
	return all, nil
}
