package station

import "errors"

// statuses is the one table of kinds of error and HTTP statuses, for every server and every
// client of the station. The first row that fits an error, or a status, holds.
func statuses() []kindStatus {
	return []kindStatus{
		{ErrNotFound, 404},
		{ErrInvalid, 422},
		{ErrConflict, 409},
		{ErrTooLarge, 413},
		{ErrUnauthentic, 401},
		{ErrForbidden, 403},
		{ErrUnavailable, 503},
		{ErrFull, 507}, // not 503, which says that another try may succeed at once
		{ErrInternal, 500},
		// Only as an answer: said by a proxy, by a limit, or of a body that cannot be read.
		{ErrInvalid, 400},
		{ErrUnavailable, 429},
		{ErrUnavailable, 502},
		{ErrUnavailable, 504},
	}
}

type kindStatus struct {
	kind   error
	status int
}

// Status is the HTTP status that tells of an error; one of no kind is internal.
func Status(err error) int {
	for _, row := range statuses() {
		if errors.Is(err, row.kind) {
			return row.status
		}
	}
	return 500 // internal server error
}

// KindOf is the kind of error that an HTTP status from 400 on tells of. One that the station
// does not answer with is a fault of one side: the same question gets the same answer.
func KindOf(status int) error {
	for _, row := range statuses() {
		if row.status == status {
			return row.kind
		}
	}
	return ErrInternal
}

// faultTries is how often what meets a fault of the other side is tried: one that a moment
// explains, a locked database say, is over by then.
const faultTries = 10

// Again reports that what has failed so often in a row, the last time with err, is worth
// another try: always where the other side is away, a few times where it has a fault, and not
// where it refuses.
func Again(err error, failures int) bool {
	return errors.Is(err, ErrUnavailable) || failures < faultTries && Status(err) == 500
}
