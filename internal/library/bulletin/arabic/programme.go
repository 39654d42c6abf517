package arabic

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Coming is a song that comes up.
type Coming struct{ Title, Artist string }

func song() Noun {
	return Noun{
		Feminine, [3]string{"أُغْنِيَةٌ", "أُغْنِيَةً", "أُغْنِيَةٍ"},
		[2]string{"أُغْنِيَتَانِ", "أُغْنِيَتَيْنِ"}, "أُغْنِيَاتٍ",
	}
}

// ProgrammeSentences say what comes up: how many songs of the next hour are Arabic and
// how many English, then by name those that an Arabic voice can read, in their order.
// Negative counts are none; more than Count knows are left out.
func ProgrammeSentences(arabic, english int, next []Coming) []string {
	var out, kinds []string
	if arabic > 0 && arabic <= MostCounted {
		kinds = append(kinds, Count(arabic, song(), Nominative)+" "+adjective(arabic, "عَرَبِيَّة"))
	}
	if english > 0 && english <= MostCounted {
		kinds = append(kinds, Count(english, song(), Nominative)+" "+adjective(english, "إِنْجِلِيزِيَّة"))
	}
	if len(kinds) > 0 {
		out = append(out, "فِي السَّاعَةِ القَادِمَةِ "+strings.Join(kinds, " وَ")+".")
	}
	opening := "بَعْدَ قَلِيلٍ تَسْتَمِعُونَ إِلَى "
	for _, c := range next {
		if !readable(c.Title) || c.Artist != "" && !readable(c.Artist) {
			continue
		}
		text := opening + spoken(c.Title)
		if c.Artist != "" {
			text += "، مَعَ " + spoken(c.Artist)
		}
		out, opening = append(out, text+"."), "ثُمَّ "
	}
	for i := range out {
		out[i] = norm.NFC.String(out[i])
	}
	return out
}

// adjective agrees with n counted feminine nouns, in number and case, as the subject;
// root is its feminine without ending.
func adjective(n int, root string) string {
	switch r := n % 100; {
	case r == 1:
		return root + "ٌ"
	case r == 2:
		return strings.TrimSuffix(root, "ة") + "تَانِ"
	case n == 100, r >= 3 && r <= 10:
		return root + "ٍ"
	}
	return root + "ً"
}

// readable reports a name that an Arabic voice can read: in Arabic letters, with
// digits at most beside them, and not too long to be remembered.
func readable(name string) bool {
	letters := 0
	for _, r := range name {
		switch {
		case unicode.Is(unicode.Arabic, r) && unicode.IsLetter(r):
			letters++
		case unicode.IsLetter(r):
			return false
		}
	}
	return letters > 1 && len([]rune(name)) <= 60
}

// spoken is a name without what is not said: brackets and what they hold, marks.
func spoken(name string) string {
	var b strings.Builder
	depth := 0
	for _, r := range name {
		switch {
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth = max(depth-1, 0)
		case depth > 0:
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.Mn, r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
