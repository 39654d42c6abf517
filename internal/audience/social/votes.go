package social

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/rank"
	"github.com/athir-radio/athir/internal/kit/turns"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// mostOfAddress is how many listeners of one address may vote on one post, as on the
	// queue: real neighbours seldom are more, and made-up devices get no more. A wider
	// network has wideFactor times as many.
	mostOfAddress = 16
	// knownAfter is how long ago the station must have met a listener for the vote to be
	// that of somebody it knows: see rank.Vote.
	knownAfter = 24 * time.Hour
	// votersOfAddress bounds the listeners of one address that the station remembers. Of a
	// wider network it remembers wideFactor times as many: with all addresses of one, somebody
	// could fill the memory, and nobody else would ever be known.
	votersOfAddress = 64
	// votersKept is how long it remembers one who does nothing, mostVoters how many.
	votersKept = 90 * 24 * time.Hour
	mostVoters = 200_000
)

// ballot is one listener's vote on one post.
type ballot struct {
	post  int64
	delta int
	by    person
	votes Votes // of the post, once this one is counted
}

// polled is a post that votes have come to.
type polled struct {
	candidate bool
	before    float64 // its support
	votes     Votes   // once they are counted
}

// Vote sets a listener's vote on an approved post, or on a candidate: 1 is for it, -1 against, 0 takes the vote
// back. When it returns nil the vote is on disk. Errors: station.ErrInvalid, ErrNotFound,
// ErrConflict where the address has no vote left on the post.
func (s *Social) Vote(ctx context.Context, from Client, id int64, delta int) (Votes, error) {
	if delta < -1 || delta > 1 {
		return Votes{}, invalid("delta", "must be 1, -1 or 0")
	}
	b := &ballot{post: id, delta: delta, by: s.person(from)}
	err := s.votes.Share(b, func(batch []*turns.Waiter[*ballot]) error { return s.cast(ctx, batch) })
	if err != nil {
		return Votes{}, err
	}
	return b.votes, nil
}

// patience bounds one commit, for which many callers may wait.
const patience = 10 * time.Second

// cast saves a batch of votes in one transaction.
func (s *Social) cast(ctx context.Context, batch []*turns.Waiter[*ballot]) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	touched := map[int64]*polled{}
	err := s.opt.DB.Write(ctx, func(tx *sql.Tx) (err error) {
		for _, w := range batch {
			poll, refused, err := s.put(ctx, tx, w.Want)
			if err != nil {
				return err
			}
			if w.Err = refused; refused == nil && touched[w.Want.post] == nil {
				touched[w.Want.post] = poll
			}
		}
		for id, poll := range touched {
			if poll.votes, err = tally(ctx, tx, id); err != nil {
				return err
			}
		}
		for _, w := range batch {
			if poll := touched[w.Want.post]; poll != nil {
				w.Want.votes = poll.votes
			}
		}
		return nil
	})
	if err != nil {
		s.log.Error("votes on posts not saved", "votes", len(batch), "err", err)
		return fmt.Errorf("save votes: %w", err)
	}
	for id, poll := range touched {
		if poll.candidate {
			s.counted(ctx, id, poll.before, poll.votes.Support)
		} else {
			s.refresh(ctx, id)
		}
	}
	return nil
}

