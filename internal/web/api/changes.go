package api

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/onair/channels"
)

// EventTypes are the payload types of the events that the API announces.
func EventTypes() map[string]reflect.Type {
	return map[string]reflect.Type{"status": reflect.TypeFor[OnAirEvent](), "timeline_update": reflect.TypeFor[[]Entry]()}
}

// Changing signals its changes.
type Changing interface {
	Subscribe() (changed <-chan struct{}, cancel func())
}

// airEvery is how often the node is checked: the rotation does not show that the
// engine has stopped.
const airEvery = time.Second

// Tell announces every change of the track on air, on the main channel and on those
// beside it, and of the queue.
func (s *Server) Tell(ctx context.Context, hub *events.Hub, onair, beside Changing, list func() []channels.Channel) {
	changed, cancel := onair.Subscribe()
	defer cancel()
	others, leave := beside.Subscribe()
	defer leave()
	var found <-chan struct{} // a picture, or words
	if s.opt.Art != nil {
		var done func()
		found, done = s.opt.Art.Subscribe()
		defer done()
	}
	look := time.NewTicker(airEvery)
	defer look.Stop()
	var status, queue onChange
	states := channelStatus{}
	for {
		bounded, done := context.WithTimeout(ctx, airEvery)
		now := s.OnAirNow(bounded)
		done()
		status.tell(hub, "status", now)
		states.tell(hub, list(), now, s.ChannelOnAir)
		queue.tell(hub, "timeline_update", s.Timeline())
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-others:
		case <-found:
		case <-look.C:
		}
	}
}

// onChange announces a payload only if it differs from the last one.
type onChange struct{ last string }

func (o *onChange) tell(hub *events.Hub, event string, payload any) {
	data, err := events.Encode(payload)
	if err != nil || string(data) == o.last {
		return
	}
	o.last = string(data)
	hub.Tell(event, json.RawMessage(data))
}

// channelStatus announces what is on air on each channel beside the main one to those
// who follow it.
type channelStatus map[string]*onChange

// tell announces what has changed; main is the payload of a channel that plays nothing
// of its own. A removed channel is announced once.
func (states channelStatus) tell(hub *events.Hub, all []channels.Channel, main OnAirEvent, onAir func(channels.Channel, OnAirEvent) OnAirEvent) {
	there := map[string]bool{}
	for _, c := range all {
		there[c.ID] = true
		if states[c.ID] == nil {
			states[c.ID] = &onChange{}
		}
		states[c.ID].tell(hub, "status", onAir(c, main))
	}
	for id := range states {
		if !there[id] {
			delete(states, id)
			hub.Withdraw("status", OnAirEvent{Channel: id, State: "off"})
		}
	}
}
