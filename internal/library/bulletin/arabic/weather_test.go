package arabic

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestTemperaturesAgree(t *testing.T) {
	for celsius, want := range map[float64]string{
		0:     "صِفْرٌ مِئَوِيٌّ",
		-0.4:  "صِفْرٌ مِئَوِيٌّ",
		0.5:   "وَاحِدَةٌ مِئَوِيَّةٌ",
		2:     "دَرَجَتَانِ مِئَوِيَّتَانِ",
		3.4:   "ثَلَاثُ دَرَجَاتٍ مِئَوِيَّةٍ",
		8:     "ثَمَانِي دَرَجَاتٍ مِئَوِيَّةٍ",
		10:    "عَشْرُ دَرَجَاتٍ مِئَوِيَّةٍ",
		11:    "إِحْدَى عَشْرَةَ دَرَجَةً مِئَوِيَّةً",
		12:    "اِثْنَتَا عَشْرَةَ دَرَجَةً مِئَوِيَّةً",
		20:    "عِشْرُونَ دَرَجَةً مِئَوِيَّةً",
		28:    "ثَمَانٍ وَعِشْرُونَ دَرَجَةً مِئَوِيَّةً",
		42.6:  "ثَلَاثٌ وَأَرْبَعُونَ دَرَجَةً مِئَوِيَّةً",
		-1:    "دَرَجَةٌ وَاحِدَةٌ تَحْتَ الصِّفْرِ",
		-2:    "دَرَجَتَانِ تَحْتَ الصِّفْرِ",
		-5:    "خَمْسُ دَرَجَاتٍ تَحْتَ الصِّفْرِ",
		-15:   "خَمْسَ عَشْرَةَ دَرَجَةً تَحْتَ الصِّفْرِ",
		1e300: "مِئَةٌ وَتِسْعٌ وَتِسْعُونَ دَرَجَةً مِئَوِيَّةً", // absurd, but no panic
	} {
		if got := Temperature(celsius); got != want {
			t.Errorf("%g degrees:\n got %s\nwant %s", celsius, got, want)
		}
	}
	if got := Temperature(math.NaN()); got != "صِفْرٌ مِئَوِيٌّ" {
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

// Every code Open-Meteo documents has a description of its own, as a newsreader says
// it. The table is written without tashkeel, so that it shares no text with the code.
func TestEveryWeatherCodeHasItsWords(t *testing.T) {
	seen := map[string]int{}
	var all strings.Builder
	for _, c := range []struct {
		code int
		want string
	}{
		{0, "السماء صافية"},
		{1, "السماء صافية غالبا"},
		{2, "السماء غائمة جزئيا"},
		{3, "السماء ملبدة بالغيوم"},
		{45, "ضباب يغطي المدينة"},
		{48, "ضباب متجمد يغطي المدينة"},
		{51, "رذاذ خفيف"},
		{53, "رذاذ متوسط"},
		{55, "رذاذ كثيف"},
		{56, "رذاذ متجمد خفيف"},
		{57, "رذاذ متجمد كثيف"},
		{61, "أمطار خفيفة"},
		{63, "أمطار متوسطة"},
		{65, "أمطار غزيرة"},
		{66, "أمطار متجمدة خفيفة"},
		{67, "أمطار متجمدة غزيرة"},
		{71, "تساقط خفيف للثلوج"},
		{73, "تساقط متوسط للثلوج"},
		{75, "تساقط كثيف للثلوج"},
		{77, "تساقط حبيبات ثلجية"},
		{80, "زخات خفيفة من المطر"},
		{81, "زخات متوسطة من المطر"},
		{82, "زخات غزيرة من المطر"},
		{85, "زخات خفيفة من الثلج"},
		{86, "زخات كثيفة من الثلج"},
		{95, "عواصف رعدية"},
		{96, "عواصف رعدية مصحوبة ببرد"},
		{99, "عواصف رعدية مصحوبة ببرد كثيف"},
	} {
		got := WeatherSentence(Weather{Celsius: 23, Code: c.code, WindKmh: 12, WindDeg: 320}, "القَاهِرَةِ")
		if word := unvowelled(got); word != "" {
			t.Errorf("code %d: %s lacks tashkeel", c.code, word)
		}
		if sky := bare(Sky(c.code)); sky != c.want || !strings.HasPrefix(bare(got), "الطقس في القاهرة: "+c.want+"، ودرجة الحرارة ") {
			t.Errorf("code %d: %q in %q, want %q", c.code, sky, bare(got), c.want)
		}
		if other, ok := seen[Sky(c.code)]; ok {
			t.Errorf("codes %d and %d sound alike", other, c.code)
		}
		seen[Sky(c.code)] = c.code
		fmt.Fprintln(&all, c.code, got)
	}
	if len(seen) != 28 {
		t.Errorf("%d codes, Open-Meteo uses 28", len(seen))
	}
	one := bare(WeatherSentence(Weather{Celsius: 1, Code: 1, WindKmh: 12}, "القَاهِرَةِ"))
	if !strings.Contains(one, "السماء صافية غالبا، ودرجة الحرارة واحدة مئوية، ") {
		t.Errorf("one degree: %s", one)
	}
	golden(t, "weather.golden", all.String())

	unknown := WeatherSentence(Weather{Celsius: 23, Code: 42, WindKmh: 12}, "القَاهِرَةِ")
	if want := "الطَّقْسُ فِي القَاهِرَةِ: دَرَجَةُ الحَرَارَةِ ثَلَاثٌ وَعِشْرُونَ دَرَجَةً مِئَوِيَّةً، وَالرِّيَاحُ شَمَالِيَّةٌ خَفِيفَةٌ، سُرْعَتُهَا اِثْنَا عَشَرَ كِيلُومِتْرًا فِي السَّاعَةِ."; unknown != want {
		t.Errorf("an unknown code:\n got %s\nwant %s", unknown, want)
	}
}
