package takeover

import (
	"context"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

const (
	// phonesEvery is how often phones are asked for while there may be some, phonesIdle
	// while nothing is live: a relay has visitors without a session too.
	phonesEvery  = 5 * time.Second
	phonesIdle   = time.Minute
	phonesWithin = 2 * time.Second
)

// PhoneServer is the node's WHIP server.
type PhoneServer interface {
	Sessions(ctx context.Context) ([]live.Session, error)
	// Relay are the figures of its TURN server. Error: station.ErrNotFound where it has
	// none.
	Relay(ctx context.Context) (live.RelayReport, error)
}

// PhoneFigures are all phones in figures. Counts run since the control plane started, and
// go on when a session ends.
type PhoneFigures struct {
	Known                            bool // the server answers
	Sessions, Relayed, Muted         int  // now
	Packets, Lost, Frames, Concealed uint64
	// Heard is the session that feeds the pipe; nil: none does.
	Heard *live.Session
	Relay *live.RelayReport // nil: there is none
}

// Phones keeps the figures of phones for those who must not wait for the node.
type Phones struct {
	server PhoneServer
	busy   func() bool

	mu  sync.Mutex
	now PhoneFigures
	was map[string]live.Session // by id
}

// NewPhones follows the phones of a server; busy reports that some may be there.
func NewPhones(server PhoneServer, busy func() bool) *Phones {
	return &Phones{server: server, busy: busy, was: map[string]live.Session{}}
}

// Figures returns what was last known.
func (p *Phones) Figures() PhoneFigures {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// Run asks until ctx ends.
func (p *Phones) Run(ctx context.Context) error {
	tick := time.NewTicker(phonesEvery)
	defer tick.Stop()
	asked := time.Time{}
	for {
		if now := time.Now(); asked.IsZero() || now.Sub(asked) >= phonesIdle || p.busy() || p.Figures().Sessions > 0 {
			p.ask(ctx)
			asked = now
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (p *Phones) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, phonesWithin)
	defer cancel()
	all, err := p.server.Sessions(ctx)
	var relay *live.RelayReport
	if err == nil {
		if r, err := p.server.Relay(ctx); err == nil {
			relay = &r
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := &p.now
	n.Known, n.Sessions, n.Relayed, n.Muted, n.Heard, n.Relay = err == nil, 0, 0, 0, nil, relay
	if err != nil {
		return // those that were known may be there again
	}
	there := map[string]live.Session{}
	for _, s := range all {
		there[s.ID] = s
		was := p.was[s.ID]
		n.Packets += since(was.Packets, s.Packets)
		n.Lost += since(was.Lost, s.Lost)
		n.Frames += since(was.Frames, s.Frames)
		n.Concealed += since(was.Concealed, s.Concealed)
		n.Sessions++
		if s.Relayed {
			n.Relayed++
		}
		if s.Muted {
			n.Muted++
		}
		if s.Holds {
			n.Heard = &s
		}
	}
	p.was = there
}

// since is what a count has grown by; one that has shrunk counts anew.
func since(was, now uint64) uint64 {
	if now < was {
		return now
	}
	return now - was
}
