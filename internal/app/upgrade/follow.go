package upgrade

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/kit/reexec"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/station"
)

// Follow has the roles that were busy during an upgrade follow it once they are free. It is
// the new supervisor's: it ends when no role is what the supervisor was before. Each role
// is ordered once; one that goes back stays.
type Follow struct {
	Log     *slog.Logger
	Sockets string
	From    string // identity of the program that the supervisor was
	Program string // path of the one that it is
}

// followEvery is the pause between two looks.
const followEvery = 5 * time.Second

// Run follows until ctx ends or all have followed. A supervisor that only read its settings
// anew is the program that it was, and so is every role: none is behind, and to order them
// would have the supervisor, too, begin anew and order them again, for ever.
func (f Follow) Run(ctx context.Context) error {
	program, err := os.Open(f.Program)
	if err != nil {
		f.Log.Error("roles that were busy do not follow the upgrade: upgrade again", "err", err)
		return nil // the station is well
	}
	same := role.Identity(program) == f.From
	_ = program.Close() // only looked at
	if same {
		return nil
	}
	ordered := map[string]bool{}
	for {
		roles, err := running(ctx, Options{Sockets: f.Sockets})
		behind := 0
		for _, s := range roles {
			if s.Program != f.From || ordered[s.Role] {
				continue
			}
			c := role.NewClient(f.Sockets, s.Role)
			_, orderErr := c.Replace(ctx, role.Replace{Program: f.Program})
			c.Close()
			if errors.Is(orderErr, station.ErrConflict) {
				behind++
				continue
			}
			ordered[s.Role] = true
			f.Log.Info("a role follows the upgrade", "of", s.Role, "version", s.Version, "err", orderErr)
		}
		if err == nil && behind == 0 {
			return nil
		}
		if retry.Pause(ctx, followEvery) != nil {
			return nil //nolint:nilerr // ctx ended
		}
	}
}

// Behind has the roles that the upgrade left behind, for they were busy, follow a supervisor
// that took over from the program of an identity, once it is well.
func Behind(ctx context.Context, log *slog.Logger, h *reexec.Handover, sockets, from string) error {
	select {
	case <-h.Settled():
	case <-ctx.Done():
		return nil
	}
	return Follow{Log: log, Sockets: sockets, From: from, Program: fmt.Sprintf("/proc/%d/exe", os.Getpid())}.Run(ctx)
}

// Again has all roles but the caller's begin anew as the program that they are, to read
// their settings.
func Again(ctx context.Context, log *slog.Logger, sockets string, caller role.Role) error {
	_, err := Run(ctx, Options{
		Sockets: sockets, Program: fmt.Sprintf("/proc/%d/exe", os.Getpid()), Version: caller.Version, Again: true, Except: caller.Name,
		Show: func(s Step) {
			if s.Outcome == "busy" {
				log.Warn("a role keeps its settings while somebody is live: reload again afterwards", "of", s.Role, "why", s.Detail)
			}
		},
	})
	return err
}
