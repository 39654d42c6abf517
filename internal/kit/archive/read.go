package archive

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Reader reads an archive.
type Reader struct {
	zip  *zstd.Decoder
	tar  *tar.Reader
	m    Manifest
	from *noted
}

// noted keeps the error of a reader apart from those of who reads it.
type noted struct {
	io.Reader
	err error
}

func (c *noted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// NewReader reads the manifest. Errors wrap ErrNotArchive, ErrDamaged or ErrNewer, or are
// those of from.
func NewReader(from io.Reader) (*Reader, error) {
	r := &Reader{from: &noted{Reader: from}}
	var err error
	r.zip, err = zstd.NewReader(r.from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, r.refused(err, ErrNotArchive)
	}
	r.tar = tar.NewReader(r.zip)
	h, err := r.tar.Next()
	if err != nil || h.Name != manifestName || h.Typeflag != tar.TypeReg {
		defer r.Close()
		return nil, r.refused(err, ErrNotArchive)
	}
	if err := r.own(h, &r.m); err != nil {
		defer r.Close()
		return nil, err
	}
	switch {
	case r.m.Format > Format:
		err = fmt.Errorf("%w (format %d, this one reads up to %d)", ErrNewer, r.m.Format, Format)
	case r.m.Format < 1:
		err = ErrNotArchive
	case len(r.m.Files) > mostFiles:
		err = fmt.Errorf("%w: %d files", ErrTooLarge, len(r.m.Files))
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// refused puts the reason in front of what a decoder said; an error of the source stays as
// it is.
func (r *Reader) refused(err, reason error) error {
	switch {
	case r.from.err != nil:
		return fmt.Errorf("read the backup: %w", r.from.err)
	case err == nil || errors.Is(err, io.EOF):
		return reason
	}
	return fmt.Errorf("%w: %w", reason, err)
}

func (r *Reader) own(h *tar.Header, into any) error {
	if h.Size > mostManifest {
		return fmt.Errorf("%w: %s has %d bytes", ErrTooLarge, h.Name, h.Size)
	}
	text, err := io.ReadAll(r.tar)
	if err != nil {
		return r.refused(err, ErrDamaged)
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(into); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, h.Name, err)
	}
	return nil
}

// Manifest is what the archive says of itself.
func (r *Reader) Manifest() Manifest { return r.m }

// Close frees the decoder; the source stays open.
func (r *Reader) Close() { r.zip.Close() }

// Each calls take for every file, in order. take need not read all of it. When Each
// returns nil, the archive is whole to its end and every sum is right: what take was given
// may be believed only then. More than most bytes in all are refused.
func (r *Reader) Each(most int64, take func(f File, contents io.Reader) error) error {
	known := map[string]bool{}
	for _, f := range r.m.Files {
		known[f.Name] = true
	}
	var got []File
	for {
		h, err := r.tar.Next()
		if err != nil { // the end too: the sums are missing
			return r.refused(err, ErrDamaged)
		}
		if h.Name == sumsName && h.Typeflag == tar.TypeReg {
			return r.end(h, got, known)
		}
		f, err := entry(h)
		if err != nil {
			return err
		}
		if !known[f.Name] {
			return fmt.Errorf("%w: its list does not name %.80q, or names it once", ErrDamaged, f.Name)
		}
		delete(known, f.Name)
		if most -= f.Bytes; most < 0 {
			return fmt.Errorf("%w: free some, or choose another disk", ErrTooLarge)
		}
		sum := sha256.New()
		packed := &noted{Reader: r.tar}
		contents := io.TeeReader(packed, sum)
		if err := take(f, contents); packed.err != nil {
			return r.refused(packed.err, ErrDamaged)
		} else if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, contents); err != nil {
			return r.refused(err, ErrDamaged)
		}
		f.SHA256 = hex.EncodeToString(sum.Sum(nil))
		got = append(got, f)
	}
}

// entry reads the head of a file; anything but a plain one is refused.
func entry(h *tar.Header) (File, error) {
	if h.Typeflag != tar.TypeReg || h.Size < 0 {
		return File{}, fmt.Errorf("%w: %.80q is no plain file", ErrDamaged, h.Name)
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse") {
			return File{}, fmt.Errorf("%w: %.80q is no plain file", ErrDamaged, h.Name)
		}
	}
	return File{Name: h.Name, Bytes: h.Size, Mode: fs.FileMode(h.Mode).Perm(), Modified: h.ModTime}, valid(h.Name) //nolint:gosec // nine bits of it
}

// end compares what came with the sums, and with the list: left is what it still names.
func (r *Reader) end(h *tar.Header, got []File, left map[string]bool) error {
	var want sums
	if err := r.own(h, &want); err != nil {
		return err
	}
	if len(want.Files) != len(got) {
		return fmt.Errorf("%w: it has %d files, and sums of %d", ErrDamaged, len(got), len(want.Files))
	}
	for i, f := range want.Files {
		if f.Name != got[i].Name || f.Bytes != got[i].Bytes || f.SHA256 != got[i].SHA256 {
			return fmt.Errorf("%w: %.80q is not as it was written", ErrDamaged, got[i].Name)
		}
	}
	for _, name := range want.Gone {
		delete(left, name)
	}
	for name := range left {
		return fmt.Errorf("%w: %.80q is missing", ErrDamaged, name)
	}
	if _, err := r.tar.Next(); !errors.Is(err, io.EOF) {
		return r.refused(err, fmt.Errorf("%w: there is more behind its end", ErrDamaged))
	}
	// What follows the last entry is read to its end: the checksum of the stream is there.
	if n, err := io.Copy(io.Discard, io.LimitReader(r.zip, 1<<20)); err != nil || n == 1<<20 {
		return r.refused(err, ErrDamaged)
	}
	return nil
}
