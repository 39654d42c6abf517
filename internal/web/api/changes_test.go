package api

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/station"
)

// Those who follow a channel are told once of each change: the main channel's
// track while it has none of its own, then that with its history, then its end.
func TestAChannelTellsItsStatusOncePerChange(t *testing.T) {
	hub := events.NewHub(slog.New(slog.DiscardHandler), "one")
	main := OnAirEvent{Channel: station.MainChannel, NowPlaying: station.NowPlaying{Title: "main"}, State: "live"}
	states := channelStatus{}
	one := channels.Channel{ID: "fairuz"}
	last := func(n int) (got OnAirEvent) {
		t.Helper()
		batch, _ := hub.After(0)
		if len(batch) != n || batch[len(batch)-1].Channel != "fairuz" {
			t.Fatalf("%d events, of %d: %v", len(batch), n, batch)
		}
		if err := json.Unmarshal(batch[len(batch)-1].Payload, &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	for range 3 {
		states.tell(hub, []channels.Channel{one}, main, (&Server{}).ChannelOnAir)
	}
	if got := last(1); got.Channel != "fairuz" || got.NowPlaying.Title != "main" || got.State != "live" || got.History != nil {
		t.Errorf("without a track of its own: %+v", got)
	}
	for i := range channels.MostHeard {
		one.Heard = append(one.Heard, channels.Heard{Track: station.Track{Path: fmt.Sprint(i, ".mp3"), Title: fmt.Sprint(i)}, At: time.UnixMilli(int64(1000 + i))})
	}
	one.Playing = &one.Heard[0].Track
	for range 2 {
		states.tell(hub, []channels.Channel{one}, main, (&Server{}).ChannelOnAir)
	}
	if got := last(2); got.NowPlaying.Title != "0" || got.State != "music" || got.ProgramTime != 1000 || len(got.History) != channels.MostHeard || got.History[1].Title != "1" {
		t.Errorf("with one: %+v", got)
	}
	for range 2 {
		states.tell(hub, nil, main, (&Server{}).ChannelOnAir)
	}
	if got := last(3); got.State != "off" {
		t.Errorf("removed: %+v", got)
	}
	if states, _ := hub.Latest(); len(states) != 0 {
		t.Errorf("a channel that is no more is shown: %v", states)
	}
}
