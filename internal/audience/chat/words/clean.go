// Package words judges what listeners write: it cleans names and texts, knows the names
// that only the staff may use, finds the words of the operator's list in any spelling,
// and finds links.
//
// It is pure: it stores nothing and does not decide who may write.
package words

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/kit/emoji"
)

// The longest name and text in grapheme clusters, which is what a reader counts
// as characters.
const (
	LongestName = 40
	LongestText = 1000
)

const (
	// longestNameBytes and longestTextBytes bound what is kept, longestInput what is
	// cleaned at all, in bytes.
	longestNameBytes = 240
	longestTextBytes = 4000
	longestInput     = 16 << 10
	// mostLines is how many line breaks a text keeps.
	mostLines = 20
	// mostMarks is how many marks a letter keeps: shadda, a vowel, a small alef
	// and one to spare. More would cover the lines above (Zalgo).
	mostMarks = 4
)

// Name returns a name as it is kept: one line without invisible characters; false when
// nothing visible is left or it is too long.
func Name(s string) (string, bool) {
	s, ok := stable(s, false)
	return s, ok && visible(s) && len(s) <= longestNameBytes && uniseg.GraphemeClusterCount(s) <= LongestName
}

// Text returns a text as it is kept, with its line breaks as \n and no more than
// one empty line at a time; false when it is too long. It may be empty.
func Text(s string) (string, bool) {
	s, ok := stable(s, true)
	if !visible(s) {
		s = ""
	}
	return s, ok && len(s) <= longestTextBytes && uniseg.GraphemeClusterCount(s) <= LongestText
}

// stable cleans until nothing changes any more: removing a character can join its
// neighbours into one cluster.
func stable(s string, lines bool) (string, bool) {
	if len(s) > longestInput {
		return "", false
	}
	for range 8 {
		next := once(s, lines)
		if next == s {
			return s, true
		}
		s = next
	}
	return "", false // nobody types such a text
}

func once(s string, lines bool) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\r\n", "\n")
	s = norm.NFC.String(s)
	all := make([]char, 0, len(s))
	for state := -1; s != ""; {
		var cluster string
		cluster, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		whole := false
		if len(cluster) > 2 { // no emoji is shorter
			_, whole = emoji.Full(cluster)
		}
		for _, r := range cluster {
			all = append(all, char{r, whole})
		}
	}
	w := writer{lines: lines}
	for i, c := range all {
		var next char
		if i+1 < len(all) {
			next = all[i+1]
		}
		w.take(c, next)
	}
	return w.done()
}

// char is a code point, and whether it belongs to an emoji.
type char struct {
	r     rune
	emoji bool
}

// writer collects the characters that may stay.
type writer struct {
	out   []rune
	marks int  // on the last letter
	lines bool // whether line breaks stay
	n     int  // line breaks so far
}

func (w *writer) last() rune {
	if len(w.out) == 0 {
		return ' '
	}
	return w.out[len(w.out)-1]
}

func (w *writer) take(c, next char) {
	switch {
	case c.emoji:
		w.keep(c.r)
	case breaksLine(c.r):
		w.newline()
	case blank(c.r):
		if last := w.last(); last != ' ' && last != '\n' {
			w.keep(' ')
		}
	case c.r == zwnj || c.r == zwj:
		if w.joins(c.r, next) {
			w.out = append(w.out, c.r)
		}
	case direction(c.r):
		// Arabic keyboards have them, but a line of nothing else is abuse.
		if w.lines && !direction(w.last()) && w.last() != ' ' && w.last() != '\n' {
			w.keep(c.r)
		}
	case c.r == 0xFE0E || c.r == 0xFE0F:
		if unicode.IsSymbol(w.last()) {
			w.out = append(w.out, c.r)
		}
	case unicode.In(c.r, unicode.M):
		w.mark(c.r)
	case shown(c.r):
		w.keep(c.r)
	}
}

func (w *writer) keep(r rune) { w.out, w.marks = append(w.out, r), 0 }

func (w *writer) newline() {
	if !w.lines || w.n >= mostLines {
		w.take(char{r: ' '}, char{})
		return
	}
	for w.last() == ' ' && len(w.out) > 0 {
		w.out = w.out[:len(w.out)-1]
	}
	if n := len(w.out); n == 0 || (n > 1 && w.out[n-1] == '\n' && w.out[n-2] == '\n') {
		return
	}
	w.n++
	w.keep('\n')
}

// mark keeps a mark that follows a letter, up to mostMarks.
func (w *writer) mark(r rune) {
	last := w.last()
	if w.marks >= mostMarks || unicode.In(r, unicode.Me) || unseen(r) || last == ' ' || last == '\n' || direction(last) {
		return
	}
	w.out = append(w.out, r)
	w.marks++
}

// joins reports whether a joiner has an effect: between letters of scripts that join, or
// in an emoji sequence that is newer than the list of emoji.
func (w *writer) joins(r rune, next char) bool {
	last := w.last()
	if last == zwj || last == zwnj {
		return false
	}
	letters := joining(last) && joining(next.r)
	pictures := unicode.IsSymbol(last) || last == 0xFE0F
	return letters || (r == zwj && pictures && unicode.IsSymbol(next.r))
}

func (w *writer) done() string {
	return strings.TrimFunc(string(w.out), func(r rune) bool { return r == ' ' || r == '\n' || r == zwj || r == zwnj || direction(r) })
}

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

func direction(r rune) bool { return r == '\u200e' || r == '\u200f' || r == '\u061c' }

func joining(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
}

func breaksLine(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// blank reports whether a character looks like a space or like nothing; Unicode does not
// classify all of these as spaces.
func blank(r rune) bool {
	return r == '\t' || unicode.In(r, unicode.Zs) || r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0 || r == 0x2800
}

// unseen reports whether a mark is always invisible.
func unseen(r rune) bool {
	return r == 0x034F || r == 0x17B4 || r == 0x17B5 || (r >= 0x180B && r <= 0x180F) || (r >= 0xFE00 && r <= 0xFE0F) || (r >= 0xE0100 && r <= 0xE01EF)
}

// shown reports whether a character has a shape. Unassigned ones have none, except in
// the range where new emoji are added.
func shown(r rune) bool {
	if unicode.In(r, unicode.Cf) {
		return (r >= 0x0600 && r <= 0x0605) || r == 0x06DD || r == 0x08E2 // Arabic number and verse signs
	}
	return unicode.IsGraphic(r) || (r >= 0x1F000 && r <= 0x1FBFF)
}

func visible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) || (r >= 0x1F000 && r <= 0x1FBFF)
	})
}
