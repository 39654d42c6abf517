package social

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/audience/social/rank"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/station"
)

// React sets or takes back a listener's reaction of one kind to an approved post. Errors:
// station.ErrInvalid, ErrNotFound, ErrConflict where too many of the address have reacted.
func (s *Social) React(ctx context.Context, from Client, id int64, kind string, on bool) (map[string]int, error) {
	if !slices.Contains(Kinds(), kind) {
		return nil, invalid("kind", "must be one of "+strings.Join(Kinds(), ", "))
	}
	p := s.person(from)
	var out map[string]int
	err := s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		poll, err := s.poll(ctx, tx, id)
		if err == nil && poll.candidate { // a candidate is voted on, no more
			err = fmt.Errorf("post %d: %w", id, station.ErrNotFound)
		}
		if err == nil && on {
			err = s.addReaction(ctx, tx, id, kind, p)
		} else if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM social_reactions WHERE post = ? AND voter = ? AND kind = ?`, id, p.id, kind)
		}
		if err != nil {
			return err
		}
		out, _, err = reactionsOf(ctx, tx, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("react to a post: %w", err)
	}
	s.refresh(ctx, id)
	return out, nil
}

func (s *Social) addReaction(ctx context.Context, tx *sql.Tx, id int64, kind string, p person) error {
	full, err := crowded(ctx, tx, "social_reactions", id, p)
	if err != nil {
		return err
	}
	if full {
		return fmt.Errorf("too many listeners at your address have already reacted to this post: %w", station.ErrConflict)
	}
	known, err := s.meet(ctx, tx, p)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT OR IGNORE INTO social_reactions (post, voter, kind, address, network, known) VALUES (?, ?, ?, ?, ?, ?)`,
		id, p.id, kind, p.address, p.wider, known)
	return err
}

// reactors are the listeners who have reacted to one post, by kind.
type reactors map[string][]rank.Vote

func (r reactors) add(rows *sql.Rows, more ...any) error {
	var kind string
	var address, network []byte
	v := rank.Vote{Delta: 1}
	if err := rows.Scan(append(more, &kind, &address, &network, &v.Known)...); err != nil {
		return err
	}
	v.Address, v.Network = string(address), string(network)
	r[kind] = append(r[kind], v)
	return nil
}

// weigh returns how many they are, and what they weigh.
func (r reactors) weigh() (count map[string]int, weighed rank.Reactions) {
	count = map[string]int{}
	for kind, all := range r {
		count[kind] = len(all)
		if k, ok := rank.KindOf(kind); ok {
			weighed[k], _ = rank.Tally(all)
		}
	}
	return count, weighed
}

const reactorColumns = `kind, coalesce(address, x''), coalesce(network, x''), known`

