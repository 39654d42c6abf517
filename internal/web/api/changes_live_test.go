package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// Listeners read who is live as soon as the engine says so, each new title, who follows by
// failover, and that the rotation is back: each once, and without waiting for the next look.
func TestLiveIsToldAsStatusAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var view atomic.Pointer[scheduler.View]
		view.Store(&scheduler.View{})
		s := New(Options{
			Log: slog.New(slog.DiscardHandler), Zone: time.UTC, Air: view.Load, Library: func() *media.Snapshot { return &media.Snapshot{} },
			Mastering: func() Mastering { return Mastering{} }, Node: func(context.Context) (Node, error) { return Node{Sounding: true}, nil },
			Votes: noVotes{}, Pages: http.NotFoundHandler(), HLS: http.NotFoundHandler(), HLSPrefix: "/hls/",
		})
		hub := events.NewHub(slog.New(slog.DiscardHandler), "one")
		var air, beside signal.Changes
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Tell(ctx, hub, &air, &beside, func() []channels.Channel { return nil })
		}()
		defer func() {
			cancel()
			<-done
		}()
		synctest.Wait()
		time.Sleep(time.Second / 2) // between two looks
		_, seen := hub.Latest()
		for i, c := range []struct {
			kind          scheduler.Kind
			title, artist string
			state         string
		}{
			{scheduler.Rotation, "أغنية", "فنان", "music"},
			{scheduler.Live, "سهرة", "سارة", "live"},
			{scheduler.Live, "a new title", "سارة", "live"},
			{scheduler.Live, "who follows", "عمر", "live"},
			{scheduler.Rotation, "أغنية", "فنان", "music"},
		} {
			began := time.Now()
			view.Store(&scheduler.View{OnAir: scheduler.OnAir{
				Kind: c.kind, Track: station.Track{Title: c.title, Artist: c.artist}, StartedAt: began, Engine: "e", Seq: uint64(i + 1),
			}})
			air.Tell()
			synctest.Wait()
			var told []OnAirEvent
			batch, _ := hub.After(seen)
			for _, e := range batch {
				if seen = e.Seq; e.Name != "status" {
					continue
				}
				var now OnAirEvent
				if err := json.Unmarshal(e.Payload, &now); err != nil {
					t.Fatal(err)
				}
				told = append(told, now)
			}
			if len(told) != 1 || !time.Now().Equal(began) || told[0].NowPlaying.Title != c.title || told[0].NowPlaying.Artist != c.artist || told[0].State != c.state ||
				told[0].ProgramTime != began.UnixMilli() {
				t.Errorf("%s %s: after %s told %+v", c.kind, c.title, time.Since(began), told)
			}
		}
	})
}

// noVotes has no votes.
type noVotes struct{ Votes }

func (noVotes) Counts() map[string]int { return nil }
