// Package upgrade has a running station go on as another version: one role after the
// other, each watched until it is well, and all of them as before where one is not.
package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/kit/reexec"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/station"
)

// order is the order of the roles. What keeps least state comes first, so that a program
// that does not run at all is found out where it costs nothing; the supervisor comes last,
// for it restarts the others with its own program.
var order = []string{"player", "chat", "relay", "whip", "desk", "control", "node", "station"}

// Step is one role's part of an upgrade.
type Step struct {
	Role string `json:"role"`
	From string `json:"from"`
	To   string `json:"to"`
	// Took is from the order until the new program was well, in seconds.
	Took float64 `json:"seconds,omitempty"`
	// Outcome is "upgraded", "already there", "not running", "busy", "went back" or "returned".
	Outcome string `json:"outcome"`
	Detail  string `json:"detail,omitempty"`
}

// Options of an upgrade.
type Options struct {
	Sockets string // the folder of the station's sockets
	Program string // path of the executable to go on with
	Version string // its version
	Data    string // the data directory, whose settings the new program must be able to read
	// Wait is how long a busy role is waited for, and Now has it cut off what it is busy with.
	Wait time.Duration
	Now  bool
	// Again has the roles begin anew that are this program already, but for Except.
	Again  bool
	Except string
	// Show is called with each step that is done, and with one without an outcome for each
	// that is begun.
	Show func(Step)
}

// ErrWentBack says that the new version was not well and the station is what it was.
var ErrWentBack = errors.New("the new version is not well, the station goes on as before")

// Run upgrades every role that runs. The error is ErrWentBack where one was not well.
func Run(ctx context.Context, o Options) ([]Step, error) {
	roles, err := running(ctx, o)
	if err != nil {
		return nil, err
	}
	if len(roles) == 0 {
		return nil, errors.New("no station runs here: start it with the new version")
	}
	if err := sameStep(roles, o.Version); err != nil {
		return nil, err
	}
	program, err := os.Open(o.Program)
	if err != nil {
		return nil, fmt.Errorf("open the new program: %w", err)
	}
	defer program.Close() //nolint:errcheck // only looked at
	u := &upgrade{Options: o, identity: role.Identity(program)}
	for _, s := range roles {
		if err := u.step(ctx, s); err != nil {
			u.undo(context.WithoutCancel(ctx), roles)
			return u.steps, fmt.Errorf("%s: %w: %w", s.Role, err, ErrWentBack)
		}
	}
	return u.steps, nil
}

// running asks all roles that run for their states, in the order of the upgrade.
func running(ctx context.Context, o Options) ([]role.State, error) {
	states, err := role.States(ctx, o.Sockets)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(states, func(a, b role.State) int { return slices.Index(order, a.Role) - slices.Index(order, b.Role) })
	return slices.DeleteFunc(states, func(s role.State) bool { return s.Role == o.Except }), nil
}

// sameStep refuses roles that are more than one step away, by name.
func sameStep(roles []role.State, version string) error {
	var wrong []error
	for _, s := range roles {
		if !reexec.Near(s.Step) {
			wrong = append(wrong, fmt.Errorf("%s is version %s, which is more than one step away from %s: upgrade to a version between them first", s.Role, s.Version, version))
		}
	}
	return errors.Join(wrong...)
}

type upgrade struct {
	Options
	identity string // of the new program
	steps    []Step
	done     []role.State // as they were
}

func (u *upgrade) tell(s Step) {
	if s.Outcome != "" {
		u.steps = append(u.steps, s)
	}
	if u.Show != nil {
		u.Show(s)
	}
}

// step upgrades one role.
func (u *upgrade) step(ctx context.Context, before role.State) error {
	s := Step{Role: before.Role, From: before.Version, To: u.Version}
	if before.Program == u.identity && !u.Again {
		s.Outcome = "already there"
		u.tell(s)
		return nil
	}
	u.tell(s)
	begin := time.Now()
	c := role.NewClient(u.Sockets, before.Role)
	defer c.Close()
	err := u.order(ctx, c)
	switch {
	case errors.Is(err, station.ErrConflict):
		s.Outcome, s.Detail = "busy", err.Error()
		u.tell(s)
		return nil // it follows when it is free
	case errors.Is(err, role.ErrAway):
		s.Outcome = "not running"
		u.tell(s)
		return nil
	case err != nil && !errors.Is(err, role.ErrUnanswered):
		s.Outcome, s.Detail = "went back", err.Error()
		u.tell(s)
		return err
	}
	u.done = append(u.done, before)
	if err := u.well(ctx, c, before, u.identity); err != nil {
		s.Outcome, s.Detail = "went back", err.Error()
		u.tell(s)
		return err
	}
	s.Outcome, s.Took = "upgraded", time.Since(begin).Seconds()
	u.tell(s)
	return nil
}

// order orders the new program, and waits for a busy role as long as it may.
func (u *upgrade) order(ctx context.Context, c *role.Client) error {
	deadline := time.Now().Add(u.Wait)
	for {
		_, err := c.Replace(ctx, role.Replace{Program: u.Program, Identity: u.identity, Data: u.Data, Now: u.Now})
		if !errors.Is(err, station.ErrConflict) || !time.Now().Before(deadline) {
			return err
		}
		if err := retry.Pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

// wellWithin is how long a role may take in all: to stop, to begin, to be well or to give
// way to the program before.
const wellWithin = role.SettleWithin + time.Minute

// well waits until a role is well as the program of the identity.
func (u *upgrade) well(ctx context.Context, c *role.Client, before role.State, identity string) error {
	ctx, cancel := context.WithTimeout(ctx, wellWithin)
	defer cancel()
	var back error
	err := retry.Until(ctx, func(ctx context.Context) error {
		s, err := c.State(ctx)
		switch {
		case err != nil:
			return err
		case s.Program == identity && s.Settled && !s.Began.Equal(before.Began):
			return nil
		case s.Program != identity && !s.Began.Equal(before.Began):
			back = errors.New("its new program did not begin or was not well: the log says why")
			cancel()
		}
		return errors.New("it is not well yet")
	})
	if back != nil {
		return back
	}
	return err
}

// undo has the roles that were upgraded go on as the program before.
func (u *upgrade) undo(ctx context.Context, all []role.State) {
	for _, before := range slices.Backward(u.done) {
		s := Step{Role: before.Role, From: u.Version, To: before.Version, Outcome: "returned"}
		if err := u.giveBack(ctx, before, all); err != nil {
			s.Outcome, s.Detail = "went back", err.Error()
		}
		u.tell(s)
	}
}

// giveBack has a role go on as the program that it was, which another role still is.
func (u *upgrade) giveBack(ctx context.Context, before role.State, all []role.State) error {
	c := role.NewClient(u.Sockets, before.Role)
	defer c.Close()
	now, err := c.State(ctx)
	if err != nil || now.Program == before.Program {
		return err
	}
	for _, other := range slices.Backward(all) {
		if other.Program != before.Program || other.Role == before.Role {
			continue
		}
		if _, err := c.Replace(ctx, role.Replace{Program: fmt.Sprintf("/proc/%d/exe", other.PID), Identity: before.Program, Data: u.Data}); err != nil && !errors.Is(err, role.ErrUnanswered) {
			return err
		}
		return u.well(ctx, c, now, before.Program)
	}
	return errors.New("no role is the version before any more")
}
