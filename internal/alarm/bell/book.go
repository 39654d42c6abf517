package bell

import (
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/kit/retry"
)

const (
	// gather is how long a message waits for what else happens at the same time.
	gather = 10 * time.Second
	// hour is the time over which messages are counted.
	hour = time.Hour
	// firstGap is the least time between the first message of an hour and the next that
	// tells nothing new; from each to the next it is three times as long.
	firstGap = 30 * time.Second
	// worth is how long an alarm that is over is worth telling of.
	worth = 24 * time.Hour
	// returning is how long a start waits for a fault to show again before it counts as
	// over: a station may take a minute to be heard, and the guard then judges it.
	returning = 3 * time.Minute
	// shortPause and longPause are between attempts that fail, the first and the longest;
	// those that somebody has to mend begin with lastingPause.
	shortPause   = 15 * time.Second
	lastingPause = 5 * time.Minute
	longPause    = 15 * time.Minute
	// longestAfter bounds what a receiver can ask for.
	longestAfter = 6 * time.Hour
)

// fact is what one receiver was told of a kind of alarm, and what is true.
type fact struct {
	On    bool      `json:"on"`
	Since time.Time `json:"since"`           // of the time that it is on, or was last
	Ended time.Time `json:"ended,omitzero"`  // zero: it is on, or nobody saw it end
	Cause string    `json:"cause,omitempty"` // what was found; not for everybody
	Times int       `json:"times,omitempty"` // how often it began since the last message
	Told  bool      `json:"told,omitempty"`  // the last message said that it is on
	Said  time.Time `json:"said,omitzero"`   // when a message last told of it

	pending time.Time // since when a message is due for it; zero: none is
}

// owed reports that the receiver does not know what is true, or was not told that it began
// and ended.
func (f *fact) owed() bool { return f.On != f.Told || !f.On && f.Times > 0 }

// book decides when one receiver is sent a message, and of what. It is a table over three
// values of each kind of alarm: whether it is on, whether the receiver was told so, and how
// often it began since the last message.
//
//	on, not told            a message is owed: it began
//	off, told               a message is owed: it is over
//	off, not told, began    a message is owed: it began and is over
//	on, told                nothing is owed
//	off, not told           nothing is owed
//
// What is owed is gathered and sent as one message, which is composed when it is sent, so that
// it says what is true then. News, an alarm of a kind that no message of the last hour
// told of, may take every place of the hour. All else may take six of ten places, and each
// waits three times as long after the one before. So a fault that comes and goes is told as
// one message with a count, and leaves room for another fault.
type book struct {
	perHour int
	facts   map[alarm.Kind]*fact
	sent    []time.Time // of the last hour, the oldest first
	// after a failure
	failures  int
	notBefore time.Time
	// until then a fault of the process before may show again
	returning time.Time
}

func newBook(perHour int) *book {
	return &book{perHour: perHour, facts: map[alarm.Kind]*fact{}}
}

func (b *book) fact(k alarm.Kind) *fact {
	f := b.facts[k]
	if f == nil {
		f = &fact{}
		b.facts[k] = f
	}
	return f
}

// mark keeps since when something is owed for a kind.
func (f *fact) mark(now time.Time) {
	if !f.owed() {
		f.pending = time.Time{}
	} else if f.pending.IsZero() {
		f.pending = now
	}
}

func (b *book) raise(k alarm.Kind, cause string, since, now time.Time) {
	f := b.fact(k)
	if f.On {
		return
	}
	f.On, f.Since, f.Ended, f.Cause = true, since, time.Time{}, cause
	f.Times++
	f.mark(now)
}

func (b *book) clear(k alarm.Kind, now time.Time) {
	f := b.fact(k)
	if !f.On {
		return
	}
	f.On, f.Ended = false, now
	f.mark(now)
}

