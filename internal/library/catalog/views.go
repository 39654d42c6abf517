package catalog

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("catalog", migrations) }

// View is a search that is kept by name.
type View struct {
	Name  string `json:"name"`
	Query Query  `json:"query"`
}

const (
	mostViews   = 50
	longestName = 60 // characters
)

// Views keeps searches in a database.
type Views struct{ db *store.DB }

// OpenViews brings the table up to date.
func OpenViews(ctx context.Context, db *store.DB) (*Views, error) {
	if err := db.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("migrate the table of saved searches: %w", err)
	}
	return &Views{db}, nil
}

// List returns them, as they were ordered.
func (v *Views) List(ctx context.Context) ([]View, error) {
	rows, err := v.db.Read().QueryContext(ctx, `SELECT name, query FROM catalog_view ORDER BY place`)
	if err != nil {
		return nil, fmt.Errorf("read saved searches: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err tells
	out := []View{}
	for rows.Next() {
		var one View
		var text []byte
		if err := rows.Scan(&one.Name, &text); err != nil {
			return nil, fmt.Errorf("read saved searches: %w", err)
		}
		if err := json.Unmarshal(text, &one.Query); err != nil {
			return nil, fmt.Errorf("read the saved search %q: %w", one.Name, err)
		}
		out = append(out, one)
	}
	return out, rows.Err()
}

// Set replaces them all. The error is of kind station.ErrInvalid where one is wrong.
func (v *Views) Set(ctx context.Context, all []View) error {
	if len(all) > mostViews {
		return fmt.Errorf("views: %d at most: %w", mostViews, station.ErrInvalid)
	}
	seen := map[string]bool{}
	for i, one := range all {
		name := strings.Join(strings.Fields(one.Name), " ")
		switch {
		case name == "" || utf8.RuneCountInString(name) > longestName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
			return fmt.Errorf("views[%d].name: must have 1 to %d characters: %w", i, longestName, station.ErrInvalid)
		case seen[name]:
			return fmt.Errorf("views[%d].name: %q stands there twice: %w", i, name, station.ErrInvalid)
		}
		if err := one.Query.Check(); err != nil {
			return fmt.Errorf("views[%d].query.%w", i, err)
		}
		seen[name], all[i].Name = true, name
	}
	return v.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM catalog_view`); err != nil {
			return err
		}
		for i, one := range all {
			text, err := json.Marshal(one.Query)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO catalog_view (name, place, query) VALUES (?, ?, ?)`, one.Name, i, string(text)); err != nil {
				return err
			}
		}
		return nil
	})
}
