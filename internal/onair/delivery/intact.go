package delivery

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/athir-radio/athir/internal/onair/playlist"
)

// Intact reports whether the playlist file is what the last Write put in place:
// somebody may have emptied it, or put another there. In the instant between
// the two files of a Write it is not. An error is the disk's.
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
