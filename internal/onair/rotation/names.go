package rotation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns the form in which names are compared (DESIGN *Names*): Unicode
// compatibility form, no case, no tashkeel, no tatweel or other marks; alef,
// hamza, ya and ta marbuta unified; Persian and borrowed letters and digits as
// their Arabic and ASCII equivalents; عبد joined with the next word, because
// عبد الحليم and عبدالحليم are the same name; punctuation as spaces.
func Fold(s string) string { return strings.Join(joinAbd(words(s, false)), " ") }

// ArtistKeys splits a collaboration and returns each artist's key, sorted and
// without duplicates; none for an unknown artist. A key is the folded name
// without its article.
//
// Feat., ft., &, x, و, مع, vs, commas, semicolons and spaced slashes separate.
// A و joined to a name (وائل, وردة) does not: too many names begin with it.
func ArtistKeys(artist string) []string {
	var keys []string
	var name []string
	flush := func() {
		if key := stripArticle(strings.Join(joinAbd(name), " ")); key != "" {
			keys = append(keys, key)
		}
		name = nil
	}
	all := words(artist, true)
	for i, w := range all {
		switch w {
		case mark, "feat", "ft", "featuring", "vs":
			flush()
		case "و", "مع", "x":
			if len(name) > 0 && i+1 < len(all) && all[i+1] != mark {
				flush()
			} else {
				name = append(name, w)
			}
		default:
			name = append(name, w)
		}
	}
	flush()
	slices.Sort(keys)
	return slices.Compact(keys)
}

// mark represents a separator that is not a word.
const mark = "\x00"

// words folds s and splits it; with marks, separators appear as mark.
func words(s string, marks bool) []string {
	var b strings.Builder
	s = strings.ToValidUTF8(s, " ")
	s = strings.ReplaceAll(s, " / ", ";")
	for _, r := range norm.NFKD.String(s) {
		switch {
		case strings.ContainsRune("&,،;؛+×|", r):
			if marks {
				b.WriteString(" " + mark + " ")
			} else {
				b.WriteByte(' ')
			}
		case r == 'ء' || r == 'ـ' || unicode.In(r, unicode.Mn, unicode.Cf, unicode.Lm) || r == '\'' || r == '’' || r == 0:
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.Mc):
			b.WriteRune(letter(r))
		case unicode.IsSymbol(r) && r > unicode.MaxLatin1:
			b.WriteRune(r) // an artist may be called ♥
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Fields(b.String())
}

// letter unifies what NFKD does not: أ إ آ ؤ ئ have lost their hamza already.
func letter(r rune) rune {
	switch r {
	case 'ٱ':
		return 'ا'
	case 'ى', 'ی', 'ې':
		return 'ي'
	case 'ة', 'ۀ', 'ہ', 'ە':
		return 'ه'
	case 'ک', 'ڪ', 'گ':
		return 'ك'
	case 'ڤ':
		return 'ف'
	case 'پ':
		return 'ب'
	case 'چ':
		return 'ج'
	}
	switch {
	case r >= '٠' && r <= '٩':
		return '0' + r - '٠'
	case r >= '۰' && r <= '۹':
		return '0' + r - '۰'
	}
	return unicode.ToLower(r)
}

// joinAbd joins عبد with the word after it.
func joinAbd(w []string) []string {
	out := w[:0:0]
	for i := 0; i < len(w); i++ {
		if w[i] == "عبد" && i+1 < len(w) && w[i+1] != mark {
			out = append(out, w[i]+w[i+1])
			i++
			continue
		}
		out = append(out, w[i])
	}
	return out
}

// stripArticle removes a leading ال, or "the" from Latin names, if three letters or more
// remain.
func stripArticle(name string) string {
	for _, article := range []string{"ال", "the "} {
		if rest, ok := strings.CutPrefix(name, article); ok && utf8.RuneCountInString(rest) >= 3 {
			return rest
		}
	}
	return name
}

// hash is FNV-1a. Keys are compared by it; a collision costs one needless gap.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
