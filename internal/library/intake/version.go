package intake

import (
	"context"
	"crypto/rand"
	"strconv"
	"sync/atomic"

	"github.com/athir-radio/athir/internal/kit/signal"
)

// changes are told, and counted.
type changes struct {
	signal.Changes
	count atomic.Uint64
}

// Tell counts a change and tells of it.
func (c *changes) Tell() {
	c.count.Add(1)
	c.Changes.Tell()
}

// Version is another one whenever List has another answer, also after a restart. What was read
// of List after Version is as new as that, or newer.
func (in *Intake) Version(ctx context.Context) string {
	in.noteAirs(ctx)
	return in.run + "-" + strconv.FormatUint(in.changed.count.Load(), 36)
}

// newRun names a process: its count of changes begins anew.
func newRun() string { return rand.Text()[:10] }
