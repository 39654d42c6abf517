package speech

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxText is the longest text that is spoken, in bytes: about two minutes of
// Arabic with its tashkeel, and what one message to the online voices may hold.
const MaxText = 4000

// clean returns the text as engines get it: one line of valid UTF-8 without control and
// format characters (bidi marks, zero widths) and without the brackets that
// engines read as markup or phonemes.
func clean(text string) (string, error) {
	if len(text) > 4*MaxText {
		return "", fmt.Errorf("%w: it is %d bytes long, the limit is %d", ErrText, len(text), MaxText)
	}
	spoken := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r), strings.ContainsRune("<>[]{}|\\", r):
			return ' '
		case r == utf8.RuneError, unicode.Is(unicode.C, r): // control, format, private use, surrogate
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	spoken = strings.Join(strings.Fields(spoken), " ")
	switch n := letters(spoken); {
	case n == 0:
		return "", fmt.Errorf("%w: it has no letter or digit", ErrText)
	case len(spoken) > MaxText:
		return "", fmt.Errorf("%w: it is %d bytes long, the limit is %d", ErrText, len(spoken), MaxText)
	}
	return spoken, nil
}

// letters counts the letters that are heard. Vowel marks do not count; a digit counts as
// a word.
func letters(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			n++
		case unicode.IsDigit(r):
			n += 4
		}
	}
	return n
}
