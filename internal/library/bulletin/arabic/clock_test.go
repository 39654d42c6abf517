package arabic

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// The golden files were read by a reader of Arabic; -update writes them anew,
// to be read again.
var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	wants, gots := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range min(len(wants), len(gots)) {
		if wants[i] != gots[i] {
			t.Fatalf("%s, line %d:\n got %s\nwant %s", name, i+1, gots[i], wants[i])
		}
	}
	t.Fatalf("%s has %d lines, there are %d now", name, len(wants), len(gots))
}

// bare removes the tashkeel.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

// undoubled removes the shadda, which stands behind an ending in a normalised
// text, so that endings can be compared.
func undoubled(s string) string { return strings.ReplaceAll(s, "ّ", "") }

// The tables here are written without tashkeel and in full, so that they share
// no rule with the code.
var (
	bareHours = strings.Fields("الواحدة الثانية الثالثة الرابعة الخامسة السادسة السابعة الثامنة التاسعة العاشرة الحادية_عشرة الثانية_عشرة")
	barePast  = strings.Split("دقيقة واحدة|دقيقتان|ثلاث دقائق|أربع دقائق|خمس دقائق|ست دقائق|سبع دقائق|ثماني دقائق|تسع دقائق|عشر دقائق|"+
		"إحدى عشرة دقيقة|اثنتا عشرة دقيقة|ثلاث عشرة دقيقة|أربع عشرة دقيقة|الربع|ست عشرة دقيقة|سبع عشرة دقيقة|ثماني عشرة دقيقة|تسع عشرة دقيقة|الثلث|"+
		"إحدى وعشرون دقيقة|اثنتان وعشرون دقيقة|ثلاث وعشرون دقيقة|أربع وعشرون دقيقة|خمس وعشرون دقيقة|ست وعشرون دقيقة|سبع وعشرون دقيقة|ثمان وعشرون دقيقة|تسع وعشرون دقيقة|النصف|"+
		"إحدى وثلاثون دقيقة|اثنتان وثلاثون دقيقة|ثلاث وثلاثون دقيقة|أربع وثلاثون دقيقة|خمس وثلاثون دقيقة|ست وثلاثون دقيقة|سبع وثلاثون دقيقة|ثمان وثلاثون دقيقة|تسع وثلاثون دقيقة|-|"+
		"إحدى وأربعون دقيقة|اثنتان وأربعون دقيقة|ثلاث وأربعون دقيقة|أربع وأربعون دقيقة|-|ست وأربعون دقيقة|سبع وأربعون دقيقة|ثمان وأربعون دقيقة|تسع وأربعون دقيقة", "|")
	bareLacking = map[int]string{
		40: "ثلثا", 45: "ربعا", 50: "عشر دقائق", 51: "تسع دقائق", 52: "ثماني دقائق", 53: "سبع دقائق", 54: "ست دقائق",
		55: "خمس دقائق", 56: "أربع دقائق", 57: "ثلاث دقائق", 58: "دقيقتين", 59: "دقيقة واحدة",
	}
)

// expected builds a minute's sentence from the tables, without tashkeel.
func expected(hour, minute int) string {
	named, rest := hour, ""
	lacking, less := bareLacking[minute]
	switch {
	case less:
		named, rest = hour+1, " إلا "+lacking
	case minute == 0:
		rest = " تماما"
	default:
		rest = " و" + barePast[minute-1]
	}
	name := strings.ReplaceAll(bareHours[(named+11)%12], "_", " ")
	var part string
	switch { // by the hour named
	case named == 0 && minute == 0:
		part = "منتصف الليل"
	case named <= 2:
		part = "بعد منتصف الليل"
	case named <= 11:
		part = "صباحا"
	case named <= 14:
		part = "ظهرا"
	case named <= 16:
		part = "عصرا"
	case named <= 23:
		part = "مساء"
	default:
		part = "ليلا"
	}
	return "الساعة الآن بتوقيت القاهرة، " + name + rest + " " + part + "."
}

func TestEveryMinuteOfTheDay(t *testing.T) {
	seen := map[string]string{}
	var all strings.Builder
	for m := range 24 * 60 {
		at := fmt.Sprintf("%02d:%02d", m/60, m%60)
		got := TimeSentence(m/60, m%60, "القَاهِرَةِ")
		if want := expected(m/60, m%60); bare(got) != want {
			t.Errorf("%s:\n got %s\nwant %s", at, bare(got), want)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s sound alike: %s", other, at, got)
		}
		seen[got] = at
		if word := unvowelled(got); word != "" {
			t.Errorf("%s: %s lacks tashkeel: %s", at, word, got)
		}
		fmt.Fprintln(&all, at, got)
	}
	golden(t, "clock.golden", all.String())
}

