package media

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/station"
)

// Credits an operator writes beside the files win over tags inside them:
//
//	ATTRIBUTION.tsv      in any folder: path (relative to that folder), artist,
//	                     title, licence, source, separated by tabs; empty fields
//	                     leave the tag; lines that begin with # are comments
//	<file name>.license  beside one file: its licence, as plain text or as
//	                     REUSE's SPDX-License-Identifier line
//
// A change in either is noticed by the next scan.
const (
	attributionFile = "ATTRIBUTION.tsv"
	licenseSuffix   = ".license"
)

// readerVersion is part of every stamp: raise it when files would be read
// differently, and every file is read again once.
const readerVersion = 4

// beforeRelease is the reader that knew neither ISRC nor label: of the files that it read
// and that did not change since, the headers alone are read again (see release.go).
const beforeRelease = 3

// credit is one row of an attribution file.
type credit struct{ artist, title, license, source string }

// credits are the attribution files that apply to a folder.
type credits struct {
	dir  string // folder of the file, relative to the root; "" for the root
	rows map[string]credit
	up   *credits // those of the folders above
}

// row returns the nearest row about a file.
func (c *credits) row(rel string) (credit, bool) {
	for ; c != nil; c = c.up {
		if row, ok := c.rows[strings.TrimPrefix(strings.TrimPrefix(rel, c.dir), "/")]; ok {
			return row, true
		}
	}
	return credit{}, false
}

// loadCredits reads the attribution file of a folder, if it has one.
func loadCredits(in *files, root, dir string, up *credits) (*credits, error) {
	f, err := in.openCredit(filepath.Join(root, dir, attributionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return up, nil
	}
	if err != nil {
		return up, err
	}
	defer func() { _ = f.Close() }()
	const most = 64 << 20
	rows, err := parseCredits(io.LimitReader(f, most))
	if err != nil {
		return up, err
	}
	return &credits{dir: dir, rows: rows, up: up}, nil
}

func parseCredits(r io.Reader) (map[string]credit, error) {
	rows := map[string]credit{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimPrefix(strings.TrimSuffix(lines.Text(), "\r"), "\ufeff")
		fields := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || len(fields) < 2 {
			continue
		}
		fields = append(fields, "", "", "")
		for i := 1; i < 5; i++ {
			fields[i] = audiofile.Text([]byte(fields[i]))
		}
		rows[strings.TrimPrefix(path.Clean("/"+fields[0]), "/")] = credit{fields[1], fields[2], fields[3], fields[4]}
	}
	return rows, lines.Err()
}

// apply replaces the tags' values by the row's.
func (c credit) apply(t *station.Track) {
	for _, f := range []struct {
		to   *string
		text string
	}{{&t.Artist, c.artist}, {&t.Title, c.title}, {&t.License, c.license}} {
		if f.text != "" {
			*f.to = f.text
		}
	}
	if c.source != "" {
		t.License = strings.TrimSpace(t.License + " (" + c.source + ")")
	}
}

// sidecarLicense reads <file>.license; "" when it says nothing.
func sidecarLicense(in *files, file string) string {
	f, err := in.openCredit(file + licenseSuffix)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, 16<<10))
	if err != nil {
		return ""
	}
	first := ""
	for line := range bytes.Lines(b) {
		text := audiofile.Text(line)
		if id, ok := strings.CutPrefix(text, "SPDX-License-Identifier:"); ok {
			return strings.TrimSpace(id)
		}
		if first == "" && !strings.HasPrefix(text, "SPDX-") {
			first = text
		}
	}
	return first
}

// ReadBeside reads the text beside a track that has its name and another ending, at most so
// many bytes of it. What links out of the folder is refused: its text is published. The error
// is fs.ErrNotExist where there is none.
func (l *Library) ReadBeside(rel, ending string, most int64) ([]byte, error) {
	if !filepath.IsLocal(rel) {
		return nil, fs.ErrNotExist
	}
	in, err := openFiles(l.opt.Root, l.opt.FollowLinks)
	if err != nil {
		return nil, err
	}
	defer in.close()
	f, err := in.openCredit(filepath.Join(l.opt.Root, strings.TrimSuffix(rel, path.Ext(rel))+ending))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, most))
}

// stampOf hashes what a track depends on besides its own bytes.
func stampOf(reader int, row credit, sidecar fileStamp) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d\x00%s\x00%s\x00%s\x00%s\x00%d\x00%d",
		reader, row.artist, row.title, row.license, row.source, sidecar.size, sidecar.mtime)
	return h.Sum64() | 1 // 0 means "look again"
}
