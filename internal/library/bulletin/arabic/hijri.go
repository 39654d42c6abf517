package arabic

import "time"

// Hijri is a day of the Islamic calendar.
type Hijri struct{ Year, Month, Day int }

// firstHijri is the year that begins the table, on 11 September 2018.
const firstHijri = 1440

// ummAlQura are the lengths of the months of each year from 1440 to 1500, by the
// calendar of Umm al-Qura: bit 0 is Muharram, a set bit is a month of 30 days. Source:
// the islamic-umalqura calendar of Unicode's ICU. Where a month begins by the sighting
// of the moon, as in Egypt, it may differ by a day.
var ummAlQura = [...]uint16{
	0x2ba, 0x5b5, 0x5aa, 0xd55, 0xa9a, 0x92e, 0x26e, 0x55d, 0xada, 0x6d4, 0x6a5, 0xb27, 0xa4d, 0x4ad, 0x56d, 0xb5a,
	0x754, 0xf49, 0xe92, 0xd26, 0xa56, 0x356, 0x6b5, 0xbaa, 0xb92, 0xb25, 0x68b, 0xa9b, 0x55a, 0xada, 0x5b4, 0xda9,
	0xb52, 0xa9a, 0x536, 0x276, 0x575, 0xaf2, 0x6d4, 0x6a9, 0x555, 0x2ad, 0x4bd, 0x9ba, 0x574, 0xb69, 0xb52, 0xa95,
	0x52d, 0xa5d, 0x4da, 0xad9, 0x6b2, 0xe95, 0xe2a, 0xc96, 0x92e, 0xaad, 0x56a, 0xd65, 0xd4a,
}

// HijriOf returns the Islamic date of a civil day, whose evening already belongs to the
// next. Outside the years of the table it is that of the arithmetical calendar (a cycle
// of 30 years with 11 leap years), which may differ by two days.
func HijriOf(day time.Time) Hijri {
	y, m, d := day.Date()
	left := int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Sub(time.Date(2018, 9, 11, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour))
	if left < 0 {
		return arithmetical(left)
	}
	whole := left
	for i, lengths := range ummAlQura {
		for month := range 12 {
			length := 29 + int(lengths>>month&1)
			if left < length {
				return Hijri{firstHijri + i, month + 1, left + 1}
			}
			left -= length
		}
	}
	return arithmetical(whole)
}

// arithmetical returns the date a number of days after 1 Muharram 1440.
func arithmetical(days int) Hijri {
	// Days from 1 Muharram of the year 1, 16 July 622 (Julian).
	days += dayOfYear(firstHijri)
	year := (30*days + 10646) / 10631
	left := days - dayOfYear(year)
	month := min((2*left)/59+1, 12) // months of 30 and 29 days by turns
	return Hijri{year, month, left - (59*(month-1)+1)/2 + 1}
}

// dayOfYear counts the days before a year of the arithmetical calendar.
func dayOfYear(year int) int { return (year-1)*354 + (3+11*year)/30 }