// What stands in the sentence decides the endings: what is joined to the hour
// is a subject, what is taken off it an exception.
func TestMinutesTakeTheCaseOfTheirPlace(t *testing.T) {
	for m := range 24 * 60 {
		got := undoubled(Clock(m/60, m%60))
		lacks := strings.Contains(got, " إِلَا ")
		for _, word := range strings.Fields(got) {
			var bad bool
			switch bare(word) {
			case "دقائق": // a diptote after its number
				bad = word != "دَقَائِقَ"
			case "ثلاث", "أربع", "خمس", "ست", "سبع", "تسع", "عشر":
				bad = !lacks || !strings.HasSuffix(word, "َ") // إلا خمسَ دقائق, إلا خمسَ عشرةَ
			case "وثلاث", "وأربع", "وخمس", "وست", "وسبع", "وتسع", "وعشر":
				ending := "َ" // وخمسَ عشرةَ
				if strings.Contains(got, "دَقَائِقَ") {
					ending = "ُ" // وخمسُ دقائق
				} else if strings.Contains(got, "ونَ دَقِيقَةً") {
					ending = "ٌ" // وخمسٌ وعشرون
				}
				bad = !strings.HasSuffix(word, ending)
			case "دقيقة":
				bad = word != "دَقِيقَةً"
			case "ودقيقة":
				bad = word != "وَدَقِيقَةٌ"
			}
			if bad {
				t.Errorf("%02d:%02d: %s in %s", m/60, m%60, word, got)
			}
		}
	}
}

// The endings an announcer is judged by, one of each kind.
func TestEndings(t *testing.T) {
	for at, want := range map[string]string{
		"00:00": "الثَّانِيَةَ عَشْرَةَ تَمَامًا مُنْتَصَفَ اللَّيْلِ",
		"03:05": "الثَّالِثَةُ وَخَمْسُ دَقَائِقَ صَبَاحًا",
		"06:01": "السَّادِسَةُ وَدَقِيقَةٌ وَاحِدَةٌ صَبَاحًا",
		"06:59": "السَّابِعَةُ إِلَّا دَقِيقَةً وَاحِدَةً صَبَاحًا",
		"09:02": "التَّاسِعَةُ وَدَقِيقَتَانِ صَبَاحًا",
		"09:58": "العَاشِرَةُ إِلَّا دَقِيقَتَيْنِ صَبَاحًا",
		"11:45": "الثَّانِيَةَ عَشْرَةَ إِلَّا رُبْعًا ظُهْرًا",
		"12:30": "الثَّانِيَةَ عَشْرَةَ وَالنِّصْفُ ظُهْرًا",
		"15:08": "الثَّالِثَةُ وَثَمَانِي دَقَائِقَ عَصْرًا",
		"15:52": "الرَّابِعَةُ إِلَّا ثَمَانِيَ دَقَائِقَ عَصْرًا",
		"17:12": "الخَامِسَةُ وَاثْنَتَا عَشْرَةَ دَقِيقَةً مَسَاءً",
		"15:00": "الثَّالِثَةُ تَمَامًا عَصْرًا",
		"15:41": "الثَّالِثَةُ وَإِحْدَى وَأَرْبَعُونَ دَقِيقَةً عَصْرًا",
		"15:42": "الثَّالِثَةُ وَاثْنَتَانِ وَأَرْبَعُونَ دَقِيقَةً عَصْرًا",
		"17:49": "الخَامِسَةُ وَتِسْعٌ وَأَرْبَعُونَ دَقِيقَةً مَسَاءً",
		"17:50": "السَّادِسَةُ إِلَّا عَشْرَ دَقَائِقَ مَسَاءً",
		"21:00": "التَّاسِعَةُ تَمَامًا مَسَاءً",
		"23:30": "الحَادِيَةَ عَشْرَةَ وَالنِّصْفُ مَسَاءً",
		"19:28": "السَّابِعَةُ وَثَمَانٍ وَعِشْرُونَ دَقِيقَةً مَسَاءً",
		"22:35": "العَاشِرَةُ وَخَمْسٌ وَثَلَاثُونَ دَقِيقَةً مَسَاءً",
		"23:40": "الثَّانِيَةَ عَشْرَةَ إِلَّا ثُلُثًا لَيْلًا",
		"00:40": "الوَاحِدَةُ إِلَّا ثُلُثًا بَعْدَ مُنْتَصَفِ اللَّيْلِ",
	} {
		var h, m int
		if _, err := fmt.Sscanf(at, "%d:%d", &h, &m); err != nil {
			t.Fatal(err)
		}
		if got := Clock(h, m); got != want {
			t.Errorf("%s:\n got %s\nwant %s", at, got, want)
		}
	}
}

// unvowelled is the first word of a text with a letter whose vowel is neither
// written nor plain from the letters: the alifs, the article's lam, and و ي
// that lengthen the vowel before them.
func unvowelled(text string) string {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }) {
		letters := []rune(word)
		for i, r := range letters {
			if !unicode.IsLetter(r) || strings.ContainsRune("اآى", r) || i+1 < len(letters) && unicode.Is(unicode.Mn, letters[i+1]) {
				continue
			}
			marks := "" // of the letter before
			j := i - 1
			for ; j >= 0 && unicode.Is(unicode.Mn, letters[j]); j-- {
				marks += string(letters[j])
			}
			switch {
			case r == 'ل' && j >= 0 && j <= 2 && letters[j] == 'ا', // the article, perhaps after وَ
				r == 'ل' && j == 0 && letters[j] == 'ل' && marks == "ِ", // لِل
				r == 'و' && strings.Contains(marks, "ُ"), r == 'ي' && strings.Contains(marks, "ِ"):
				continue
			}
			return word
		}
	}
	return ""
}

func TestATextWithoutTashkeelIsFound(t *testing.T) {
	for _, text := range []string{"السَّاعة", "كَتب", "قوْلٌ"} {
		if unvowelled(text) == "" {
			t.Errorf("%s passes", text)
		}
	}
}
