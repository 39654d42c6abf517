package delivery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/onair/playlist"
)

// fileMode lets the engine's user read the list. Its first writing is whole, and
// allocates the blocks that every later overwrite uses.
const fileMode = 0o644

// Local is a node whose disk is this machine's. Its media are where the library
// scanned them: there is nothing to fetch.
//
// # How the playlist file stays whole
//
// The engine watches the file's inode for IN_MODIFY and reads it after the
// event. So the file is created once, at its full size, and then only ever
// overwritten by one pwrite of 32768 bytes: one event, one reload. Closing and
// syncing the file raise no event that the engine asked for. The blocks are
// allocated from the start: a full disk shows when the file is created, never
// in the middle of a push (a copy-on-write file system excepted).
//
// One pwrite is not atomic. A reader at the same moment may see a part of it,
// and a SIGKILL or a power cut may leave a part of it for good: the kernel
// copies page by page and stops between two pages for a fatal signal
// (TestThousandPushesWithRandomKills prints how often it met either; newer
// kernels copy larger pieces on ext4 and tear less). Therefore the new list
// goes first, by the same kind of write, to a journal beside the file. A list
// whose checksum fails is taken from the journal by Current, and put back by
// Prepare. At every moment at least one of the two files is whole.
//
// The engine itself knows no checksum. What it may see of a torn list are whole
// entries, the new list's head before the old one's tail (see package
// playlist), until Prepare puts it right a restart later.
type Local struct {
	path string
	log  *slog.Logger

	mu   sync.Mutex
	file identity // the playlist file as of Prepare or the last Write
}

// NewLocal returns the node whose playlist file is path (DIR/node/main.m3u).
func NewLocal(path string, log *slog.Logger) *Local {
	return &Local{path: path, log: log}
}

// Prepare makes the playlist file ready before the engine starts to watch it:
// creates it, blank and at its full size, where there is none (and its
// directory, if only that is missing), and puts one that is not a whole list
// right from the journal. Without a list in the journal it stays as it is until
// the first Write.
func (l *Local) Prepare(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	dir := filepath.Dir(l.path)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fileError("create", dir, err)
	}
	for _, path := range []string{l.path, l.journal()} {
		_, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			err = file.WriteAtomic(path, playlist.Blank(), fileMode)
		}
		if err != nil {
			return fileError("create playlist", path, err)
		}
	}
	if err := l.rollForward(); err != nil {
		return err
	}
	id, err := identify(l.path)
	l.file = id
	return fileError("open playlist", l.path, err)
}

// rollForward finishes the push that a crash cut short. It also brings back the
// last list where the file was deleted or overwritten by something else.
func (l *Local) rollForward() error {
	data, err := os.ReadFile(l.path)
	if err != nil {
		return fileError("read playlist", l.path, err)
	}
	items, damage := playlist.Decode(data)
	if len(items) > 0 {
		return nil
	}
	whole, err := os.ReadFile(l.journal())
	if err != nil {
		return fileError("read playlist", l.journal(), err)
	}
	if items, err := playlist.Decode(whole); err != nil || len(items) == 0 {
		return nil //nolint:nilerr // nothing to go by: the next Write puts it right
	}
	l.log.Warn("playlist file was damaged, restored from its journal", "path", l.path, "damage", damage)
	return fileError("write playlist", l.path, overwrite(l.path, whole))
}

// ReadBack implements Node.
func (l *Local) ReadBack(ctx context.Context) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, fileError("read playlist", l.path, err)
}

// Write implements Node.
func (l *Local) Write(ctx context.Context, data []byte) error {
	items, err := playlist.Decode(data)
	if err != nil {
		return fmt.Errorf("write playlist %s: %w", l.path, err)
	}
	if len(items) == 0 {
		return fmt.Errorf("write playlist %s: %w", l.path, playlist.ErrEmpty)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, path := range []string{l.journal(), l.path} {
		err := overwrite(path, data)
		if errors.Is(err, fs.ErrNotExist) {
			err = file.WriteAtomic(path, data, fileMode)
		}
		if err != nil {
			return fileError("write playlist", path, err)
		}
	}
	id, err := identify(l.path)
	if err != nil {
		return fileError("write playlist", l.path, err)
	}
	before := l.file
	l.file = id
	if before != (identity{}) && before != id {
		return fmt.Errorf("write playlist %s: %w", l.path, ErrReplaced)
	}
	return nil
}

// Fetch implements Node: nothing to bring.
func (l *Local) Fetch(ctx context.Context, _ []string, _ []int64) error { return ctx.Err() }

// Sizes implements Node.
func (l *Local) Sizes(ctx context.Context, paths []string) ([]int64, error) {
	sizes := make([]int64, len(paths))
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sizes[i] = -1
		// R_OK: a file that the engine cannot open is no file to it.
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && syscall.Access(path, 4) == nil {
			sizes[i] = info.Size()
		}
	}
	return sizes, nil
}

// Current returns a whole list at any moment, also from another process and in
// the middle of a write: the old one or the new one. Where there is none, the
// error is Decode's; before Prepare it is an fs.ErrNotExist.
func (l *Local) Current(ctx context.Context) ([]byte, error) {
	// Both files are torn only where one write after another falls between our
	// two reads. A second look finds one of them whole.
	const looks = 50
	var torn error
	for range looks {
		for _, path := range []string{l.path, l.journal()} {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, fileError("read playlist", path, err)
			}
			if _, err = playlist.Decode(data); err == nil {
				return data, nil
			} else if path == l.path {
				torn = err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return nil, fmt.Errorf("read playlist %s: %w", l.path, torn)
}

func (l *Local) journal() string { return l.path + ".journal" }
