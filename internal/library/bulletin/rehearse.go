package bulletin

import (
	"context"
	"path/filepath"
	"strings"
	"time"
)

// Script is what a bulletin says, before anything of it is spoken.
type Script struct {
	At       time.Time // the time it tells
	Segments []Segment // in their order; one that is missing has its problem
	// Spares fill up a bulletin that is short: which of them fit is known once they are
	// spoken.
	Spares []Segment
}

// Text is all that is surely said, a segment a line.
func (s Script) Text() string { return textOf(s.Segments) }

// Text is all that is said, a segment a line.
func (r Result) Text() string { return textOf(r.Segments) }

func textOf(segments []Segment) string {
	var lines []string
	for _, s := range segments {
		if s.Text != "" && s.Problem == "" {
			lines = append(lines, s.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// Script returns what a bulletin says that is made now for a time with these headlines in
// its file. It asks nobody and changes nothing: the weather is as it was last told.
// station.ErrInvalid names the line that is wrong, as SetHeadlines does;
// station.ErrConflict: no file is set, so that no headline is ever read.
func (m *Maker) Script(lines []string, at time.Time) (Script, error) {
	headlines, err := m.inPlace(lines)
	if err != nil {
		return Script{}, err
	}
	return m.write(at, m.remembered(), headlines), nil
}

// Rehearse makes a bulletin with these headlines in the place of those of its file, and
// writes it to path, which is outside the deck. It waits for no other bulletin, and the
// status does not tell of it. Errors as Make and as Script.
func (m *Maker) Rehearse(ctx context.Context, lines []string, at time.Time, path string, show func(Stage)) (Result, error) {
	headlines, err := m.inPlace(lines)
	if err != nil {
		return Result{}, err
	}
	r, err := m.make(ctx, order{at, path, headlines, show})
	if err == nil {
		m.tell("bulletin rehearsed", r)
	}
	return r, err
}

// Read returns the headlines that are read of lines, as they are read; the others wait.
// station.ErrInvalid as Script.
func Read(lines []string) ([]string, error) {
	text, err := fileOf(lines)
	if err != nil {
		return nil, err
	}
	read, _ := spoken(text, mostHeadlines)
	return read, nil
}

// inPlace returns how headlines are read that stand in the place of those of the file.
func (m *Maker) inPlace(lines []string) (func() ([]string, error), error) {
	text, err := fileOf(lines)
	switch {
	case err != nil:
		return nil, err
	case m.o.Headlines == "":
		return nil, errUnset
	}
	return func() ([]string, error) { return firstOf([]byte(text), filepath.Base(m.o.Headlines)) }, nil
}
