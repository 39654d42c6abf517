package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

// Field is one wrong field of a document or a patch.
type Field struct {
	Path string // as in ROTATION.BUFFER_MAX or DAYPARTS[2].weights.english; empty is the whole
	Want string // what would be right
}

// InvalidError names every field that is wrong. It wraps station.ErrInvalid.
type InvalidError struct{ Fields []Field }

// Error holds a line for each field.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns station.ErrInvalid.
func (e *InvalidError) Unwrap() error { return station.ErrInvalid }

// String is "path: want".
func (f Field) String() string {
	if f.Path == "" {
		return f.Want
	}
	return f.Path + ": " + f.Want
}

// mostWrong bounds what one error names: a document of one MiB may hold a
// hundred thousand wrong members.
const mostWrong = 200

// wrong collects the wrong fields of one document.
type wrong []Field

// full reports that no more wrong fields are collected.
func (w *wrong) full() bool { return len(*w) >= mostWrong }

func (w *wrong) add(path, format string, args ...any) {
	*w = append(*w, Field{path, fmt.Sprintf(format, args...)})
}

// take adds the fields that an error names: ours, or those which
// rotation.Config.Validate joined, "path: want: invalid" each.
func (w *wrong) take(err error) {
	var ours *InvalidError
	many, joined := err.(interface{ Unwrap() []error }) //nolint:errorlint // a list, not what wraps one
	switch {
	case err == nil:
	case errors.As(err, &ours):
		*w = append(*w, ours.Fields...)
	case joined:
		for _, one := range many.Unwrap() {
			w.take(one)
		}
	default:
		text := station.Reason(err)
		path, want, ok := strings.Cut(text, ": ")
		if !ok {
			path, want = "", text
		}
		w.add(path, "%s", want)
	}
}

func (w *wrong) err() error {
	if len(*w) == 0 {
		return nil
	}
	// A field may be found wrong twice, in the patch and in what it makes, or
	// its value wrong only because its type was.
	seen := map[string]bool{}
	fields := slices.DeleteFunc(slices.Clone(*w), func(f Field) bool {
		was := seen[f.Path]
		seen[f.Path] = f.Path != ""
		return was
	})
	return &InvalidError{fields}
}
