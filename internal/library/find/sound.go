package find

import (
	"slices"
	"strings"
	"unicode"
)

// reading is a word as it sounds: the classes of its consonants, a doubled one once, and
// the vowels written after each. A vowel at the beginning counts as the consonant A.
type reading struct {
	key  string
	gaps string // a mask of vowels for each consonant
}

// Vowels, as masks.
const (
	aa = 1 << iota
	uu
	ii
)

// first is the class of a vowel at the beginning of a word.
const first = 'A'

// silent in a list of classes says that the letter may not be heard.
const silent = '-'

// solid counts the consonants that are written as such.
func (r reading) solid() int { return len(r.key) - strings.Count(r.key, string(first)) }

// unit is a letter, or some, of a word: vowels, or consonants as they may sound.
type unit struct {
	classes string // a class each, with | between those of other readings; none for a vowel
	vowels  byte
}

// mostReadings bounds the readings of one word.
const mostReadings = 8

// arabic reports whether a folded word is written in Arabic letters.
func arabic(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Arabic, r) })
}

// readings returns how a folded word may sound; none for numbers, and where there is
// no consonant to go by.
func readings(word string) []reading {
	letters := []rune(word)
	if len(letters) > 40 {
		return nil
	}
	var units []unit
	switch {
	case arabic(word):
		units = arabicUnits(letters)
	case plainLatin(letters):
		units = latinUnits(letters)
	}
	out := []reading{{}}
	for _, u := range units {
		if u.classes == "" {
			for i := range out {
				out[i] = out[i].vowel(u.vowels)
			}
			continue
		}
		var next []reading
		for classes := range strings.SplitSeq(u.classes, "|") {
			for _, r := range out {
				if len(next) < mostReadings {
					next = append(next, r.consonants(classes, u.vowels))
				}
			}
		}
		out = next
	}
	return slices.DeleteFunc(out, func(r reading) bool { return r.solid() == 0 })
}

// vowel adds vowels after the last consonant.
func (r reading) vowel(v byte) reading {
	if n := len(r.gaps); n > 0 {
		r.gaps = r.gaps[:n-1] + string([]byte{r.gaps[n-1] | v})
	}
	return r
}

// consonants adds some, with vowels after the last.
func (r reading) consonants(classes string, v byte) reading {
	for _, class := range []byte(classes) {
		if class == silent && len(r.key) > 0 {
			continue
		}
		if class == silent {
			class = first
		}
		r = reading{r.key + string([]byte{class}), r.gaps + "\x00"}
	}
	return r.vowel(v)
}

// arabicClasses are the consonants of a folded Arabic word. Where the Latin spellings
// differ, a letter has several.
const arabicClasses = "ب=B ت=T ث=T|S ج=J|G ح=H خ=X د=D ذ=D|Z|T ر=R ز=Z س=S ش=C ص=S ض=D ط=T ظ=Z|D|T غ=G ف=F ق=K|G|- ك=K ل=L م=M ن=N"

func arabicUnits(letters []rune) (out []unit) {
	letters = []rune(strings.ReplaceAll(string(letters), "لله", "له")) // the only double that is written
	for i, r := range letters {
		switch {
		case i == 0 && (r == 'ا' || r == 'ع'):
			out = append(out, unit{classes: string(first)})
		case i == 0 && r == 'ي':
			out = append(out, unit{classes: "Y"})
		case i == 0 && r == 'و':
			out = append(out, unit{classes: "W"})
		case r == 'ا':
			out = append(out, unit{vowels: aa})
		case r == 'و':
			out = append(out, unit{vowels: uu})
		case r == 'ي':
			out = append(out, unit{vowels: ii})
		case r == 'ه' && i == len(letters)-1: // ة as well, and it may be silent
			out = append(out, unit{vowels: aa})
		case r == 'ه':
			out = append(out, unit{classes: "H"})
		default:
			if _, classes, ok := strings.Cut(arabicClasses, string(r)+"="); ok {
				classes, _, _ = strings.Cut(classes, " ")
				out = append(out, unit{classes: classes})
			}
		}
	}
	return out
}

// plainLatin reports whether a word is of Latin letters, with digits where Arabizi has
// them for letters.
func plainLatin(letters []rune) bool {
	some := false
	for _, r := range letters {
		switch {
		case r >= 'a' && r <= 'z':
			some = true
		case !strings.ContainsRune("236578 9", r):
			return false
		}
	}
	return some
}

