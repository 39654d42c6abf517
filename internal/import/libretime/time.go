package libretime

import (
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// longest bounds the length of anything: what is longer is a mistake.
const longest = 7 * 24 * time.Hour

// interval reads how PostgreSQL writes one (00:03:25.12, 1 day 02:03:04, 3 mins 2 secs) and how
// Django does (1 02:03:04.000000). What is negative, too long or cannot be read is 0.
func interval(s string) time.Duration {
	var sum time.Duration
	number, known := 0.0, false
	for f := range strings.FieldsSeq(strings.TrimPrefix(strings.TrimSpace(s), "@")) {
		if strings.Contains(f, ":") {
			if known { // days, without a word
				sum += time.Duration(number * 24 * float64(time.Hour))
			}
			d, ok := clock(f)
			if !ok {
				return 0
			}
			sum, known = sum+d, false
			continue
		}
		if n, err := strconv.ParseFloat(f, 64); err == nil && !known && n >= 0 && n <= longest.Seconds() {
			number, known = n, true
			continue
		}
		unit, ok := unit(f)
		if !known || !ok {
			return 0
		}
		sum, known = sum+time.Duration(number*float64(unit)), false
		if sum > longest {
			return 0
		}
	}
	if known { // seconds, alone
		sum += time.Duration(number * float64(time.Second))
	}
	if sum < 0 || sum > longest {
		return 0
	}
	return sum.Round(time.Millisecond)
}

func unit(s string) (time.Duration, bool) {
	switch strings.TrimSuffix(s, "s") {
	case "day":
		return 24 * time.Hour, true
	case "hour":
		return time.Hour, true
	case "min", "minute":
		return time.Minute, true
	case "sec", "second":
		return time.Second, true
	}
	return 0, false
}

// clock reads h:mm and h:mm:ss with a fraction.
func clock(s string) (sum time.Duration, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) > 3 || strings.HasPrefix(s, "-") {
		return 0, false
	}
	for i, p := range parts {
		n, err := strconv.ParseFloat(p, 64)
		if err != nil || !(n >= 0 && n <= 200) || i > 0 && n >= 60 { //nolint:staticcheck // false for NaN
			return 0, false
		}
		sum += time.Duration(n * float64([]time.Duration{time.Hour, time.Minute, time.Second}[i]))
	}
	return sum, true
}

// day reads a date; 0 for what is none.
func day(s string) station.Date {
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return station.DateOf(t)
	}
	return 0
}

// midnight is the beginning of a day, in a zone.
func midnight(d station.Date, in *time.Location) time.Time {
	return time.Date(int(d)/10_000, time.Month(int(d)/100%100), int(d)%100, 0, 0, 0, 0, in)
}
