package station

import (
	"errors"
	"strings"
)

// Kinds of error: wrap one with %w where a caller decides by it. Status has the HTTP
// status of each.
var (
	ErrNotFound    = errors.New("not found")      // unknown id: 404
	ErrInvalid     = errors.New("invalid")        // a field is wrong: 422
	ErrConflict    = errors.New("conflict")       // state forbids it: 409
	ErrUnavailable = errors.New("unavailable")    // a part is down: 503
	ErrFull        = errors.New("no more places") // a part takes no more: 507
	ErrTooLarge    = errors.New("too large")      // 413
	ErrUnauthentic = errors.New("unauthorized")   // missing or wrong key: 401
	ErrForbidden   = errors.New("forbidden")      // known, and not allowed: 403
	// ErrInternal is a fault of the other side, which answers: another try may fail as well.
	// Only what another program answered is of this kind: 500.
	ErrInternal = errors.New("internal fault")
)

// Reason is the text of an error for people. It leaves out the kinds that add
// nothing to the text before them ("two refreshes at once: conflict"); "not found"
// and "too large" name the fault, and stay.
func Reason(err error) string {
	text := err.Error()
	for _, kind := range []error{ErrInvalid, ErrConflict, ErrUnavailable, ErrUnauthentic, ErrForbidden, ErrInternal} {
		if !errors.Is(err, kind) {
			continue
		}
		name := kind.Error()
		if before, ok := strings.CutSuffix(text, ": "+name); ok {
			text = before
		} else if after, ok := strings.CutPrefix(text, name+": "); ok {
			text = after
		} else {
			text = strings.Replace(text, ": "+name+": ", ": ", 1)
		}
	}
	return text
}
