package card

import (
	"slices"

	"github.com/go-text/typesetting/segmenter"
)

// setting is a size of type with the most lines it may take.
type setting struct {
	size  float64
	lines int
}

// word is a piece that a line may end after. Widths are those at the size measured.
type word struct {
	text        []rune
	width, bare float64 // with its space, and without
}

// block is a text in lines.
type block struct {
	rows []row
	size float64
	rtl  bool
}

// fit sets a text in the first setting whose lines it fits, whole words each; in the last one
// words are broken and what is left over is told by an ellipsis.
func (s *scribe) fit(text []rune, fonts faces, width float64, rtl bool, settings []setting) block {
	if len(text) == 0 {
		return block{}
	}
	rtl = rightToLeft(text, rtl)
	words := s.words(text, fonts, rtl)
	for i, set := range settings {
		within := width / set.size * measured
		lines := greedy(words, within)
		last := i == len(settings)-1
		if last && wider(words, within) {
			lines = greedy(s.broken(words, fonts, within, rtl), within)
		} else if !last && (len(lines) > set.lines || wider(words, within)) {
			continue
		}
		if len(lines) <= set.lines {
			return s.set(balanced(lines, within), nil, fonts, set.size, width, rtl)
		}
		return s.set(lines[:set.lines], lines[set.lines], fonts, set.size, width, rtl)
	}
	return block{}
}

// words divides a text where a line may end.
func (s *scribe) words(text []rune, fonts faces, rtl bool) (out []word) {
	s.breaks.Init(text)
	for it := s.breaks.LineIterator(); it.Next(); {
		out = append(out, s.measure(it.Line().Text, fonts, rtl))
	}
	return out
}

func (s *scribe) measure(text []rune, fonts faces, rtl bool) word {
	w := word{text: slices.Clone(text)}
	w.width = s.shape(w.text, fonts, measured, rtl).width
	w.bare = w.width
	if bare := trimmed(w.text); len(bare) < len(w.text) {
		w.bare = s.shape(bare, fonts, measured, rtl).width
	}
	return w
}

// broken breaks the words that are wider than a line between what a reader takes for letters.
func (s *scribe) broken(words []word, fonts faces, within float64, rtl bool) (out []word) {
	for _, w := range words {
		if w.bare <= within {
			out = append(out, w)
			continue
		}
		var letters segmenter.Segmenter
		letters.Init(w.text)
		for it := letters.GraphemeIterator(); it.Next(); {
			out = append(out, s.measure(it.Grapheme().Text, fonts, rtl))
		}
	}
	return out
}

func wider(words []word, within float64) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.bare > within })
}

// greedy fills line after line.
func greedy(words []word, within float64) (lines [][]word) {
	x := 0.0
	for _, w := range words {
		if len(lines) == 0 || x+w.bare > within {
			lines = append(lines, nil)
			x = 0
		}
		x += w.width
		lines[len(lines)-1] = append(lines[len(lines)-1], w)
	}
	return lines
}

// balanced makes lines of about one length out of as many: no word stands alone at the end.
func balanced(lines [][]word, within float64) [][]word {
	words := slices.Concat(lines...)
	least, most := 0.0, within
	for _, w := range words {
		least = max(least, w.bare)
	}
	for range 12 {
		mid := (least + most) / 2
		if next := greedy(words, mid); len(next) <= len(lines) {
			lines, most = next, mid
		} else {
			least = mid
		}
	}
	return lines
}

// set shapes lines anew, each as a whole: letters join across the pieces they were measured in.
func (s *scribe) set(lines [][]word, rest []word, fonts faces, size, width float64, rtl bool) block {
	out := block{size: size, rtl: rtl}
	for i, words := range lines {
		var text []rune
		for _, w := range words {
			text = append(text, w.text...)
		}
		text = trimmed(text)
		if i == len(lines)-1 && rest != nil {
			text = s.shortened(text, fonts, size, width, rtl)
		}
		r := s.shape(text, fonts, size, rtl)
		if r.width > width { // pieces that join are rarely wider than they were apart
			r = s.shape(text, fonts, size*width/r.width, rtl)
		}
		out.rows = append(out.rows, r)
	}
	return out
}

// shortened ends a line with an ellipsis.
func (s *scribe) shortened(text []rune, fonts faces, size, width float64, rtl bool) []rune {
	for {
		with := append(slices.Clone(trimmed(text)), ellipsis)
		if len(text) == 0 || s.shape(with, fonts, size, rtl).width <= width {
			return with
		}
		text = text[:len(text)-1]
	}
}

// trimmed is a text without the space and the marks of a break at its end.
func trimmed(text []rune) []rune {
	for len(text) > 0 && (text[len(text)-1] == ' ' || text[len(text)-1] == zwj) {
		text = text[:len(text)-1]
	}
	return text
}
