package signal

import (
	"sync"
	"testing"
)

func TestEveryoneHearsAndNobodyIsWaitedFor(t *testing.T) {
	var c Changes
	c.Tell() // nobody listens
	slow, leaveSlow := c.Subscribe()
	defer leaveSlow()
	gone, leave := c.Subscribe()
	leave()
	leave() // twice does no harm
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			told, cancel := c.Subscribe()
			defer cancel()
			c.Tell()
			<-told
		})
	}
	all.Wait()
	<-slow // many became one
	select {
	case <-slow:
		t.Error("told twice of what was told before it looked")
	case <-gone:
		t.Error("told after it had left")
	default:
	}
}
