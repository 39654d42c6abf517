package arabic

import (
	"fmt"
	"time"

	"golang.org/x/text/unicode/norm"
)

// DateSentence tells a day in both calendars: weekday, Gregorian and Hijri date.
func DateSentence(day time.Time) string {
	h := HijriOf(day)
	text := "نَحْنُ فِي يَوْمِ " + weekdays[day.Weekday()] +
		"، " + Ordinal(day.Day(), Genitive) + " مِنْ " + months[day.Month()] + " سَنَةَ " + Year(day.Year()) +
		"، المُوَافِقِ " + Ordinal(h.Day, Accusative) + " مِنْ " + hijriMonths[h.Month] + " سَنَةَ " + Year(h.Year) + " لِلْهِجْرَةِ."
	return norm.NFC.String(text)
}

// weekdays are genitive, after يَوْمِ.
var weekdays = [7]string{"الأَحَدِ", "الاِثْنَيْنِ", "الثُّلَاثَاءِ", "الأَرْبِعَاءِ", "الخَمِيسِ", "الجُمُعَةِ", "السَّبْتِ"}

// months are those of Egypt, after مِنْ.
var months = [13]string{
	1: "يَنَايِرَ", "فِبْرَايِرَ", "مَارِسَ", "أَبْرِيلَ", "مَايُو", "يُونْيُو",
	"يُولْيُو", "أُغُسْطُسَ", "سِبْتَمْبِرَ", "أُكْتُوبَرَ", "نُوفَمْبِرَ", "دِيسَمْبِرَ",
}

// hijriMonths are genitive, after مِنْ.
var hijriMonths = [13]string{
	1: "المُحَرَّمِ", "صَفَرٍ", "رَبِيعٍ الأَوَّلِ", "رَبِيعٍ الآخِرِ", "جُمَادَى الأُولَى", "جُمَادَى الآخِرَةِ",
	"رَجَبٍ", "شَعْبَانَ", "رَمَضَانَ", "شَوَّالٍ", "ذِي القَعْدَةِ", "ذِي الحِجَّةِ",
}

// ordinals are the first to the tenth of a month without their endings; those in ي
// take only the fatha.
var ordinals = [11]string{
	1: "الأَوَّل", "الثَّانِي", "الثَّالِث", "الرَّابِع", "الخَامِس", "السَّادِس", "السَّابِع", "الثَّامِن", "التَّاسِع", "العَاشِر",
}

// Ordinal says the day of a month, 1 to 31, masculine and definite.
func Ordinal(n int, c Case) string {
	switch {
	case n < 1 || n > 31:
		panic(fmt.Sprintf("arabic: ordinal %d: only 1 to 31", n))
	case n <= 10:
		return ordinal(n, c)
	case n == 11:
		return "الحَادِيَ عَشَرَ"
	case n < 20: // both parts keep their fathas
		return ordinal(n-10, Accusative) + " عَشَرَ"
	}
	ten := "ال" + tens[n/10] + dual([2]string{"ُونَ", "ِينَ"}, c)
	if n/10 == 3 {
		ten = "الثَّلَاث" + dual([2]string{"ُونَ", "ِينَ"}, c)
	}
	switch n % 10 {
	case 0:
		return ten
	case 1:
		return "الحَادِي" + weak[c] + " وَ" + ten
	}
	return ordinal(n%10, c) + " وَ" + ten
}

// weak are the endings of a word in ي by case: only the fatha is heard.
var weak = [3]string{Accusative: "َ"}

func ordinal(n int, c Case) string {
	if n == 2 {
		return ordinals[n] + weak[c]
	}
	return ordinals[n] + construct[c]
}

// Year says a year, 1000 to 2999, in the genitive, as after سَنَةَ.
func Year(n int) string {
	if n < 1000 || n > 2999 {
		panic(fmt.Sprintf("arabic: year %d: only 1000 to 2999", n))
	}
	text := [3]string{1: "أَلْفٍ", 2: "أَلْفَيْنِ"}[n/1000]
	if hundreds := n / 100 % 10; hundreds > 0 {
		text += " وَ" + [10]string{
			1: "مِئَةٍ", "مِئَتَيْنِ", "ثَلَاثِمِئَةٍ", "أَرْبَعِمِئَةٍ", "خَمْسِمِئَةٍ", "سِتِّمِئَةٍ", "سَبْعِمِئَةٍ", "ثَمَانِمِئَةٍ", "تِسْعِمِئَةٍ",
		}[hundreds]
	}
	switch rest := n % 100; {
	case rest == 0:
		return text
	case rest == 1:
		return text + " وَوَاحِدَةٍ"
	case rest < 10:
		return text + " وَ" + joined(beforeTens(rest, Feminine, Genitive))
	case rest == 10:
		return text + " وَعَشْرٍ"
	default:
		return text + " وَ" + joined(upTo99(rest, Feminine, Genitive))
	}
}
