// Package negotiate reads what a client's headers ask for: an encoding, or an answer only where it
// is another than the client has.
package negotiate

import (
	"strconv"
	"strings"
)

// Accepts reports whether an Accept-Encoding (RFC 9110, 12.5.3) names a coding with a weight
// above zero.
func Accepts(accept, coding string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		name, weight, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		value, given := strings.CutPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
		q, err := strconv.ParseFloat(value, 64)
		return !given || err == nil && q > 0
	}
	return false
}

// Has reports whether an If-None-Match names a tag: the client has the answer. Tags are compared
// weakly (RFC 9110, 13.1.2).
func Has(noneMatch, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for part := range strings.SplitSeq(noneMatch, ",") {
		named := strings.TrimSpace(part)
		if named == "*" || strings.TrimPrefix(named, "W/") == tag {
			return true
		}
	}
	return false
}
