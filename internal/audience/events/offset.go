package events

import (
	"strconv"
	"strings"
)

// offsetEpoch is how much of the epoch an offset holds: enough to tell epochs apart.
const offsetEpoch = 10

// Offset names the event at a mark to clients. It is short, for it goes out with each
// event.
func (m Mark) Offset() string { return m.prefix() + strconv.FormatUint(m.Seq, 36) }

func (m Mark) prefix() string { return m.Epoch[:min(len(m.Epoch), offsetEpoch)] + "." }

// Read returns the number of an offset; false where it is none, of another epoch than
// the mark's, or of an event beyond the mark.
func (m Mark) Read(offset string) (seq uint64, ok bool) {
	digits, ok := strings.CutPrefix(offset, m.prefix())
	if !ok {
		return 0, false
	}
	seq, err := strconv.ParseUint(digits, 36, 64)
	return seq, err == nil && seq <= m.Seq && strconv.FormatUint(seq, 36) == digits
}
