package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// AttributionFile is written to the media root: one generated or copied file a
// line, as path, artist, title, licence and source, with tabs between.
const AttributionFile = "ATTRIBUTION.tsv"

// credit names a file's author and licence.
type credit struct {
	Artist, Title, Album, Genre string
	License                     string // SPDX
	Source                      string
}

// tags are the credit as a file carries it.
func (c credit) tags() [][2]string {
	return [][2]string{
		{"artist", c.Artist}, {"title", c.Title}, {"album", c.Album}, {"genre", c.Genre},
		{"LICENSE", c.License}, {"SOURCE", c.Source},
	}
}

// writeAttribution replaces the attribution file when its text has changed.
func writeAttribution(dir, temp string, assets []asset) error {
	var text strings.Builder
	text.WriteString("# path\tartist\ttitle\tlicence\tsource\n")
	for _, a := range assets {
		text.WriteString(strings.Join([]string{a.path, a.credit.Artist, a.credit.Title, a.credit.License, a.credit.Source}, "\t") + "\n")
	}
	path := filepath.Join(dir, AttributionFile)
	if now, err := os.ReadFile(path); err == nil && string(now) == text.String() {
		return nil
	}
	return replace(path, filepath.Join(temp, AttributionFile), []byte(text.String()))
}

// record is which recipe each file was last made by. It is written after the
// file is in place: a kill in between costs making that one file again.
type record struct {
	path, temp string

	mu   sync.Mutex
	made map[string]string // path to recipe
}

func openRecord(path, temp string) (*record, error) {
	r := &record{path: path, temp: temp, made: map[string]string{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the demo library's record: %w", err)
	}
	if err := json.Unmarshal(text, &r.made); err != nil {
		// Someone edited it: everything is made again.
		r.made = map[string]string{}
	}
	return r, nil
}

func (r *record) has(a asset) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.made[a.path] == a.recipe
}

// knows reports that a file was made at its path, by whatever recipe.
func (r *record) knows(a asset) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.made[a.path] != ""
}

func (r *record) add(a asset) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made[a.path] = a.recipe
	text, err := json.MarshalIndent(r.made, "", " ")
	if err != nil {
		return err
	}
	return replace(r.path, filepath.Join(r.temp, "built.json"), text)
}

// replace replaces a file by text, atomically.
func replace(path, temp string, text []byte) error {
	if err := os.WriteFile(temp, text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return os.Rename(temp, path)
}
