package api

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/onair/channels"
)

// EventTypes are the types of the events that show what the API does.
func EventTypes() map[string]reflect.Type {
	return map[string]reflect.Type{"status": reflect.TypeFor[OnAirEvent](), "timeline_update": reflect.TypeFor[[]Entry]()}
}

// Changing is something that tells when it has changed.
type Changing interface {
	Subscribe() (changed <-chan struct{}, cancel func())
}

// airEvery is how often the way to the listeners is looked at: that the engine
// is gone shows in no view of the rotation.
const airEvery = time.Second

// Tell tells of every change of what is on air, here and on the channels
// beside, and what comes next.
func (s *Server) Tell(ctx context.Context, hub *events.Hub, onair, beside Changing, list func() []channels.Channel) {
	changed, cancel := onair.Subscribe()
	defer cancel()
	others, leave := beside.Subscribe()
	defer leave()
	look := time.NewTicker(airEvery)
	defer look.Stop()
	var status, queue onChange
	told := channelsTold{}
	for {
		bounded, done := context.WithTimeout(ctx, airEvery)
		now := s.OnAirNow(bounded)
		done()
		status.tell(hub, "status", now)
		told.tell(hub, list(), now)
		queue.tell(hub, "timeline_update", s.Timeline())
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-others:
		case <-look.C:
		}
	}
}

// onChange tells only what is new.
type onChange struct{ last string }

func (o *onChange) tell(hub *events.Hub, event string, payload any) {
	data, err := events.Encode(payload)
	if err != nil || string(data) == o.last {
		return
	}
	o.last = string(data)
	hub.Tell(event, json.RawMessage(data))
}

// channelsTold tells those who follow a channel beside the main one what is heard
// on it.
type channelsTold map[string]*onChange

// tell tells what has changed; main is what is heard where a channel has nothing
// of its own. A channel that is no more says so, once.
func (told channelsTold) tell(hub *events.Hub, all []channels.Channel, main OnAirEvent) {
	there := map[string]bool{}
	for _, c := range all {
		there[c.ID] = true
		if told[c.ID] == nil {
			told[c.ID] = &onChange{}
		}
		told[c.ID].tell(hub, "status", ChannelOnAir(c, main))
	}
	for id := range told {
		if !there[id] {
			delete(told, id)
			hub.Withdraw("status", OnAirEvent{Channel: id, State: "off"})
		}
	}
}
