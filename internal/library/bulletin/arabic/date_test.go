package arabic

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Days on which months began by the calendar of Umm al-Qura, as it was published.
func TestHijriDates(t *testing.T) {
	for day, want := range map[string]Hijri{
		"2018-09-11": {1440, 1, 1}, "2024-03-10": {1445, 8, 29}, "2024-03-11": {1445, 9, 1}, "2024-07-07": {1446, 1, 1},
		"2025-03-30": {1446, 10, 1}, "2025-06-06": {1446, 12, 10}, "2025-06-26": {1447, 1, 1}, "2026-02-18": {1447, 9, 1},
		"2026-03-20": {1447, 10, 1}, "2026-06-16": {1448, 1, 1}, "2026-11-23": {1448, 6, 13},
	} {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if got := HijriOf(at); got != want {
			t.Errorf("%s: %v, want %v", day, got, want)
		}
		late := time.Date(at.Year(), at.Month(), at.Day(), 23, 59, 0, 0, time.FixedZone("west", -11*3600))
		if got := HijriOf(late); got != want {
			t.Errorf("%s, late in the west: %v, want %v", day, got, want)
		}
	}
}

// Every day follows the one before, also where the table begins and ends.
func TestHijriDaysFollowEachOther(t *testing.T) {
	was := HijriOf(time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC))
	for day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2110; day = day.AddDate(0, 0, 1) {
		h := HijriOf(day)
		next := h == Hijri{was.Year, was.Month, was.Day + 1}
		month := h.Day == 1 && (h.Year*12+h.Month == was.Year*12+was.Month+1) && was.Day >= 29
		seam := day.Format(time.DateOnly) == "2018-09-11" || day.Format(time.DateOnly) == "2077-11-17"
		if !next && !month && !seam || h.Day < 1 || h.Day > 30 || h.Month < 1 || h.Month > 12 {
			t.Fatalf("%s: %v after %v", day.Format(time.DateOnly), h, was)
		}
		was = h
	}
}

func TestADayIsToldInBothCalendars(t *testing.T) {
	for day, want := range map[string]string{
		"2026-11-23": "نَحْنُ فِي يَوْمِ الاِثْنَيْنِ، الثَّالِثِ وَالعِشْرِينَ مِنْ نُوفَمْبِرَ سَنَةَ أَلْفَيْنِ وَسِتٍّ وَعِشْرِينَ، المُوَافِقِ الثَّالِثَ عَشَرَ مِنْ جُمَادَى الآخِرَةِ سَنَةَ أَلْفٍ وَأَرْبَعِمِئَةٍ وَثَمَانٍ وَأَرْبَعِينَ لِلْهِجْرَةِ.",
		"2026-02-18": "نَحْنُ فِي يَوْمِ الأَرْبِعَاءِ، الثَّامِنَ عَشَرَ مِنْ فِبْرَايِرَ سَنَةَ أَلْفَيْنِ وَسِتٍّ وَعِشْرِينَ، المُوَافِقِ الأَوَّلَ مِنْ رَمَضَانَ سَنَةَ أَلْفٍ وَأَرْبَعِمِئَةٍ وَسَبْعٍ وَأَرْبَعِينَ لِلْهِجْرَةِ.",
		"2030-12-31": "نَحْنُ فِي يَوْمِ الثُّلَاثَاءِ، الحَادِي وَالثَّلَاثِينَ مِنْ دِيسَمْبِرَ سَنَةَ أَلْفَيْنِ وَثَلَاثِينَ، المُوَافِقِ السَّادِسَ مِنْ رَمَضَانَ سَنَةَ أَلْفٍ وَأَرْبَعِمِئَةٍ وَاثْنَتَيْنِ وَخَمْسِينَ لِلْهِجْرَةِ.",
	} {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if got := undoubled(DateSentence(at)); got != undoubled(want) {
			t.Errorf("%s:\n got %s\nwant %s", day, got, undoubled(want))
		}
	}
	seen := map[string]string{}
	for day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2030; day = day.AddDate(0, 0, 1) {
		got := DateSentence(day)
		if word := unvowelled(got); word != "" {
			t.Errorf("%s: %s lacks tashkeel in %s", day.Format(time.DateOnly), word, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s sound alike", other, day.Format(time.DateOnly))
		}
		seen[got] = day.Format(time.DateOnly)
	}
	for n := 1; n <= 31; n++ {
		if Ordinal(n, Nominative) == "" || n > 20 && !strings.HasSuffix(Ordinal(n, Nominative), "ُونَ") && n%10 != 0 {
			t.Errorf("%d: %s", n, Ordinal(n, Nominative))
		}
	}
}

func TestWhatComesUpIsSaid(t *testing.T) {
	got := ProgrammeSentences(11, 2, []Coming{
		{"Yesterday", "The Beatles"}, {"أنت عمري (حفلة 1964)", "أم كلثوم"}, {"نسم علينا الهوى", "فيروز"}, {"سهرة بياتي", ""}, {"لحن", "Ensemble"},
	})
	want := []string{
		"فِي السَّاعَةِ القَادِمَةِ إِحْدَى عَشْرَةَ أُغْنِيَةً عَرَبِيَّةً وَأُغْنِيَتَانِ إِنْجِلِيزِيَّتَانِ.",
		"بَعْدَ قَلِيلٍ تَسْتَمِعُونَ إِلَى أنت عمري، مَعَ أم كلثوم.", "ثُمَّ نسم علينا الهوى، مَعَ فيروز.", "ثُمَّ سهرة بياتي.",
	}
	if undoubled(fmt.Sprint(got)) != undoubled(fmt.Sprint(want)) {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	for n := range 120 {
		for _, text := range ProgrammeSentences(n, -1, nil) {
			if word := unvowelled(text); word != "" {
				t.Errorf("%d songs: %s lacks tashkeel in %s", n, word, text)
			}
		}
	}
	if got := ProgrammeSentences(0, 0, nil); got != nil {
		t.Errorf("nothing comes up, and it is said: %s", got)
	}
	if got := strings.Join(ProgrammeSentences(5, 1, nil), ""); bare(got) != "في الساعة القادمة خمس أغنيات عربية وأغنية واحدة إنجليزية." {
		t.Errorf("%s", got)
	}
}
