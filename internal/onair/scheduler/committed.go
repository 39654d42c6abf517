package scheduler

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/gob"
	"errors"
	"fmt"
	"strings"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// Committed reads what is on air from the database of a scheduler that may be
// at work meanwhile: rotation and cursor are of one commit. A database in which
// none was committed yet gives a View without entries. Config is not in it.
func Committed(ctx context.Context, db *sql.DB) (*View, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // only read
	var rot rotation.Rotation
	var kept stored
	for query, into := range map[string]any{selectCommitted: &rot, selectState: &kept} {
		if _, err := readDocument(ctx, tx, query, into); err != nil && !strings.Contains(err.Error(), "no such table") {
			return nil, fmt.Errorf("committed rotation: %w", err)
		}
	}
	return &View{Rotation: rot, Consumed: kept.State.Consumed, OnAir: kept.OnAir, Past: kept.Past, Reason: kept.Reason}, nil
}

const (
	selectState     = `SELECT doc FROM onair_state WHERE id = 1`
	selectCommitted = `SELECT doc FROM onair_rotation WHERE slot = 'committed'`
	selectPending   = `SELECT doc FROM onair_rotation WHERE slot = 'pending'`
)

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// errForeign says that a document was written by another version, or is damaged.
var errForeign = errors.New("cannot be read by this version")

// readDocument reads one value; false when there is no row. Values are gob, not
// JSON: a path may hold bytes that are no UTF-8, and must come back unchanged.
func readDocument(ctx context.Context, db querier, query string, into any) (bool, error) {
	var doc []byte
	err := db.QueryRowContext(ctx, query).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := gob.NewDecoder(bytes.NewReader(doc)).Decode(into); err != nil {
		return false, fmt.Errorf("%w: %w", errForeign, err)
	}
	return true, nil
}
