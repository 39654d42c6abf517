package role

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
)

// versionsEvery is the pause between two rounds of questions.
const versionsEvery = 5 * time.Second

// Versions knows which version each role of a station is, as it tells itself.
type Versions struct {
	known   atomic.Pointer[map[string]string]
	pending waiting
}

// Pending are the settings that wait for a restart, by what the roles answered last.
func (v *Versions) Pending() []string { return v.pending.get() }

// Known returns the version of each role that answered last.
func (v *Versions) Known() map[string]string {
	if known := v.known.Load(); known != nil {
		return maps.Clone(*known)
	}
	return nil
}

// Run asks the roles whose sockets are in a folder, until ctx ends.
func (v *Versions) Run(ctx context.Context, sockets string) error {
	for {
		known := map[string]string{}
		states, _ := States(ctx, sockets) // who cannot be asked is not known
		for _, s := range states {
			known[s.Role] = s.Version
		}
		v.known.Store(&known)
		v.pending.set(Pending(states))
		if retry.Pause(ctx, versionsEvery) != nil {
			return nil //nolint:nilerr // ctx ended
		}
	}
}

// Pending are the settings that wait for a restart of any of the roles, in order.
func Pending(states []State) (names []string) {
	for _, s := range states {
		names = append(names, s.Restart...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
