package file_test

import (
	"context"
	"errors"
	"testing"

	"github.com/athir-radio/athir/internal/kit/file"
)

func TestRoomKeepsTheReserveOfADisk(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		free, size uint64
		more       int64
		fits       bool
	}{
		{2 * gib, 100 * gib, gib, true}, {2 * gib, 100 * gib, gib + 1, false}, {gib - 1, 100 * gib, -5, false},
		{gib, 10 * gib, gib / 2, true}, {gib, 10 * gib, gib/2 + 1, false}, // of a small disk a twentieth
	} {
		r := file.Room{Dir: "d", Space: func(string) (uint64, uint64, error) { return c.free, c.size, nil }}
		if err := r.For(c.more); (err == nil) != c.fits || err != nil && !file.Full(err) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestRoomIsLookedAtWhileAFileGrows(t *testing.T) {
	looks, free := 0, uint64(1<<40)
	r := file.Room{Space: func(string) (uint64, uint64, error) { looks++; return free, 1 << 41, nil }}
	for have := int64(1 << 20); have <= 200<<20; have += 1 << 20 {
		if err := r.After(have, 1<<30); err != nil {
			t.Fatal(err)
		}
	}
	if looks != 4 {
		t.Errorf("%d looks", looks)
	}
	free = 1 << 29
	var full *file.NoRoomError
	if err := r.After(300<<20, 0); !errors.As(err, &full) {
		t.Error(err)
	}
	free = 1 << 40
	ctx, progress, end := r.Kept(t.Context())
	defer end()
	if progress(1, 0); ctx.Err() != nil {
		t.Error(context.Cause(ctx))
	}
	free = 1 << 29
	if progress(100<<20, 0); !errors.As(context.Cause(ctx), &full) {
		t.Error("what writes goes on:", context.Cause(ctx))
	}
	first := file.Room{Space: func(string) (uint64, uint64, error) { return 2 << 30, 1 << 41, nil }}
	if err := first.After(1, 3<<30); !errors.As(err, &full) {
		t.Error("what a file will have is not asked for:", err)
	}
}
