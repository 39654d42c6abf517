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

// Temperature says whole degrees, rounded, as what the temperature is. It stays
// within what Count knows. One degree is "one", since the sentence begins with the
// degree; below zero the scale goes without saying.
func Temperature(celsius float64) string {
	switch n := whole(celsius); {
	case n < 0:
		return Count(-n, degree(), Nominative) + " تَحْتَ الصِّفْرِ"
	case n == 0:
		return Count(n, degree(), Nominative) + " مِئَوِيٌّ"
	case n == 1:
		return "وَاحِدَةٌ مِئَوِيَّةٌ"
	default:
		return Count(n, degree(), Nominative) + " " + celsiusAs(n)
	}
}

// celsiusAs is the adjective of the degrees that a number from 2 counts: it takes
// number and case of the noun.
func celsiusAs(n int) string {
	switch r := n % 100; {
	case n == 2:
		return "مِئَوِيَّتَانِ"
	case n == 100, r >= 3 && r <= 10: // of a plural or singular in the genitive
		return "مِئَوِيَّةٍ"
	case r == 1: // a hundred and one
		return "مِئَوِيَّةٌ"
	case r == 2:
		return "مِئَوِيَّتَانِ"
	}
	return "مِئَوِيَّةً"
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

// Sky describes a WMO weather code, as a headline of what is seen outside; it is
// empty for a code Open-Meteo does not use.
func Sky(code int) string {
	sky := map[int]string{
		0:  "السَّمَاءُ صَافِيَةٌ",
		1:  "السَّمَاءُ صَافِيَةٌ غَالِبًا",
		2:  "السَّمَاءُ غَائِمَةٌ جُزْئِيًّا",
		3:  "السَّمَاءُ مُلَبَّدَةٌ بِالغُيُومِ",
		45: "ضَبَابٌ يُغَطِّي المَدِينَةَ",
		48: "ضَبَابٌ مُتَجَمِّدٌ يُغَطِّي المَدِينَةَ",
		51: "رَذَاذٌ خَفِيفٌ",
		53: "رَذَاذٌ مُتَوَسِّطٌ",
		55: "رَذَاذٌ كَثِيفٌ",
		56: "رَذَاذٌ مُتَجَمِّدٌ خَفِيفٌ",
		57: "رَذَاذٌ مُتَجَمِّدٌ كَثِيفٌ",
		61: "أَمْطَارٌ خَفِيفَةٌ",
		63: "أَمْطَارٌ مُتَوَسِّطَةٌ",
		65: "أَمْطَارٌ غَزِيرَةٌ",
		66: "أَمْطَارٌ مُتَجَمِّدَةٌ خَفِيفَةٌ",
		67: "أَمْطَارٌ مُتَجَمِّدَةٌ غَزِيرَةٌ",
		71: "تَسَاقُطٌ خَفِيفٌ لِلثُّلُوجِ",
		73: "تَسَاقُطٌ مُتَوَسِّطٌ لِلثُّلُوجِ",
		75: "تَسَاقُطٌ كَثِيفٌ لِلثُّلُوجِ",
		77: "تَسَاقُطُ حُبَيْبَاتٍ ثَلْجِيَّةٍ",
		80: "زَخَّاتٌ خَفِيفَةٌ مِنَ المَطَرِ",
		81: "زَخَّاتٌ مُتَوَسِّطَةٌ مِنَ المَطَرِ",
		82: "زَخَّاتٌ غَزِيرَةٌ مِنَ المَطَرِ",
		85: "زَخَّاتٌ خَفِيفَةٌ مِنَ الثَّلْجِ",
		86: "زَخَّاتٌ كَثِيفَةٌ مِنَ الثَّلْجِ",
		95: "عَوَاصِفُ رَعْدِيَّةٌ",
		96: "عَوَاصِفُ رَعْدِيَّةٌ مَصْحُوبَةٌ بِبَرَدٍ",
		99: "عَوَاصِفُ رَعْدِيَّةٌ مَصْحُوبَةٌ بِبَرَدٍ كَثِيفٍ",
	}
	return sky[code]
}
