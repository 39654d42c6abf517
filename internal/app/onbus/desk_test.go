package onbus

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/athir-radio/athir/internal/web/edge"
)

// desk agrees to everything, and notes what.
type desk struct {
	mu     sync.Mutex
	events []string
}

// Do implements edge.Desk.
func (d *desk) Do(_ context.Context, ask edge.Ask) json.RawMessage {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, ask.Event)
	return json.RawMessage(`{"ok":true}`)
}

func (d *desk) done() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.events)
}
