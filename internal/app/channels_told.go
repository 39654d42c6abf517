package app

import (
	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/web/api"
)

// channelsTold tells those who follow a channel beside the main one what is heard
// on it.
type channelsTold map[string]*onChange

// tell tells what has changed; main is what is heard where a channel has nothing
// of its own. A channel that is no more says so, once.
func (told channelsTold) tell(hub *events.Hub, all []channels.Channel, main api.OnAirEvent) {
	there := map[string]bool{}
	for _, c := range all {
		there[c.ID] = true
		if told[c.ID] == nil {
			told[c.ID] = &onChange{}
		}
		told[c.ID].tell(hub, "status", api.ChannelOnAir(c, main))
	}
	for id := range told {
		if !there[id] {
			delete(told, id)
			hub.Withdraw("status", api.OnAirEvent{Channel: id, State: "off"})
		}
	}
}
