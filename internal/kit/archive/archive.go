// Package archive keeps many files in one: a tar, compressed with zstd, whose first entry
// says what it is and whose last has the sum of every file. It is written and read as a
// stream, and `tar --zstd -x` reads it, too. What is read is taken for hostile.
//
// It does not know what the files are.
package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf8"
)

// Format is the version of the format that is written, and the newest that is read.
const Format = 1

// The entries of our own, first and last.
const (
	manifestName = "manifest.json"
	sumsName     = "sums.json"
)

const (
	mostManifest = 64 << 20  // bytes of the first or the last entry
	mostWindow   = 8 << 20   // bytes that the decoder may keep of what it wrote
	mostFiles    = 1_000_000 // files of one archive
)

// Reasons for which an archive is refused.
var (
	ErrNotArchive = errors.New("this is no backup of a station")
	ErrDamaged    = errors.New("the backup is damaged")
	ErrNewer      = errors.New("the backup was written by a newer version: upgrade the program")
	ErrTooLarge   = errors.New("the backup holds more than there is room for")
)

// Manifest says what an archive is. It is its first entry.
type Manifest struct {
	Format  int       `json:"format"`
	Program string    `json:"program"` // version of the program that wrote it
	Station string    `json:"station"`
	Made    time.Time `json:"made"` // UTC
	Why     string    `json:"why"`
	// Schema is the version of each slice's tables.
	Schema map[string]int64 `json:"schema"`
	// Files were there when the archive was begun; sums.json has what it came to hold.
	Files []File `json:"files"`
}

// File is one file of an archive.
type File struct {
	Name     string      `json:"name"` // slashes, relative
	Bytes    int64       `json:"bytes"`
	Mode     fs.FileMode `json:"mode,omitempty"`
	Modified time.Time   `json:"modified,omitzero"`
	SHA256   string      `json:"sha256,omitempty"` // in sums.json only
}

// sums is the last entry.
type sums struct {
	Files []File `json:"files"`
	// Gone are files of the manifest that were removed before they were read.
	Gone []string `json:"gone,omitempty"`
}

// Bytes is the size of all files of the manifest.
func (m Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// valid refuses names that lead out of a folder, or are no names at all.
func valid(name string) error {
	if !fs.ValidPath(name) || name == "." || len(name) > 4096 || !utf8.ValidString(name) || strings.ContainsAny(name, "\x00\\") || path.Clean(name) != name {
		return fmt.Errorf("%w: %.80q is no name of a file in it", ErrDamaged, name)
	}
	return nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(v)
	return b.Bytes(), err
}
