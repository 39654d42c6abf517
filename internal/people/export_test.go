package people

import "context"

// NoteUse notes one last use that waits for it.
func (p *People) NoteUse(ctx context.Context) error { return p.note(ctx, <-p.uses) }
