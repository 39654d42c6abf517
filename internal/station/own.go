package station

import (
	"fmt"
	"strings"
	"time"
)

// Own is what an operator says of one track, beside what its file says. It is never changed
// once a Track has it.
type Own struct {
	Cut    Cut
	Limits Limits
	// TitleLatin, ArtistLatin and Aliases are other spellings, by which it is found.
	TitleLatin, ArtistLatin string
	Aliases                 []string
	Cover                   string // id of a picture; empty: the file's own
}

// Spellings are the other texts by which a track is found; none of a nil Own.
func (o *Own) Spellings() []string {
	if o == nil {
		return nil
	}
	return append([]string{o.TitleLatin, o.ArtistLatin}, o.Aliases...)
}

// Cut is what airs of a file.
type Cut struct {
	In, Out time.Duration // from the file's beginning; Out 0: to its end
	Cross   time.Duration // into the next entry; 0: as its category's
}

// Limits say when one track may begin, beside the rules for all. The zero value allows
// always.
type Limits struct {
	From, Until Date          // the first day and the last; 0: none
	Hours       uint32        // bit h: in the hour of the day from h; 0: in all
	PerDay      int           // times within 24 hours; 0: any number
	Rest        time.Duration // from one beginning to the next, at least
}

// Date is a day of the calendar, as yyyymmdd.
type Date int32

// DateOf is the day of a time, in its zone.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date(y*10_000 + int(m)*100 + d) //nolint:gosec // years of four digits
}

// MarshalText writes yyyy-mm-dd; nothing for none.
func (d Date) MarshalText() ([]byte, error) {
	if d == 0 {
		return nil, nil
	}
	return fmt.Appendf(nil, "%04d-%02d-%02d", d/10_000, d/100%100, d%100), nil
}

// UnmarshalText reads what MarshalText writes.
func (d *Date) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = 0
		return nil
	}
	day, err := time.Parse(time.DateOnly, string(b))
	if err != nil {
		return fmt.Errorf("day %q: must be as 2026-12-01", b)
	}
	*d = DateOf(day)
	return nil
}

// Open reports whether a track with these limits may begin at a time, which is in the
// station's zone, by date and hour alone.
func (l *Limits) Open(at time.Time) bool { return l.OpenOn(DateOf(at), at.Hour()) }

// OpenOn is Open for a day and an hour of it.
func (l *Limits) OpenOn(day Date, hour int) bool {
	return (l.From == 0 || day >= l.From) && (l.Until == 0 || day <= l.Until) && (l.Hours == 0 || l.Hours>>hour&1 == 1)
}

// CoverID reports whether a text has the form of a picture's id: 32 hexadecimal digits.
func CoverID(id string) bool { return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == "" }
