package takeover

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// Accounts are who may go live: *publisher.Publishers.
type Accounts interface {
	Admit(c live.Credentials) live.Admission
	// Allowed answers for one who was admitted before.
	Allowed(id string) live.Admission
}

// Air is what a presenter's page shows beside its own state.
type Air struct {
	OnAir     live.FactsAir
	Next      []live.FactsTrack
	Listeners int
}

// Door answers the node's live programs: who may send, who has come and gone, and what
// presenters are shown.
type Door struct {
	Takeover *Takeover
	Accounts Accounts
	Air      func() Air
}

// Admit says whether somebody may send now. A refusal is no error.
func (d Door) Admit(_ context.Context, who live.Credentials) (live.Admission, error) {
	a := d.Accounts.Admit(who)
	a.Now = d.Takeover.opt.Now().UnixMilli()
	return a, nil
}

// Arrived says that audio has begun; it returns the id of its stream. Errors:
// station.ErrForbidden for a publisher who may not send, station.ErrInvalid.
func (d Door) Arrived(ctx context.Context, a live.Arrival) (string, error) {
	a, err := d.known(a)
	if err != nil {
		return "", err
	}
	return d.Takeover.Arrived(ctx, a)
}

// known adds to an arrival what is known of its publisher.
func (d Door) known(a live.Arrival) (live.Arrival, error) {
	who := live.Admission{Allowed: true}
	if a.Publisher != "" {
		who = d.Accounts.Allowed(a.Publisher)
	}
	switch {
	case a.Protocol == live.RTMP && who.Publisher.ID == "":
		// An encoder that was let in by the station's own password: its name is no account's.
		a.Creator, a.Publisher = cmp.Or(a.Creator, a.Publisher), ""
	case !who.Allowed:
		return a, fmt.Errorf("%s: %w", who.Detail, station.ErrForbidden)
	case a.Publisher == "" && a.Protocol == live.WHIP:
		return a, fmt.Errorf("publisher: must name an account: %w", station.ErrInvalid)
	}
	a.Creator = cmp.Or(a.Creator, who.Publisher.Name)
	a.Title = cmp.Or(a.Title, who.Publisher.Show, a.Creator)
	return a, nil
}

// Left says that audio has ended.
func (d Door) Left(ctx context.Context, l live.Leaving) error { return d.Takeover.Left(ctx, l) }

// Roll says who sends now. Who may not counts as gone. Errors: as of Takeover.Roll.
func (d Door) Roll(ctx context.Context, r live.Roll) (live.RollAnswer, error) {
	senders, refused := []live.Arrival{}, map[string]string{}
	for _, a := range r.Senders {
		known, err := d.known(a)
		if err == nil {
			senders = append(senders, known)
		} else {
			refused[a.Session] = err.Error()
		}
	}
	r.Senders = senders
	answer, err := d.Takeover.Roll(ctx, r)
	maps.Copy(refused, answer.Refused)
	answer.Refused = refused
	return answer, err
}

// Facts are what a presenter's page shows. Both may be empty: a page that has no stream
// yet, or none of a known account.
func (d Door) Facts(_ context.Context, publisher, stream string) (live.Facts, error) {
	f := live.Facts{Allowed: true, Now: d.Takeover.opt.Now().UnixMilli(), Next: []live.FactsTrack{}}
	auto := false
	if publisher != "" {
		a := d.Accounts.Allowed(publisher)
		f.Allowed, f.Code, f.Detail, f.Until = a.Allowed, a.Code, a.Detail, a.Publisher.Until
		auto = a.Allowed && a.Publisher.Auto
	}
	p := d.Takeover.Presence(publisher, stream)
	f.State, f.Since, f.TakenBy, f.Called, f.FreeAt = p.State, p.Since, p.TakenBy, p.Called, p.FreeAt
	f.Auto = auto && !p.Held
	if s := d.Takeover.Status(); s.Active != nil && s.Active.ID == stream && p.TakenBy == "" {
		f.WrapUpAt = s.WrapUpAt
	}
	air := d.Air()
	f.OnAir, f.Listeners = air.OnAir, air.Listeners
	if air.Next != nil {
		f.Next = air.Next
	}
	return f, nil
}
