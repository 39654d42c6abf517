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
	_, noRotation := readDocument(ctx, tx, selectCommitted, &rot)
	_, noState := readDocument(ctx, tx, selectState, &kept)
	for _, err := range []error{noRotation, noState} {
		if err != nil && !strings.Contains(err.Error(), "no such table") {
			return nil, fmt.Errorf("read committed rotation: %w", err)
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

// readDocument reads one value; without a row that can be read, which false or
// an error tells, into is as it was. Values are gob, not
// JSON: a path may hold bytes that are no UTF-8, and must come back unchanged.
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
