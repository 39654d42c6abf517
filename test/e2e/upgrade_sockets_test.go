package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

// socketed is a client of events that comes back when its connection breaks, as
// socket.io-client does.
type socketed struct {
	url string

	mu     sync.Mutex
	heard  []string // comments, in order
	breaks int
	lost   int // times it was not taken up where its connection broke
	errs   []error
}

// sockets has clients listen for comments until ctx ends.
func (a *seated) sockets(ctx context.Context, each int) {
	for i := range each {
		c := &socketed{url: a.s.url([]string{"control", "chat"}[i%2], "")}
		a.clients = append(a.clients, c)
		a.running.Go(func() { c.listen(ctx) })
	}
}

func (c *socketed) listen(ctx context.Context) {
	auth := map[string]any{"recover": true}
	pid, offset := "", ""
	for ctx.Err() == nil {
		if pid != "" && offset != "" {
			auth["pid"], auth["offset"] = pid, offset
		}
		conn, err := sockettest.Dial(ctx, c.url, auth)
		if err != nil { // socket.io-client tries again likewise
			_ = retry.Pause(ctx, 250*time.Millisecond)
			continue
		}
		c.mu.Lock()
		if pid != "" && conn.PID != pid {
			c.lost++
		}
		c.mu.Unlock()
		pid = conn.PID
		taken := 0
		take := func() {
			all := conn.All()
			for _, e := range all[taken:] {
				if e.Offset != "" {
					offset = e.Offset
				}
				if e.Name == "new_comment" {
					c.hear(e.Payload)
				}
			}
			taken = len(all)
		}
		for open := true; open; {
			select {
			case <-conn.Done():
				open = false
			case <-ctx.Done():
				conn.Close()
				<-conn.Done()
				open = false
			case <-time.After(100 * time.Millisecond):
			}
			take()
		}
		c.mu.Lock()
		c.breaks++
		c.mu.Unlock()
	}
}

func (c *socketed) hear(payload json.RawMessage) {
	var m said
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := json.Unmarshal(payload, &m); err != nil {
		c.errs = append(c.errs, err)
	}
	c.heard = append(c.heard, m.ID)
}

func (c *socketed) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.heard)
}

func (c *socketed) has(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.heard, id)
}

// judge reports comments that were missed, or came twice, since the first that was heard.
func (c *socketed) judge(t *testing.T, name string, all []string) {
	t.Helper()
	if len(c.heard) == 0 {
		t.Errorf("%s heard nothing", name)
		return
	}
	from := slices.Index(all, c.heard[0])
	if from < 0 || !slices.Equal(c.heard, all[from:]) {
		t.Errorf("%s heard %d comments of %d, or others, or in another order", name, len(c.heard), len(all))
	}
	if err := fmt.Errorf("%v", c.errs); len(c.errs) > 0 {
		t.Errorf("%s: %v", name, err)
	}
}
