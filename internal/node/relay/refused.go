package relay

import (
	"sync"
	"time"
)

// refusedFor is for how long at most a name is refused without being asked about.
const refusedFor = time.Minute

// refused are the names that the roll refuses. The station's own password lets anybody in
// under any name, and the roll then refuses one that is a revoked account's: without this an
// encoder that tries again by itself would be let in and sent away for ever. Who is refused
// here is in no roll, so a name is forgotten after a while, or once its account's own secret
// is good, or a roll has it and does not refuse it.
type refused struct {
	mu    sync.Mutex
	names map[string]*refusal // no more than nginx has had in that time
}

type refusal struct {
	why   string
	until time.Time
	said  bool
}

func newRefused() *refused { return &refused{names: map[string]*refusal{}} }

// rolled takes the answer to a roll.
func (r *refused) rolled(all []Encoder, no map[Encoder]string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, one := range r.names {
		if !now.Before(one.until) {
			delete(r.names, name)
		}
	}
	for _, e := range all {
		if _, is := no[e]; !is {
			delete(r.names, e.Name)
		}
	}
	for e, why := range no {
		if len(r.names) < mostGuests || r.names[e.Name] != nil {
			r.names[e.Name] = &refusal{why: why, until: now.Add(refusedFor)}
		}
	}
}

// of says whether a name is refused, why, and whether that is told for the first time.
func (r *refused) of(name string, now time.Time) (why string, news, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.names[name]
	if one == nil || !now.Before(one.until) {
		return "", false, false
	}
	news, one.said = !one.said, true
	return one.why, news, true
}

func (r *refused) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.names, name)
}
