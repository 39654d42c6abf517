package bell

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// play runs a book over a virtual clock. arrives says what becomes of an attempt: nil, or
// the failure.
type play struct {
	book    *book
	now     time.Time
	arrives func() *alarm.Failure
	// meanwhile happens while a message is on its way; nil: nothing
	meanwhile func()
	// what the receiver has
	messages []time.Time // accepted, or perhaps
	believed map[alarm.Kind]bool
	told     map[alarm.Kind]int // how often a kind was told to be on
}

func newPlay(perHour int) *play {
	return &play{
		book: newBook(perHour), now: time.Unix(1_800_000_000, 0), arrives: func() *alarm.Failure { return nil },
		believed: map[alarm.Kind]bool{}, told: map[alarm.Kind]int{},
	}
}

// until runs the clock to a time, sending what is due.
func (p *play) until(end time.Time) {
	for {
		ready, again := p.book.due(p.now)
		if !ready {
			if again.IsZero() || again.After(end) {
				p.now = end
				return
			}
			p.now = again
			continue
		}
		told := p.book.begin(p.now)
		if p.meanwhile != nil {
			p.meanwhile()
		}
		f := p.arrives()
		if f == nil || f.Perhaps {
			p.messages = append(p.messages, p.now)
		}
		if f != nil {
			p.book.failed(f, p.now)
			continue
		}
		for k, was := range told {
			if p.believed[k] = was.On; was.On && !was.Told {
				p.told[k]++
			}
		}
		p.book.taken(told, p.now)
	}
}

func (p *play) after(d time.Duration) { p.until(p.now.Add(d)) }

func (p *play) raise(k alarm.Kind) { p.book.raise(k, "cause", p.now, p.now) }
func (p *play) clear(k alarm.Kind) { p.book.clear(k, p.now) }

// Whatever happens, and whatever the receiver does: no more messages come in any hour than
// may; an alarm that lasts is told while it lasts; and the end of what was told is told. A
// receiver that takes nothing for days learns the truth when it does again.
func TestStormsAreBoundedAndNothingThatLastsIsLost(t *testing.T) {
	kinds := alarm.Kinds()
	rapid.Check(t, func(t *rapid.T) {
		p := newPlay(rapid.IntRange(4, 12).Draw(t, "per hour"))
		whims := rapid.SampledFrom([]string{"takes all", "takes some", "takes nothing"})
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			switch whims.Draw(t, "receiver") {
			case "takes all":
				p.arrives = func() *alarm.Failure { return nil }
			case "takes some":
				p.arrives = func() *alarm.Failure {
					if rapid.Bool().Draw(t, "taken") {
						return nil
					}
					return &alarm.Failure{Perhaps: rapid.Bool().Draw(t, "perhaps"), Lasting: rapid.Bool().Draw(t, "lasting"), After: time.Duration(rapid.IntRange(0, 7200).Draw(t, "after")) * time.Second}
				}
			default:
				p.arrives = func() *alarm.Failure { return &alarm.Failure{} }
			}
			turn := func() {
				if k := rapid.SampledFrom(kinds).Draw(t, "kind"); p.book.fact(k).On {
					p.clear(k)
				} else {
					p.raise(k)
				}
			}
			turn()
			p.meanwhile = func() {
				if rapid.Bool().Draw(t, "meanwhile") {
					turn()
				}
			}
			p.after(time.Duration(rapid.IntRange(0, 2000).Draw(t, "seconds")) * time.Second)
		}
		p.meanwhile = nil
		// The receiver is well again, and nothing more happens: soon it knows the truth.
		p.arrives = func() *alarm.Failure { return nil }
		p.after(longestAfter + 2*hour)
		for _, k := range kinds {
			if f := p.book.fact(k); f.owed() || p.believed[k] != f.On {
				t.Errorf("%s is on: %v, the receiver believes %v, owed: %v", k, f.On, p.believed[k], f.owed())
			}
		}
		for i, at := range p.messages {
			if n := i + 1 - p.book.perHour; n > 0 && at.Sub(p.messages[n-1]) < hour {
				t.Errorf("%d messages within %s", p.book.perHour+1, at.Sub(p.messages[n-1]))
			}
		}
	})
}

