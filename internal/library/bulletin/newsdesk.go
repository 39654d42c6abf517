package bulletin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/station"
)

// mostKept is how many headlines a file may be given at once: the first three are read,
// the others wait.
const mostKept = 50

// AnyVersion has SetHeadlines replace the file whatever is in it.
const AnyVersion = "any"

var errUnset = fmt.Errorf("%w: set bulletin.headlines: %w", errNoFile, station.ErrConflict)

// noVersion is that of a file that is missing.
const noVersion = "missing"

// Kept are the lines of the headline file, those that wait too.
type Kept struct {
	Lines []string
	// Version changes with the file: who replaces the lines says by it which ones they
	// have seen.
	Version string
	// Cut: the file holds more, further lines or longer ones.
	Cut bool
}

// Headlines reads the headline file; one that is missing has no lines.
// station.ErrConflict: no file is set.
func (m *Maker) Headlines() (Kept, error) {
	if m.o.Headlines == "" {
		return Kept{}, errUnset
	}
	raw, err := readRegular(m.o.Headlines)
	switch {
	case errors.Is(err, errMissing):
		return Kept{Version: noVersion}, nil
	case err != nil:
		return Kept{}, err
	}
	sum := sha256.Sum256(raw)
	lines, cut := spoken(decodeText(raw), mostKept)
	return Kept{lines, hex.EncodeToString(sum[:12]), cut || len(raw) == mostHeadlineFile}, nil
}

// SetHeadlines replaces the headline file, for the next bulletin, if it still has the
// version that the caller has read. Errors: station.ErrInvalid names the line that is
// wrong; station.ErrConflict says that the file has changed since, that it holds more
// than was shown, or that there is no file to write.
func (m *Maker) SetHeadlines(lines []string, version string) error {
	text, err := fileOf(lines)
	if err != nil {
		return err
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	if err := m.replaceable(version); err != nil {
		return err
	}
	path := m.o.Headlines
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // an operator's link stays one
	}
	if err := file.WriteAtomic(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the headlines: %w", err)
	}
	return nil
}

// replaceable returns why the file may not be replaced by who has read a version of it.
func (m *Maker) replaceable(version string) error {
	now, err := m.Headlines()
	name := filepath.Base(m.o.Headlines)
	switch {
	case errors.Is(err, station.ErrConflict):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", err, station.ErrConflict)
	case version == AnyVersion:
		return nil
	case version != now.Version:
		return fmt.Errorf("%s has changed since its headlines were read: read them again: %w", name, station.ErrConflict)
	case now.Cut:
		return fmt.Errorf("%s holds more than was shown, at most %d lines of %d characters: shorten the file itself, or replace all of it with the version %q: %w",
			name, mostKept, mostHeadlineRunes, AnyVersion, station.ErrConflict)
	}
	return nil
}

// fileOf returns the text of a file of headlines.
func fileOf(lines []string) (string, error) {
	if len(lines) > mostKept {
		return "", fmt.Errorf("headlines: %d lines, at most %d: %w", len(lines), mostKept, station.ErrInvalid)
	}
	var text strings.Builder
	for i, line := range lines {
		clean := cleaned(line)
		switch n := utf8.RuneCountInString(clean); {
		case clean == "":
			return "", fmt.Errorf("headlines[%d]: has no letter in it: %w", i, station.ErrInvalid)
		case n > mostHeadlineRunes:
			return "", fmt.Errorf("headlines[%d]: %d characters, at most %d: %w", i, n, mostHeadlineRunes, station.ErrInvalid)
		}
		text.WriteString(clean + "\n")
	}
	return text.String(), nil
}
