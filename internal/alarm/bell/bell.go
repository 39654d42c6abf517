// Package bell tells operators of alarms, by the receivers that they have set up: when
// one begins, and when it is over. What happens at once is one message, a fault that comes
// and goes is one with a count, and no receiver gets more messages in an hour than it may.
// What a receiver does not take is tried again.
//
// It judges nothing but when to tell: what an alarm is, others say by Raise and Clear, which
// never wait. It keeps what receivers were told in a file of its own and not in the database,
// whose loss it must tell.
package bell

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
)

// Options of a Bell. All are required.
type Options struct {
	Log       *slog.Logger
	Receivers []alarm.Receiver
	File      string // what receivers were told
	PerHour   int    // the most messages of a receiver in any hour, at least 4
	Station   string // name
	Language  string // ar or en
	Studio    string // address
	Zone      *time.Location
}

// sendWithin bounds one attempt.
const sendWithin = 30 * time.Second

// Bell tells of alarms. Make one with New.
type Bell struct {
	opt    Options
	words  teller
	saving sync.Mutex // one writes the file at a time

	mu    sync.Mutex
	lines []*line
	on    map[alarm.Kind]On
}

// line is one receiver with its book.
type line struct {
	to   alarm.Receiver
	book *book
	news chan struct{} // of capacity 1

	last    time.Time // when a message was last accepted
	trouble string    // of the last attempt; empty: it was accepted
}

// New makes a Bell, which sends while Run runs. It goes on with what the process before has
// told.
func New(opt Options) *Bell {
	b := &Bell{opt: opt, words: teller{opt.Station, opt.Language, opt.Studio, opt.Zone}, on: map[alarm.Kind]On{}}
	past := load(opt.Log, opt.File)
	for _, r := range opt.Receivers {
		l := &line{to: r, book: newBook(opt.PerHour), news: make(chan struct{}, 1)}
		if k, ok := past[r.Name]; ok {
			l.book.goOn(k, time.Now())
		}
		b.lines = append(b.lines, l)
	}
	return b
}

// Raise tells that an alarm has begun. One that is on already changes nothing.
func (b *Bell) Raise(k alarm.Kind, cause string, since time.Time) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, on := b.on[k]; on {
		return
	}
	b.on[k] = On{Kind: k, Since: since.UnixMilli(), Cause: cause}
	for _, l := range b.lines {
		l.book.raise(k, cause, since, now)
		l.wake()
	}
}

// Clear tells that an alarm is over. One that is not on changes nothing.
func (b *Bell) Clear(k alarm.Kind) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.on, k)
	for _, l := range b.lines {
		l.book.clear(k, now)
		l.wake()
	}
}

func (l *line) wake() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// Run sends until ctx ends.
func (b *Bell) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, l := range b.lines {
		wg.Go(func() { b.serve(ctx, l) })
	}
	wg.Wait()
	b.save()
	return nil
}

// serve sends to one receiver.
func (b *Bell) serve(ctx context.Context, l *line) {
	clock := time.NewTimer(0)
	defer clock.Stop()
	for ctx.Err() == nil {
		now := time.Now()
		b.mu.Lock()
		ready, again := l.book.due(now)
		var told map[alarm.Kind]fact
		if ready {
			told = l.book.begin(now)
		}
		b.mu.Unlock()
		if ready {
			b.send(ctx, l, told, now)
			continue
		}
		clock.Stop()
		if !again.IsZero() {
			clock.Reset(again.Sub(now))
		}
		select {
		case <-l.news:
		case <-clock.C:
		case <-ctx.Done():
		}
	}
}