func reactionsOf(ctx context.Context, q querier, id int64) (map[string]int, rank.Reactions, error) {
	rows, err := q.QueryContext(ctx, `SELECT `+reactorColumns+` FROM social_reactions WHERE post = ?`, id)
	if err != nil {
		return nil, rank.Reactions{}, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	all := reactors{}
	for rows.Next() {
		if err := all.add(rows); err != nil {
			return nil, rank.Reactions{}, err
		}
	}
	count, weighed := all.weigh()
	return count, weighed, rows.Err()
}

// readReactions reads those to posts, each of which has none yet.
func (s *Social) readReactions(ctx context.Context, posts []*Post) error {
	if len(posts) == 0 {
		return nil
	}
	ids := make([]int64, len(posts))
	for i, p := range posts {
		ids[i] = p.ID
	}
	rows, err := s.opt.DB.Read().QueryContext(ctx, `SELECT post, `+reactorColumns+` FROM social_reactions WHERE post IN (SELECT value FROM json_each(?))`, listed(ids))
	if err != nil {
		return fmt.Errorf("read reactions to posts: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	of := map[int64]reactors{}
	for rows.Next() {
		var id int64
		one := reactors{}
		if err := one.add(rows, &id); err != nil {
			return fmt.Errorf("read reactions to posts: %w", err)
		}
		if of[id] == nil {
			of[id] = reactors{}
		}
		for kind, votes := range one {
			of[id][kind] = append(of[id][kind], votes...)
		}
	}
	for _, p := range posts {
		if r := of[p.ID]; r != nil {
			p.Reactions, p.reacted = r.weigh()
		}
	}
	return rows.Err()
}

// Whys are the reasons that a listener may report a post for.
func Whys() []string { return []string{"rights", "offensive", "spam", "quality", "other"} }

// Report is one listener's report of a post.
type Report struct {
	At   int64  `json:"at" doc:"Epoch milliseconds"`
	Why  string `json:"why"`
	Text string `json:"text"`
}

// Report takes a listener's report of an approved post, or of a candidate. Reports by enough
// listeners, of different networks, pull the post back into review; those of a network whose reports a
// moderator has judged already do not count again. Errors: station.ErrInvalid, ErrNotFound,
// ErrConflict where too many of the address have reported.
func (s *Social) Report(ctx context.Context, from Client, id int64, why, text string) error {
	if !slices.Contains(Whys(), why) {
		return invalid("why", "must be one of "+strings.Join(Whys(), ", "))
	}
	text, err := note("text", text)
	if err != nil {
		return err
	}
	p := s.person(from)
	pulled := change{id: id, op: OpReport, who: "listeners", reason: refusal.New(refusal.Reported)}
	var before standing
	var after Status // empty: the post stays where it is
	err = s.opt.DB.Write(ctx, func(tx *sql.Tx) (err error) {
		if _, err := s.poll(ctx, tx, id); err != nil {
			return err
		}
		if err := addReport(ctx, tx, id, p, Report{At: s.millis(), Why: why, Text: text}); err != nil {
			return err
		}
		// Devices are made up at will, and so are addresses within a network.
		var reports int
		if err := tx.QueryRowContext(ctx, `SELECT count(DISTINCT coalesce(network, address, voter)) FROM social_reports AS r WHERE post = ?1 AND open = 1
			AND NOT EXISTS (SELECT 1 FROM social_reports WHERE post = ?1 AND open = 0 AND network = r.network)`, id).Scan(&reports); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE social_posts SET reports = ? WHERE id = ?`, reports, id); err != nil {
			return err
		}
		if s.opt.Reports > 0 && reports >= s.opt.Reports {
			before, after, err = s.applyIn(ctx, tx, pulled)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("report a post: %w", err)
	}
	if after != "" {
		s.settled(ctx, pulled, before, after)
	}
	return nil
}

func addReport(ctx context.Context, tx *sql.Tx, id int64, p person, r Report) error {
	full, err := crowded(ctx, tx, "social_reports", id, p)
	if err != nil {
		return err
	}
	if full {
		return fmt.Errorf("too many listeners at your address have already reported this post: %w", station.ErrConflict)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO social_reports (post, voter, address, network, at, why, text, open) VALUES (?, ?, ?, ?, ?, ?, ?, 1)
		ON CONFLICT (post, voter) DO UPDATE SET why = excluded.why, text = excluded.text`, id, p.id, p.address, p.wider, r.At, r.Why, r.Text)
	return err
}

// ReportsOf returns the reports of a post, newest first.
func (s *Social) ReportsOf(ctx context.Context, id int64) ([]Report, error) {
	rows, err := s.opt.DB.Read().QueryContext(ctx, `SELECT at, why, text FROM social_reports WHERE post = ? ORDER BY at DESC LIMIT 100`, id)
	if err != nil {
		return nil, fmt.Errorf("read reports: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	out := []Report{}
	for rows.Next() {
		var r Report
		if err := rows.Scan(&r.At, &r.Why, &r.Text); err != nil {
			return nil, fmt.Errorf("read reports: %w", err)
		}
		out = append(out, r)
	}
	return out, rows.Err()
}
