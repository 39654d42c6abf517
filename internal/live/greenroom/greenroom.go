// Package greenroom answers the node's processes that meet presenters: who may come in,
// who has come and gone, and what a presenter is shown meanwhile.
//
// It knows nobody and puts nobody on the air: publishers and the takeover do, whom it
// asks through the interfaces it declares.
package greenroom

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

// Publishers know who may go live.
type Publishers interface {
	// Admit says whether somebody with these credentials may go live now.
	Admit(ctx context.Context, who live.Credentials) (live.Admission, error)
	// Allowed says whether a publisher who was admitted may go on now.
	Allowed(id string) live.Admission
}

// Takeover knows what is on the air.
type Takeover interface {
	Arrived(ctx context.Context, a live.Arrival) (id string, err error)
	Left(ctx context.Context, l live.Leaving) error
	// Take puts a stream on the air, or hands the air over to it.
	Take(ctx context.Context, id, by string) error
	// Presence is how a stream is doing.
	Presence(stream string) Presence
}

// Presence is how a stream is doing, for whoever sends it.
type Presence struct {
	State    string // off, connecting, waiting, on air, grace or held
	Since    int64
	TakenBy  string // who is on the air instead
	WrapUpAt int64  // the sign to come to an end; 0: none
}

// Air is what the station airs now and next, and how many listen.
type Air struct {
	Now       live.FactsAir
	Next      []live.FactsTrack
	Listeners int
}

// Options of a Room. All are required.
type Options struct {
	Log        *slog.Logger
	Publishers Publishers
	Takeover   Takeover
	Air        func() Air
	Now        func() time.Time
}

// Room is the green room. Its methods may be called from any goroutine.
type Room struct {
	opt   Options
	taken chan string // streams of the studio's microphone, to be put on the air
}

// New makes a Room; the studio's microphone takes the air once Run runs.
func New(opt Options) *Room { return &Room{opt: opt, taken: make(chan string, 8)} }

// theStudio is who speaks into the studio's microphone.
const theStudio = "the studio"

// Run puts the studio's microphone on the air when it comes, until ctx ends. Whoever tells
// of its arrival is not kept waiting for that.
func (r *Room) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case id := <-r.taken:
			if err := r.opt.Takeover.Take(ctx, id, theStudio); err != nil && ctx.Err() == nil {
				r.opt.Log.Warn("the studio's microphone did not get on the air", "stream", id, "err", err)
			}
		}
	}
}

// Admit says whether somebody may go live now. A refusal is no error.
func (r *Room) Admit(ctx context.Context, who live.Credentials) (live.Admission, error) {
	a, err := r.opt.Publishers.Admit(ctx, who)
	if err == nil && !a.Allowed {
		r.opt.Log.Warn("somebody may not go live", "protocol", who.Protocol, "publisher", a.Publisher.ID, "code", a.Code, "from", who.Address)
	}
	return a, err
}

// Arrived takes a new audio track in, and returns the id of its stream. A publisher who
// may takes the air by itself; so does the studio's own microphone.
func (r *Room) Arrived(ctx context.Context, a live.Arrival) (id string, err error) {
	who := r.opt.Publishers.Allowed(a.Publisher)
	if who.Publisher.ID == "" { // an encoder with the station's own password: its name is no account
		a.Creator = cmp.Or(a.Creator, a.Publisher)
		a.Publisher = ""
	}
	a.Creator = cmp.Or(a.Creator, who.Publisher.Name)
	a.Title = cmp.Or(a.Title, who.Publisher.Show, a.Creator)
	id, err = r.opt.Takeover.Arrived(ctx, a)
	if err != nil || a.Protocol != live.Internal {
		return id, err
	}
	select {
	case r.taken <- id:
	default: // as many are on their way
	}
	return id, nil
}

// Left notes that a session has ended.
func (r *Room) Left(ctx context.Context, l live.Leaving) error { return r.opt.Takeover.Left(ctx, l) }

// Facts is what the page of a publisher shows, who sends a stream; an empty stream has not
// begun.
func (r *Room) Facts(_ context.Context, publisher, stream string) (live.Facts, error) {
	may, air := r.opt.Publishers.Allowed(publisher), r.opt.Air()
	f := live.Facts{
		Allowed: may.Allowed, Code: may.Code, Detail: may.Detail, Until: may.Publisher.Until,
		State: "off", OnAir: air.Now, Next: air.Next, Listeners: air.Listeners, Now: r.opt.Now().UnixMilli(),
	}
	if stream != "" {
		p := r.opt.Takeover.Presence(stream)
		f.State, f.Since, f.TakenBy, f.WrapUpAt = p.State, p.Since, p.TakenBy, p.WrapUpAt
	}
	return f, nil
}
