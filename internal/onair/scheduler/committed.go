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

// Committed reads the on-air state from the database, also while a scheduler is
// running: rotation and cursor come from one commit. Before the first commit the
// View has no entries. Its Config is always empty.
func Committed(ctx context.Context, db *sql.DB) (*View, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // only read
	var rot rotation.Rotation
	var kept stored
	_, noRotation := readDocument(ctx, tx, selectCommitted, &rot)
	_, noState := readDocument(ctx, tx, selectState, &kept)
	for _, err := range []error{noRotation, noState} {
		if err != nil && !strings.Contains(err.Error(), "no such table") {
			return nil, fmt.Errorf("read committed rotation: %w", err)
		}
	}
	return &View{Rotation: rot, Consumed: kept.State.Consumed, OnAir: kept.OnAir, Past: kept.Past, Reason: kept.Reason, failed: kept.Failed}, nil
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

// readDocument reads one value. It returns false without a row; then, and on an
// error, into is unchanged. Values are gob, not JSON: a path may hold bytes that
// are not UTF-8, and must come back unchanged.
func readDocument[T any](ctx context.Context, db querier, query string, into *T) (bool, error) {
	var doc []byte
	err := db.QueryRowContext(ctx, query).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var v T
	if err := gob.NewDecoder(bytes.NewReader(doc)).Decode(&v); err != nil {
		return false, fmt.Errorf("%w: %w", errForeign, err)
	}
	*into = v
	return true, nil
}
