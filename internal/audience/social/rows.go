package social

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/station"
)

// columns are those of a post without its finding, which is large.
const columns = `id, type, title, artist, description, tags, created_by, submitter, device, rights, status, reason, refusal, appeal,
	created, decided, approved, tries, next_try, source_kind, source_name, source_size, file, bytes, duration, levels, cover, alike,
	up, down, weighed_up, weighed_down, reports, folded, support, ` + isCandidate

// scanner is one row.
type scanner interface{ Scan(dest ...any) error }

// scan reads columns, and more behind them.
func scan(row scanner, more ...any) (p Post, err error) {
	var tags, why, levels, alike string
	var submitter []byte
	var reason refusal.Code
	var millis int64
	err = row.Scan(append([]any{
		&p.ID, &p.Type, &p.Title, &p.Artist, &p.Description, &tags, &p.CreatedBy, &submitter, &p.Device, &p.Rights, &p.Status, &reason, &why, &p.Appeal,
		&p.Created, &p.Decided, &p.Approved, &p.Tries, &p.NextTry, &p.Source.Kind, &p.Source.Name, &p.Source.Bytes,
		&p.File, &p.Bytes, &millis, &levels, &p.Cover, &alike,
		&p.Votes.Up, &p.Votes.Down, &p.Votes.WeighedUp, &p.Votes.WeighedDown, &p.Reports, &p.folded,
		&p.Votes.Support, &p.candidate,
	}, more...)...)
	if err != nil {
		return Post{}, err
	}
	p.Submitter, p.Duration = hex.EncodeToString(submitter), time.Duration(millis)*time.Millisecond
	if reason != "" {
		p.Reason = &refusal.Refusal{}
		err = json.Unmarshal([]byte(why), p.Reason)
	}
	return p, errors.Join(err, json.Unmarshal([]byte(tags), &p.Tags), json.Unmarshal([]byte(levels), &p.Levels), json.Unmarshal([]byte(alike), &p.Alike))
}

// Get returns a post with all that is known of it. Errors: station.ErrNotFound.
func (s *Social) Get(ctx context.Context, id int64) (Post, error) {
	var finding []byte
	p, err := s.readWith(ctx, id, `, finding`, &finding)
	if err != nil {
		return Post{}, err
	}
	if err := json.Unmarshal(finding, &p.Finding); err != nil {
		return Post{}, fmt.Errorf("read post %d: %w", id, err)
	}
	return p, nil
}

// Brief is Get without what was found in the sound, which is large; an approved post costs no
// query. Errors: station.ErrNotFound.
func (s *Social) Brief(ctx context.Context, id int64) (Post, error) {
	if p := s.Approved(id); p != nil {
		return *p, nil
	}
	return s.read(ctx, id)
}

// read reads a post without what was found in the sound.
func (s *Social) read(ctx context.Context, id int64) (Post, error) { return s.readWith(ctx, id, ``) }

// readWith is read with more columns of the row.
func (s *Social) readWith(ctx context.Context, id int64, names string, more ...any) (Post, error) {
	db := s.opt.DB.Read()
	p, err := scan(db.QueryRowContext(ctx, `SELECT `+columns+names+` FROM social_posts WHERE id = ?`, id), more...) //nolint:gosec // names are constants
	if errors.Is(err, sql.ErrNoRows) {
		return Post{}, fmt.Errorf("post %d: %w", id, station.ErrNotFound)
	}
	if err == nil {
		p.Reactions, p.reacted, err = reactionsOf(ctx, db, id)
	}
	if err != nil {
		return Post{}, fmt.Errorf("read post %d: %w", id, err)
	}
	return p, nil
}

