package relay

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Encoder is a connection that publishes over RTMP, or asks to.
type Encoder struct {
	Name     string // of the stream, and so of the presenter
	Password string // while it asks; empty once it publishes
	From     string // its address
	// ID is nginx's number of the connection: the same name with another number is
	// another connection.
	ID string
}

// Path is the encoder's path in the list.
func (e Encoder) Path() string { return rtmpApp + "/" + e.Name }

// String and LogValue leave out the password.
func (e Encoder) String() string { return e.Path() + " from " + e.From }

// LogValue implements slog.LogValuer.
func (e Encoder) LogValue() slog.Value {
	return slog.GroupValue(slog.String("path", e.Path()), slog.String("from", e.From), slog.String("connection", e.ID))
}

const (
	// admitWait bounds a question about an encoder. nginx itself waits for ten seconds.
	admitWait = 3 * time.Second
	// tellAgain is the pause before something is told again that could not be told.
	tellAgain = 5 * time.Second
)

// teller tells the two ends of what is published: Published and Ended, one call after
// another, each until it succeeds or is overtaken. What is published is a state, not a
// queue: however long a call takes, nothing piles up, and an encoder that came and went
// meanwhile is not told of.
type teller struct {
	published, ended func(context.Context, Encoder) error
	log              *slog.Logger
	changed          chan struct{}

	mu  sync.Mutex
	now []Encoder
}

func newTeller(opts Options) *teller {
	return &teller{published: opts.Published, ended: opts.Ended, log: opts.Log, changed: make(chan struct{}, 1)}
}

// set says what is published now.
func (t *teller) set(now []Encoder) {
	t.mu.Lock()
	t.now = now
	t.mu.Unlock()
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

func (t *teller) state() []Encoder {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now
}

// run tells until ctx ends. What is published then goes on, and is told again by the relay
// that follows this one: nginx outlives both.
func (t *teller) run(ctx context.Context) error {
	told := map[Encoder]bool{}
	failing := false
	for {
		err := t.tell(ctx, told)
		if err != nil && !failing && ctx.Err() == nil {
			t.log.Warn("cannot tell who publishes over RTMP, trying again", "err", err)
		}
		failing = err != nil
		var again <-chan time.Time
		if failing {
			again = time.After(tellAgain)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.changed:
		case <-again:
		}
	}
}

// tell brings what was told up to what is so: first who has gone, so that one who comes
// again is new. The first error that is met is returned, after all others were told.
func (t *teller) tell(ctx context.Context, told map[Encoder]bool) (first error) {
	now := t.state()
	say := func(how func(context.Context, Encoder) error, e Encoder) bool {
		if how == nil {
			return true
		}
		err := how(ctx, e)
		if err != nil && first == nil {
			first = err
		}
		return err == nil
	}
	on := map[Encoder]bool{}
	for _, e := range now {
		on[e] = true
	}
	for e := range told {
		if !on[e] && say(t.ended, e) {
			delete(told, e)
		}
	}
	for _, e := range now {
		if !told[e] && say(t.published, e) {
			told[e] = true
		}
	}
	return first
}
