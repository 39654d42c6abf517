package arabic

import (
	"fmt"

	"golang.org/x/text/unicode/norm"
)

// MostCounted is the largest number Count knows.
const MostCounted = 199

// units are three to ten without their endings, as they count feminine nouns
// and as they count masculine ones: the number takes the other gender.
var units = [2][11]string{
	Masculine: {3: "ثَلَاثَة", "أَرْبَعَة", "خَمْسَة", "سِتَّة", "سَبْعَة", "ثَمَانِيَة", "تِسْعَة", "عَشَرَة"},
	Feminine:  {3: "ثَلَاث", "أَرْبَع", "خَمْس", "سِتّ", "سَبْع", "ثَمَانِي", "تِسْع", "عَشْر"},
}

// tens are twenty to ninety without their endings.
var tens = [10]string{2: "عِشْر", "ثَلَاث", "أَرْبَع", "خَمْس", "سِتّ", "سَبْع", "ثَمَان", "تِسْع"}

// Endings by case: of a word that another completes, and of one that stands
// alone and may grow an alif.
var (
	construct = [3]string{"ُ", "َ", "ِ"}
	alone     = [3]string{"ٌ", "ً", "ٍ"}
	aloneAlif = [3]string{"ٌ", "ًا", "ٍ"}
)

// Count says n things, 0 to MostCounted, number and noun in their agreement.
// Zero is said without the noun.
func Count(n int, noun Noun, c Case) string {
	if n < 0 || n > MostCounted {
		panic(fmt.Sprintf("arabic: count %d: only 0 to %d", n, MostCounted))
	}
	// An ending joined to a doubled letter is in typing order: shadda first.
	return norm.NFC.String(count(n, noun, c))
}

func count(n int, noun Noun, c Case) string {
	switch {
	case n == 0:
		return "صِفْر" + aloneAlif[c]
	case n >= 100:
		return hundred(n-100, noun, c)
	case n == 1:
		return noun.Singular[c] + " " + one(noun.Gender, c)
	case n == 2:
		return dual(noun.Dual, c)
	case n <= 10:
		return unit(n, noun.Gender, c) + " " + noun.Plural
	}
	return upTo99(n, noun.Gender, c) + " " + noun.Singular[Accusative]
}

// one agrees with its noun like an adjective.
func one(g Gender, c Case) string {
	if g == Feminine {
		return "وَاحِدَة" + alone[c]
	}
	return "وَاحِد" + aloneAlif[c]
}

// unit is three to ten before the plural it counts.
func unit(n int, g Gender, c Case) string {
	if n == 8 && g == Feminine { // a weak ending: only the fatha is heard
		return "ثَمَانِي" + [3]string{Accusative: "َ"}[c]
	}
	return units[g][n] + construct[c]
}

// upTo99 is eleven to ninety-nine without the noun.
func upTo99(n int, g Gender, c Case) string {
	if n < 20 {
		return teen(n, g, c)
	}
	ten := tens[n/10] + dual([2]string{"ُونَ", "ِينَ"}, c)
	if n%10 == 0 {
		return ten
	}
	return beforeTens(n%10, g, c) + " وَ" + ten
}

// teen is eleven to nineteen. All but twelve keep their fathas in every case.
func teen(n int, g Gender, c Case) string {
	ten := [2]string{Masculine: "عَشَرَ", Feminine: "عَشْرَةَ"}[g]
	switch n {
	case 11:
		return [2]string{Masculine: "أَحَدَ ", Feminine: "إِحْدَى "}[g] + ten
	case 12:
		if g == Feminine {
			return dual([2]string{"اِثْنَتَا ", "اِثْنَتَيْ "}, c) + ten
		}
		return dual([2]string{"اِثْنَا ", "اِثْنَيْ "}, c) + ten
	}
	return units[g][n-10] + "َ " + ten
}

// beforeTens is one to nine as in "three and twenty".
func beforeTens(n int, g Gender, c Case) string {
	switch {
	case n == 1 && g == Feminine:
		return "إِحْدَى"
	case n == 1:
		return one(g, c)
	case n == 2 && g == Feminine:
		return dual([2]string{"اِثْنَتَانِ", "اِثْنَتَيْنِ"}, c)
	case n == 2:
		return dual([2]string{"اِثْنَانِ", "اِثْنَيْنِ"}, c)
	case n == 8 && g == Feminine:
		return [3]string{"ثَمَانٍ", "ثَمَانِيًا", "ثَمَانٍ"}[c]
	case g == Feminine:
		return units[g][n] + aloneAlif[c]
	}
	return units[g][n] + alone[c]
}

// hundred is a hundred and rest things.
func hundred(rest int, noun Noun, c Case) string {
	whole := "مِئَة" + construct[c] + " " + noun.Singular[Genitive]
	switch rest {
	case 0:
		return whole
	case 1:
		return whole + " وَ" + noun.Singular[c]
	case 2:
		return whole + " وَ" + dual(noun.Dual, c)
	}
	return "مِئَة" + alone[c] + " وَ" + joined(count(rest, noun, c))
}
