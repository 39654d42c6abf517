package remote

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
)

const (
	// copyEvery is how soon what could not be brought to the spare is tried again, and a
	// spare that came is noticed.
	copyEvery = 2 * time.Second
	// copyPatience is how long a list waits for more of its media before it is put in place
	// without them: a spare that comes from far behind plays what it has.
	copyPatience = 8 * time.Second
)

// Copy keeps the spare's copy: the media, and the list from what comes next on. It runs
// beside the delivery to the node that has the air, and holds nothing of that up.
type Copy struct {
	log   *slog.Logger
	lease *Lease
	node  *delivery.Remote
	names names

	mu  sync.Mutex
	now CopyState
}

// CopyState is how far the spare's copy is.
type CopyState struct {
	Node string // its name; empty: no spare stands by
	// Entries are those that are still to come, Missing those of them whose media it lacks.
	Entries, Missing int
	MissingBytes     int64  // of these
	InPlace          bool   // it holds the list as it is now, as far as its media go
	Problem          string // why not, in words
}

// State is how far the copy is.
func (c *Copy) State() CopyState {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, stands := c.lease.Spare(); !stands {
		return CopyState{}
	}
	return c.now
}

func (c *Copy) set(s CopyState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = s
}

// Run keeps the copy until ctx ends. coming is what the station plays next, changed signals
// that it may have changed.
func (c *Copy) Run(ctx context.Context, coming func() []playlist.Item, changed <-chan struct{}) error {
	tick := time.NewTicker(copyEvery)
	defer tick.Stop()
	var there []playlist.Item // what the spare holds
	var at waiting            // which spare
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-tick.C:
		}
		spare, stands := c.lease.Spare()
		if !stands {
			there, at = nil, waiting{}
			c.set(CopyState{})
			continue
		}
		if spare.ID != at.ID || spare.Fence != at.Fence {
			there, at.tenancy = nil, spare
		}
		list := coming()
		if len(list) == 0 || slices.Equal(list, there) {
			continue
		}
		state := CopyState{Node: spare.Name, Entries: len(list)}
		kept, lacks, err := c.bring(ctx, list)
		state.MissingBytes = lacks
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			state.Missing, state.Problem = len(list), err.Error()
			if state.Problem != c.State().Problem {
				c.log.Warn("the spare's copy is behind, tried again", "node", spare.Name, "err", err)
			}
		default:
			state.Missing, state.InPlace = len(list)-kept, true
			if was := c.State(); kept == len(list) {
				there = list
				if !was.InPlace || was.Missing > 0 {
					c.log.Info("the spare has all that comes", "node", spare.Name, "entries", kept)
				}
			}
		}
		c.set(state)
	}
}

// bring puts the list in place, as far as its media are there, and returns how many entries
// that is, and how many bytes of media are missing.
func (c *Copy) bring(ctx context.Context, list []playlist.Item) (kept int, lacks int64, err error) {
	there, _ := c.names.on(list)
	defer func() { lacks = there.lacking(ctx, c.node) }()
	ready, err := there.fetch(ctx, c.node, there.song(), copyPatience)
	if err != nil {
		return 0, 0, err
	}
	result, err := there.push(ctx, c.node, ready, c.log)
	return result.Kept, 0, err
}
