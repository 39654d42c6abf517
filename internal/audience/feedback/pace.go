package feedback

import (
	"context"
	"time"
)

// tellEvery is the shortest time between two events of a kind: listeners get at
// most four a second, however many people click.
const tellEvery = 250 * time.Millisecond

// pace combines many changes into few events.
type pace struct{ changed chan struct{} }

func newPace() pace { return pace{make(chan struct{}, 1)} }

// note reports a change.
func (p pace) note() {
	select {
	case p.changed <- struct{}{}:
	default: // a change is noted already
	}
}

// run calls tell after changes, and once more when ctx ends.
func (p pace) run(ctx context.Context, tell func()) {
	defer tell()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.changed:
		}
		tell()
		select {
		case <-ctx.Done():
			return
		case <-time.After(tellEvery):
		}
	}
}
