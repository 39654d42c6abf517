package archive

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Writer writes an archive. It compresses in the caller's own goroutine, so that the
// caller's priority is that of the work.
type Writer struct {
	zip  *zstd.Encoder
	tar  *tar.Writer
	sums sums
}

// NewWriter writes the manifest, whose Format it sets.
func NewWriter(to io.Writer, m Manifest) (*Writer, error) {
	m.Format = Format
	zip, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(mostWindow/2), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, err
	}
	w := &Writer{zip: zip, tar: tar.NewWriter(zip), sums: sums{Files: []File{}}}
	if err := w.own(manifestName, m, m.Made); err != nil {
		return nil, errors.Join(err, zip.Close())
	}
	return w, nil
}

func (w *Writer) own(name string, v any, made time.Time) error {
	text, err := encode(v)
	if err != nil {
		return err
	}
	if err := w.header(File{Name: name, Bytes: int64(len(text)), Mode: 0o600, Modified: made}); err != nil {
		return err
	}
	_, err = w.tar.Write(text)
	return err
}

func (w *Writer) header(f File) error {
	return w.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: f.Name, Size: f.Bytes, Mode: int64(f.Mode.Perm()), ModTime: f.Modified, Format: tar.FormatPAX,
	})
}

// Add writes a file of exactly f.Bytes from its contents. One that turns out shorter is an
// error, and the archive is then of no use.
func (w *Writer) Add(f File, contents io.Reader) error {
	if err := valid(f.Name); err != nil {
		return err
	}
	if err := w.header(f); err != nil {
		return fmt.Errorf("write %s: %w", f.Name, err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w.tar, sum), io.LimitReader(contents, f.Bytes))
	if err == nil && n < f.Bytes {
		err = fmt.Errorf("it was cut while it was read: %w", io.ErrUnexpectedEOF)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Name, err)
	}
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	w.sums.Files = append(w.sums.Files, f)
	return nil
}

// AddText adds a file that is in memory.
func (w *Writer) AddText(name string, mode fs.FileMode, modified time.Time, text []byte) error {
	return w.Add(File{Name: name, Bytes: int64(len(text)), Mode: mode, Modified: modified}, bytes.NewReader(text))
}

// Gone notes that a file of the manifest was removed before it was read.
func (w *Writer) Gone(name string) { w.sums.Gone = append(w.sums.Gone, name) }

// Close writes the sums. Without them an archive is not whole.
func (w *Writer) Close() error {
	err := w.own(sumsName, w.sums, time.Time{})
	return errors.Join(err, w.tar.Close(), w.zip.Close())
}
