package arabic

import "math"

// Weather is what is measured outside.
type Weather struct {
	Celsius float64
	Code    int     // WMO 4677, as Open-Meteo gives it
	WindKmh float64 // mean speed
	WindDeg float64 // where the wind comes from, degrees from north
}

// WeatherSentence tells the weather of a place, whose name is genitive. A code
// that is not known is left out; the numbers are still told.
func WeatherSentence(w Weather, place string) string {
	text := "الطَّقْسُ فِي " + place + ": "
	if sky := Sky(w.Code); sky != "" {
		text += sky + "، وَ"
	}
	return text + "دَرَجَةُ الحَرَارَةِ " + Temperature(w.Celsius) + "، وَ" + Wind(w.WindKmh, w.WindDeg) + "."
}

// Temperature says whole degrees, rounded, as a predicate. It stays within
// what Count knows.
func Temperature(celsius float64) string {
	n := whole(celsius)
	if n < 0 {
		return Count(-n, degree(), Nominative) + " تَحْتَ الصِّفْرِ"
	}
	return Count(n, degree(), Nominative)
}

// Wind says where the wind comes from, how it feels and its speed. Below half
// a kilometre an hour it has no direction.
func Wind(kmh, degrees float64) string {
	n := max(whole(kmh), 0)
	if n == 0 {
		return "الرِّيَاحُ سَاكِنَةٌ"
	}
	text := "الرِّيَاحُ " + windName(degrees) + " " + windForce(n) + "، سُرْعَتُهَا "
	return text + Count(n, kilometre(), Nominative) + " فِي السَّاعَةِ"
}

// windName is the nearest of the eight winds.
func windName(degrees float64) string {
	names := [8]string{
		"شَمَالِيَّةٌ", "شَمَالِيَّةٌ شَرْقِيَّةٌ", "شَرْقِيَّةٌ", "جَنُوبِيَّةٌ شَرْقِيَّةٌ",
		"جَنُوبِيَّةٌ", "جَنُوبِيَّةٌ غَرْبِيَّةٌ", "غَرْبِيَّةٌ", "شَمَالِيَّةٌ غَرْبِيَّةٌ",
	}
	turn := math.Mod(math.Mod(degrees, 360)+360, 360)
	return names[int(math.Round(turn/45))%8]
}

// windForce puts a speed in km/h into a word, at the steps of the Beaufort
// scale: light to 3, moderate to 5, fresh to 6, strong to 8, storm from 9.
func windForce(kmh int) string {
	switch {
	case kmh < 20:
		return "خَفِيفَةٌ"
	case kmh < 39:
		return "مُعْتَدِلَةٌ"
	case kmh < 50:
		return "نَشِطَةٌ"
	case kmh < 75:
		return "قَوِيَّةٌ"
	}
	return "عَاصِفَةٌ"
}

func whole(f float64) int {
	if math.IsNaN(f) {
		return 0
	}
	return int(math.Round(max(-MostCounted, min(MostCounted, f))))
}

// Sky describes a WMO weather code; it is empty for a code Open-Meteo does not
// use.
func Sky(code int) string {
	sky := map[int]string{
		0:  "السَّمَاءُ صَافِيَةٌ",
		1:  "السَّمَاءُ صَافِيَةٌ فِي مُعْظَمِهَا",
		2:  "السَّمَاءُ غَائِمَةٌ جُزْئِيًّا",
		3:  "السَّمَاءُ مُلَبَّدَةٌ بِالغُيُومِ",
		45: "الضَّبَابُ يُغَطِّي المَدِينَةَ",
		48: "الضَّبَابُ مُتَجَمِّدٌ",
		51: "الرَّذَاذُ خَفِيفٌ",
		53: "الرَّذَاذُ مُتَوَسِّطٌ",
		55: "الرَّذَاذُ كَثِيفٌ",
		56: "الرَّذَاذُ مُتَجَمِّدٌ خَفِيفٌ",
		57: "الرَّذَاذُ مُتَجَمِّدٌ كَثِيفٌ",
		61: "المَطَرُ خَفِيفٌ",
		63: "المَطَرُ مُتَوَسِّطٌ",
		65: "المَطَرُ غَزِيرٌ",
		66: "المَطَرُ مُتَجَمِّدٌ خَفِيفٌ",
		67: "المَطَرُ مُتَجَمِّدٌ غَزِيرٌ",
		71: "الثَّلْجُ خَفِيفٌ",
		73: "الثَّلْجُ مُتَوَسِّطٌ",
		75: "الثَّلْجُ كَثِيفٌ",
		77: "حُبَيْبَاتُ الثَّلْجِ تَتَسَاقَطُ",
		80: "زَخَّاتُ المَطَرِ خَفِيفَةٌ",
		81: "زَخَّاتُ المَطَرِ مُتَوَسِّطَةٌ",
		82: "زَخَّاتُ المَطَرِ عَنِيفَةٌ",
		85: "زَخَّاتُ الثَّلْجِ خَفِيفَةٌ",
		86: "زَخَّاتُ الثَّلْجِ كَثِيفَةٌ",
		95: "العَوَاصِفُ رَعْدِيَّةٌ",
		96: "العَوَاصِفُ رَعْدِيَّةٌ مَعَ بَرَدٍ خَفِيفٍ",
		99: "العَوَاصِفُ رَعْدِيَّةٌ مَعَ بَرَدٍ كَثِيفٍ",
	}
	return sky[code]
}
