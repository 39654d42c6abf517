package feedback

import (
	"context"
	"time"
)

// tellEvery is the shortest time between two events of a kind: listeners see no
// more than four a second, however many click.
const tellEvery = 250 * time.Millisecond

// pace tells of changes now and then.
type pace struct{ changed chan struct{} }

func newPace() pace { return pace{make(chan struct{}, 1)} }

// note says that there is something to tell.
func (p pace) note() {
	select {
	case p.changed <- struct{}{}:
	default: // it is known already
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
