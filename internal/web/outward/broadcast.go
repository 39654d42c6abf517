package outward

import (
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/live/takeover"
)

// endWait is for how long the end of a broadcast, of which the engine tells, waits for its
// reason, which comes from the live desk by another way.
const endWait = 2 * time.Second

// liveData is the data of live.start and live.stop. All but ID and Name is from the live
// takeover, and empty where that knows nothing of the broadcast.
type liveData struct {
	ID        string `json:"id"` // of the broadcast, the same in both events
	Name      string `json:"name"`
	Stream    string `json:"stream"` // id
	Title     string `json:"title"`
	Presenter string `json:"presenter"`
	Account   string `json:"account"`
	Mode      string `json:"mode"`
	By        string `json:"by"`

	// Of live.stop: why it ended, and the name of its recording.
	Why       string `json:"why,omitempty"`
	Recording string `json:"recording,omitempty"`
}

// told is what the live takeover says of what is on the air, and was.
type told struct {
	news chan struct{} // of capacity 1

	mu   sync.Mutex
	now  liveData // without a stream: none has the air
	over liveData // the last one that has lost it, with its end
}

// Told takes what the live takeover tells. It never waits.
func (o *Outward) Told(e takeover.Event) {
	s := e.Stream
	facts := liveData{Stream: s.ID, Title: s.Title, Presenter: s.Creator, Account: e.Publisher, Mode: string(e.Mode), By: e.By}
	o.told.mu.Lock()
	switch e.Kind {
	case takeover.Started, takeover.Handed, takeover.Follows:
		o.told.now = facts
	case takeover.Ended:
		facts.Why, facts.Recording = e.Why, e.Recording
		o.told.now, o.told.over = liveData{}, facts
	case takeover.Failed: // it was not on the air
	}
	o.told.mu.Unlock()
	select {
	case o.told.news <- struct{}{}:
	default:
	}
}

// onAir returns what has the air now.
func (t *told) onAir() liveData {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now
}

// endOf returns what is known of a stream that has left the air, and whether that is all.
func (t *told) endOf(last liveData) (facts liveData, whole bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch last.Stream {
	case "":
		return last, true
	case t.now.Stream:
		return last, false
	case t.over.Stream:
		return t.over, true
	}
	return last, false
}

// lives announces live broadcasts, of which the engine's markers tell and the takeover
// says more.
type lives struct {
	out    *Outward
	on     takeovers
	last   liveData // of the broadcast on the air, as newly as it is known
	ending []ending
}

// ending is a broadcast that is over and not announced yet.
type ending struct {
	broadcast
	last liveData
	by   time.Time
}

// step announces what has happened, and returns when it must be called again at the
// latest; zero: when something happens.
func (l *lives) step(happened []broadcast, now time.Time) (again time.Time) {
	for _, b := range happened {
		if b.ended.IsZero() {
			l.last = l.out.told.onAir()
			l.out.liveStarted(b, l.last)
			continue
		}
		l.ending = append(l.ending, ending{b, l.last, now.Add(endWait)})
		l.last = liveData{}
	}
	if facts := l.out.told.onAir(); l.on.on != nil && facts.Stream != "" { // another may have followed
		l.last = facts
	}
	waiting := l.ending[:0]
	for _, e := range l.ending {
		facts, whole := l.out.told.endOf(e.last)
		if !whole && now.Before(e.by) {
			waiting, again = append(waiting, e), e.by
			continue
		}
		l.out.liveStopped(e.broadcast, facts)
	}
	l.ending = waiting
	return again
}

// liveStarted announces the begin of a live broadcast.
func (o *Outward) liveStarted(b broadcast, facts liveData) {
	facts.ID, facts.Name = b.key, b.name
	o.opt.Hooks.Tell(webhooks.Message{Event: eventLiveStart, Key: b.key, At: b.began, Data: facts})
	// Whether listeners are to be told of what was on before this process began is not
	// known to it, and was known to the one before.
	if o.opt.Push != nil && !b.found && (o.opt.Announced == nil || o.opt.Announced()) {
		o.opt.Push.Notify(webpush.Notice{Topic: webpush.Live, Key: b.key, At: b.began, Title: b.name})
	}
}

// liveStopped announces the end of a live broadcast.
func (o *Outward) liveStopped(b broadcast, facts liveData) {
	facts.ID, facts.Name = b.key, b.name
	o.opt.Hooks.Tell(webhooks.Message{Event: eventLiveStop, Key: b.key, At: b.ended, Data: facts})
}