// A receiver that takes everything is told of each alarm that lasts for an hour, and of each
// end that lasts for one, within it: whatever comes and goes beside it.
func TestWhatLastsIsToldWithinTheHour(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPlay(rapid.IntRange(4, 12).Draw(t, "per hour"))
		noisy := alarm.Kinds()[1:]
		lasting := alarm.Gone
		storm := func(d time.Duration) {
			for end := p.now.Add(d); p.now.Before(end); {
				k := rapid.SampledFrom(noisy).Draw(t, "kind")
				if p.book.fact(k).On {
					p.clear(k)
				} else {
					p.raise(k)
				}
				p.until(minTime(end, p.now.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds"))*time.Second)))
			}
		}
		storm(hour)
		for range 3 {
			p.raise(lasting)
			storm(hour + gather)
			if !p.believed[lasting] {
				t.Fatal("an alarm is on for an hour and was not told")
			}
			p.clear(lasting)
			storm(hour + gather)
			if p.believed[lasting] {
				t.Fatal("it is over for an hour, and that was not told")
			}
		}
	})
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// What each rule is for, as a story: seconds of the messages.
func TestTheRulesOfAStorm(t *testing.T) {
	for _, c := range []struct {
		what string
		run  func(p *play)
		want string
	}{
		{"an alarm and its end", func(p *play) {
			p.raise(alarm.Silence)
			p.after(300 * time.Second)
			p.clear(alarm.Silence)
			p.after(hour)
		}, "10 310"},
		{"what begins at once is one message", func(p *play) {
			for _, k := range []alarm.Kind{alarm.Gone, alarm.Unreachable, alarm.Program, alarm.Bus} {
				p.raise(k)
				p.after(2 * time.Second)
			}
			p.after(hour)
		}, "10"},
		{"a short one is told once, when it is over", func(p *play) {
			p.raise(alarm.Silence)
			p.after(4 * time.Second)
			p.clear(alarm.Silence)
			p.after(hour)
		}, "10"},
		{"one that comes and goes each 20 s is told ever more rarely", func(p *play) {
			for range 90 {
				p.raise(alarm.Silence)
				p.after(20 * time.Second)
				p.clear(alarm.Silence)
				p.after(20 * time.Second)
			}
		}, "10 40 130 400 1210"},
		{"and leaves room for another kind, at once", func(p *play) {
			for range 40 {
				p.raise(alarm.Silence)
				p.after(20 * time.Second)
				p.clear(alarm.Silence)
				p.after(20 * time.Second)
			}
			p.raise(alarm.DiskFull) // at 1600
			p.after(15 * time.Second)
		}, "10 40 130 400 1210 1610"},
		{"a receiver that is away is asked ever more rarely, and told the truth of then", func(p *play) {
			n := 0
			p.arrives = func() *alarm.Failure {
				if n++; n < 4 {
					return &alarm.Failure{}
				}
				return nil
			}
			p.raise(alarm.Silence) // attempts at 10, 25, 55, 115
			p.after(60 * time.Second)
			p.clear(alarm.Silence)
			p.after(hour)
		}, "115"},
		{"one that asks for time gets it", func(p *play) {
			n := 0
			p.arrives = func() *alarm.Failure {
				if n++; n < 2 {
					return &alarm.Failure{After: 500 * time.Second}
				}
				return nil
			}
			p.raise(alarm.Silence)
			p.after(hour)
		}, "510"},
		{"what happens while a message is on its way is told by the next, with its count", func(p *play) {
			p.meanwhile = func() {
				p.meanwhile = nil
				p.clear(alarm.Silence)
				p.raise(alarm.Silence)
				p.clear(alarm.Silence)
			}
			p.raise(alarm.Silence)
			p.after(20 * time.Second)
			if f := p.book.fact(alarm.Silence); !f.Told || f.Times != 1 {
				t.Errorf("after it is taken: %+v", f)
			}
			p.after(hour)
		}, "10 40"},
		{"what is over for a day is not told any more", func(p *play) {
			p.arrives = func() *alarm.Failure { return &alarm.Failure{} }
			p.raise(alarm.Silence)
			p.after(time.Minute)
			p.clear(alarm.Silence)
			p.after(worth + hour)
			p.arrives = func() *alarm.Failure { return nil }
			p.after(worth)
		}, ""},
	} {
		p := newPlay(10)
		began, got := p.now, ""
		c.run(p)
		for i, at := range p.messages {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprint(at.Sub(began).Seconds())
		}
		if got != c.want {
			t.Errorf("%s: messages at %q, want %q", c.what, got, c.want)
		}
	}
}

// Where few messages may come in an hour, a fault that comes and goes takes two of four places.
func TestAFewPlacesAreKeptForNews(t *testing.T) {
	p := newPlay(4)
	for range 50 {
		p.raise(alarm.Silence)
		p.after(20 * time.Second)
		p.clear(alarm.Silence)
		p.after(20 * time.Second)
	}
	if len(p.messages) != 2 {
		t.Errorf("%d messages of one fault", len(p.messages))
	}
	for _, k := range []alarm.Kind{alarm.DiskFull, alarm.Bus, alarm.Database} {
		p.raise(k)
		p.after(time.Minute)
	}
	if len(p.messages) != 4 || !p.believed[alarm.DiskFull] || !p.believed[alarm.Bus] {
		t.Errorf("%d messages, %v", len(p.messages), p.believed)
	}
}

// A restart forgets neither what was told nor how often: what is still wrong is not told
// again, what is not is told to be over, and a process that is killed again and again sends
// no more than one that lives.
func TestARestartGoesOn(t *testing.T) {
	p := newPlay(4)
	p.raise(alarm.Silence)
	p.raise(alarm.Certificate)
	p.after(time.Minute)
	restart := func() {
		was := p.book.keep()
		p.book = newBook(4)
		p.book.goOn(was, p.now)
	}
	restart()
	p.after(20 * time.Second)
	p.raise(alarm.Certificate)
	p.after(hour)
	if len(p.messages) != 2 || p.believed[alarm.Silence] || !p.believed[alarm.Certificate] || p.told[alarm.Certificate] != 1 {
		t.Errorf("%d messages, %v, %v", len(p.messages), p.believed, p.told)
	}
	if at := p.messages[1].Sub(p.messages[0]); at != returning+50*time.Second {
		t.Errorf("the end was told after %s", at)
	}
	p.messages = nil
	for i := range 200 {
		restart()
		p.raise(alarm.Kinds()[i%len(alarm.Kinds())])
		p.after(17 * time.Second) // 57 minutes in all
	}
	if len(p.messages) > 4 {
		t.Errorf("killed again and again it sends %d messages in an hour", len(p.messages))
	}
}
