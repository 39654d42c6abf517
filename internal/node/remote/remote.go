// Package remote reaches a broadcast node on another machine over the bus: its engine,
// its supervisor, its clock, and the delivery of the rotation. On the node itself it
// carries out the orders. Scheduler, pages and guard know only files of this machine;
// the package translates their names to the node's and back.
package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/local"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// nodePatience is how long a start waits for the node to report its playlist,
	// if a push was under way when the control plane last ended.
	nodePatience = 8 * time.Second
	// pullPatience is how long a push waits for all of its media. After that, as many
	// entries as the node has already are enough, pullLeast at most: it goes on pulling, the
	// rotation goes on once this part is used up, and an order must not wait for a slow line.
	// A node that has nothing plays the first song as soon as it is there.
	pullPatience = 8 * time.Second
	pullLeast    = 12
)

// Options are the settings of the control plane's side.
type Options struct {
	Log      *slog.Logger
	Bus      *bus.Bus
	Cache    string // folder of the node's media, on the node
	Playlist string // file on this machine for a copy of the list
	Lease    string // file that keeps which node has the station
	Places   Places
	// See returns nil where the streaming server of the node at a host answers.
	See  func(ctx context.Context, host string) error
	Rack Copies
}

// Copies names the files that air.
type Copies interface {
	// Rel returns the track that an absolute path of this machine airs; false for a foreign
	// one.
	Rel(abs string) (rel string, ok bool)
	// Path returns the file on this machine that airs for a track.
	Path(rel string) string
	// Size returns the bytes of a file to air; -1 where it is not known.
	Size(abs string) int64
}

// Node is the broadcast node, seen from the control plane.
type Node struct {
	Engine   *Engine
	Programs *Programs
	Delivery *Delivery
	Clock    *Clock // of the node that has the air
	Lease    *Lease
	Copy     *Copy // nil where the settings name no spare

	waits *Clock // of the spare
	place *delivery.Remote
	names names
}

// Open prepares this machine's copy of the list; it does not wait for the node.
func Open(ctx context.Context, o Options) *Node {
	t := usualTerms()
	if o.Places.Spare != "" {
		t = spareTerms()
	}
	lease := openLease(o.Log, o.Lease, t, o.Places, o.See)
	n := &Node{
		Lease: lease, Programs: &Programs{o.Bus, lease.to}, Clock: &Clock{bus: o.Bus, to: lease.to, log: o.Log},
		place: delivery.NewRemote(o.Bus, lease.to), names: names{delivery.Shelf{Root: o.Cache}, o.Rack},
	}
	n.Engine = &Engine{o.Bus, lease.to, n.names.here}
	if o.Places.Spare != "" {
		n.Copy = &Copy{log: o.Log, lease: lease, node: delivery.NewRemote(o.Bus, lease.toSpare), names: n.names}
		n.waits = &Clock{bus: o.Bus, to: lease.toSpare, log: o.Log}
	}
	copied := delivery.NewLocal(o.Playlist, o.Log)
	if err := copied.Prepare(ctx); err != nil {
		o.Log.Warn("cannot prepare the copy of the playlist file", "err", err)
	}
	n.Delivery = &Delivery{node: n.place, names: n.names, engine: n.Engine, copied: copied, log: o.Log}
	return n
}

// Run grants the station to a node, and measures its clock, until ctx ends.
func (n *Node) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return n.Lease.serve(ctx, n.Clock.bus) })
	g.Go(func() error { return n.Clock.Run(ctx) })
	if n.waits != nil {
		g.Go(func() error { return n.waits.Run(ctx) })
		g.Go(func() error { return n.followClock(ctx) })
	}
	return g.Wait()
}

// followClock has the spare's clock count once it has the air: its first marker comes before
// the next measurement.
func (n *Node) followClock(ctx context.Context) error {
	changed, cancel := n.Lease.Changes()
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			n.Clock.become(n.waits)
		}
	}
}

// SpareClock is the clock of the node that stands by; nil where the settings name none.
func (n *Node) SpareClock() *Clock { return n.waits }

// Inner reaches a process of the node.
func (n *Node) Inner(part string, news bool) http.RoundTripper {
	return Inner{Bus: n.Clock.bus, To: n.Lease.to, Part: part, News: news}
}

