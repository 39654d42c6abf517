package feedback

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/turns"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// vibeWindow is how long a vote on the vibe counts.
	vibeWindow = 30 * time.Minute
	// vibesAtOnce and vibeEvery limit one address.
	vibesAtOnce = 30
	vibeEvery   = 5 * time.Second
	// mostVoters bounds the voters in the window.
	mostVoters = 100_000
)

// VibeNames returns the vibes that listeners can vote for.
func VibeNames() []string {
	return []string{"chill", "romantic", "tarab", "party", "energy", "focus"}
}

// Vibes counts the votes on the vibe. A client, which is an address and a device,
// has one vote, which counts for half an hour and may be changed.
type Vibes struct {
	opt    Options
	given  *answers
	limits *client.Limits
	salt   []byte
	pace   pace

	turns turns.Turns[*vibe] // whoever has the turn writes
	stale bool               // a commit failed: what is on disk must be read again

	mu     sync.Mutex
	window *window
	voted  []string // vibes voted for since listeners were told
}

// VibeIn is what a client sends.
type VibeIn struct {
	Vibe string
	ID   string // of the write; may be empty
}

// Vibed is the answer to it.
type Vibed struct {
	Vibe   string         `json:"vibe" enum:"chill,romantic,tarab,party,energy,focus"`
	Counts map[string]int `json:"counts" doc:"Votes of the last 30 minutes for each vibe"`
}

// vibe is one caller's request, and its answer once committed.
type vibe struct {
	name   string
	voter  voter
	write  write
	cast   bool // a new vote, not a repeated id
	answer Vibed
}

func openVibes(ctx context.Context, opt Options, given *answers, salt []byte) (*Vibes, error) {
	v := &Vibes{
		opt: opt, given: given, salt: salt, pace: newPace(),
		limits: client.NewLimits(vibesAtOnce, vibeEvery, opt.Now),
	}
	kept, err := readVibes(ctx, opt.DB.Read())
	if err != nil {
		return nil, fmt.Errorf("read vibe votes: %w", err)
	}
	v.window = newWindow(vibeWindow, kept)
	return v, nil
}

// Counts returns the votes of the last half hour for every vibe, zeros included.
func (v *Vibes) Counts() map[string]int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.tally()
}

// tally counts; the caller holds mu.
func (v *Vibes) tally() map[string]int {
	v.window.expire(v.opt.Now().UnixMilli())
	out := map[string]int{}
	for _, name := range VibeNames() {
		out[name] = v.window.counts[name]
	}
	return out
}

// Mine returns a client's current vote; empty when it has none.
func (v *Vibes) Mine(from Client) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.window.expire(v.opt.Now().UnixMilli())
	return v.window.votes[v.voter(from)].vibe
}

func (v *Vibes) voter(from Client) voter {
	return voterOf(v.salt, "vibe\x00"+from.Address+"\x00"+from.Device)
}

// Vote replaces a client's vote. When it returns nil the vote is on disk.
// Errors: station.ErrInvalid, ErrConflict (the id was used for another vibe),
// ErrUnavailable, *client.LimitError.
func (v *Vibes) Vote(ctx context.Context, from Client, in VibeIn) (Vibed, error) {
	if !slices.Contains(VibeNames(), in.Vibe) {
		return Vibed{}, fmt.Errorf("vibe: must be one of %s: %w", strings.Join(VibeNames(), ", "), station.ErrInvalid)
	}
	if err := checkID(in.ID); err != nil {
		return Vibed{}, err
	}
	if err := v.limits.Take(from.Address); err != nil {
		return Vibed{}, err
	}
	mine := &vibe{name: in.Vibe, voter: v.voter(from), write: write{from.Device, in.ID}}
	err := v.turns.Share(mine, func(batch []*turns.Waiter[*vibe]) error { return v.commit(ctx, batch) })
	if err != nil {
		return Vibed{}, err
	}
	return mine.answer, nil
}

// commit saves a batch of votes in one transaction. The caller has the turn.
func (v *Vibes) commit(ctx context.Context, batch []*turns.Waiter[*vibe]) error {
	now := v.opt.Now().UnixMilli()
	var desk *desk
	err := v.opt.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if v.stale {
			kept, err := readVibes(ctx, tx)
			if err != nil {
				return err
			}
			v.set(newWindow(vibeWindow, kept))
		}
		var err error
		if desk, err = v.given.on(ctx, tx, "vibe"); err != nil {
			return err
		}
		poll := v.before(batch)
		for _, w := range batch {
			if w.Err, err = poll.take(desk, w.Want); err != nil {
				return err
			}
		}
		return keepVibes(ctx, tx, batch, now)
	})
	if err != nil {
		v.stale = true
		v.opt.Log.Error("vibe votes not saved", "votes", len(batch), "err", err)
		return fmt.Errorf("save vibe votes: %w", err)
	}
	desk.committed()
	v.stale = false
	v.apply(batch, now)
	return nil
}

