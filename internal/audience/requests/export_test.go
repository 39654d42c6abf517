package requests

import (
	"context"
	"time"
)

// Look is one turn of Run.
func (r *Requests) Look(ctx context.Context) time.Duration { return r.look(ctx) }
