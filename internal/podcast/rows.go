package podcast

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/athir-radio/athir/internal/kit/store"
)

// words are those parts of an episode that no query asks for.
type words struct {
	GUID      string    `json:"guid"`
	Title     string    `json:"title"`
	Summary   string    `json:"summary"`
	Artist    string    `json:"artist"`
	Creator   string    `json:"creator"`
	Chapters  []Chapter `json:"chapters"`
	Text      string    `json:"text"`
	Listeners float64   `json:"listeners"`
	Explicit  bool      `json:"explicit"`
	Cover     string    `json:"cover"`
	ProblemAR string    `json:"problemAr"`
	Withheld  bool      `json:"withheld,omitempty"`
}

// readBook reads everything.
func readBook(ctx context.Context, db *sql.DB) (*book, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // only read
	b := &book{shelves: map[string]*shelf{}}
	err = store.Each(ctx, tx, func(rows *sql.Rows) error {
		s, own, slug := &shelf{records: map[string]*record{}, gone: map[string]int64{}}, "", ""
		if err := rows.Scan(&slug, &s.Version, &own, &s.GUID, &s.Cover, &s.Created, &s.Changed, &s.said, &s.Removed, &s.numbers); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(own), &s.Own); err != nil {
			return fmt.Errorf("show %s: %w", slug, err)
		}
		s.Slug = slug
		b.shelves[slug] = s
		return nil
	}, `SELECT slug, version, own, guid, cover, created, changed, said, removed, numbers FROM podcast_shows`)
	if err != nil {
		return nil, err
	}
	err = store.Each(ctx, tx, func(rows *sql.Rows) error {
		r, text := &record{}, ""
		if err := rows.Scan(&r.Show, &r.ID, &r.Number, &r.State, &r.was, &r.lost, &r.Problem, &r.Source.Kind, &r.Source.Key, &r.born, &r.Began, &r.opens,
			&r.Published, &r.Changed, &r.Removed, &r.DurationMS, &r.Bytes, &r.File, &r.Pinned, &r.Downloads, &r.tries, &r.again, &text); err != nil {
			return err
		}
		var w words
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			return fmt.Errorf("episode %s of show %s: %w", r.ID, r.Show, err)
		}
		r.GUID, r.Title, r.Summary, r.Artist, r.Creator = w.GUID, w.Title, w.Summary, w.Artist, w.Creator
		r.Chapters, r.Text, r.Listeners, r.Explicit, r.Cover = w.Chapters, w.Text, w.Listeners, w.Explicit, w.Cover
		r.ProblemAR, r.Withheld = w.ProblemAR, w.Withheld
		if s := b.shelves[r.Show]; s != nil {
			s.records[r.ID] = r
		}
		return nil
	}, `SELECT show, id, number, state, was, lost, problem, kind, key, born, began, opens, published, changed, removed, duration_ms, bytes, file, pinned, downloads, tries, again, words FROM podcast_episodes`)
	if err != nil {
		return nil, err
	}
	err = store.Each(ctx, tx, func(rows *sql.Rows) error {
		show, id, at := "", "", int64(0)
		if err := rows.Scan(&show, &id, &at); err != nil {
			return err
		}
		if s := b.shelves[show]; s != nil {
			s.gone[id] = at
		}
		return nil
	}, `SELECT show, id, at FROM podcast_gone`)
	if err != nil {
		return nil, err
	}
	for _, s := range b.shelves {
		s.settle()
		b.bytes += s.Bytes
	}
	return b, nil
}

// save writes what is other in a shelf than in the one before, which may be nil; a shelf that is
// nil is taken away.
func save(ctx context.Context, tx *sql.Tx, slug string, before, after *shelf) error {
	if after == nil {
		_, err := tx.ExecContext(ctx, `DELETE FROM podcast_shows WHERE slug = ?`, slug)
		return err
	}
	if before == nil {
		before = &shelf{}
	}
	own, err := json.Marshal(after.Own)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO podcast_shows (slug, version, own, guid, cover, created, changed, said, removed, numbers)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (slug) DO UPDATE SET version = excluded.version, own = excluded.own,
		cover = excluded.cover, changed = excluded.changed, said = excluded.said, removed = excluded.removed, numbers = excluded.numbers`,
		slug, after.Version, string(own), after.GUID, after.Cover, after.Created, after.Changed, after.said, after.Removed, after.numbers); err != nil {
		return err
	}
	for id := range before.records {
		if after.records[id] == nil {
			if _, err := tx.ExecContext(ctx, `DELETE FROM podcast_episodes WHERE show = ? AND id = ?`, slug, id); err != nil {
				return err
			}
		}
	}
	for id, r := range after.records {
		if before.records[id] != r {
			if err := saveEpisode(ctx, tx, r); err != nil {
				return err
			}
		}
	}
	for id := range before.gone {
		if _, still := after.gone[id]; !still {
			if _, err := tx.ExecContext(ctx, `DELETE FROM podcast_gone WHERE show = ? AND id = ?`, slug, id); err != nil {
				return err
			}
		}
	}
	for id, at := range after.gone {
		if before.gone[id] != at {
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO podcast_gone (show, id, at) VALUES (?, ?, ?)`, slug, id, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func saveEpisode(ctx context.Context, tx *sql.Tx, r *record) error {
	text, err := json.Marshal(words{r.GUID, r.Title, r.Summary, r.Artist, r.Creator, r.Chapters, r.Text, r.Listeners, r.Explicit, r.Cover, r.ProblemAR, r.Withheld})
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO podcast_episodes
		(show, id, number, state, was, lost, problem, kind, key, born, began, opens, published, changed, removed, duration_ms, bytes, file, pinned, downloads, tries, again, words)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Show, r.ID, r.Number, r.State, r.was, r.lost, r.Problem, r.Source.Kind, r.Source.Key, r.born, r.Began, r.opens,
		r.Published, r.Changed, r.Removed, r.DurationMS, r.Bytes, r.File, r.Pinned, r.Downloads, r.tries, r.again, string(text))
	return err
}
