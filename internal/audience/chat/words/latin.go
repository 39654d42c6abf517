package words

import (
	"regexp"
	"strings"
	"unicode"
)

// latinSpelling matches the ways in which an Arabic name is written in Latin
// letters, أثير as Athir, Atheer or Athyr; nil for a name that is not Arabic. It
// reads letters, not sounds: a name that only resembles another stays free. Both
// sides have no letter twice in a row.
func latinSpelling(name string) *regexp.Regexp {
	if !strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.Arabic, r) }) {
		return nil
	}
	var out strings.Builder
	for _, t := range tokens(name) {
		if !t.joined {
			out.WriteString(latinWord(single(t.key)))
		}
	}
	if out.Len() == 0 {
		return nil
	}
	return regexp.MustCompile("^" + out.String() + "$") // of a table and quoted letters
}

// latinWord is the expression for one word.
func latinWord(key string) string {
	const vowels = "[aeiou]*"
	var out strings.Builder
	if rest := withoutArticle(key); rest != key {
		out.WriteString("(?:[aeiu]?l)?") // its vowel may be one with the letter before
		key = rest
	}
	all := []rune(key)
	for i, r := range all {
		last := i > 0 && i == len(all)-1
		switch {
		case r == 'ا' && i == 0:
			out.WriteString("[aeiou]+")
		case r == 'ا':
			out.WriteString("[aeo]+")
		case strings.ContainsRune("عءئؤ", r):
			out.WriteString(vowels)
		case r == 'و':
			out.WriteString("[wvou]+" + vowels)
		case r == 'ي' && last:
			out.WriteString("[yiea]+")
		case r == 'ي':
			out.WriteString("[yieao]*[yie][yieao]*")
		case r == 'ه' && last:
			out.WriteString("(?:[ae]?h|[ae]t?)")
		default:
			sound, known := sounds()[r]
			if !known {
				sound = regexp.QuoteMeta(string(r))
			}
			out.WriteString("(?:" + sound + ")")
			if i < len(all)-1 && !strings.ContainsRune("اوي", all[i+1]) {
				out.WriteString(vowels)
			}
		}
	}
	return out.String()
}

// sounds are the Latin letters for those of Arabic that are always written.
func sounds() map[rune]string {
	return map[rune]string{
		'ب': "b|p", 'ت': "t", 'ث': "th", 'ج': "g|j|dj", 'ح': "h", 'خ': "kh|k", 'د': "d", 'ذ': "dh|z|d|th", 'ر': "r", 'ز': "z",
		'س': "s|c", 'ش': "sh|ch", 'ص': "s", 'ض': "d|dh", 'ط': "t", 'ظ': "z|dh|d|th", 'غ': "gh|g", 'ف': "f|v|ph", 'ق': "q|k|g|c",
		'ك': "k|c", 'ل': "l", 'م': "m", 'ن': "n", 'ه': "h",
	}
}

// single has no letter twice in a row.
func single(s string) string {
	var last rune
	return strings.Map(func(r rune) rune {
		if r == last {
			return -1
		}
		last = r
		return r
	}, s)
}

// odd reports a letter of a script in which nobody here writes, and which is full
// of shapes of other scripts: what Unicode calls of limited use, or excluded from
// identifiers (UAX 31).
func odd(r rune) bool {
	return unicode.IsLetter(r) && !unicode.In(r,
		unicode.Latin, unicode.Arabic, unicode.Common, unicode.Inherited, unicode.Greek, unicode.Cyrillic, unicode.Coptic, unicode.Hebrew,
		unicode.Syriac, unicode.Armenian, unicode.Georgian, unicode.Ethiopic, unicode.Tifinagh, unicode.Thaana, unicode.Devanagari,
		unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
		unicode.Malayalam, unicode.Sinhala, unicode.Thai, unicode.Lao, unicode.Tibetan, unicode.Myanmar, unicode.Khmer, unicode.Mongolian,
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul)
}