// due reports whether a message is to be sent now, and if not when to ask again at the latest;
// zero: when something happens.
func (b *book) due(now time.Time) (ready bool, again time.Time) {
	b.sent = slices.DeleteFunc(b.sent, func(t time.Time) bool { return now.Sub(t) >= hour })
	var at time.Time
	for _, f := range b.facts {
		if !f.owed() {
			continue
		}
		if t := b.dueOf(f, now); at.IsZero() || t.Before(at) {
			at = t
		}
	}
	switch {
	case at.IsZero():
		return false, at
	case !at.After(now):
		return true, at
	case len(b.sent) > 0 && b.sent[0].Add(hour).Before(at): // fewer count from then on
		at = b.sent[0].Add(hour)
	}
	return false, at
}

// dueOf returns when a message for one fact may be sent, as far as is known now.
func (b *book) dueOf(f *fact, now time.Time) time.Time {
	at := latest(f.pending.Add(gather), b.notBefore)
	if !f.On {
		at = latest(at, b.returning)
	}
	if news := f.On && !f.Told && (f.Said.IsZero() || now.Sub(f.Said) >= hour); news {
		return latest(at, b.free(b.perHour))
	}
	n := len(b.sent)
	if n == 0 {
		return at
	}
	gap := firstGap
	for range n - 1 {
		gap = min(3*gap, hour)
	}
	return latest(at, b.free(max(2, b.perHour*6/10)), b.sent[n-1].Add(gap))
}

// free returns when fewer than most messages are of the last hour; zero: now.
func (b *book) free(most int) time.Time {
	if len(b.sent) < most {
		return time.Time{}
	}
	return b.sent[len(b.sent)-most].Add(hour)
}

// begin notes that a message is sent now, and returns what it tells: what is owed, and what
// is still on.
func (b *book) begin(now time.Time) map[alarm.Kind]fact {
	out := map[alarm.Kind]fact{}
	for k, f := range b.facts {
		if f.On || f.owed() && !now.Before(b.returning) {
			out[k] = *f
		}
	}
	b.sent = append(b.sent, now)
	return out
}

// taken notes that the message was accepted; meanwhile more may have happened.
func (b *book) taken(told map[alarm.Kind]fact, now time.Time) {
	for k, was := range told {
		f := b.fact(k)
		f.Told, f.Said = was.On, now
		f.Times -= was.Times
		f.pending = time.Time{}
		f.mark(now)
	}
	b.failures, b.notBefore = 0, time.Time{}
}

// failed notes that the message of begin was not accepted, and returns the alarms that are
// given up: they are over for longer than they are worth telling.
func (b *book) failed(f *alarm.Failure, now time.Time) (lost []alarm.Kind) {
	if n := len(b.sent); !f.Perhaps && n > 0 {
		b.sent = b.sent[:n-1]
	}
	b.failures++
	first := shortPause
	if f.Lasting {
		first = lastingPause
	}
	b.notBefore = now.Add(max(retry.Doubled(first, longPause, b.failures), min(f.After, longestAfter)))
	return b.forget(now)
}

// forget gives up what is over and not worth telling any more.
func (b *book) forget(now time.Time) (lost []alarm.Kind) {
	for k, f := range b.facts {
		ended := latest(f.Ended, f.pending)
		if !f.Ended.IsZero() {
			ended = f.Ended
		}
		if !f.On && f.owed() && !ended.IsZero() && now.Sub(ended) >= worth {
			f.Told, f.Times, f.pending = false, 0, time.Time{}
			lost = append(lost, k)
		}
	}
	slices.Sort(lost)
	return lost
}

// kept is what a book leaves for the next process.
type kept struct {
	Facts map[alarm.Kind]fact `json:"facts"`
	Sent  []time.Time         `json:"sent"`
}

func (b *book) keep() kept {
	out := kept{Facts: map[alarm.Kind]fact{}, Sent: slices.Clone(b.sent)}
	for k, f := range b.facts {
		out.Facts[k] = *f
	}
	return out
}

// goOn takes over what the process before has kept. What was on may be over: it is told so
// only if it does not show again for a while.
func (b *book) goOn(k kept, now time.Time) {
	b.returning = now.Add(returning)
	for kind, f := range k.Facts {
		f.On = false
		f.mark(now)
		b.facts[kind] = &f
	}
	for _, t := range k.Sent {
		if !t.After(now) { // the clock was set back
			b.sent = append(b.sent, t)
		}
	}
	slices.SortFunc(b.sent, time.Time.Compare)
	b.forget(now)
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }
