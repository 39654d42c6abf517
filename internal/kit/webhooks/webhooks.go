// Package webhooks tells other programs what happens: each event becomes a
// signed JSON message to every hook that wants it, as the Standard Webhooks
// specification 1.0.0 has it (https://www.standardwebhooks.com).
//
// Messages wait in the database: what is queued survives a kill, and is sent at
// least once, always under the same id. A hook that fails holds up nobody else;
// its messages are tried again with growing pauses, and it is disabled when
// nothing has arrived for days. Each hook gets one message at a time, the oldest
// first; one that waits for its next attempt is overtaken by those behind it.
//
// The package knows no events and discards the receivers' answers, so that a hook
// cannot be used to read from the station's network.
package webhooks

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("webhooks", migrations) }

// Event is a kind of message that hooks may ask for.
type Event struct {
	Name string `json:"name"` // words with full stops between them, as in user.created
	Doc  string `json:"doc"`
}

// TestEvent is the event of Test. No catalogue holds it.
const TestEvent = "webhook.test"

// Sender is how messages leave: a *fetch.Client.
type Sender interface {
	Check(address string) (*url.URL, error)
	Send(ctx context.Context, s fetch.Sending) (fetch.Answer, error)
}

// Options of Hooks. Log, DB, Sender and Events are required.
type Options struct {
	Log    *slog.Logger
	DB     *store.DB
	Sender Sender
	Events []Event
	// Station is told in each message: a receiver may serve several.
	Station string
	Now     func() time.Time

	Timeout time.Duration // of one attempt; 10 s when 0
	// Pauses lie between the attempts of a message, each a tenth shorter or
	// longer by chance; 5 s, 30 s, 2 min, 10 min, 1 h and 6 h when nil.
	Pauses []time.Duration
	// Patience is how long a hook may fail: it is disabled when a message runs out
	// of attempts and nothing has arrived for this long; 3 days when 0.
	Patience time.Duration
	// MostWaiting is how many messages may wait for one hook; 1000 when 0. Where
	// there are more the oldest is dropped.
	MostWaiting int
	// Kept is how many messages of one hook that are done with stay in its log;
	// 200 when 0.
	Kept int
}

const (
	mostHooks = 32
	// mostData bounds an event's data, in bytes of JSON.
	mostData = 64 << 10
	// patience bounds one write.
	patience = 10 * time.Second
	// overlap is how long messages are signed with the former secret as well.
	overlap = 24 * time.Hour
	// longestHold is the longest Retry-After of a receiver that is kept.
	longestHold = 6 * time.Hour
)

func setDefaults(o *Options) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Pauses == nil {
		o.Pauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}
	}
	if o.Patience <= 0 {
		o.Patience = 3 * 24 * time.Hour
	}
	if o.MostWaiting <= 0 {
		o.MostWaiting = 1000
	}
	if o.Kept <= 0 {
		o.Kept = 200
	}
}

// Hooks are the hooks and what waits for them. Make them with Open; their
// methods may be called from any goroutine.
type Hooks struct {
	opt      Options
	wake     chan struct{} // something may be due
	incoming chan Message  // from Tell to Run

	turn sync.Mutex // held by the one that writes

	mu    sync.RWMutex
	hooks map[string]*hook // never changed once published
	order []string         // as they were made
}

// hook is a Hook with its secrets.
type hook struct {
	Hook
	secret, former []byte
	formerUntil    int64
}

// Open reads the hooks. Nothing is sent before Run.
func Open(ctx context.Context, opt Options) (*Hooks, error) {
	setDefaults(&opt)
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, fmt.Errorf("open webhooks: %w", err)
	}
	h := &Hooks{opt: opt, wake: make(chan struct{}, 1), incoming: make(chan Message, mostIncoming), hooks: map[string]*hook{}}
	if err := h.load(ctx); err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	return h, nil
}

// Events returns the catalogue.
func (h *Hooks) Events() []Event { return h.opt.Events }

// rouse makes Run look for messages that are due.
func (h *Hooks) rouse() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *Hooks) millis() int64 { return h.opt.Now().UnixMilli() }
