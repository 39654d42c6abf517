package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/klauspost/compress/zstd"
)

// pieceHead begins each file of a continuous copy. After it come the contents, compressed
// with zstd, and at last the SHA-256 of all that is before.
type pieceHead struct {
	Magic      [8]byte
	Generation [16]byte
	Number     uint64   // 0: the whole database
	Before     [32]byte // sum of the piece before
	At         int64    // epoch milliseconds: what was committed until then is in it
	PageSize   uint32
	Pages      uint32 // of the database with it
	Changed    uint32 // pages that follow, each after its number
}

var pieceMagic = [8]byte{'a', 't', 'h', 'i', 'r', 'c', 'c', '1'}

var errPiece = errors.New("is damaged or not whole")

// writePiece puts a piece in its place whole, and returns when it is on disk.
func writePiece(path string, h pieceHead, contents func(io.Writer) error) (sum [32]byte, size int64, err error) {
	making := path + ".new"
	f, err := os.OpenFile(making, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the operator's folder
	if err != nil {
		return sum, 0, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(making)
		}
	}()
	hash := sha256.New()
	to := io.MultiWriter(f, hash)
	if err := binary.Write(to, binary.BigEndian, h); err != nil {
		return sum, 0, err
	}
	zip, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return sum, 0, err
	}
	if err := errors.Join(contents(zip), zip.Close()); err != nil {
		return sum, 0, err
	}
	hash.Sum(sum[:0])
	if _, err := f.Write(sum[:]); err != nil {
		return sum, 0, err
	}
	if size, err = f.Seek(0, io.SeekCurrent); err != nil {
		return sum, 0, err
	}
	if err := errors.Join(f.Sync(), f.Close(), os.Rename(making, path)); err != nil {
		return sum, 0, err
	}
	return sum, size, syncFolder(filepath.Dir(path))
}

// syncFolder returns when a folder's names are on disk. Where a file system, as that of a
// Windows share, has nothing to sync that is no error.
func syncFolder(dir string) error {
	f, err := os.Open(dir) //nolint:gosec // the operator's folder
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// headOf reads how a piece begins, and verifies nothing.
func headOf(path string) (h pieceHead, err error) {
	f, err := os.Open(path) //nolint:gosec // the operator's folder
	if err != nil {
		return h, err
	}
	defer f.Close() //nolint:errcheck // only read
	if err := binary.Read(f, binary.BigEndian, &h); err != nil || h.Magic != pieceMagic {
		return h, fmt.Errorf("%s %w", path, errPiece)
	}
	return h, nil
}

// readPiece verifies a piece and hands over its contents.
func readPiece(path string, use func(pieceHead, io.Reader) error) (h pieceHead, sum [32]byte, err error) {
	wrong := fmt.Errorf("%s %w", path, errPiece)
	f, err := os.Open(path) //nolint:gosec // the operator's folder
	if errors.Is(err, fs.ErrNotExist) {
		return h, sum, err
	}
	if err != nil {
		return h, sum, fmt.Errorf("%w: %w", wrong, err)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return h, sum, fmt.Errorf("%w: %w", wrong, err)
	}
	length := info.Size() - sha256.Size
	if length < int64(binary.Size(h)) {
		return h, sum, wrong
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(f, 0, length)); err != nil {
		return h, sum, fmt.Errorf("%w: %w", wrong, err)
	}
	hash.Sum(sum[:0])
	var said [32]byte
	if _, err := f.ReadAt(said[:], length); err != nil {
		return h, sum, fmt.Errorf("%w: %w", wrong, err)
	}
	if !bytes.Equal(said[:], sum[:]) {
		return h, sum, wrong
	}
	all := io.NewSectionReader(f, 0, length)
	if err := binary.Read(all, binary.BigEndian, &h); err != nil {
		return h, sum, err
	}
	if h.Magic != pieceMagic {
		return h, sum, fmt.Errorf("%s is of another version of the program", path)
	}
	zip, err := zstd.NewReader(all, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return h, sum, err
	}
	defer zip.Close()
	return h, sum, use(h, zip)
}
