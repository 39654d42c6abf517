package relay

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
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
	// Again: it was let in with Password, publishes, and is asked about once more.
	Again bool
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
	// tellAgain is how often all that is published is told, and what could not be told is
	// told again.
	tellAgain = 5 * time.Second
)

// teller tells the two ends of what is published: Published and Ended, one call after
// another, each until it succeeds or is overtaken. What is published is a state, not a
// queue: however long a call takes, nothing piles up, and an encoder that came and went
// meanwhile is not told of.
//
// It begins with no memory, and so may whoever is told. So it calls the roll as well:
//
//	what was missed                               | what says so
//	----------------------------------------------|-------------------------------
//	an encoder ended while the relay was away     | rolls lack it
//	an end was told to a control plane that died  | its successor never knew it
//	an encoder goes on, and the control plane was | rolls have it
//	started anew                                  |
//
// No roll is called before the statistics were read: until then it would lack everybody.
//
// Published is a right to the air, for who may take it without the studio, and an encoder has
// that once, when it comes. So who was there before the relay was goes by the roll alone: a
// control plane that was started anew with the relay would otherwise give it the air again.
// Who that is the first statistics say. If one of them did come just now, and the relay that
// let it in has died since, it waits for the studio.
type teller struct {
	published, ended func(context.Context, Encoder) error
	roll             func(context.Context, []Encoder) (map[Encoder]string, error)
	refused          func(ctx context.Context, e Encoder, why string) // the roll's answer
	rolled           func(all []Encoder, refused map[Encoder]string, now time.Time)
	log              *slog.Logger
	changed          chan struct{}

	mu    sync.Mutex
	now   []Encoder
	known bool             // now is what was read
	begun bool             // nginx was read, or is not there
	let   map[Encoder]bool // in by this relay before it was begun, by connection
	there map[Encoder]bool // before this relay was, and not passed over yet

	told map[Encoder]bool // Published was, and Ended not yet; of run alone
}

func newTeller(opts Options) *teller {
	return &teller{published: opts.Published, ended: opts.Ended, roll: opts.Roll, log: opts.Log, changed: make(chan struct{}, 1), let: map[Encoder]bool{}, there: map[Encoder]bool{}, told: map[Encoder]bool{}}
}

// came notes an encoder that is let in.
func (t *teller) came(e Encoder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.begun && len(t.let) < mostGuests {
		t.let[connection(e)] = true
	}
}

// begins takes, the first time, who is there already.
func (t *teller) begins(now []Encoder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun {
		return
	}
	t.begun = true
	for _, e := range now {
		if !t.let[connection(e)] {
			t.there[e] = true
		}
	}
	clear(t.let)
}

// passesOver reports, once, that an encoder was there before.
func (t *teller) passesOver(e Encoder) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.there[e]
	delete(t.there, e)
	return was
}

// set says what is published now.
func (t *teller) set(now []Encoder) {
	t.mu.Lock()
	same := t.known && slices.Equal(now, t.now)
	t.now, t.known = now, true
	t.mu.Unlock()
	if same { // what could not be told has its pause
		return
	}
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

func (t *teller) state() (now []Encoder, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now, t.known
}

// run tells until ctx ends. What is published then goes on, and is told again by the relay
// that follows this one: nginx outlives both.
func (t *teller) run(ctx context.Context) error {
	failing := false
	tick := time.NewTicker(tellAgain)
	defer tick.Stop()
	for due := true; ; {
		err := t.tell(ctx, t.told)
		if _, known := t.state(); due && known {
			due = false
			err = cmp.Or(err, t.call(ctx))
		}
		if err != nil && !failing && ctx.Err() == nil {
			t.log.Warn("cannot tell who publishes over RTMP, trying again", "err", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.changed:
		case <-tick.C:
			due = true
		}
	}
}

// call calls the roll of all that publish. Who of them may not is sent away.
func (t *teller) call(ctx context.Context) error {
	if t.roll == nil {
		return nil
	}
	now, _ := t.state()
	refused, err := t.roll(ctx, now)
	if err == nil && t.rolled != nil {
		t.rolled(now, refused, time.Now())
	}
	for e, why := range refused {
		t.refused(ctx, e, why)
	}
	return err
}

// tell brings what was told up to what is so: first who has gone, so that one who comes
// again is new. The first error that is met is returned, after all others were told.
func (t *teller) tell(ctx context.Context, told map[Encoder]bool) (first error) {
	now, _ := t.state()
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
		if !told[e] && (t.passesOver(e) || say(t.published, e)) {
			told[e] = true
		}
	}
	return first
}
