package station

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// trackIDBytes are enough that no two of a million tracks meet: 80 bits.
const trackIDBytes = 10

// TrackID is what addresses name a track by, made of its path: 16 small letters and digits. A
// path itself may hold anything, and tells of the station's folders.
func TrackID(path string) string {
	sum := sha256.Sum256([]byte(path))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:trackIDBytes]))
}

// IsTrackID reports whether text is written as TrackID writes.
func IsTrackID(text string) bool {
	const length = trackIDBytes * 8 / 5
	return len(text) == length && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
