package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// nodePatience is how long a start waits for the node to say what is on
	// air, where a push was under way at the last end.
	nodePatience = 8 * time.Second
	// pullPatience is how long a push waits for all of its media. After that it
	// goes with the first pullLeast entries or more: what was pulled meanwhile is
	// there for the next, and an order must not wait for a slow line.
	pullPatience = 8 * time.Second
	pullLeast    = 12
)

// remoteLink is the link to a node on another machine. What the scheduler, the
// pages and the guard hear of are files here; on the way to the node and back
// they get the names of the node's own.
func remoteLink(ctx context.Context, cfg *config.Config, log *slog.Logger, rack *aircopy.Rack, b *bus.Bus) (*link, error) {
	if cfg.Node.Host == "" {
		return nil, errNoHost
	}
	shelf := delivery.Shelf{Root: cfg.Node.Cache}
	rel := func(path string) (string, bool) {
		if rel, _, ok := shelf.Rel(path); ok {
			return rel, true
		}
		return rack.Rel(path)
	}
	here := func(path string) string {
		if rel, _, ok := shelf.Rel(path); ok {
			return rack.Path(rel)
		}
		return path
	}
	node, orders, clock := delivery.NewRemote(b), &programsOverBus{b}, &nodeClock{bus: b, log: log}
	copied := delivery.NewLocal(cfg.Playlist(), log)
	if err := copied.Prepare(ctx); err != nil {
		log.Warn("prepare the copy of the playlist file", "err", err)
	}
	return &link{
		player: &engineOverBus{b, here}, programs: orders,
		delivery: &remoteDelivery{node: node, shelf: shelf, rack: rack, here: here, programs: orders, copied: copied, log: log},
		intact:   node.Intact, rel: rel, when: clock.here, run: clock.run,
		listening: func(ctx context.Context) error { return serverRuns(ctx, orders) },
		end:       func() {},
	}, nil
}

// serverRuns asks the node rather than the server, which does not survive every
// connection while it starts.
func serverRuns(ctx context.Context, node supervisor) error {
	all, err := node.Programs(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.Name == programIcecast && p.State == supervise.Running.String() {
			return nil
		}
	}
	return fmt.Errorf("the streaming server of the node does not run: %w", station.ErrUnavailable)
}

// remoteDelivery is delivery to another machine, as the scheduler wants it.
type remoteDelivery struct {
	node     *delivery.Remote
	shelf    delivery.Shelf
	rack     *aircopy.Rack
	here     func(path string) string
	programs supervisor
	copied   *delivery.Local // of the list, for /api/sync/m3u
	log      *slog.Logger
}

// Push implements scheduler.Delivery.
func (d *remoteDelivery) Push(ctx context.Context, items []playlist.Item) (int, error) {
	there, expect, missing := d.named(items)
	if len(missing) > 0 {
		return 0, &scheduler.MissingError{Paths: missing}
	}
	ready, err := d.ready(ctx, there, expect)
	if err != nil {
		return 0, err
	}
	out := delivery.New(d.node, func(path string) int64 {
		if size, ok := expect[path]; ok {
			return size
		}
		return -1
	}, d.log)
	result, err := out.Push(ctx, there[:ready])
	var unusable *delivery.UnusableError
	if errors.As(err, &unusable) {
		for _, u := range unusable.Items {
			missing = append(missing, items[u.Index].Path)
		}
		return 0, &scheduler.MissingError{Paths: missing}
	}
	if err != nil {
		return 0, err
	}
	if result.Replaced {
		d.log.Warn("the playlist file had been replaced: restarting the playout engine, which watches the old one")
		if err := d.programs.Restart(ctx, programEngine); err != nil {
			d.log.Error("restart the playout engine", "err", err)
		}
	}
	if data, _, err := playlist.Encode(there[:result.Kept]); err == nil {
		if err := d.copied.Write(ctx, data); err != nil && !errors.Is(err, delivery.ErrReplaced) {
			d.log.Warn("copy of the playlist file", "err", err)
		}
	}
	return result.Kept, nil
}

