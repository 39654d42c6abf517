package bulletin

import (
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

// Headlines returns all headlines of the file, those that wait too; none of a file that
// is missing. station.ErrConflict: no file is set.
func (m *Maker) Headlines() ([]string, error) {
	lines, err := headlinesOf(m.o.Headlines, mostKept)
	switch {
	case errors.Is(err, errNoFile):
		return nil, fmt.Errorf("%w: set bulletin.headlines: %w", err, station.ErrConflict)
	case errors.Is(err, errMissing):
		return nil, nil
	}
	return lines, err
}

// SetHeadlines replaces the headline file, for the next bulletin. Errors:
// station.ErrInvalid names the line that is wrong, station.ErrConflict says that there
// is no file to write.
func (m *Maker) SetHeadlines(lines []string) error {
	if m.o.Headlines == "" {
		return fmt.Errorf("%w: set bulletin.headlines: %w", errNoFile, station.ErrConflict)
	}
	if len(lines) > mostKept {
		return fmt.Errorf("headlines: %d lines, at most %d: %w", len(lines), mostKept, station.ErrInvalid)
	}
	var text strings.Builder
	for i, line := range lines {
		clean := cleaned(line)
		switch n := utf8.RuneCountInString(clean); {
		case clean == "":
			return fmt.Errorf("headlines[%d]: has no letter in it: %w", i, station.ErrInvalid)
		case n > mostHeadlineRunes:
			return fmt.Errorf("headlines[%d]: %d characters, at most %d: %w", i, n, mostHeadlineRunes, station.ErrInvalid)
		}
		text.WriteString(clean + "\n")
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	path := m.o.Headlines
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // an operator's link stays one
	}
	if _, err := readRegular(path); err != nil && !errors.Is(err, errMissing) {
		return fmt.Errorf("%w: %w", err, station.ErrConflict)
	}
	if err := file.WriteAtomic(path, []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("write the headlines: %w", err)
	}
	return nil
}
