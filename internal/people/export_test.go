package people

import "context"

// Prune removes the orders of a user who gave too many, if there may be one.
func (p *People) Prune(ctx context.Context) error { return p.prune(ctx, <-p.prunes) }

// NoteUse notes one last use that waits for it.
func (p *People) NoteUse(ctx context.Context) error { return p.note(ctx, <-p.uses) }

// Settle waits until the log of orders is written.
func (p *People) Settle(ctx context.Context) { p.orders.settle(ctx) }