// send makes one attempt. That it is made is on disk before, so that a process which is
// killed again and again sends no more than one that lives.
func (b *Bell) send(ctx context.Context, l *line, told map[alarm.Kind]fact, now time.Time) {
	b.save()
	sending, cancel := context.WithTimeout(ctx, sendWithin)
	err := l.to.Send(sending, b.words.message(told, now, l.to.Longest))
	cancel()
	if ctx.Err() != nil && err != nil {
		return // it is told again by the next process
	}
	now = time.Now()
	b.mu.Lock()
	if err == nil {
		l.book.taken(told, now)
		l.last, l.trouble = now, ""
		b.mu.Unlock()
		b.opt.Log.Info("alarm message sent", "to", l.to.Name, "about", kindsOf(told))
	} else {
		f := failureOf(err)
		news := l.trouble != f.Error()
		lost := l.book.failed(f, now)
		pause := l.book.notBefore.Sub(now)
		l.trouble = f.Error()
		b.mu.Unlock()
		if news {
			b.opt.Log.Error("cannot send an alarm message", "to", l.to.Name, "err", f, "again_in", pause.Round(time.Second))
		}
		if len(lost) > 0 {
			b.opt.Log.Warn("alarms that are over for a day are not told any more", "to", l.to.Name, "about", lost)
		}
	}
	b.save()
}

// failureOf reads a receiver's error. What is no Failure may have arrived.
func failureOf(err error) *alarm.Failure {
	var f *alarm.Failure
	if errors.As(err, &f) {
		return f
	}
	return &alarm.Failure{Why: err.Error(), Perhaps: true}
}

func kindsOf(told map[alarm.Kind]fact) (out []alarm.Kind) {
	for _, k := range alarm.Kinds() {
		if f, ok := told[k]; ok && f.owed() {
			out = append(out, k)
		}
	}
	return out
}

// Result is what came of a test.
type Result struct {
	Receiver string `json:"receiver" doc:"As in the settings: email, telegram, discord"`
	Sent     bool   `json:"sent" doc:"Whether the receiver took the message"`
	Error    string `json:"error,omitempty" doc:"Why not"`
	Remedy   string `json:"remedy,omitempty" doc:"What to do about it"`
	TookMS   int64  `json:"tookMs" doc:"Milliseconds"`
}

// Test sends a message to every receiver now, side by side, whatever the bounds, and says
// what came of it.
func (b *Bell) Test(ctx context.Context) []Result {
	out := make([]Result, len(b.lines))
	var wg sync.WaitGroup
	for i, l := range b.lines {
		wg.Go(func() {
			began := time.Now()
			ctx, cancel := context.WithTimeout(ctx, sendWithin)
			defer cancel()
			err := l.to.Send(ctx, b.words.test(began))
			out[i] = Result{Receiver: l.to.Name, Sent: err == nil, TookMS: time.Since(began).Milliseconds()}
			if err != nil {
				f := failureOf(err)
				out[i].Error, out[i].Remedy = f.Why, f.Remedy
			}
		})
	}
	wg.Wait()
	return out
}

// On is an alarm that is on.
type On struct {
	Kind  alarm.Kind `json:"kind"`
	Since int64      `json:"since" doc:"Epoch milliseconds"`
	Cause string     `json:"cause,omitempty" doc:"What was found"`
}

// Standing is what a Bell shows of itself.
type Standing struct {
	On        []On    `json:"on" nullable:"false" doc:"Alarms that are on, what listeners hear first"`
	Receivers []State `json:"receivers" nullable:"false"`
}

// State is how one receiver stands.
type State struct {
	Receiver string `json:"receiver" doc:"As in the settings: email, telegram, discord"`
	Waiting  bool   `json:"waiting" doc:"Whether something is not told yet"`
	LastSent int64  `json:"lastSent,omitempty" doc:"Epoch milliseconds of the last message that it took, since the start"`
	Error    string `json:"error,omitempty" doc:"Why it did not take the last attempt"`
}

// Standing returns what is on, and how the receivers stand.
func (b *Bell) Standing() Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := Standing{On: []On{}, Receivers: []State{}}
	for _, k := range alarm.Kinds() {
		if o, on := b.on[k]; on {
			out.On = append(out.On, o)
		}
	}
	for _, l := range b.lines {
		s := State{Receiver: l.to.Name, Error: l.trouble}
		if !l.last.IsZero() {
			s.LastSent = l.last.UnixMilli()
		}
		for _, f := range l.book.facts {
			s.Waiting = s.Waiting || f.owed()
		}
		out.Receivers = append(out.Receivers, s)
	}
	slices.SortFunc(out.Receivers, func(x, y State) int { return slices.Compare([]byte(x.Receiver), []byte(y.Receiver)) })
	return out
}
