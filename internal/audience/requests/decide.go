package requests

import (
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Code names the rule that stands against a request.
type Code string

// The rules, in the order in which they are looked at: those against any request, then
// those against the listener, then those against the track.
const (
	Closed      Code = "closed"       // the studio takes none
	Full        Code = "full"         // as many wait as may
	TooSoon     Code = "interval"     // the listener has just asked
	DayLimit    Code = "day"          // the listener has asked often enough today
	Network     Code = "network"      // too many from the listener's address
	Asked       Code = "asked"        // somebody has asked for it
	Soonest     Code = "coming"       // it is among the next tracks
	JustAired   Code = "aired"        // it aired a while ago
	ArtistAsked Code = "artist_asked" // somebody has asked for the artist
	ArtistAired Code = "artist_aired" // the artist has just been on
	Daypart     Code = "daypart"      // its category does not air now
	OwnLimits   Code = "limits"       // the operator has limits for this track, and they keep it off now
)

// Codes returns all of them.
func Codes() []Code {
	return []Code{Closed, Full, TooSoon, DayLimit, Network, Asked, Soonest, JustAired, ArtistAsked, ArtistAired, Daypart, OwnLimits}
}

// Refusal is why something may not be asked for now.
type Refusal struct {
	Code   Code
	En, Ar string
	// At is when it may be, or when it comes; zero where that is unknown.
	At time.Time
}

func (r *Refusal) Error() string { return r.En }

// Unwrap makes it a station.ErrConflict: what stands against it passes.
func (r *Refusal) Unwrap() error { return station.ErrConflict }

// Spoken returns what an answer says of it.
func (r *Refusal) Spoken() (code, en, ar string, at time.Time) {
	return string(r.Code), r.En, r.Ar, r.At
}

// comesSoon is how far ahead a planned track needs no request.
const comesSoon = time.Hour

// networkDay is how many listeners of one address may use up their day. networkShare is
// the part of the queue that one address may hold, widerShare that of a wider network.
const (
	networkDay   = 8
	networkShare = 4
	widerShare   = 2
)

// facts are all that a decision depends on.
type facts struct {
	now    time.Time
	limits Limits

	closed bool
	queue  int       // that wait
	frees  time.Time // when the first of them airs; zero: unknown

	// Of the listener; nothing of a listener without a name. Mine are the times of its
	// requests of the last day, oldest first.
	mine                      []time.Time
	addressDay                []time.Time // as mine, of the address
	addressQueue, widerQueue  int
	asked, artistAsked        bool      // for the track, or one of its artists
	askedAt, artistAskedAt    time.Time // when that is expected; zero: unknown
	coming                    bool      // in the rotation
	comingAt                  time.Time
	aired, artistAired        time.Time // last; zero: never
	rest, artistGap           time.Duration
	plays                     bool // the category may air now
	playsAt                   time.Time
	ownRest                   time.Duration // of the track's own limits
	limited                   bool          // they keep it off now, whatever it rests
	limitedUntil              time.Time
	listenerless, addressless bool
}

// decide returns the first rule that stands against a request; nil grants it.
//
//	the studio takes none                                    closed
//	as many wait as may                                      full, until the first of them airs
//	the listener asked within every                          interval
//	the listener asked per_day times within 24 hours         day
//	its address did so eight times over, or holds a quarter
//	of the queue, or its network holds half                  network
//	the same track waits                                     asked, when it comes
//	it is planned within the hour                            coming, when it comes
//	it aired within rest, the rotation's, or the track's own aired
//	a track of one of its artists waits                      artist_asked, a gap after that one
//	one of its artists aired within the rotation's gap       artist_aired
//	its category does not air now                            daypart, from when it does
//	its own days, hours or times a day are over              limits, from when they are not
func decide(f facts) (Code, time.Time, bool) {
	l := f.limits
	n := len(f.mine)
	switch {
	case f.closed:
		return Closed, time.Time{}, false
	case f.queue >= l.Queue:
		return Full, f.frees, false
	case n > 0 && f.now.Sub(f.mine[n-1]) < l.Every:
		return TooSoon, f.mine[n-1].Add(l.Every), false
	case n >= l.PerDay:
		return DayLimit, f.mine[n-l.PerDay].Add(day), false
	case len(f.addressDay) >= networkDay*l.PerDay:
		return Network, f.addressDay[len(f.addressDay)-networkDay*l.PerDay].Add(day), false
	case f.addressQueue >= max(1, l.Queue/networkShare), f.widerQueue >= max(1, l.Queue/widerShare):
		return Network, time.Time{}, false
	}
	return f.ofTrack()
}

// ofTrack looks at the rules that stand against the track.
func (f *facts) ofTrack() (Code, time.Time, bool) {
	rest := max(f.limits.Rest, f.rest, f.ownRest)
	switch {
	case f.asked:
		return Asked, f.askedAt, false
	case f.coming && (f.comingAt.IsZero() || f.comingAt.Sub(f.now) < comesSoon):
		return Soonest, f.comingAt, false
	case !f.aired.IsZero() && f.now.Sub(f.aired) < rest:
		return JustAired, f.aired.Add(rest), false
	case f.artistAsked:
		if !f.artistAskedAt.IsZero() {
			f.artistAskedAt = f.artistAskedAt.Add(f.artistGap)
		}
		return ArtistAsked, f.artistAskedAt, false
	case !f.artistAired.IsZero() && f.now.Sub(f.artistAired) < f.artistGap:
		return ArtistAired, f.artistAired.Add(f.artistGap), false
	case !f.plays:
		return Daypart, f.playsAt, false
	case f.limited:
		return OwnLimits, f.limitedUntil, false
	}
	return "", time.Time{}, true
}

const day = 24 * time.Hour

// refusal puts a decision into words; nil for one that grants.
func (f facts) refusal(zone *time.Location) *Refusal {
	code, at, granted := decide(f)
	if granted {
		return nil
	}
	r := &Refusal{Code: code, At: at}
	en, ar := "", ""
	if !at.IsZero() {
		en, ar = f.clock(at.In(zone))
	}
	r.En, r.Ar = f.words(code, en, ar)
	return r
}

// clock says a time in both languages; one of a later day than tomorrow is not said.
func (f facts) clock(at time.Time) (en, ar string) {
	clock, now := at.Format("15:04"), f.now.In(at.Location())
	switch {
	case at.Sub(now) < 12*time.Hour, station.DateOf(at) == station.DateOf(now):
		return clock, clock
	case station.DateOf(at) == station.DateOf(now.AddDate(0, 0, 1)):
		return "tomorrow at " + clock, clock + " غدًا"
	}
	return "", ""
}

// words says a rule; en and ar are the time, empty while it is unknown.
func (f facts) words(code Code, en, ar string) (string, string) {
	from := func(english, arabic string) (string, string) {
		if en == "" {
			return english, arabic
		}
		return english + ", from " + en, arabic + "، ويمكن طلبها من " + ar
	}
	comes := func(english, arabic string) (string, string) {
		if en == "" {
			return english, arabic
		}
		return english + ", expected at " + en, arabic + "، وموعدها المتوقع " + ar
	}
	again := func(english, arabic string) (string, string) {
		if en == "" {
			return english + ", try again later", arabic + "، حاول بعد قليل"
		}
		return english + ", again from " + en, arabic + "، ويمكنك الطلب من " + ar
	}
	switch code {
	case Closed:
		return "The studio takes no requests now", "الاستوديو لا يستقبل طلبات الآن"
	case Full:
		return again("The queue of requests is full", "قائمة الطلبات ممتلئة")
	case TooSoon:
		return again("You have just asked for a song", "طلبت أغنية قبل قليل")
	case DayLimit:
		return again(fmt.Sprintf("You have asked for %d songs today", f.limits.PerDay), "بلغت الحد اليومي للطلبات")
	case Network:
		return again("Many requests came from your network", "وصلتنا طلبات كثيرة من شبكتك")
	case Asked:
		return comes("Somebody has asked for it", "طلبها مستمع آخر")
	case Soonest:
		return comes("It is coming up", "ستُذاع قريبًا")
	case JustAired:
		e, a := ago(f.now.Sub(f.aired))
		return from("Aired "+e+" ago", "أُذيعت قبل "+a)
	case ArtistAsked:
		return from("A song of this artist is asked for already", "هناك طلب سابق لهذا الفنان")
	case ArtistAired:
		e, a := ago(f.now.Sub(f.artistAired))
		return from("This artist was on "+e+" ago", "كان هذا الفنان على الهواء قبل "+a)
	case Daypart:
		return from("Not in this part of the day", "ليست ضمن برنامج هذه الفترة")
	case OwnLimits:
		return from("This song is not available now", "هذه الأغنية غير متاحة حاليًا")
	}
	return string(code), string(code)
}

// ago says a duration in both languages, in minutes or hours.
func ago(d time.Duration) (en, ar string) {
	minutes := max(1, int(d/time.Minute))
	if minutes < 90 {
		return count(minutes, "minute", "minutes", "دقيقة", "دقيقتين", "دقائق")
	}
	return count((minutes+30)/60, "hour", "hours", "ساعة", "ساعتين", "ساعات")
}

func count(n int, one, many, arOne, arTwo, arMany string) (en, ar string) {
	en = fmt.Sprintf("%d %s", n, many)
	switch {
	case n == 1:
		return "1 " + one, arOne
	case n == 2:
		return en, arTwo
	case n%100 >= 3 && n%100 <= 10:
		return en, fmt.Sprintf("%d %s", n, arMany)
	}
	return en, fmt.Sprintf("%d %s", n, arOne)
}
