package relay

import (
	"encoding/json"
	"time"
)

// legacyIngest is what nginx's statistics do not tell: who came with which password, who is
// refused, and what was told. What is published is in it only until they are read.
type legacyIngest struct {
	Live             []byte // the path list's items, as JSON
	Guests           []legacyGuest
	Refused          []legacyRefusal
	Tries            map[string]float64 // left on wrong passwords, by address
	Now              []Encoder
	Known, Begun     bool
	Let, There, Told []Encoder
}

type legacyGuest struct {
	Encoder Encoder // with the password
	Unseen  bool
}

type legacyRefusal struct {
	Name, Why string
	Until     time.Time
	Said      bool
}

func (g *ingest) estate(now time.Time) legacyIngest {
	out := legacyIngest{Guests: g.guests.estate(), Refused: g.refused.estate(), Tries: map[string]float64{}}
	g.teller.estate(&out)
	g.mu.Lock()
	defer g.mu.Unlock()
	out.Live, _ = json.Marshal(g.live) // plain values: it does not fail
	for from, s := range g.suspects {
		out.Tries[from] = s.tries.TokensAt(now)
	}
	return out
}

func (g *ingest) resume(in legacyIngest, now time.Time) {
	g.guests.resume(in.Guests)
	g.refused.resume(in.Refused)
	g.teller.resume(in)
	for from, left := range in.Tries {
		s := g.suspect(from, now)
		s.tries.AllowN(now, wrongAtOnce-max(0, min(int(left), wrongAtOnce)))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if json.Unmarshal(in.Live, &g.live) != nil {
		g.live = nil
	}
}

func (g *guests) estate() (out []legacyGuest) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for e, one := range g.in {
		e.Password, e.From = one.secret, one.from
		out = append(out, legacyGuest{Encoder: e, Unseen: one.unseen})
	}
	return out
}

func (g *guests) resume(in []legacyGuest) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range in {
		g.in[connection(l.Encoder)] = &guest{secret: l.Encoder.Password, from: l.Encoder.From, unseen: l.Unseen}
	}
}

func (r *refused) estate() (out []legacyRefusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, one := range r.names {
		out = append(out, legacyRefusal{Name: name, Why: one.why, Until: one.until, Said: one.said})
	}
	return out
}

func (r *refused) resume(in []legacyRefusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range in {
		r.names[l.Name] = &refusal{why: l.Why, until: l.Until, said: l.Said}
	}
}

// estate is called when run has ended.
func (t *teller) estate(out *legacyIngest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out.Now, out.Known, out.Begun = t.now, t.known, t.begun
	out.Let, out.There, out.Told = members(t.let), members(t.there), members(t.told)
}

// resume is called before run begins.
func (t *teller) resume(in legacyIngest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now, t.known, t.begun = in.Now, in.Known, in.Begun
	t.let, t.there, t.told = setOf(in.Let), setOf(in.There), setOf(in.Told)
}

func members(set map[Encoder]bool) (out []Encoder) {
	for e := range set {
		out = append(out, e)
	}
	return out
}

func setOf(all []Encoder) map[Encoder]bool {
	out := map[Encoder]bool{}
	for _, e := range all {
		out[e] = true
	}
	return out
}
