package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

// crowd is a number of listeners who write, and remember what was acknowledged.
type crowd struct {
	t *testing.T
	s *station
	// doors are where they connect: servers of events, http://host:port.
	doors []string

	mu       sync.Mutex
	comments map[string]int // text of what was acknowledged
	messages map[string]int
	clicks   map[string]int64 // by emoji
	before   map[string]int64 // clicks of others, on a station that is shared
	tries    atomic.Int64     // attempts at writes, repeats included
	waited   atomic.Int64     // longest from the first attempt to the answer, ns
}

func newCrowd(s *station, doors ...string) *crowd {
	return &crowd{t: s.t, s: s, doors: doors, comments: map[string]int{}, messages: map[string]int{}, clicks: map[string]int64{}, before: s.reactions()}
}

// reactions are the station's counts by emoji.
func (s *station) reactions() (counts map[string]int64) {
	s.t.Helper()
	s.eventually("the counts of reactions", func() bool {
		body, err := s.get("control", "/api/reactions")
		return err == nil && json.Unmarshal(body, &counts) == nil
	})
	return counts
}

// begin lets some listeners write until the returned function is called.
func (c *crowd) begin(listeners int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var writers sync.WaitGroup
	for who := range listeners {
		writers.Go(func() { c.write(ctx, who) })
	}
	stop = func() {
		cancel()
		writers.Wait()
	}
	c.t.Cleanup(stop)
	return stop
}

// written is how many writes were acknowledged.
func (c *crowd) written() (n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, clicks := range c.clicks {
		n += clicks
	}
	return n + int64(len(c.comments)+len(c.messages))
}

// write lets one listener write until ctx ends; what it has begun it finishes.
func (c *crowd) write(ctx context.Context, who int) {
	var line *sockettest.Client
	defer func() {
		if line != nil {
			line.Close()
		}
	}()
	for n := 0; ctx.Err() == nil; n++ {
		what := fmt.Sprintf("%d من %d", n, who)
		id := fmt.Sprintf("listener-%d-write-%d", who, n)
		began := time.Now()
		done := func(try func() error) bool {
			for time.Since(began) < 2*patience {
				c.tries.Add(1)
				if err := try(); err == nil {
					c.waited.Store(max(c.waited.Load(), int64(time.Since(began))))
					return true
				}
				time.Sleep(time.Duration(50+rand.IntN(200)) * time.Millisecond) // as a page waits before it tries again
			}
			c.t.Errorf("listener %d: %s is never taken", who, id)
			return false
		}
		ask := func(event string, body map[string]any) error {
			if line == nil {
				dial, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				defer cancel()
				next, err := sockettest.Dial(dial, c.doors[rand.IntN(len(c.doors))], map[string]any{"device": fmt.Sprintf("device-of-%d", who)})
				if err != nil {
					return err
				}
				line = next
			}
			wait, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			got, err := line.Ask(wait, event, body)
			if err != nil {
				line.Close()
				line = nil
				return err
			}
			var ok struct{ OK bool }
			if json.Unmarshal(got, &ok) != nil || !ok.OK {
				return fmt.Errorf("%s: %s", event, got)
			}
			return nil
		}
		ok := false
		switch n % 3 {
		case 0:
			if ok = done(func() error {
				return ask("send_comment", map[string]any{"name": fmt.Sprint("مستمع ", who), "text": what, "id": id})
			}); ok {
				c.count(c.comments, what)
			}
		case 1:
			if ok = done(func() error {
				return ask("sendMessage", map[string]any{"type": "text", "user": fmt.Sprint("مستمع ", who), "text": what, "room": "main", "id": id})
			}); ok {
				c.count(c.messages, what)
			}
		case 2:
			emoji := []string{"❤️", "🔥", "👏"}[rand.IntN(3)]
			delta := 1 + rand.IntN(10)
			if ok = done(func() error { return c.click(emoji, delta, id) }); ok {
				c.mu.Lock()
				c.clicks[emoji] += int64(delta)
				c.mu.Unlock()
			}
		}
		if !ok {
			return
		}
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond) // people take their time
	}
}

