// Package signal tells many that something has changed. It waits for nobody and
// says nothing of what changed: whoever is told looks.
package signal

import "sync"

// Changes has those who want to hear. The zero value is ready; its methods may
// be called from any goroutine.
type Changes struct {
	mu  sync.Mutex
	all map[chan struct{}]bool
}

// Subscribe returns a channel that receives after every Tell; several may become
// one signal. Call cancel when done: the channel is not closed.
func (c *Changes) Subscribe() (told <-chan struct{}, cancel func()) {
	one := make(chan struct{}, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[chan struct{}]bool{}
	}
	c.all[one] = true
	return one, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.all, one)
	}
}

// Tell tells everyone who does not know yet.
func (c *Changes) Tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.all {
		select {
		case one <- struct{}{}:
		default:
		}
	}
}