// Intact reports whether the node's playlist file is as it was delivered.
func (n *Node) Intact(ctx context.Context) (bool, error) { return n.place.Intact(ctx) }

// Rel returns the path of the track that the engine's path stands for, relative to the
// library.
func (n *Node) Rel(path string) (string, bool) { return n.names.rel(path) }

// Listening returns nil once the node's streaming server runs. It asks the node, not
// the server, because a connection can kill the server while it starts.
func (n *Node) Listening(ctx context.Context) error {
	all, err := n.Programs.Programs(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.Name == icecast.Program && p.State == supervise.Running.String() {
			return nil
		}
	}
	return fmt.Errorf("the streaming server of the node does not run: %w", station.ErrUnavailable)
}

// names turns the node's file names into this machine's.
type names struct {
	shelf delivery.Shelf
	rack  Copies
}

func (n names) rel(path string) (string, bool) {
	if rel, _, ok := n.shelf.Rel(path); ok {
		return rel, true
	}
	return n.rack.Rel(path)
}

func (n names) here(path string) string {
	if rel, _, ok := n.shelf.Rel(path); ok {
		return n.rack.Path(rel)
	}
	return path
}

// Delivery is the scheduler's delivery to another machine.
type Delivery struct {
	node   *delivery.Remote
	names  names
	engine playout.Engine
	copied *delivery.Local // copy of the list, for /api/sync/m3u
	log    *slog.Logger
}

// Push implements scheduler.Delivery.
func (d *Delivery) Push(ctx context.Context, items []playlist.Item) (int, error) {
	there, missing := d.names.on(items)
	if len(missing) > 0 {
		return 0, &scheduler.MissingError{Paths: missing}
	}
	ready, err := d.ready(ctx, there)
	if err != nil {
		return 0, err
	}
	result, err := there.push(ctx, d.node, ready, d.log)
	kept, err := local.Settle(ctx, result, err, items, d.engine, d.log)
	if err != nil {
		return 0, err
	}
	if data, _, err := playlist.Encode(there.items[:kept]); err == nil {
		if err := d.copied.Write(ctx, data); err != nil && !errors.Is(err, delivery.ErrReplaced) {
			d.log.Warn("cannot write the copy of the playlist file", "err", err)
		}
	}
	return kept, nil
}

// ready lets the node pull the media it lacks, and returns how many items, from the
// first, may be pushed.
func (d *Delivery) ready(ctx context.Context, there load) (int, error) {
	// A list that cannot be encoded must not wait for its media.
	if _, _, err := playlist.Encode(there.items); err != nil {
		return len(there.items), nil //nolint:nilerr // Push returns the error
	}
	has, err := d.has(ctx)
	if err != nil {
		return 0, fmt.Errorf("push playlist: %w", err)
	}
	n, err := there.fetch(ctx, d.node, max(there.song(), min(has, pullLeast, len(there.items))), pullPatience)
	if err != nil {
		return 0, fmt.Errorf("push playlist: fetch media: %w", err)
	}
	if n < len(there.items) {
		d.log.Info("node is still pulling media, a shorter playlist is pushed", "entries", n, "rotation", len(there.items))
	}
	return n, nil
}

// has counts the entries that the node can play as it is: those of the list in place whose
// media are there.
func (d *Delivery) has(ctx context.Context) (n int, err error) {
	items, err := delivery.New(d.node, func(string) int64 { return -1 }, d.log).InPlace(ctx)
	if err != nil || len(items) == 0 {
		return 0, err
	}
	paths := make([]string, len(items))
	for i, item := range items {
		paths[i] = item.Path
	}
	sizes, err := d.node.Sizes(ctx, paths)
	for _, size := range sizes {
		if size >= 0 {
			n++
		}
	}
	return n, err
}

// InPlace implements scheduler.Delivery. It is called at the start, when the bus may
// not be connected yet.
func (d *Delivery) InPlace(ctx context.Context) ([]playlist.Item, error) {
	ctx, cancel := context.WithTimeout(ctx, nodePatience)
	defer cancel()
	var items []playlist.Item
	err := retry.Until(ctx, func(ctx context.Context) (err error) {
		items, err = delivery.New(d.node, func(string) int64 { return -1 }, d.log).InPlace(ctx)
		return err
	})
	for i := range items {
		items[i].Path = d.names.here(items[i].Path)
	}
	return items, err
}
