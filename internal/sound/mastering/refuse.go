package mastering

import "fmt"

// Reason is why a file was not mastered, for programs.
type Reason string

// The reasons. A file that is refused is never put on air.
const (
	Silent      Reason = "silent"
	TooQuiet    Reason = "too_quiet"
	TooShort    Reason = "too_short"
	TooLong     Reason = "too_long"
	Truncated   Reason = "truncated"
	Damaged     Reason = "damaged"
	NotAudio    Reason = "not_audio"   // and what has no sound track
	Unreachable Reason = "unreachable" // the loudness, under the peak limit
	Changed     Reason = "changed"     // while it was read
	InTheWay    Reason = "in_the_way"  // a file that is not ours has the output's name
)

// RefusedError says in plain words why a file was refused; any other error is
// not the file's fault.
type RefusedError struct {
	Reason Reason
	Text   string
}

func (e *RefusedError) Error() string { return e.Text }

func refuse(reason Reason, format string, args ...any) error {
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	return &RefusedError{reason, format}
}
