package arabic

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestTemperaturesAgree(t *testing.T) {
	for celsius, want := range map[float64]string{
		0:     "صِفْرٌ",
		-0.4:  "صِفْرٌ",
		0.5:   "دَرَجَةٌ وَاحِدَةٌ",
		2:     "دَرَجَتَانِ",
		3.4:   "ثَلَاثُ دَرَجَاتٍ",
		8:     "ثَمَانِي دَرَجَاتٍ",
		10:    "عَشْرُ دَرَجَاتٍ",
		11:    "إِحْدَى عَشْرَةَ دَرَجَةً",
		12:    "اِثْنَتَا عَشْرَةَ دَرَجَةً",
		20:    "عِشْرُونَ دَرَجَةً",
		28:    "ثَمَانٍ وَعِشْرُونَ دَرَجَةً",
		42.6:  "ثَلَاثٌ وَأَرْبَعُونَ دَرَجَةً",
		-1:    "دَرَجَةٌ وَاحِدَةٌ تَحْتَ الصِّفْرِ",
		-2:    "دَرَجَتَانِ تَحْتَ الصِّفْرِ",
		-5:    "خَمْسُ دَرَجَاتٍ تَحْتَ الصِّفْرِ",
		-15:   "خَمْسَ عَشْرَةَ دَرَجَةً تَحْتَ الصِّفْرِ",
		1e300: "مِئَةٌ وَتِسْعٌ وَتِسْعُونَ دَرَجَةً", // absurd, but no panic
	} {
		if got := Temperature(celsius); got != want {
			t.Errorf("%g degrees:\n got %s\nwant %s", celsius, got, want)
		}
	}
	if got := Temperature(math.NaN()); got != "صِفْرٌ" {
		t.Errorf("NaN degrees: %s", got)
	}
}

func TestWindsByNameAndForce(t *testing.T) {
	for _, c := range []struct {
		kmh, deg float64
		want     string
	}{
		{0.4, 90, "الرِّيَاحُ سَاكِنَةٌ"},
		{1, 0, "الرِّيَاحُ شَمَالِيَّةٌ خَفِيفَةٌ، سُرْعَتُهَا كِيلُومِتْرٌ وَاحِدٌ فِي السَّاعَةِ"},
		{2, 360, "الرِّيَاحُ شَمَالِيَّةٌ خَفِيفَةٌ، سُرْعَتُهَا كِيلُومِتْرَانِ فِي السَّاعَةِ"},
		{10, 338, "الرِّيَاحُ شَمَالِيَّةٌ خَفِيفَةٌ، سُرْعَتُهَا عَشَرَةُ كِيلُومِتْرَاتٍ فِي السَّاعَةِ"},
		{11, 337, "الرِّيَاحُ شَمَالِيَّةٌ غَرْبِيَّةٌ خَفِيفَةٌ، سُرْعَتُهَا أَحَدَ عَشَرَ كِيلُومِتْرًا فِي السَّاعَةِ"},
		{21, 180, "الرِّيَاحُ جَنُوبِيَّةٌ مُعْتَدِلَةٌ، سُرْعَتُهَا وَاحِدٌ وَعِشْرُونَ كِيلُومِتْرًا فِي السَّاعَةِ"},
		{45, 450, "الرِّيَاحُ شَرْقِيَّةٌ نَشِطَةٌ، سُرْعَتُهَا خَمْسَةٌ وَأَرْبَعُونَ كِيلُومِتْرًا فِي السَّاعَةِ"},
		{60, -90, "الرِّيَاحُ غَرْبِيَّةٌ قَوِيَّةٌ، سُرْعَتُهَا سِتُّونَ كِيلُومِتْرًا فِي السَّاعَةِ"},
	} {
		if got := Wind(c.kmh, c.deg); got != c.want {
			t.Errorf("%g km/h from %g:\n got %s\nwant %s", c.kmh, c.deg, got, c.want)
		}
	}
}

// Every code Open-Meteo documents has a description of its own.
func TestEveryWeatherCodeHasItsWords(t *testing.T) {
	seen := map[string]int{}
	var all strings.Builder
	for _, code := range []int{0, 1, 2, 3, 45, 48, 51, 53, 55, 56, 57, 61, 63, 65, 66, 67, 71, 73, 75, 77, 80, 81, 82, 85, 86, 95, 96, 99} {
		got := WeatherSentence(Weather{Celsius: 23, Code: code, WindKmh: 12, WindDeg: 320}, "القَاهِرَةِ")
		if word := unvowelled(got); word != "" {
			t.Errorf("code %d: %s lacks tashkeel", code, word)
		}
		if other, ok := seen[Sky(code)]; ok || Sky(code) == "" {
			t.Errorf("code %d: %q, as code %d", code, Sky(code), other)
		}
		seen[Sky(code)] = code
		fmt.Fprintln(&all, code, got)
	}
	golden(t, "weather.golden", all.String())

	unknown := WeatherSentence(Weather{Celsius: 23, Code: 42, WindKmh: 12}, "القَاهِرَةِ")
	if want := "الطَّقْسُ فِي القَاهِرَةِ: دَرَجَةُ الحَرَارَةِ ثَلَاثٌ وَعِشْرُونَ دَرَجَةً، وَالرِّيَاحُ شَمَالِيَّةٌ خَفِيفَةٌ، سُرْعَتُهَا اِثْنَا عَشَرَ كِيلُومِتْرًا فِي السَّاعَةِ."; unknown != want {
		t.Errorf("an unknown code:\n got %s\nwant %s", unknown, want)
	}
}
