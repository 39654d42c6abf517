package find

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// forms splits a text into its folded words. Names with عبد are two words, as they are
// in Latin letters, and articles are none.
func forms(text string) (out []string) {
	for w := range strings.FieldsSeq(rotation.Fold(text)) {
		switch rest, is := strings.CutPrefix(w, "عبد"); {
		case is && rest != "الله" && utf8.RuneCountInString(rest) >= 3:
			out = append(out, "عبد", rest)
			continue
		case slices.Contains([]string{"abdel", "abdul", "abdal", "abd"}, w):
			out = append(out, "abd")
			continue
		}
		if rest, is := cutLatin(w, 4, "abdel", "abdul", "abdal"); is {
			out = append(out, "abd", rest)
			continue
		}
		out = append(out, w)
	}
	return out
}

// cutLatin removes one of the beginnings where so many letters are left.
func cutLatin(word string, left int, beginnings ...string) (string, bool) {
	for _, b := range beginnings {
		if rest, is := strings.CutPrefix(word, b); is && len(rest) >= left {
			return rest, true
		}
	}
	return word, false
}

func isArticle(w string) bool {
	return slices.Contains([]string{"al", "el", "il", "ul", "the", "ال"}, w)
}

// bare is a word without an article joined to it.
func bare(w string) string {
	if rest, is := strings.CutPrefix(w, "ال"); is && utf8.RuneCountInString(rest) >= 3 {
		return rest
	}
	if rest, is := cutLatin(w, 4, "al", "el"); is && !vowel(rest[0]) {
		return rest
	}
	return w
}

// indexed returns the words by which a text is found: with and without their articles.
func indexed(text string) (out []string) {
	for _, w := range forms(text) {
		out = append(out, w)
		if b := bare(w); b != w {
			out = append(out, b)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// queried returns the words of a query, each in the forms that it may stand in.
// Articles that stand alone are left out where there is another word.
func queried(text string) (out [][]string) {
	words := forms(text)
	if left := slices.DeleteFunc(slices.Clone(words), isArticle); len(left) > 0 {
		words = left
	}
	for _, w := range words[:min(len(words), mostWords)] {
		if b := bare(w); b != w && arabic(w) { // the index has both forms of a Latin word
			out = append(out, []string{w, b})
			continue
		}
		out = append(out, []string{w})
	}
	return out
}