// put replaces a listener's former vote. refused is this listener's error alone.
func (s *Social) put(ctx context.Context, tx *sql.Tx, b *ballot) (poll *polled, refused, err error) {
	if poll, err = s.poll(ctx, tx, b.post); err != nil {
		return nil, err, nil //nolint:nilerr // the voter's
	}
	if b.delta == 0 {
		_, err := tx.ExecContext(ctx, `DELETE FROM social_votes WHERE post = ? AND voter = ?`, b.post, b.by.id)
		return poll, nil, err
	}
	if full, err := crowded(ctx, tx, "social_votes", b.post, b.by); err != nil || full {
		return nil, fmt.Errorf("too many listeners at your address have already voted on this post: %w", station.ErrConflict), err
	}
	known, err := s.meet(ctx, tx, b.by)
	if err != nil {
		return nil, nil, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO social_votes (post, voter, delta, at, address, network, known) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (post, voter) DO UPDATE SET delta = excluded.delta, at = excluded.at, known = max(known, excluded.known)`,
		b.post, b.by.id, b.delta, s.millis(), b.by.address, b.by.wider, known)
	return poll, nil, err
}

// poll refuses votes on a post that listeners do not see.
func (s *Social) poll(ctx context.Context, q querier, id int64) (*polled, error) {
	var out polled
	var approved bool
	row := q.QueryRowContext(ctx, `SELECT status = 'approved', support, `+isCandidate+` FROM social_posts WHERE id = ?`, id) //nolint:gosec // a constant
	err := row.Scan(&approved, &out.before, &out.candidate)
	out.candidate = out.candidate && s.opt.ApproveVotes > 0
	if errors.Is(err, sql.ErrNoRows) || err == nil && !approved && !out.candidate {
		err = fmt.Errorf("post %d: %w", id, station.ErrNotFound)
	}
	return &out, err
}

// crowded reports whether an address, or its network, has no place left for one more listener
// in a table of what listeners said of posts. Who is in it can always say something else.
func crowded(ctx context.Context, q querier, table string, id int64, p person) (bool, error) {
	if p.address == nil {
		return false, nil
	}
	var own bool
	var address, wider int
	err := q.QueryRowContext(ctx, fmt.Sprintf(`SELECT EXISTS (SELECT 1 FROM %[1]s WHERE post = ?1 AND voter = ?2),
		(SELECT count(DISTINCT voter) FROM %[1]s WHERE post = ?1 AND address = ?3),
		(SELECT count(DISTINCT voter) FROM %[1]s WHERE post = ?1 AND network = ?4)`, table), id, p.id, p.address, p.wider).Scan(&own, &address, &wider)
	return !own && (address >= mostOfAddress || wider >= wideFactor*mostOfAddress), err
}

// meet remembers a listener, and reports whether the station knows the listener already. An
// address, or a network, that has met as many as it may gets no more known ones.
func (s *Social) meet(ctx context.Context, tx *sql.Tx, p person) (known bool, err error) {
	now := s.millis()
	var since int64
	err = tx.QueryRowContext(ctx, `SELECT since FROM social_voters WHERE voter = ?`, p.id).Scan(&since)
	if err == nil {
		_, err = tx.ExecContext(ctx, `UPDATE social_voters SET seen = ? WHERE voter = ?`, now, p.id)
		return now-since >= knownAfter.Milliseconds(), err
	}
	if err != sql.ErrNoRows { //nolint:errorlint // QueryRow answers it bare
		return false, err
	}
	if s.voters.Load() >= mostVoters {
		return false, nil
	}
	added, err := changedRow(ctx, tx, `INSERT INTO social_voters (voter, address, network, since, seen) SELECT ?1, ?2, ?3, ?4, ?4
		WHERE (SELECT count(*) FROM social_voters WHERE address = ?2) < ?5 AND (SELECT count(*) FROM social_voters WHERE network = ?3) < ?6`,
		p.id, p.address, p.wider, now, votersOfAddress, wideFactor*votersOfAddress)
	if added {
		s.voters.Add(1)
	}
	return false, err
}

// countVoters counts the remembered listeners. One that a transaction which failed had met is
// counted until then.
func (s *Social) countVoters(ctx context.Context) error {
	var n int64
	if err := s.opt.DB.Read().QueryRowContext(ctx, `SELECT count(*) FROM social_voters`).Scan(&n); err != nil {
		return fmt.Errorf("count the listeners who are remembered: %w", err)
	}
	s.voters.Store(n)
	return nil
}

// tally weighs a post's votes anew.
func tally(ctx context.Context, tx *sql.Tx, id int64) (v Votes, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT delta, coalesce(address, x''), coalesce(network, x''), known FROM social_votes WHERE post = ?`, id)
	if err != nil {
		return v, err
	}
	votes, err := ballots(rows)
	if err != nil {
		return v, err
	}
	for _, b := range votes {
		if b.Delta > 0 {
			v.Up++
		} else {
			v.Down++
		}
	}
	v.WeighedUp, v.WeighedDown = rank.Tally(votes)
	v.Support = rank.Support(votes)
	_, err = tx.ExecContext(ctx, `UPDATE social_posts SET up = ?, down = ?, weighed_up = ?, weighed_down = ?, support = ? WHERE id = ?`,
		v.Up, v.Down, v.WeighedUp, v.WeighedDown, v.Support, id)
	return v, err
}

