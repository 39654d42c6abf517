package feedback

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/turns"
	"github.com/athir-radio/athir/internal/station"
)

// Airing is one play of a track.
type Airing struct {
	ID   string // of this airing, the same after a restart
	Path string
}

// Air is the part of the station's state that the votes need.
type Air struct {
	Heard []Airing // newest first, what is on air included
	Queue []string // paths of the tracks to come
}

const (
	// One device may vote this often; a client without a device counts by address.
	deviceVotes, deviceVotesEvery   = 30, 2 * time.Second
	addressVotes, addressVotesEvery = 120, 500 * time.Millisecond
	// mostOfAddress is how many devices of one address may vote on one track: real
	// neighbours seldom are more, and invented devices get no more. All addresses
	// of one client.Wider network together have wideFactor times as many.
	mostOfAddress = 16
	wideFactor    = 8
	// kept is how long a vote is stored while its track does not air.
	kept = 24 * time.Hour
	// mostVotes bounds the table.
	mostVotes = 100_000
)

// Votes counts the votes on the queue. A client, which is an address with or without
// a device, has one vote for or against each track of the queue and may change it
// until the track airs; the track's next turn starts from zero.
type Votes struct {
	opt    Options
	budget budget
	salt   []byte
	counts atomic.Pointer[map[string]int] // never changed once published
	pace   pace

	turns turns.Turns[*vote] // whoever has the turn may use the fields below

	heard string // ID of the newest airing whose votes were cleared
	kept  string // the same on disk; older while there are no votes
	rows  int
	stale bool // a commit failed: what is on disk must be read again
}

// vote is one caller's request.
type vote struct {
	path  string
	delta int
	by    ballot
}

// ballot identifies a voter, as the table stores it.
type ballot struct {
	voter   voter
	former  voter  // the address alone, under which older versions stored its vote
	address []byte // nil for this machine, which has no limit
	wider   []byte // nil without a wider network
}

// openVotes reads the stored votes and clears those of tracks that aired meanwhile.
func openVotes(ctx context.Context, opt Options, salt []byte) (*Votes, error) {
	v := &Votes{
		opt: opt, salt: salt, pace: newPace(), stale: true,
		budget: budget{client.NewLimits(deviceVotes, deviceVotesEvery, opt.Now), client.NewLimits(addressVotes, addressVotesEvery, opt.Now)},
	}
	v.counts.Store(&map[string]int{})
	if err := opt.DB.Read().QueryRowContext(ctx, `SELECT heard FROM votes_state`).Scan(&v.kept); err != nil {
		return nil, fmt.Errorf("read votes: %w", err)
	}
	v.heard = v.kept
	if err := v.Settle(ctx); err != nil {
		return nil, err
	}
	return v, nil
}

// Counts returns the sum of votes for each path; paths whose sum is 0 are absent.
// The map is shared and never changed.
func (v *Votes) Counts() map[string]int { return *v.counts.Load() }

// Cast sets a client's vote for a track of the queue: 1 is for it, -1 against, 0
// takes the vote back. When it returns nil the vote is on disk.
// Errors: station.ErrNotFound for a track that is not in the queue, ErrConflict when
// the client's address has no vote left for the track, *client.LimitError,
// station.ErrUnavailable when the table is full.
func (v *Votes) Cast(ctx context.Context, from Client, path string, delta int) error {
	if delta < -1 || delta > 1 {
		return fmt.Errorf("delta: must be 1, -1 or 0: %w", station.ErrInvalid)
	}
	if err := v.budget.take(cmp.Or(from.Device, from.Address), from.Address); err != nil {
		return err
	}
	mine := &vote{path: path, delta: delta, by: v.ballot(from)}
	return v.turns.Share(mine, func(batch []*turns.Waiter[*vote]) error { return v.commit(ctx, batch) })
}

func (v *Votes) ballot(from Client) ballot {
	alone := voterOf(v.salt, from.Address)
	b := ballot{voter: alone, former: alone}
	if from.Device != "" {
		b.voter = voterOf(v.salt, "vote\x00"+from.Address+"\x00"+from.Device)
	}
	if from.Address != "" {
		b.address = alone[:]
	}
	if wide := client.Wider(from.Address); wide != "" {
		of := voterOf(v.salt, wide)
		b.wider = of[:]
	}
	return b
}

// Settle clears the votes of tracks that aired since the last call. It is called
// after each track marker, so that a track's next turn starts from zero.
func (v *Votes) Settle(ctx context.Context) error {
	return v.turns.Alone(func() error { return v.commit(ctx, nil) })
}

// VotesTold is the payload of the event "votes".
type VotesTold struct {
	Votes map[string]int `json:"votes" doc:"Sum of votes of each file in the queue that has any"`
}

// run sends the votes on the queue to listeners.
func (v *Votes) run(ctx context.Context) {
	tell := func() {
		counts, out := v.Counts(), map[string]int{}
		for _, path := range v.opt.Air().Queue {
			if n := counts[path]; n != 0 {
				out[string([]rune(path))] = n // as JSON shows it
			}
		}
		v.opt.Tell("votes", VotesTold{out})
	}
	tell()
	v.pace.run(ctx, tell)
}