func (v *Vibes) set(w *window) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.window = w
}

// poll is the state of the vote while a batch is counted.
type poll struct {
	counts map[string]int
	voters int
	last   map[voter]string // current vibe of each voter of the batch that has one
}

// before returns the state of the vote before a batch.
func (v *Vibes) before(batch []*turns.Waiter[*vibe]) *poll {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := &poll{counts: v.tally(), voters: len(v.window.votes), last: map[voter]string{}}
	for _, w := range batch {
		if former, voted := v.window.votes[w.Want.voter]; voted {
			p.last[w.Want.voter] = former.vibe
		}
	}
	return p
}

// take counts one vote, unless its id was counted already. refused is this
// caller's error alone, err ends the transaction.
func (p *poll) take(desk *desk, c *vibe) (refused, err error) {
	known, err := desk.find(c.write, &c.answer)
	switch {
	case err != nil:
		return nil, err
	case known && c.answer.Vibe != c.name:
		return errReused, nil
	case known:
		return nil, nil
	}
	former, voted := p.last[c.voter]
	full, err := desk.full(c.write)
	if err != nil {
		return nil, err
	}
	if full || !voted && p.voters >= mostVoters {
		return fmt.Errorf("too many votes, try again later: %w", station.ErrUnavailable), nil
	}
	if voted {
		p.counts[former]--
	} else {
		p.voters++
	}
	p.counts[c.name]++
	p.last[c.voter], c.cast = c.name, true
	c.answer = Vibed{c.name, maps.Clone(p.counts)}
	return nil, desk.put(c.write, c.answer)
}

// apply adds saved votes to the window.
func (v *Vibes) apply(batch []*turns.Waiter[*vibe], now int64) {
	v.mu.Lock()
	for _, w := range batch {
		if c := w.Want; c.cast {
			v.window.cast(c.voter, c.name, now)
			if !slices.Contains(v.voted, c.name) {
				v.voted = append(v.voted, c.name)
			}
		}
	}
	v.mu.Unlock()
	v.pace.note()
}

func keepVibes(ctx context.Context, tx *sql.Tx, batch []*turns.Waiter[*vibe], now int64) error {
	for _, w := range batch {
		if c := w.Want; c.cast {
			if _, err := tx.ExecContext(ctx, `INSERT INTO vibe_votes (voter, vibe, at) VALUES (?, ?, ?)
				ON CONFLICT (voter) DO UPDATE SET vibe = excluded.vibe, at = excluded.at`, c.voter[:], c.name, now); err != nil {
				return err
			}
		}
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM vibe_votes WHERE at <= ? OR at > ?`, now-vibeWindow.Milliseconds(), now+vibeWindow.Milliseconds())
	return err
}

func readVibes(ctx context.Context, db queryer) (map[voter]cast, error) {
	rows, err := db.QueryContext(ctx, `SELECT voter, vibe, at FROM vibe_votes`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	out := map[voter]cast{}
	for rows.Next() {
		var id []byte
		var c cast
		if err := rows.Scan(&id, &c.vibe, &c.at); err != nil {
			return nil, err
		}
		var v voter
		copy(v[:], id)
		out[v] = c
	}
	return out, rows.Err()
}

// VibeTold is the payload of the event "interaction".
type VibeTold struct {
	Type   string         `json:"type" enum:"vibe_vote"`
	Vibe   string         `json:"vibe" enum:"chill,romantic,tarab,party,energy,focus" doc:"What somebody voted for"`
	Counts map[string]int `json:"counts" doc:"Votes of the last 30 minutes for each vibe"`
}

// run sends votes to listeners, many at once as one event for each vibe.
func (v *Vibes) run(ctx context.Context) {
	v.pace.run(ctx, func() {
		v.mu.Lock()
		voted, counts := v.voted, v.tally()
		v.voted = nil
		v.mu.Unlock()
		for _, name := range voted {
			v.opt.Tell("interaction", VibeTold{"vibe_vote", name, counts})
		}
	})
}
