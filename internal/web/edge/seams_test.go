package edge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/web/edge"
	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

// deskFunc is a desk that does one thing.
type deskFunc func(ctx context.Context, ask edge.Ask) json.RawMessage

func (f deskFunc) Do(ctx context.Context, ask edge.Ask) json.RawMessage { return f(ctx, ask) }

func agreed(context.Context, edge.Ask) json.RawMessage { return json.RawMessage(`{"ok":true}`) }

// changing is a source where, once, something changes just after it was read.
type changing struct {
	*events.Hub
	mu    sync.Mutex
	after func()
}

func (c *changing) Latest() ([]events.Event, uint64) {
	states, seq := c.Hub.Latest()
	c.mu.Lock()
	after := c.after
	c.after = nil
	c.mu.Unlock()
	if after != nil {
		after()
	}
	return states, seq
}

func TestWhoJoinsIsNotLeftWithWhatWasTrueBefore(t *testing.T) {
	source := &changing{Hub: newDesk().hub}
	source.Tell("status", comment{Text: "before"})
	srv, _ := open(t, source, deskFunc(agreed))
	joins, hears := connect(t, srv, nil), connect(t, srv, nil)
	for range 2 { // the second time it is known how to say it
		n := len(hears.events("status"))
		source.mu.Lock()
		source.after = func() {
			source.Tell("status", comment{Text: fmt.Sprint("now ", n)})
			// Were it sent now, the one who joins would hear it first.
			for end := time.Now().Add(300 * time.Millisecond); len(hears.events("status")) == n && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
		}
		source.mu.Unlock()
		joins.ask("join_channel", "main")
		testkit.Eventually(t, "the change", func() bool { return len(hears.events("status")) > n })
		joins.ask("no such event", nil) // what was sent before has come
		heard := joins.events("status")
		if last := heard[len(heard)-1]; !strings.Contains(last, fmt.Sprint("now ", n)) {
			t.Errorf("who joined heard %v", heard)
		}
	}
}

// What a desk has asked before it left is carried out before its live audio is
// ended: not the other way round, which would leave it on air. An edge that ends
// tells it as well.
func TestTheEndOfADeskComesAfterWhatItAsked(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	begun, hold := make(chan struct{}, 2), make(chan struct{})
	srv, end := open(t, newDesk().hub, deskFunc(func(ctx context.Context, ask edge.Ask) json.RawMessage {
		mu.Lock()
		asked = append(asked, ask.Event)
		mu.Unlock()
		if ask.Event == "start_stream" {
			begun <- struct{}{}
			<-hold
		}
		// It has its own time, which a busy machine may use up; what it must not have is
		// the end of the one who asked.
		if ask.Event == "stop_stream" && errors.Is(ctx.Err(), context.Canceled) {
			t.Error("stop_stream ends with the one who asked")
		}
		return agreed(ctx, ask)
	}))
	staff := connect(t, srv, auth{"key": "the key"})
	staff.emit("audio_data", "none") // refused at once
	staff.emit("start_stream", nil)
	<-begun
	for range 3 {
		staff.emit("stop_stream", nil)
	}
	staff.emit("start_stream", nil)
	staff.ask("no such event", nil) // all of it has arrived
	staff.Close()
	hold <- struct{}{}
	<-begun
	hold <- struct{}{}
	sequence := func() string { mu.Lock(); defer mu.Unlock(); return strings.Join(asked, " ") }
	const want = "start_stream stop_stream stop_stream stop_stream start_stream stop_stream"
	testkit.Eventually(t, "the end of its live audio", func() bool { return len(sequence()) >= len(want) })
	if got := sequence(); got != want {
		t.Errorf("carried out: %s", got)
	}
	connect(t, srv, auth{"key": "the key"})
	end()
	if got := sequence(); got != want+" stop_stream" {
		t.Errorf("after the edge: %s", got)
	}
}

// A client cannot make an edge hold many large asks while the station is slow.
func TestWhatWaitsIsBoundedInBytes(t *testing.T) {
	hold, first := make(chan struct{}), make(chan struct{}, 1)
	srv, _ := open(t, newDesk().hub, deskFunc(func(ctx context.Context, ask edge.Ask) json.RawMessage {
		select {
		case first <- struct{}{}:
		default:
		}
		<-hold
		return agreed(ctx, ask)
	}))
	l := connect(t, srv, nil)
	note := strings.Repeat("x", 900_000)
	var asks []sockettest.Asked
	for range 20 {
		asks = append(asks, l.emit("sendMessage", comment{Text: note}))
	}
	if got := string(l.answer(asks[19])); !strings.Contains(got, `"ok":false`) {
		t.Errorf("the twentieth: %s", got)
	}
	close(hold)
	accepted := 0
	for _, a := range asks[:19] {
		if strings.Contains(string(l.answer(a)), `"ok":true`) {
			accepted++
		}
	}
	if accepted < 2 || accepted > 10 {
		t.Errorf("%d of 900 KB were held", accepted)
	}
	if got := string(l.ask("sendMessage", comment{Text: note})); !strings.Contains(got, `"ok":true`) {
		t.Errorf("afterwards: %.80s", got)
	}
}

func TestAPanicOfTheStationIsAnAnswer(t *testing.T) {
	srv, _ := open(t, newDesk().hub, deskFunc(func(ctx context.Context, ask edge.Ask) json.RawMessage {
		if ask.Event == "interaction" {
			panic("a fault of ours")
		}
		return agreed(ctx, ask)
	}))
	l := connect(t, srv, nil)
	if got := string(l.ask("interaction", nil)); !strings.Contains(got, `"ok":false`) {
		t.Errorf("answer: %s", got)
	}
	if got := string(l.ask("send_comment", nil)); !strings.Contains(got, `"ok":true`) {
		t.Errorf("afterwards: %s", got)
	}
}

// What the end of the control plane has cut short is left for the next to
// answer; what is on disk is answered.
func TestACutIsNotAnAnswer(t *testing.T) {
	ask, err := json.Marshal(edge.Ask{Event: "send_comment"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cutShort := deskFunc(func(ctx context.Context, _ edge.Ask) json.RawMessage { return refused(ctx.Err()) })
	no := deskFunc(func(context.Context, edge.Ask) json.RawMessage { return refused(context.Canceled) })
	if got := edge.Answer(ctx, no, ask); len(got) == 0 {
		t.Error("a refusal is not answered")
	}
	cancel()
	if got := edge.Answer(ctx, cutShort, ask); len(got) != 0 {
		t.Errorf("cut short: %s", got)
	}
	if got := edge.Answer(ctx, deskFunc(agreed), ask); len(got) == 0 {
		t.Error("what was done is not answered")
	}
}
