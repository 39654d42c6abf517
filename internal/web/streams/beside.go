// Package streams serves /stream: it has a fan-out for the main channel and one
// for each channel beside it, made and ended with that channel.
package streams

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/stream"
)

// Beside keeps the channels beside the main one on air.
type Beside struct {
	*channels.Channels
	opt  stream.Options // of every channel
	main *stream.Fanout

	mu   sync.Mutex
	fans map[string]channelFan
}

// channelFan is a channel's fan-out. since is when the channel was created: an
// earlier channel may have had the same id.
type channelFan struct {
	*stream.Fanout
	since time.Time
}

// Handler returns a channel's audio; false for an unknown one.
func (b *Beside) Handler(id string) (http.Handler, bool) {
	if f := b.fan(id); f != nil {
		return f, true
	}
	return nil, false
}

// fan returns a channel's fan-out, which Run runs; nil for an unknown channel.
func (b *Beside) fan(id string) *stream.Fanout {
	if id == station.MainChannel {
		return b.main
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c, err := b.Find(id)
	if err != nil {
		return nil
	}
	if f, there := b.fans[id]; there && f.since.Equal(c.CreatedAt) {
		return f.Fanout
	}
	feed := &stream.Feed{
		Main: b.main, Waiting: b.Waiting(id),
		Next: func(ctx context.Context) io.ReadCloser { return b.Begin(ctx, id) },
	}
	opt := b.opt
	opt.Log, opt.Title = opt.Log.With("channel", id), titled(func() station.Track { return b.heard(id) })
	opt.Name, opt.Info.Name, opt.Source = id, c.Name, feed.Run
	f := stream.New(opt)
	b.fans[id] = channelFan{f, c.CreatedAt}
	return f
}

// heard returns the channel's own track on air; an empty one while the channel
// carries the main one.
func (b *Beside) heard(id string) station.Track {
	if c, err := b.Find(id); err == nil && c.Playing != nil {
		return *c.Playing
	}
	return station.Track{}
}

// ListenersOf counts the listeners of a channel's stream.
func (b *Beside) ListenersOf(id string) int {
	if f := b.fan(id); f != nil {
		return f.Stats().Listeners
	}
	return 0
}

// Run keeps every channel on air until ctx ends.
func (b *Beside) Run(ctx context.Context) error {
	changed, leave := b.Subscribe()
	defer leave()
	type running struct {
		fan *stream.Fanout
		end context.CancelFunc
	}
	var all sync.WaitGroup
	defer all.Wait()
	on := map[string]running{}
	for {
		there := map[string]*stream.Fanout{}
		for _, c := range b.List() {
			there[c.ID] = b.fan(c.ID)
		}
		for _, id := range slices.Collect(maps.Keys(on)) {
			if on[id].fan != there[id] {
				on[id].end()
				delete(on, id)
				b.forget(id)
			}
		}
		for id, f := range there {
			if _, is := on[id]; is || f == nil {
				continue
			}
			own, end := context.WithCancel(ctx)
			on[id] = running{f, end}
			all.Go(func() { _ = f.Run(own) }) // fails only for a bad URL, and it has none
		}
		select {
		case <-changed:
		case <-ctx.Done():
			for _, one := range on {
				one.end()
			}
			return nil
		}
	}
}

// forget drops the fan-out of a channel that was removed.
func (b *Beside) forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c, err := b.Find(id); err != nil || !b.fans[id].since.Equal(c.CreatedAt) {
		delete(b.fans, id)
	}
}

// all returns the fan-outs of all channels, the main one's first.
func (b *Beside) all() []*stream.Fanout {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []*stream.Fanout{b.main}
	for _, f := range b.fans {
		out = append(out, f.Fanout)
	}
	return out
}
