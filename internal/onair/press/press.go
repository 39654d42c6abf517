// Package press carries out Skip and Play on the playout engine: it waits until
// the engine has read the new list and opened its head, then skips. The scheduler
// decides which track is heard next.
package press

import (
	"context"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// State is where an engine stands.
type State struct {
	scheduler.Sight
	Rotation bool     // whether the rotation is on air
	OnAir    string   // what is on air; empty before the first sound
	Last     string   // file of its last track marker; empty before the first
	Prepared []string // files it has opened, next first
	Entering string   // file of the last entry that has begun, or that a cross has read into
}

// Player is the playout engine as a press needs it.
type Player interface {
	State(ctx context.Context) (State, error)
	SkipFrom(ctx context.Context, entered int) error // unless more have been entered meanwhile
	Reload(ctx context.Context) error                // begins the list at its head
}

// Engine is a Player as the scheduler wants it.
type Engine struct{ Player Player }

const (
	// lookPatience bounds asking the engine for its state.
	lookPatience = time.Second
	// lookEvery is short because a skip is to be heard within a second, of which
	// the engine itself takes most; one look costs it well under a millisecond.
	lookEvery = 10 * time.Millisecond
	// headPatience is how long the head of a list that was read may take to
	// open. After that a skip goes to whatever is open.
	headPatience = 400 * time.Millisecond
	// mustPatience is the same where nothing else than the head will do.
	mustPatience = 3 * time.Second
)

// Look implements scheduler.Engine.
func (e *Engine) Look(ctx context.Context) (scheduler.Sight, error) {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	st, err := e.Player.State(ctx)
	switch {
	case err != nil:
		return scheduler.Sight{}, err
	case st.OnAir == "":
		return scheduler.Sight{}, fmt.Errorf("nothing is on air yet: %w", station.ErrUnavailable)
	case !st.Rotation:
		return scheduler.Sight{}, fmt.Errorf("%s is on air: %w", st.OnAir, station.ErrConflict)
	}
	return st.Sight, nil
}

// Next implements scheduler.Engine. A skip before the engine has read the new
// list and opened its head would go on with an entry of the old one.
func (e *Engine) Next(ctx context.Context, c scheduler.Cue) error {
	if c.Same { // no write tells the engine to begin at the head again
		if err := e.Player.Reload(ctx); err != nil {
			return err
		}
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var read time.Time // when the new list was first seen to be read
	for {
		st, err := e.Player.State(ctx)
		if err != nil {
			return err
		}
		if read.IsZero() && (st.Engine != c.Since.Engine || st.Edition > c.Since.Edition) {
			read = time.Now()
		}
		since := time.Duration(-1)
		if !read.IsZero() {
			since = time.Since(read)
		}
		switch stand(st, c, since) {
		case heard:
			return nil
		case open:
			return e.Player.SkipFrom(ctx, st.Entered)
		case passedOver:
			return fmt.Errorf("the playout engine cannot play %s: %w", c.Head, station.ErrConflict)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the playout engine has not read the new list: %w", station.ErrUnavailable)
		}
	}
}

// standing is how far an engine has come with a cue.
type standing int

const (
	waiting    standing = iota
	heard               // the head is on air or about to be: the entry before it has ended by itself
	open                // a skip goes to the head
	passedOver          // the head cannot be opened
)

// stand returns how far the engine has come with a cue. read is how long ago it
// read the cue's list; negative means not yet.
func stand(st State, c scheduler.Cue, read time.Duration) standing {
	newer := st.Engine != c.Since.Engine || st.Seq > c.Since.Seq
	switch {
	case st.Last == c.Head && newer:
		return heard
	case st.Entering == c.Head && (st.Engine != c.Since.Engine || st.Entered > c.Since.Entered):
		return heard // a cross leads to it: a skip would end the head itself
	case read < 0 || len(st.Prepared) == 0:
		return waiting
	case st.Prepared[0] == c.Head, !c.Must && read > headPatience:
		return open
	case c.Must && read > mustPatience:
		return passedOver
	}
	return waiting
}
