package bounded

import (
	"context"
	"errors"
	"io"
)

// Reader ends when the context does, and fails with why after a number of bytes.
func Reader(ctx context.Context, r io.Reader, most int64, why string) io.Reader {
	return &reader{ctx, r, most, why}
}

type reader struct {
	ctx  context.Context //nolint:containedctx // lives as long as one reading
	r    io.Reader
	left int64
	why  string
}

// Read implements io.Reader.
func (b *reader) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.left <= 0 {
		return 0, errors.New(b.why)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
