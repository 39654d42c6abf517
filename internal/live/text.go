package live

import (
	"strings"
	"unicode"
)

// mostMarks may sit on one letter: an Arabic one has two or three, and a tower of them would
// cover the lines above.
const mostMarks = 4

// Line is text from outside on one line, without what would make it look like another:
// what is Hidden goes, as do marks that have no letter or are too many on one, and white
// space is single spaces. Where nothing is left to see it is empty.
func Line(text string) string {
	var before rune
	marks, seen := mostMarks, false
	text = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			c, marks = ' ', mostMarks
		case Hidden(c):
			return -1
		case c == asEmoji:
			if !unicode.IsSymbol(before) && !strings.ContainsRune("#*0123456789\u203c\u2049\u3030", before) {
				return -1
			}
		case unicode.IsMark(c):
			if marks == mostMarks {
				return -1
			}
			marks++
		case !weightless(c):
			marks, seen = 0, true
		}
		before = c
		return c
	}, strings.ToValidUTF8(text, ""))
	if !seen {
		return ""
	}
	return strings.Join(strings.Fields(text), " ")
}

// asEmoji shows the symbol before it as an emoji.
const asEmoji = 0xFE0F

// Hidden reports characters that are not seen, or are blank, and change what is: control
// characters, marks that turn the direction of what follows, spaces of no width, fillers,
// selectors of variants. Those that are weightless are not among them, nor U+FE0F, as names
// with an emoji have it.
func Hidden(c rune) bool {
	switch {
	case weightless(c), c == asEmoji:
		return false
	case unicode.IsControl(c), unicode.In(c, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return true
	case c == 0x2800: // Braille without a dot
		return true
	}
	return unicode.Is(unicode.Cf, c) && !unicode.Is(unicode.Prepended_Concatenation_Mark, c)
}

// weightless reports what is not seen and yet needed: joiners, by Persian, Urdu and emoji, and
// the marks of direction that turn only themselves, by Arabic beside Latin.
func weightless(c rune) bool { return c >= 0x200C && c <= 0x200F || c == 0x061C }
