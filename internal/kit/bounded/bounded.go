// Package bounded opens zip files and reads lists in JSON of which nobody knows who wrote them:
// what is kept in memory is bounded before it is made, and not by what the file says of itself.
package bounded

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Of a zip file's directory, which archive/zip keeps whole, at four times its size.
const (
	mostEntries   = 1_000_000
	mostDirectory = 64 << 20 // bytes
)

// Of the records at the end of a zip file, which say how long its directory is.
const (
	endSign, endSize       = "PK\x05\x06", 22
	locatorSign            = "PK\x06\x07"
	locatorSize            = 20
	end64Sign, end64Size   = "PK\x06\x06", 56
	longestComment, unsaid = 1<<16 - 1, 1<<16 - 1
)

// ErrEntries says that a zip file has too many files.
var ErrEntries = errors.New("the zip file has more than 1,000,000 files, or their names take more than 64 MiB")

// Zip opens a zip file, unless its directory is too large. An error of archive/zip's
// ErrInsecurePath comes with a reader, as there.
func Zip(r io.ReaderAt, size int64) (*zip.Reader, error) {
	n, err := entries(r, size)
	if err != nil {
		return nil, err
	}
	if n > mostEntries {
		return nil, ErrEntries
	}
	m := &metered{r: r, left: mostDirectory, on: true}
	z, err := zip.NewReader(m, size)
	m.on = false
	return z, err
}

// entries is the largest number of files that any end record of a zip file says: archive/zip
// makes room for so many before it reads one.
func entries(r io.ReaderAt, size int64) (most uint64, err error) {
	tail := make([]byte, min(size, endSize+longestComment+locatorSize))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	for at := 0; ; at++ {
		i := bytes.Index(tail[at:], []byte(endSign))
		if i < 0 || at+i+endSize > len(tail) {
			return most, nil
		}
		at += i
		n := uint64(binary.LittleEndian.Uint16(tail[at+10:]))
		if at >= locatorSize && string(tail[at-locatorSize:at-locatorSize+4]) == locatorSign {
			offset := int64(binary.LittleEndian.Uint64(tail[at-locatorSize+8:])) //nolint:gosec // checked below
			record := make([]byte, end64Size)
			if offset >= 0 && offset <= size-end64Size {
				if _, err := r.ReadAt(record, offset); err != nil {
					return 0, err
				}
				if string(record[:4]) == end64Sign {
					n = max(n, binary.LittleEndian.Uint64(record[32:]))
				}
			}
		}
		most = max(most, n)
	}
}

// metered ends reading after a number of bytes, while it is on.
type metered struct {
	r    io.ReaderAt
	left int64
	on   bool
}

// ReadAt implements io.ReaderAt.
func (m *metered) ReadAt(p []byte, off int64) (int, error) {
	if m.on {
		if m.left -= int64(len(p)); m.left < 0 {
			return 0, ErrEntries
		}
	}
	return m.r.ReadAt(p, off)
}

// mostElement is how many bytes one element of a list may have.
const mostElement = 1 << 20

// Elements calls use with each element of a list in JSON, so that none but the one is in memory
// decoded. The list is all there is, or is in an object under a name.
func Elements(body []byte, under string, use func(element json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(body))
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t == json.Delim('[') {
		return elements(d, use)
	}
	if t != json.Delim('{') {
		return errNoList
	}
	found := false
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if called, _ := name.(string); found || !strings.EqualFold(called, under) {
			var passed json.RawMessage
			if err := d.Decode(&passed); err != nil {
				return err
			}
			continue
		}
		if t, err = d.Token(); err != nil {
			return err
		}
		if t != json.Delim('[') {
			return errNoList
		}
		if err := elements(d, use); err != nil {
			return err
		}
		found = true
	}
	if !found {
		return errNoList
	}
	return nil
}

var errNoList = errors.New("it is no list")

func elements(d *json.Decoder, use func(json.RawMessage) error) error {
	var one json.RawMessage
	for d.More() {
		if err := d.Decode(&one); err != nil {
			return err
		}
		if len(one) > mostElement {
			return fmt.Errorf("an entry has %d bytes, more than 1 MiB", len(one))
		}
		if err := use(one); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}
