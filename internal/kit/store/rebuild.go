package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Rebuilt tells what Rebuild found in a continuous copy.
type Rebuilt struct {
	Folder string           // of the generation
	Until  time.Time        // the database is as it was at that moment
	Pieces int              // that came after the whole copy
	Schema map[string]int64 // version of each slice's tables
	// Left is what could not be used, for people; empty as a rule.
	Left string
}

var (
	generationName = regexp.MustCompile(`^[0-9]{10}-[0-9a-f]{32}$`)
	// ErrNoCopy means that a folder has no continuous copy that can be used.
	ErrNoCopy = errors.New("the folder has no continuous copy that is whole")
)

const baseName = "base"

func pieceName(number uint64) string { return fmt.Sprintf("%08d", number) }

// isPiece knows the name of a piece.
func isPiece(name string) bool {
	n, err := strconv.ParseUint(name, 10, 64)
	return err == nil && name == pieceName(n)
}

// generations are the folders of a continuous copy, the newest last.
func generations(dir string) (out []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() && generationName.MatchString(e.Name()) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, err
}

// Reach is how far a continuous copy reaches, and how large the database of it is, by what
// its newest piece says of itself: it verifies nothing, and reads little.
func Reach(dir string) (until time.Time, bytes int64, err error) {
	all, err := generations(dir)
	if err != nil {
		return until, 0, err
	}
	for _, folder := range slices.Backward(all) {
		newest := filepath.Join(folder, baseName)
		if _, err := os.Stat(newest); err != nil {
			continue
		}
		entries, err := os.ReadDir(folder) // in order
		if err != nil {
			return until, 0, err
		}
		for _, e := range slices.Backward(entries) {
			if isPiece(e.Name()) {
				newest = filepath.Join(folder, e.Name())
				break
			}
		}
		h, err := headOf(newest)
		if err != nil {
			return until, 0, err
		}
		return time.UnixMilli(h.At), int64(h.Pages) * int64(h.PageSize), nil
	}
	return until, 0, fmt.Errorf("%s: %w", dir, ErrNoCopy)
}

// Rebuild makes the database of a continuous copy in a new file: the newest state that
// is whole. Each piece is verified before it is used, and the database after the last.
func Rebuild(ctx context.Context, dir, to string) (out Rebuilt, err error) {
	all, err := generations(dir)
	if err != nil {
		return out, err
	}
	left := ""
	for _, folder := range slices.Backward(all) {
		out, err = rebuild(ctx, folder, to)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err == nil {
			if left != "" && out.Left != "" {
				left += "; "
			}
			out.Left = left + out.Left
			return out, nil
		}
		// Where the new file cannot be written, an older state is no better.
		if its := (*fs.PathError)(nil); errors.As(err, &its) && its.Path == to {
			return out, err
		}
		if _, missing := os.Stat(filepath.Join(folder, baseName)); left == "" && !errors.Is(missing, fs.ErrNotExist) {
			left = err.Error()
		}
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
	}
	if left != "" {
		return out, fmt.Errorf("%s: %w: %s", dir, ErrNoCopy, left)
	}
	return out, fmt.Errorf("%s: %w", dir, ErrNoCopy)
}

func rebuild(ctx context.Context, folder, to string) (out Rebuilt, err error) {
	f, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the caller's
	if err != nil {
		return out, err
	}
	defer f.Close() //nolint:errcheck // its error is looked at below
	last, sum, err := readPiece(filepath.Join(folder, baseName), func(h pieceHead, r io.Reader) error {
		n, err := io.Copy(f, r)
		if err == nil && n != int64(h.Pages)*int64(h.PageSize) {
			err = fmt.Errorf("%s %w", folder, errPiece)
		}
		return err
	})
	if err != nil {
		return out, err
	}
	out.Folder = folder
	for ctx.Err() == nil {
		path := filepath.Join(folder, pieceName(last.Number+1))
		h, its, err := readPiece(path, func(h pieceHead, r io.Reader) error {
			if h.Generation != last.Generation || h.Number != last.Number+1 || h.Before != sum || h.PageSize != last.PageSize {
				return fmt.Errorf("%s %w: it does not follow the one before", path, errPiece)
			}
			return apply(f, h, r)
		})
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errPiece) {
			if later := from(folder, last.Number+1); later != "" {
				out.Left = fmt.Sprintf("what was written after %s: %s cannot be used", time.UnixMilli(last.At).UTC().Format(time.DateTime), later)
			}
			break
		}
		if err != nil {
			return out, err
		}
		last, sum = h, its
		out.Pieces++
	}
	out.Until = time.UnixMilli(last.At)
	if err := errors.Join(ctx.Err(), f.Sync(), f.Close()); err != nil {
		return out, err
	}
	out.Schema, err = Check(ctx, to)
	return out, err
}

// from names the first piece in a folder of that number or a later one; empty: there is none.
func from(folder string, number uint64) string {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if isPiece(e.Name()) && e.Name() >= pieceName(number) {
			return filepath.Join(folder, e.Name())
		}
	}
	return ""
}

func apply(f *os.File, h pieceHead, r io.Reader) error {
	page := make([]byte, h.PageSize)
	for range h.Changed {
		var number uint32
		if err := binary.Read(r, binary.BigEndian, &number); err != nil {
			return err
		}
		if _, err := io.ReadFull(r, page); err != nil {
			return err
		}
		if _, err := f.WriteAt(page, (int64(number)-1)*int64(h.PageSize)); err != nil {
			return err
		}
	}
	return f.Truncate(int64(h.Pages) * int64(h.PageSize))
}
