package mirror

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// ErrDamaged means that a copy is not what was copied, or cannot be read.
var ErrDamaged = errors.New("it is damaged")

// Stored are the copies in a folder of root by the names of what was copied, the newest of
// each. A folder that is not there has none.
func Stored(root *os.Root, folder string) (map[string]string, error) {
	out, at := map[string]string{}, map[string]time.Time{}
	err := each(root, folder, func(name string, c copied) error {
		if old, twice := at[name]; !twice || c.modified.After(old) {
			out[name], at[name] = c.stored, c.modified
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return out, err
}

// Copy is a copy that is read.
type Copy struct {
	Info   fs.FileInfo
	file   *os.File
	stored string
	hash   hash.Hash
	err    error
}

// Open opens a copy, as Stored names it. The caller closes it.
func Open(root *os.Root, stored string) (*Copy, error) {
	f, err := root.Open(stored)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrDamaged, err), f.Close())
	}
	return &Copy{Info: info, file: f, stored: stored, hash: sha256.New()}, nil
}

func (c *Copy) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	c.hash.Write(p[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// Close closes it.
func (c *Copy) Close() error { return c.file.Close() }

// Unread is why it could not be read; nil: it could.
func (c *Copy) Unread() error {
	if c.err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrDamaged, c.err)
}

// Whole is ErrDamaged unless all that was read, to its end, is what was copied.
func (c *Copy) Whole() error {
	if err := c.Unread(); err != nil {
		return err
	}
	if !strings.HasSuffix(c.stored, "~"+sumOf(c.hash.Sum(nil))) {
		return ErrDamaged
	}
	return nil
}