// named gives each item the name it has on the node, which tells its version.
func (d *remoteDelivery) named(items []playlist.Item) (there []playlist.Item, expect map[string]int64, missing []string) {
	expect = map[string]int64{}
	for _, item := range items {
		rel, ok := d.rack.Rel(item.Path)
		info, err := os.Stat(item.Path)
		known := d.rack.Size(item.Path)
		if !ok || err != nil || !info.Mode().IsRegular() || known >= 0 && known != info.Size() {
			missing = append(missing, item.Path)
			continue
		}
		item.Path = d.shelf.Path(rel, item.Path, delivery.Version(info))
		expect[item.Path] = info.Size()
		there = append(there, item)
	}
	return there, expect, missing
}

// ready has the node pull what it lacks, and returns how many items from the
// first may be pushed.
func (d *remoteDelivery) ready(ctx context.Context, there []playlist.Item, expect map[string]int64) (int, error) {
	// What the codec refuses must not decide how long anything takes.
	if _, _, err := playlist.Encode(there); err != nil {
		return len(there), nil //nolint:nilerr // Push tells it in its own words
	}
	paths, sizes := make([]string, len(there)), make([]int64, len(there))
	for i, item := range there {
		paths[i], sizes[i] = item.Path, expect[item.Path]
	}
	n, err := d.node.FetchFirst(ctx, paths, sizes, min(pullLeast, len(paths)), pullPatience)
	if err != nil {
		return 0, fmt.Errorf("push playlist: fetch media: %w", err)
	}
	if n < len(there) {
		d.log.Info("the node is still pulling: the rotation ends where it has come to", "entries", n, "of", len(there))
	}
	return n, nil
}

// InPlace implements scheduler.Delivery. It is asked at the start, when the bus
// is not there yet.
func (d *remoteDelivery) InPlace(ctx context.Context) ([]playlist.Item, error) {
	ctx, cancel := context.WithTimeout(ctx, nodePatience)
	defer cancel()
	var items []playlist.Item
	err := until(ctx, func(ctx context.Context) (err error) {
		items, err = delivery.New(d.node, func(string) int64 { return -1 }, d.log).InPlace(ctx)
		return err
	})
	for i := range items {
		items[i].Path = d.here(items[i].Path)
	}
	return items, err
}

const (
	clockEvery = 30 * time.Second
	clockKept  = 8
	// clockApart is worth a word to the operator.
	clockApart = time.Second
)

// nodeClock measures how far the node's clock is ahead of ours: by the middle of
// a question and its answer, of the last ones the quickest.
type nodeClock struct {
	bus *bus.Bus
	log *slog.Logger

	mu   sync.Mutex
	last []clockSample // newest last
}

type clockSample struct{ ahead, took time.Duration }

// here is our time of a time of the node's.
func (c *nodeClock) here(at time.Time) time.Time { return at.Add(-c.ahead()) }

func (c *nodeClock) ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.last) == 0 {
		return 0
	}
	best := c.last[0]
	for _, s := range c.last {
		if s.took <= best.took {
			best = s
		}
	}
	return best.ahead
}

// took takes one measurement.
func (c *nodeClock) took(asked, there, answered time.Time) {
	took := answered.Sub(asked)
	c.mu.Lock()
	c.last = append(c.last, clockSample{there.Sub(asked.Add(took / 2)), took})
	c.last = c.last[max(0, len(c.last)-clockKept):]
	c.mu.Unlock()
}

// run measures until ctx ends.
func (c *nodeClock) run(ctx context.Context) error {
	told := false
	for {
		pause := clockEvery
		asked := time.Now()
		got, err := bus.Call[clockAnswer](ctx, c.bus, subjectClock, orderWait, struct{}{})
		if err == nil {
			c.took(asked, got.Now, time.Now())
			if ahead := c.ahead(); ahead.Abs() > clockApart && !told {
				c.log.Warn("the node's clock is another: times of what is heard are corrected; let both machines keep time (NTP)", "ahead", ahead.Round(time.Millisecond))
				told = true
			}
		} else {
			pause = time.Second
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}
