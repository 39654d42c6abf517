package station

import "errors"

// Kinds of error: wrap one with %w where a caller decides by it. The HTTP
// layer maps each to one status.
var (
	ErrNotFound    = errors.New("not found")    // unknown id: 404
	ErrInvalid     = errors.New("invalid")      // a field is wrong: 422
	ErrConflict    = errors.New("conflict")     // state forbids it: 409
	ErrUnavailable = errors.New("unavailable")  // a part is down: 503
	ErrTooLarge    = errors.New("too large")    // 413
	ErrUnauthentic = errors.New("unauthorized") // missing or wrong key: 401
	ErrForbidden   = errors.New("forbidden")    // known, and not allowed: 403
)
