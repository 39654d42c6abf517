package file

import (
	"context"
	"fmt"
	"syscall"
)

const (
	reserve   = 1 << 30 // bytes of a disk that stay free, but at most a twentieth of it
	lookAfter = 64 << 20
)

// Room guards the reserve of a disk: what arrives from outside must not take the last of what
// the station needs to stay on the air.
type Room struct {
	Dir   string
	Space func(dir string) (free, size uint64, err error) // Space when nil

	looked int64
}

// NoRoomError says that a disk would have less than its reserve left. Full reports it, too.
type NoRoomError struct{ Dir string }

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("the disk of %s has no room left: free some space", e.Dir)
}

// Unwrap is as the system says it.
func (e *NoRoomError) Unwrap() error { return syscall.ENOSPC }

// For is a *NoRoomError where so many more bytes would leave less than the reserve.
func (r *Room) For(size int64) error {
	space := r.Space
	if space == nil {
		space = Space
	}
	free, all, err := space(r.Dir)
	if err != nil {
		return fmt.Errorf("look at the disk of %s: %w", r.Dir, err)
	}
	if free < min(reserve, all/20)+uint64(max(size, 0)) { //nolint:gosec // not negative
		return &NoRoomError{r.Dir}
	}
	return nil
}

// After looks again once a file that grows has so many bytes, after each 64 MiB. total is 0
// while unknown; it is asked for in whole at the first look.
func (r *Room) After(have, total int64) error {
	if r.looked > 0 && have < r.looked {
		return nil
	}
	first := r.looked == 0
	r.looked = have + lookAfter
	if first {
		return r.For(total - have)
	}
	return r.For(0)
}

// Kept is a context for what writes one file into the folder, and what is to be told how far that
// is: without room the context ends, and its cause says so. end is to be called afterwards.
func (r Room) Kept(ctx context.Context) (_ context.Context, progress func(have, total int64), end func()) {
	r.looked = 0
	ctx, cancel := context.WithCancelCause(ctx)
	if err := r.For(0); err != nil {
		cancel(err)
	}
	return ctx, func(have, total int64) {
		if err := r.After(have, total); err != nil {
			cancel(err)
		}
	}, func() { cancel(nil) }
}
