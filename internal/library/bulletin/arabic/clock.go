package arabic

import "fmt"

// hours are the hours by name, as a predicate. Those of two words keep their
// fathas in every case.
var hours = [13]string{
	1: "الوَاحِدَةُ", "الثَّانِيَةُ", "الثَّالِثَةُ", "الرَّابِعَةُ", "الخَامِسَةُ", "السَّادِسَةُ",
	"السَّابِعَةُ", "الثَّامِنَةُ", "التَّاسِعَةُ", "العَاشِرَةُ", "الحَادِيَةَ عَشْرَةَ", "الثَّانِيَةَ عَشْرَةَ",
}

// fromTheNext reports a minute that is told by what it lacks to the next hour, as
// announcers do: four less a third, less a quarter, less ten and all that is nearer.
func fromTheNext(minute int) bool { return minute == 40 || minute == 45 || minute >= 50 }

// TimeSentence tells the time of day at a place, whose name is genitive, as in
// القَاهِرَةِ; with no place, it tells the time only. hour is 0 to 23, minute 0 to 59.
func TimeSentence(hour, minute int, place string) string {
	if place == "" {
		return "السَّاعَةُ الآنَ " + Clock(hour, minute) + "."
	}
	return "السَّاعَةُ الآنَ بِتَوْقِيتِ " + place + "، " + Clock(hour, minute) + "."
}

// Clock says a time of day, hour 0 to 23 and minute 0 to 59, with its period.
func Clock(hour, minute int) string {
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		panic(fmt.Sprintf("arabic: clock %d:%d is no time of day", hour, minute))
	}
	if minute == 0 {
		return hourName(hour) + " تَمَامًا " + period(hour, true)
	}
	if fromTheNext(minute) {
		return hourName(hour+1) + " إِلَّا " + lacking(60-minute) + " " + period(hour+1, false)
	}
	return hourName(hour) + " وَ" + joined(past(minute)) + " " + period(hour, false)
}

func hourName(hour int) string { return hours[(hour+11)%12+1] }

// period says what part of the day a named hour, 0 to 24, lies in. The hour
// that is named counts: a quarter to twelve before noon is الثَّانِيَةَ عَشْرَةَ إِلَّا
// رُبْعًا ظُهْرًا, since "twelve in the morning" would be midnight.
func period(hour int, sharp bool) string {
	switch {
	case hour == 0 && sharp:
		return "مُنْتَصَفَ اللَّيْلِ"
	case hour < 3:
		return "بَعْدَ مُنْتَصَفِ اللَّيْلِ"
	case hour < 12:
		return "صَبَاحًا"
	case hour < 15:
		return "ظُهْرًا"
	case hour < 17:
		return "عَصْرًا"
	case hour < 24:
		return "مَسَاءً"
	}
	return "لَيْلًا" // twelve, less some minutes: with "evening" it would be heard as noon
}

// past is what follows the hour: a subject joined to it, so nominative.
func past(n int) string {
	switch n {
	case 15:
		return "الرُّبْعُ"
	case 20:
		return "الثُّلُثُ"
	case 30:
		return "النِّصْفُ"
	}
	return Count(n, minute(), Nominative)
}

// lacking is what is taken off the hour: an exception, so accusative.
func lacking(n int) string {
	switch n {
	case 15:
		return "رُبْعًا"
	case 20:
		return "ثُلُثًا"
	}
	return Count(n, minute(), Accusative)
}

// joined drops the vowel that carries a word's opening alif once something
// stands before it: وَاثْنَتَا, not وَاِثْنَتَا.
func joined(text string) string {
	const carried = "اِ"
	if len(text) > len(carried) && text[:len(carried)] == carried {
		return "ا" + text[len(carried):]
	}
	return text
}
