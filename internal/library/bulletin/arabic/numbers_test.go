package arabic

import (
	"fmt"
	"strings"
	"testing"
)

// bareValues are the words of numbers without tashkeel, by what they add.
var bareValues = map[string]int{
	"صفر": 0, "صفرا": 0,
	"واحد": 1, "واحدا": 1, "واحدة": 1, "إحدى": 1, "أحد": 1,
	"اثنا": 2, "اثني": 2, "اثنتا": 2, "اثنتي": 2, "اثنان": 2, "اثنين": 2, "اثنتان": 2, "اثنتين": 2,
	"ثلاث": 3, "ثلاثا": 3, "ثلاثة": 3, "أربع": 4, "أربعا": 4, "أربعة": 4, "خمس": 5, "خمسا": 5, "خمسة": 5,
	"ست": 6, "ستا": 6, "ستة": 6, "سبع": 7, "سبعا": 7, "سبعة": 7,
	"ثمان": 8, "ثماني": 8, "ثمانيا": 8, "ثمانية": 8, "تسع": 9, "تسعا": 9, "تسعة": 9, "عشر": 10, "عشرة": 10,
	"عشرون": 20, "عشرين": 20, "ثلاثون": 30, "ثلاثين": 30, "أربعون": 40, "أربعين": 40, "خمسون": 50, "خمسين": 50,
	"ستون": 60, "ستين": 60, "سبعون": 70, "سبعين": 70, "ثمانون": 80, "ثمانين": 80, "تسعون": 90, "تسعين": 90, "مئة": 100,
}

// value adds up the words of a count; nouns in the singular or dual without a
// number of their own stand for one and two.
func value(t *testing.T, text string) int {
	t.Helper()
	sum, counted, words := 0, 0, strings.Fields(bare(text))
	for i, word := range words {
		v, ok := bareValues[word]
		if !ok {
			v, ok = bareValues[strings.TrimPrefix(word, "و")]
		}
		switch {
		case ok && v == 100 && i+1 < len(words) && (words[i+1] == "دقيقة" || words[i+1] == "كيلومتر"):
			sum, counted = sum+v, counted+1 // a hundred with a noun of its own
		case ok:
			sum += v
		case strings.HasSuffix(word, "تان") || strings.HasSuffix(word, "تين") || strings.HasSuffix(word, "ران") || strings.HasSuffix(word, "رين"):
			sum += 2
		case strings.HasPrefix(word, "و") && word != "واحد" && !strings.HasPrefix(word, "واحد"):
			sum++ // and a minute
		case word == "دقيقة" || word == "دقائق" || word == "كيلومتر" || word == "كيلومترا" || word == "كيلومترات":
		default:
			t.Errorf("%q: what is %q?", text, word)
		}
	}
	return sum
}

func TestNumbersAddUpAndAgree(t *testing.T) {
	var all strings.Builder
	for n := 0; n <= MostCounted; n++ {
		for _, noun := range []Noun{minute(), kilometre()} {
			for _, c := range []Case{Nominative, Accusative, Genitive} {
				got := Count(n, noun, c)
				fmt.Fprintln(&all, n, got)
				if v := value(t, got); v != n {
					t.Errorf("%d: %s is %d", n, got, v)
				}
				if word := unvowelled(got); word != "" {
					t.Errorf("%d: %s lacks tashkeel", n, word)
				}
				agrees(t, n, undoubled(got), noun, c)
			}
		}
	}
	golden(t, "numbers.golden", all.String())
}

// agrees holds a count to the grammars' rules, on the finished text.
func agrees(t *testing.T, n int, text string, noun Noun, c Case) {
	t.Helper()
	words := strings.Fields(text)
	last, r := words[len(words)-1], n%100
	wrong := func(rule string) { t.Errorf("%d: %q breaks: %s", n, text, rule) }

	// The noun's form.
	switch {
	case r >= 3 && r <= 10 && last != noun.Plural:
		wrong("three to ten count a plural in the genitive")
	case r >= 11 && last != noun.Singular[Accusative]:
		wrong("eleven to ninety-nine count a singular in the accusative")
	case n == 100 && last != noun.Singular[Genitive]:
		wrong("a hundred counts a singular in the genitive")
	}
	// The number's gender.
	ta := false // the unit ends in ta marbuta
	for _, w := range words {
		w = strings.TrimPrefix(bare(w), "و")
		if v := bareValues[w]; v >= 3 && v <= 9 {
			ta = strings.HasSuffix(w, "ة")
			if ta != (noun.Gender == Masculine) {
				wrong("three to nine take the other gender")
			}
		}
	}
	if r >= 11 && r <= 19 && strings.Contains(text, "عَشْرَةَ") != (noun.Gender == Feminine) {
		wrong("the ten of eleven to nineteen takes the noun's gender")
	}
	if r == 10 && strings.Contains(text, "عَشَرَة") != (noun.Gender == Masculine) {
		wrong("ten alone takes the other gender")
	}
	// The number's case.
	if r >= 20 && r <= 99 && strings.Contains(text, "ُونَ ") != (c == Nominative) {
		wrong("the tens end in ونَ as a subject, else in ينَ")
	}
	if (r == 12 || r == 22) && strings.Contains(bare(text), "اثن") && (strings.Contains(text, "نَا") || strings.Contains(text, "تَا")) != (c == Nominative) {
		wrong("two has an alif as a subject, else a ya")
	}
	if r >= 13 && r <= 19 && strings.Count(text, "ُ")+strings.Count(text, "ِ ") > 0 && n < 100 && !strings.Contains(text, "كِيلُومِتْر") {
		wrong("thirteen to nineteen keep their fathas")
	}
	if ending := [3]string{"ُ", "َ", "ِ"}[c]; n >= 3 && n <= 10 && n != 8 && !strings.HasSuffix(words[0], ending) {
		wrong("three to ten end by their case")
	}
}

func TestCountRefusesWhatItCannotSay(t *testing.T) {
	for _, n := range []int{-1, MostCounted + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Count(%d) says something", n)
				}
			}()
			Count(n, minute(), Nominative)
		}()
	}
}