// all reads posts; condition follows WHERE.
func all(ctx context.Context, q querier, condition string, args ...any) (out []Post, err error) {
	rows, err := q.QueryContext(ctx, `SELECT `+columns+` FROM social_posts WHERE `+condition, args...) //nolint:gosec // conditions are constants of this package
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		p, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// Entry is one line of a post's history.
type Entry struct {
	At     int64  `json:"at" doc:"Epoch milliseconds"`
	Who    string `json:"who" doc:"machine, submitter, listeners, or a moderator with the address"`
	Action string `json:"action"`
	Detail string `json:"detail"`
}

// History returns what was done to a post, oldest first.
func (s *Social) History(ctx context.Context, id int64) ([]Entry, error) {
	rows, err := s.opt.DB.Read().QueryContext(ctx, `SELECT at, who, action, detail FROM social_history WHERE post = ? ORDER BY id LIMIT 200`, id)
	if err != nil {
		return nil, fmt.Errorf("read the history of post %d: %w", id, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	out := []Entry{}
	for rows.Next() {
		var e Entry
		if err := rows.Scan(&e.At, &e.Who, &e.Action, &e.Detail); err != nil {
			return nil, fmt.Errorf("read the history of post %d: %w", id, err)
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

// Submitter is what is known of one submitter.
type Submitter struct {
	ID       string `json:"id" doc:"Opaque"`
	Posts    int    `json:"posts"`
	Approved int    `json:"approved"`
	Rejected int    `json:"rejected" doc:"By a moderator"`
	Trusted  bool   `json:"trusted"`
	Blocked  bool   `json:"blocked"`
}

// SubmitterOf returns what is known of a post's submitter.
func (s *Social) SubmitterOf(ctx context.Context, p *Post) (Submitter, error) {
	id, err := hex.DecodeString(p.Submitter)
	if err != nil {
		return Submitter{}, err
	}
	return s.submitter(ctx, s.opt.DB.Read(), id)
}

func (s *Social) submitter(ctx context.Context, q querier, id []byte) (Submitter, error) {
	out := Submitter{ID: hex.EncodeToString(id)}
	err := q.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(status = 'approved'), 0),
			coalesce(sum(status = 'rejected' AND EXISTS (SELECT 1 FROM social_history h WHERE h.post = p.id AND h.action = 'reject')), 0),
			coalesce((SELECT trusted FROM social_submitters WHERE id = ?1), 0), coalesce((SELECT blocked FROM social_submitters WHERE id = ?1), 0)
		FROM social_posts p WHERE submitter = ?1`, id).Scan(&out.Posts, &out.Approved, &out.Rejected, &out.Trusted, &out.Blocked)
	if err != nil {
		return out, fmt.Errorf("read a submitter: %w", err)
	}
	return out, nil
}

// listed is a list as a statement takes it: IN (SELECT value FROM json_each(?)).
func listed[T int64 | string](of []T) string {
	if of == nil {
		of = []T{} // null would be a list of one
	}
	text, _ := json.Marshal(of) // never fails
	return string(text)
}

// changedRow runs a statement, and reports whether it has changed its row.
func changedRow(ctx context.Context, tx *sql.Tx, query string, args ...any) (bool, error) {
	res, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// Found reads, into posts of a list, what of their findings a list shows moderators: the
// notes, and where the loudest part begins. All of a finding is large.
func (s *Social) Found(ctx context.Context, posts []Post) error {
	at := map[int64]*Post{}
	ids := make([]int64, len(posts))
	for i := range posts {
		ids[i], at[posts[i].ID] = posts[i].ID, &posts[i]
	}
	rows, err := s.opt.DB.Read().QueryContext(ctx, `SELECT id, coalesce(finding -> '$.Notes', 'null'), coalesce(finding ->> '$.LoudestAt', 0)
		FROM social_posts WHERE id IN (SELECT value FROM json_each(?))`, listed(ids))
	if err != nil {
		return fmt.Errorf("read findings: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var id int64
		var notes string
		var loudest time.Duration
		if err := rows.Scan(&id, &notes, &loudest); err != nil {
			return fmt.Errorf("read findings: %w", err)
		}
		at[id].Finding.LoudestAt = loudest
		if err := json.Unmarshal([]byte(notes), &at[id].Finding.Notes); err != nil {
			return fmt.Errorf("read findings: %w", err)
		}
	}
	return rows.Err()
}
