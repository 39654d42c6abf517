package intake

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"

	"github.com/athir-radio/athir/internal/kit/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("intake", migrations) }

func load(ctx context.Context, db *store.DB) (all []kept, err error) {
	rows, err := db.Read().QueryContext(ctx, "SELECT id, arrival FROM intake_arrival")
	if err != nil {
		return nil, fmt.Errorf("read arrivals: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var id, text string
		if err := rows.Scan(&id, &text); err != nil {
			return nil, fmt.Errorf("read arrivals: %w", err)
		}
		var k kept
		if err := json.Unmarshal([]byte(text), &k); err != nil {
			return nil, fmt.Errorf("read arrival %s: %w", id, err)
		}
		k.ID = id
		all = append(all, k)
	}
	return all, rows.Err()
}

// save writes arrivals in one commit.
func save(ctx context.Context, db *store.DB, all ...kept) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		for _, k := range all {
			text, err := json.Marshal(k)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO intake_arrival VALUES (?, ?, ?, ?)
				ON CONFLICT (id) DO UPDATE SET state = excluded.state, arrival = excluded.arrival`, k.ID, k.At.UnixMilli(), string(k.State), string(text)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save arrivals: %w", err)
	}
	return nil
}

func forget(ctx context.Context, db *store.DB, ids ...string) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, "DELETE FROM intake_arrival WHERE id = ?", id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forget arrivals: %w", err)
	}
	return nil
}
