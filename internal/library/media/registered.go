package media

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/athir-radio/athir/internal/station"
)

// Registered returns the tracks in a database, sorted by path, whatever folder
// they were found in. It is for readers beside the station that owns it.
func Registered(ctx context.Context, db *sql.DB) ([]station.Track, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("read the registry: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	var r registry
	if err := r.loadTracks(ctx, tx); err != nil {
		return nil, fmt.Errorf("read the registry: %w", err)
	}
	return r.tracks, nil
}
