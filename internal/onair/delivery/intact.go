package delivery

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/athir-radio/athir/internal/onair/playlist"
)

// Intact reports whether the playlist file holds what the last Write wrote, and
// was not changed by another program. It is false for a moment during a Write,
// between its two files. An error means that the disk cannot be read.
func (l *Local) Intact(ctx context.Context) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	data, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fileError("read playlist", l.path, err)
	}
	whole, err := os.ReadFile(l.journal())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fileError("read playlist", l.journal(), err)
	}
	items, err := playlist.Decode(data)
	return err == nil && len(items) > 0 && bytes.Equal(data, whole), nil
}
