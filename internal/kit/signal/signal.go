// Package signal notifies subscribers that something has changed. It does not wait
// for them, nor say what changed: they look for themselves.
package signal

import "sync"

// Changes holds the subscribers. The zero value is ready; its methods may
// be called from any goroutine.
type Changes struct {
	mu  sync.Mutex
	all map[chan struct{}]bool
}

// Subscribe returns a channel that receives after every Tell; several may become
// one signal. Call cancel when done: the channel is not closed.
func (c *Changes) Subscribe() (changed <-chan struct{}, cancel func()) {
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

// Tell signals every subscriber that has no signal waiting.
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

// Any subscribes to several at once. Call cancel when done: it returns once nothing is left
// behind.
func Any(all ...func() (changed <-chan struct{}, cancel func())) (changed <-chan struct{}, cancel func()) {
	out, stop := make(chan struct{}, 1), make(chan struct{})
	var done sync.WaitGroup
	var ends []func()
	for _, subscribe := range all {
		in, end := subscribe()
		ends = append(ends, end)
		done.Go(func() {
			for {
				select {
				case <-in:
				case <-stop:
					return
				}
				select {
				case out <- struct{}{}:
				default:
				}
			}
		})
	}
	return out, sync.OnceFunc(func() {
		close(stop)
		done.Wait()
		for _, end := range ends {
			end()
		}
	})
}
