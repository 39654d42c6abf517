package takeover

import (
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

// publish stores what Status returns. Only there are the desk's times by this machine's
// clock: what is compared with the next report keeps the desk's own.
func (c *control) publish() {
	report := c.report.Here(c.t.opt.Here)
	s := Status{
		State: c.state.Phase.String(), Order: c.state.Phase.String(), HandingTo: c.state.Target,
		Sources: []live.SourceReport{}, Ended: report.Ended, Show: c.show, Recording: report.Recording, Counters: report.Counters,
		WrapUpAt: c.wrapUpAt, Waiting: c.waitingOnes(), Encoders: c.encoders(), Harbor: c.known && report.Harbor, report: report,
	}
	s.Next, s.WouldFollow = c.wouldFollow()
	s.on, s.out = c.connected(), c.outs()
	if !c.known {
		s.State = Unknown
	}
	if !c.heardAt.IsZero() {
		s.ReportedAt = c.heardAt.UnixMilli()
	}
	for _, r := range report.Sources {
		r.URL = c.shown(r.ID).URL // the desk knows it whole
		s.Sources = append(s.Sources, r)
	}
	s.quietUntil = c.quietUntil
	if c.state.Phase != mix {
		s.Active, s.quiet = c.active(), c.quiet(c.state.Active)
		if !s.quiet {
			s.quietUntil = time.Time{}
		}
	}
	c.t.status.Store(&s)
}

func (c *control) active() *Active {
	shown := c.shown(c.state.Active)
	a := &Active{
		ID: shown.ID, Title: shown.Title, Creator: shown.Creator, Mode: c.state.Mode, By: c.state.By, Since: c.state.Since,
		State: live.Connecting, Publisher: c.cast.publisher[c.state.Active],
		OnAir: c.known && c.report.Harbor && c.report.Air == c.state.Active, // and what the engine says: seen
	}
	if r, ok := find(c.report.Sources, c.state.Active); ok {
		a.State = r.State
	}
	return a
}

// wouldFollow is what the desk would take if Active died: the first that sounds.
func (c *control) wouldFollow() (id, title string) {
	if c.state.Phase == mix {
		if all := c.candidates(); len(all) > 0 {
			id = all[0].ID
		}
		return id, "rotation"
	}
	for _, s := range c.following {
		if r, ok := find(c.report.Sources, s.ID); ok && sounding(r.State) {
			return s.ID, s.Title
		}
	}
	return "", "rotation"
}

func (c *control) waitingOnes() []Waiting {
	out := []Waiting{}
	now := c.now()
	for _, s := range c.cast.ordered() {
		if s.stream == c.state.Active && !s.waits {
			continue
		}
		a := c.t.opt.Presenter(s.Publisher)
		w := Waiting{
			ID: s.stream, Publisher: s.Publisher, Name: a.Publisher.Name, Session: s.Session, Since: s.since.UnixMilli(),
			Auto: a.Allowed && a.Publisher.Auto && !s.tried,
		}
		if until := c.cast.heldUntil(s.whose(), now); !until.IsZero() {
			w.HeldUntil = until.UnixMilli()
			w.takenUntil = c.cast.holds[s.whose()].taken.UnixMilli()
		}
		out = append(out, w)
	}
	return out
}

// live is the kind of the engine's marker for live audio.
const kindLive = "live"

// seen adds to a status what the engine says now.
func (t *Takeover) seen(s Status) Status {
	s.Sources, s.Waiting, s.Encoders = slices.Clone(s.Sources), slices.Clone(s.Waiting), slices.Clone(s.Encoders)
	if s.Sources == nil {
		s.Sources = []live.SourceReport{}
	}
	if s.Encoders == nil {
		s.Encoders = []live.Encoder{}
	}
	if s.Waiting == nil {
		s.Waiting = []Waiting{}
	}
	if s.Active != nil {
		a := *s.Active
		if kind, _ := t.opt.OnAir(); a.Mode != live.Over {
			a.OnAir = a.OnAir && kind == kindLive
		}
		s.Active = &a
	}
	return s
}

// Presence tells how a publisher's stream is doing. Phones share one stream: for one that
// waits for the pipe another is on the air.
func (t *Takeover) Presence(publisher, id string) Presence {
	s := t.Status()
	own := func(of string) bool { return of == publisher || of == "" || publisher == "" }
	if a := s.Active; a != nil && a.ID == id && own(a.Publisher) {
		return t.onAirPresence(*a, s)
	}
	p := Presence{State: "off"}
	if s.Active != nil {
		p.TakenBy = orElse(s.Active.Creator, s.Active.Title)
	}
	if r, ok := find(s.Sources, id); ok && sounding(r.State) {
		p.State, p.Since = "waiting", r.Since
	} else if ok && r.State == live.Connecting {
		p.State, p.Since = "connecting", r.Since
	}
	now := t.opt.Now().UnixMilli()
	for _, w := range s.Waiting {
		if w.ID != id || !own(w.Publisher) {
			continue
		}
		p.State, p.Since, p.Held, p.FreeAt = "waiting", w.Since, w.HeldUntil > now, 0
		if !p.Held {
			continue
		}
		if w.Auto {
			p.State, p.FreeAt = "held", w.HeldUntil
		}
		if w.takenUntil > now {
			p.State = "taken back"
		}
	}
	return p
}

func (t *Takeover) onAirPresence(a Active, s Status) Presence {
	p := Presence{State: "waiting", Since: a.Since}
	r, _ := find(s.Sources, a.ID)
	switch {
	case a.State == live.Connecting, s.State == Unknown:
		p.State = "connecting"
	case a.State == live.Waiting, a.State == live.Ready: // also before the desk has taken the order
		p.State, p.Called = "called", a.By != t.opt.Presenter(a.Publisher).Publisher.Name
	case a.State == live.Grace:
		p.State, p.Since = "grace", r.Since
	case a.OnAir:
		p.State = "on air"
		if _, at := t.opt.OnAir(); a.Mode != live.Over && at.After(time.UnixMilli(a.Since)) {
			p.Since = at.UnixMilli()
		}
	case a.State == live.OnAir: // the engine has not said so yet
		p.State = "connecting"
	}
	return p
}