func ballots(rows *sql.Rows) (out []rank.Vote, err error) {
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var v rank.Vote
		var address, network []byte
		if err := rows.Scan(&v.Delta, &address, &network, &v.Known); err != nil {
			return nil, err
		}
		v.Address, v.Network = string(address), string(network)
		out = append(out, v)
	}
	return out, rows.Err()
}

// late weighs the votes of the last day, for each post that has any, among those that a
// condition selects.
func (s *Social) late(ctx context.Context, condition string, args ...any) (map[int64]struct{ Up, Down float64 }, error) {
	rows, err := s.opt.DB.Read().QueryContext(ctx, `SELECT post, delta, coalesce(address, x''), coalesce(network, x''), known FROM social_votes
		WHERE `+condition+` AND at > ?`, append(args, s.millis()-rank.RisingWindow.Milliseconds())...) //nolint:gosec // conditions are constants of this package
	if err != nil {
		return nil, fmt.Errorf("read late votes: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	votes := map[int64][]rank.Vote{}
	for rows.Next() {
		var id int64
		var v rank.Vote
		var address, network []byte
		if err := rows.Scan(&id, &v.Delta, &address, &network, &v.Known); err != nil {
			return nil, fmt.Errorf("read late votes: %w", err)
		}
		v.Address, v.Network = string(address), string(network)
		votes[id] = append(votes[id], v)
	}
	out := map[int64]struct{ Up, Down float64 }{}
	for id, all := range votes {
		up, down := rank.Tally(all)
		out[id] = struct{ Up, Down float64 }{up, down}
	}
	return out, rows.Err()
}

// Mine is what one listener has said of a post.
type Mine struct {
	Vote    int      `json:"vote" doc:"1, -1, or 0 for none"`
	Reacted []string `json:"reacted" doc:"Kinds of reaction"`
}

// MineOf returns what a listener has said of posts, by id; there is an entry for each.
func (s *Social) MineOf(ctx context.Context, from Client, ids []int64) (map[int64]Mine, error) {
	out := make(map[int64]Mine, len(ids))
	for _, id := range ids {
		out[id] = Mine{Reacted: []string{}}
	}
	rows, err := s.opt.DB.Read().QueryContext(ctx, `SELECT post, delta, '' FROM social_votes WHERE voter = ?1 AND post IN (SELECT value FROM json_each(?2))
		UNION ALL SELECT post, 0, kind FROM social_reactions WHERE voter = ?1 AND post IN (SELECT value FROM json_each(?2))`, s.person(from).id, listed(ids))
	if err != nil {
		return nil, fmt.Errorf("read a listener's votes: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var id int64
		var delta int
		var kind string
		if err := rows.Scan(&id, &delta, &kind); err != nil {
			return nil, fmt.Errorf("read a listener's votes: %w", err)
		}
		m := out[id]
		if kind != "" {
			m.Reacted = append(m.Reacted, kind)
		} else {
			m.Vote = delta
		}
		out[id] = m
	}
	return out, rows.Err()
}
