package stream

import "sync"

// door counts the listeners and refuses those beyond the limits.
type door struct {
	mu              sync.Mutex
	now, peak       int
	served, refused uint64
	perKey          map[string]int
	wider           func(string) string
}

// widerFactor is how many clients a wider network counts for.
const widerFactor = 8

// enter admits one more listener, or returns the reason that the refused listener
// is given. A limit of 0 means no limit.
func (d *door) enter(key string, limit, perKey int) (why string) {
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
	d.perKey[key]++
	if network != "" {
		d.perKey[network]++
	}
	return ""
}

func (d *door) leave(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now--
	d.less(key)
	if network := d.network(key); network != "" {
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
func (d *door) unserved(key string) {
	d.leave(key)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.served--
	d.refused++
}
