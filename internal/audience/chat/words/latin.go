package words

import (
	"regexp"
	"strings"
	"unicode"
)

// latinSpelling returns an expression for the ways to write an Arabic name in Latin
// letters, أثير as Athir, Atheer or Athyr; nil for a name that is not Arabic. It compares
// letters, not sounds, so a name that only sounds alike stays free. It matches names
// after single, which removes doubled letters.
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
	return regexp.MustCompile("^" + out.String() + "$") // valid: made of a table and quoted letters
}

// latinWord returns the expression for one word.
func latinWord(key string) string {
	const vowels = "[aeiou]*"
	var out strings.Builder
	if rest := withoutArticle(key); rest != key {
		out.WriteString("(?:[aeiu]?l)?") // its vowel may merge with the letter before
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

// sounds returns the Latin spellings of the Arabic letters that are always written.
func sounds() map[rune]string {
	return map[rune]string{
		'ب': "b|p", 'ت': "t", 'ث': "th", 'ج': "g|j|dj", 'ح': "h", 'خ': "kh|k", 'د': "d", 'ذ': "dh|z|d|th", 'ر': "r", 'ز': "z",
		'س': "s|c", 'ش': "sh|ch", 'ص': "s", 'ض': "d|dh", 'ط': "t", 'ظ': "z|dh|d|th", 'غ': "gh|g", 'ف': "f|v|ph", 'ق': "q|k|g|c",
		'ك': "k|c", 'ل': "l", 'م': "m", 'ن': "n", 'ه': "h",
	}
}

// single removes repeated letters.
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

// odd reports whether a letter is of a script that no listener writes and that has many
// lookalikes of other scripts: one that Unicode calls of limited use, or excludes from
// identifiers (UAX 31).
func odd(r rune) bool {
	return unicode.IsLetter(r) && !unicode.In(r,
		unicode.Latin, unicode.Arabic, unicode.Common, unicode.Inherited, unicode.Greek, unicode.Cyrillic, unicode.Coptic, unicode.Hebrew,
		unicode.Syriac, unicode.Armenian, unicode.Georgian, unicode.Ethiopic, unicode.Tifinagh, unicode.Thaana, unicode.Devanagari,
		unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
		unicode.Malayalam, unicode.Sinhala, unicode.Thai, unicode.Lao, unicode.Tibetan, unicode.Myanmar, unicode.Khmer, unicode.Mongolian,
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul)
}