func (c *crowd) count(where map[string]int, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	where[what]++
}

// click reacts over HTTP, at any of the doors.
func (c *crowd) click(emoji string, delta int, id string) error {
	return clickAt(c.doors[rand.IntN(len(c.doors))], emoji, delta, id)
}

func clickAt(door, emoji string, delta int, id string) error {
	body, err := json.Marshal(map[string]any{"emoji": emoji, "delta": delta, "id": id})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, door+"/api/reactions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", resp.Status, text)
	}
	return nil
}

// held reacts once at a door while the control plane is away. The returned function waits until that is
// acknowledged: by the door that holds it, or where it is back too late for that, by another try
// as of a page.
func (c *crowd) held(door, emoji string, delta int, id string) (wait func()) {
	answered := make(chan error, 1)
	go func() { answered <- clickAt(door, emoji, delta, id) }()
	return func() {
		c.t.Helper()
		err := <-answered
		if err != nil {
			c.t.Logf("HELD not for long enough: %v", err)
			c.s.eventually("a held write is taken", func() bool { return clickAt(door, emoji, delta, id) == nil })
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.clicks[emoji] += int64(delta)
	}
}

// said is a comment or a message as the station shows it.
type said struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// judge compares what was acknowledged with what is there.
func (c *crowd) judge() {
	c.t.Helper()
	counts := c.s.reactions()
	c.once("comments", c.comments, c.pages(func(last string) string {
		return "/api/comments?limit=100&after=" + last
	}, "comments"))
	c.once("messages", c.messages, c.back())
	for emoji, n := range c.clicks {
		if counted := counts[emoji] - c.before[emoji]; counted != n {
			c.t.Errorf("%s: %d clicks were acknowledged, %d are counted", emoji, n, counted)
		}
	}
	c.t.Logf("CROWD %d comments, %d messages, clicks %v acknowledged; %d attempts; longest wait for an answer %s",
		len(c.comments), len(c.messages), c.clicks, c.tries.Load(), time.Duration(c.waited.Load()).Round(time.Millisecond))
	if len(c.comments) == 0 || len(c.messages) == 0 || len(c.clicks) == 0 {
		c.t.Error("nothing was written")
	}
}

func (c *crowd) once(what string, acknowledged map[string]int, there []said) {
	c.t.Helper()
	found := map[string]int{}
	for _, m := range there {
		found[m.Text]++
	}
	lost, doubled := 0, 0
	for text := range acknowledged {
		if found[text] == 0 {
			lost++
		}
	}
	for _, n := range found {
		if n > 1 {
			doubled++
		}
	}
	if lost > 0 || doubled > 0 || len(found) < len(acknowledged) {
		c.t.Errorf("%s: of %d acknowledged %d are lost, %d are there twice", what, len(acknowledged), lost, doubled)
	}
}

// pages reads a list from its beginning.
func (c *crowd) pages(url func(last string) string, member string) (out []said) {
	c.t.Helper()
	last := "c0"
	for {
		body, err := c.s.get("control", url(last))
		var page map[string][]said
		if err != nil {
			c.t.Fatal(err)
		}
		_ = json.Unmarshal(body, &page)
		if len(page[member]) == 0 {
			return out
		}
		out = append(out, page[member]...)
		last = out[len(out)-1].ID
	}
}

// back reads a room from its end.
func (c *crowd) back() (out []said) {
	c.t.Helper()
	before := ""
	for {
		body, err := c.s.get("control", "/api/chat/rooms/main/messages?limit=100&before="+before)
		if err != nil {
			c.t.Fatal(err)
		}
		var page struct{ Messages []said }
		_ = json.Unmarshal(body, &page)
		if len(page.Messages) == 0 {
			return out
		}
		out = append(out, page.Messages...)
		before = page.Messages[0].ID
	}
}
