// Package emoji says what one emoji is: a member of Unicode's RGI_Emoji set
// (UTS #51, ED-27), version 17. Each is a single grapheme cluster (UAX #29) that
// every current system draws as one picture: keycaps, flags, skin tones and
// joined sequences included, as long as they are real ones.
//
// It finds no emoji in text, and draws none.
package emoji

import (
	_ "embed"
	"strings"
)

// all holds one emoji a line, in the order of their bytes without selectors.
// The data is Unicode's (© Unicode, Inc., Unicode License v3).
//
//go:embed rgi.txt
var all string

const (
	// selector is U+FE0F, which asks for a picture where the same character
	// also exists as text. Keyboards and programs are known to leave it out.
	selector = "\uFE0F"
	// longest emoji of the set in bytes, and so of what is looked for.
	longest = 35
)

// Valid reports whether s is exactly one emoji in its full form: "❤️" is, "❤"
// without its selector is text, and "❤️❤️" is two.
func Valid(s string) bool {
	full, ok := Full(s)
	return ok && full == s
}

// Full returns an emoji with every selector it should have, so that those who
// type ❤ and ❤️ mean the same one; false where s is no emoji either way.
func Full(s string) (string, bool) {
	if s == "" || len(s) > longest || strings.HasPrefix(s, selector) || strings.Contains(s, selector+selector) {
		return "", false
	}
	key := bare(s)
	low, high := 0, len(all) // both are starts of lines
	for low < high {
		start := low + (high-low)/2
		start = strings.LastIndexByte(all[:start], '\n') + 1
		start = max(start, low)
		line, _, _ := strings.Cut(all[start:], "\n")
		switch c := strings.Compare(bare(line), key); {
		case c == 0:
			return line, within(s, line)
		case c < 0:
			low = start + len(line) + 1
		default:
			high = start
		}
	}
	return "", false
}

func bare(s string) string { return strings.ReplaceAll(s, selector, "") }

// within reports that s has selectors only where full has them.
func within(s, full string) bool {
	for _, r := range full {
		if next, ok := strings.CutPrefix(s, string(r)); ok {
			s = next
		} else if string(r) != selector {
			return false
		}
	}
	return s == ""
}
