package stream

import (
	"sync"

	"github.com/athir-radio/athir/internal/kit/census"
)

// caller is what is kept of a listener.
type caller struct {
	key string // as Options.ClientKey names it; empty where nobody is limited by it
	who census.Who
}

// door counts the listeners and refuses those beyond the limits.
type door struct {
	mu              sync.Mutex
	now, peak       int
	served, refused uint64
	perKey          map[string]int
	kinds           census.Count
	wider           func(string) string
}

// widerFactor is how many clients a wider network counts for.
const widerFactor = 8

// enter admits one more listener, or returns the reason that the refused listener
// is given. A limit of 0 means no limit.
func (d *door) enter(c caller, limit, perKey int) (why string) {
	key := c.key
	d.mu.Lock()
	defer d.mu.Unlock()
	network := d.network(key)
	switch {
	case limit > 0 && d.now >= limit:
		d.refused++
		return "all listener places are taken, try again later"
	case perKey > 0 && key != "" && (d.perKey[key] >= perKey || network != "" && d.perKey[network] >= widerFactor*perKey):
		d.refused++
		return "too many connections from this address"
	}
	d.now++
	d.served++
	d.peak = max(d.peak, d.now)
	d.kinds[c.who]++
	d.perKey[key]++
	if network != "" {
		d.perKey[network]++
	}
	return ""
}

func (d *door) leave(c caller) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now--
	if d.kinds[c.who]--; d.kinds[c.who] == 0 {
		delete(d.kinds, c.who)
	}
	d.less(c.key)
	if network := d.network(c.key); network != "" {
		d.less(network)
	}
}

func (d *door) less(key string) {
	if d.perKey[key]--; d.perKey[key] == 0 {
		delete(d.perKey, key)
	}
}

// network names the wider network that a key lies in, empty for none.
func (d *door) network(key string) string {
	if d.wider == nil {
		return ""
	}
	return d.wider(key)
}

// unserved counts an admitted listener, who got no stream, as refused.
func (d *door) unserved(c caller) {
	d.leave(c)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.served--
	d.refused++
}
