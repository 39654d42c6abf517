// Package feedback takes the listeners' votes on what is about to play. One
// address has one vote for or against each track of the queue, and may change
// it until the track airs; its next turn starts from zero.
//
// It decides nothing by them: what plays is the planner's choice. An address is
// no person, so it is no election either: see kit/client.
package feedback

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed schema/*.sql
var schema embed.FS

// Airing is one time that a track was heard.
type Airing struct {
	ID   string // of this airing, the same after a restart
	Path string
}

// Air is what the votes need to know of the station at one moment.
type Air struct {
	Heard []Airing // newest first, what is on air included
	Queue []string // paths of what is to come
}

// Options of Votes. All are required.
type Options struct {
	Log *slog.Logger
	DB  *store.DB
	Air func() Air
	Now func() time.Time
}

const (
	// votesAtOnce and voteEvery limit one address.
	votesAtOnce = 30
	voteEvery   = 2 * time.Second
	// kept is how long a vote waits for its track to air.
	kept = 24 * time.Hour
	// mostVotes bounds the table against voters without number.
	mostVotes = 100_000
	// patience bounds one commit, which many callers may be waiting for.
	patience = 10 * time.Second
)

// Votes are the votes on the queue. Make them with Open.
type Votes struct {
	opt    Options
	limits *client.Limits
	salt   []byte
	counts atomic.Pointer[map[string]int] // never changed once published

	mu      sync.Mutex
	waiting []*vote

	turn  sync.Mutex // held by the one that commits; guards the rest
	heard string     // newest airing whose votes were cleared
	kept  string     // the same, on disk; older while there are no votes
	rows  int
	stale bool // a commit failed: what is on disk must be read again
}

// vote is one that waits for its commit.
type vote struct {
	path  string
	voter []byte
	delta int
	done  bool
	err   error
}

// Open reads the votes that were kept and clears those of tracks that have
// aired since.
func Open(ctx context.Context, opt Options) (*Votes, error) {
	sub, err := fs.Sub(schema, "schema")
	if err != nil {
		return nil, err
	}
	if err := opt.DB.Migrate(ctx, "feedback", sub); err != nil {
		return nil, fmt.Errorf("tables of votes: %w", err)
	}
	v := &Votes{opt: opt, limits: client.NewLimits(votesAtOnce, voteEvery, opt.Now), stale: true}
	v.counts.Store(&map[string]int{})
	if err := opt.DB.Read().QueryRowContext(ctx, `SELECT salt, heard FROM votes_state`).Scan(&v.salt, &v.kept); err != nil {
		return nil, fmt.Errorf("read votes: %w", err)
	}
	v.heard = v.kept
	if err := v.Settle(ctx); err != nil {
		return nil, err
	}
	return v, nil
}

// Counts returns the sum of votes for each path; one of nil, or votes that
// cancel out, is absent. The map is shared and never changed.
func (v *Votes) Counts() map[string]int { return *v.counts.Load() }

// Cast sets one client's vote for a track of the queue: 1 is for it, -1
// against, 0 takes the vote back. When it returns nil the vote is on disk.
// Errors: station.ErrNotFound for what is not in the queue, *client.LimitError,
// station.ErrUnavailable when nobody can vote any more.
func (v *Votes) Cast(ctx context.Context, from, path string, delta int) error {
	if delta < -1 || delta > 1 {
		return fmt.Errorf("delta: must be 1, -1 or 0: %w", station.ErrInvalid)
	}
	if err := v.limits.Take(from); err != nil {
		return err
	}
	mine := &vote{path: path, voter: v.voter(from), delta: delta}
	v.mu.Lock()
	v.waiting = append(v.waiting, mine)
	v.mu.Unlock()

	v.turn.Lock()
	defer v.turn.Unlock()
	if !mine.done { // else whoever had the turn before took it along
		v.mu.Lock()
		batch := v.waiting
		v.waiting = nil
		v.mu.Unlock()
		_ = v.commit(ctx, batch) // every vote of the batch holds its error
	}
	return mine.err
}

// Settle clears the votes of what was heard since the last time. It is called
// after each track marker, so that a track's next turn starts from zero.
func (v *Votes) Settle(ctx context.Context) error {
	v.turn.Lock()
	defer v.turn.Unlock()
	return v.commit(ctx, nil)
}

// voter hides an address: the table alone does not tell who voted for what.
func (v *Votes) voter(from string) []byte {
	h := hmac.New(sha256.New, v.salt)
	h.Write([]byte(from))
	return h.Sum(nil)[:16]
}