// latinGroups are letters that sound together, and their classes; the first that fits holds.
const latinGroups = "sch=C sh=C|SH ch=C|K kh=X|KH gh=G th=T|TH dh=D|DH ph=F dj=J zh=J ck=K wh=W " +
	"b=B p=B t=T d=D j=J g=G r=R z=Z s=S f=F v=F k=K q=K|G l=L m=M n=N " +
	"5=X 6=T 7=H 8=G 9=S|K"

func latinUnits(letters []rune) (out []unit) {
	text := string(letters)
	for i := 0; i < len(text); {
		if i > 0 && text[i] == text[i-1] && !vowel(text[i]) {
			i++
			continue
		}
		u, n := latinUnit(text, i)
		if text[i] == 'x' {
			out = append(out, unit{classes: "K"})
		}
		out = append(out, u)
		i += n
	}
	return out
}

// latinUnit reads what stands at a place of a word, and how many letters it takes.
func latinUnit(text string, i int) (unit, int) {
	rest := text[i:]
	if u, n := latinVowel(rest, i == 0); n > 0 {
		return u, n
	}
	switch c := rest[0]; {
	case c == 'x':
		return unit{classes: "S"}, 1
	case c == 'c' && len(rest) > 1 && rest[1] != 'h' && rest[1] != 'k':
		if strings.IndexByte("eiy", rest[1]) >= 0 {
			return unit{classes: "S"}, 1
		}
		return unit{classes: "K"}, 1
	case rest == "c":
		return unit{classes: "K"}, 1
	case rest == "h" && i > 0 && vowel(text[i-1]): // warda and wardah
		return unit{classes: "-|H"}, 1
	case c == 'h':
		return unit{classes: "H"}, 1
	}
	for group := range strings.FieldsSeq(latinGroups) {
		if letters, classes, _ := strings.Cut(group, "="); strings.HasPrefix(rest, letters) {
			return unit{classes: classes}, len(letters)
		}
	}
	return unit{}, 1 // 2 and 3 in a word: hamza and ain
}

func vowel(c byte) bool { return strings.IndexByte("aeiouyw", c) >= 0 }

// latinVowel reads a vowel, or w and y, which sound as consonants at the beginning; 0
// letters when there is none.
func latinVowel(rest string, begin bool) (unit, int) {
	follows := len(rest) > 1 && vowel(rest[1])
	if begin {
		switch c := rest[0]; {
		case c == 'w':
			return unit{classes: "W"}, 1
		case c == 'y' && follows:
			return unit{classes: "Y"}, 1
		case strings.HasPrefix(rest, "ou") && len(rest) > 2 && strings.IndexByte("aei", rest[2]) >= 0: // ouarda
			return unit{classes: "W|A"}, 2
		case vowel(c):
			return unit{classes: string(first), vowels: latinMask(c)}, 1
		case c == '2' || c == '3':
			return unit{classes: string(first)}, 1
		}
		return unit{}, 0
	}
	if vowel(rest[0]) {
		return unit{vowels: latinMask(rest[0])}, 1
	}
	return unit{}, 0
}

func latinMask(c byte) byte {
	switch c {
	case 'a':
		return aa
	case 'e':
		return aa | ii
	case 'o', 'u', 'w':
		return uu
	}
	return ii
}

// alike reports whether the vowels of two readings may be those of one word. The
// consonants of the first begin the second. What stands after the last consonant of
// either does not count: it is written or not, or not typed yet.
func alike(a reading, aArabic bool, b reading, bArabic bool) bool {
	n := len(a.key)
	if len(b.key) == 1 && n == 1 {
		return a.gaps == b.gaps && a.gaps[0] != 0 || aArabic != bArabic && written(a.gaps[0], b.gaps[0], aArabic) && a.gaps[0] != 0 && b.gaps[0] != 0
	}
	misses := 0
	for i := range n - 1 {
		x, y := a.gaps[i], b.gaps[i]
		switch {
		case aArabic && bArabic:
			if x != y {
				return false
			}
		case aArabic != bArabic:
			if !written(x, y, aArabic) {
				return false
			}
		case x != 0 && y != 0 && x&y == 0:
			misses++
		}
	}
	return misses == 0 || misses == 1 && n >= 4
}

// written reports whether the vowels of the Arabic one of two are in the Latin one.
func written(a, b byte, aArabic bool) bool {
	if !aArabic {
		a, b = b, a
	}
	return a&^b == 0
}
