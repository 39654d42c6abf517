package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/station"
)

// fetchWait is how long a fetch order waits for the fetch to end before it
// answers. The caller repeats the order until the fetch is done.
const fetchWait = 2 * time.Second

// sizesAtOnce is how many media orders are answered at a time.
const sizesAtOnce = 4

// Served is a node that takes orders over the bus.
type Served interface {
	Node
	Intact(ctx context.Context) (bool, error)
}

// Orders carries out a Remote's orders on the node. Playlist orders run one
// after another, as they come, so that a read sees every write before it.
type Orders struct {
	node Served
	log  *slog.Logger

	mu        sync.Mutex
	lastPut   string // id of the last put that was carried out
	putAnswer playlistAnswer
	pull      *pulling
}

// pulling is a fetch under way.
type pulling struct {
	ask    mediaAsk
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // once ended
	at     time.Time
}

// NewOrders returns the orders to a node.
func NewOrders(node Served, log *slog.Logger) *Orders { return &Orders{node: node, log: log} }

// Run serves until ctx ends, each subject where at says.
func (o *Orders) Run(ctx context.Context, b *bus.Bus, at func(subject string) string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer o.stop()
	var all sync.WaitGroup
	defer all.Wait()
	failed := make(chan error, 2)
	serve := func(subject string, workers int, fn func(context.Context, []byte) []byte) {
		all.Go(func() {
			failed <- b.Serve(ctx, at(subject), workers, fn)
			cancel()
		})
	}
	serve(SubjectPlaylist, 1, bus.Answering(o.playlist))
	serve(SubjectMedia, sizesAtOnce, bus.Answering(func(asked context.Context, in mediaAsk) (mediaAnswer, error) {
		return o.media(ctx, asked, in)
	}))
	return errors.Join(<-failed, <-failed)
}

func (o *Orders) playlist(ctx context.Context, in playlistAsk) (out playlistAnswer, err error) {
	switch in.Do {
	case doGet:
		out.Data, err = o.node.ReadBack(ctx)
		out.None = out.Data == nil
	case doIntact:
		out.Intact, err = o.node.Intact(ctx)
	case doPut:
		return o.write(ctx, in)
	default:
		err = fmt.Errorf("unknown playlist order %q: %w", in.Do, station.ErrInvalid)
	}
	return out, err
}

func (o *Orders) write(ctx context.Context, in playlistAsk) (playlistAnswer, error) {
	if in.ID != "" && in.ID == o.lastPut { // only the one worker of the playlist looks here
		return o.putAnswer, nil
	}
	err := o.node.Write(ctx, in.Data)
	var done playlistAnswer
	if errors.Is(err, ErrReplaced) {
		done.Replaced, err = true, nil
	}
	if err == nil {
		o.lastPut, o.putAnswer = in.ID, done
		o.log.Info("playlist written", "bytes", len(in.Data))
	}
	return done, err
}

func (o *Orders) media(life, ctx context.Context, in mediaAsk) (out mediaAnswer, err error) {
	paths := asPaths(in.Paths)
	switch in.Do {
	case doSizes:
		out.Sizes, err = o.node.Sizes(ctx, paths)
		return out, err
	case doFetch:
		if len(in.Expect) != len(paths) {
			return out, fmt.Errorf("fetch media: %d files but %d sizes: %w", len(paths), len(in.Expect), station.ErrInvalid)
		}
		return o.fetch(life, ctx, in)
	}
	return out, fmt.Errorf("unknown media order %q: %w", in.Do, station.ErrInvalid)
}

// fetch begins a fetch, or reports on the one under way. A fetch under way that
// does not include these files is ended: it might delete them to make room.
func (o *Orders) fetch(life, ctx context.Context, in mediaAsk) (mediaAnswer, error) {
	p := o.begin(life, in)
	first, err := o.first(ctx, in)
	if err != nil || first == len(in.Paths) && !same(p.ask, in) {
		return mediaAnswer{Done: err == nil}, err
	}
	wait := time.NewTimer(fetchWait)
	defer wait.Stop()
	select {
	case <-p.ended:
		o.mu.Lock()
		if o.pull == p {
			o.pull = nil // the next order tries again
		}
		o.mu.Unlock()
		return mediaAnswer{Done: true}, p.err
	case <-ctx.Done():
		return mediaAnswer{}, ctx.Err()
	case <-wait.C:
	}
	first, err = o.first(ctx, in)
	return mediaAnswer{First: first}, err
}

func (o *Orders) begin(life context.Context, in mediaAsk) *pulling {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.pull; p != nil {
		if p.includes(in) && !p.stale() {
			return p
		}
		p.cancel()
		<-p.ended
	}
	ctx, cancel := context.WithCancel(life)
	p := &pulling{ask: in, cancel: cancel, ended: make(chan struct{})}
	o.pull = p
	go func() {
		defer close(p.ended)
		defer cancel()
		p.err, p.at = o.node.Fetch(ctx, asPaths(in.Paths), in.Expect), time.Now()
	}()
	return p
}

// stale reports that the fetch ended some time ago and was not asked about since.
func (p *pulling) stale() bool {
	select {
	case <-p.ended:
		return time.Since(p.at) > orderWait
	default:
		return false
	}
}

// includes reports that all files of a fetch are among those of this one.
func (p *pulling) includes(in mediaAsk) bool {
	sizes := make(map[string]int64, len(p.ask.Paths))
	for i, path := range p.ask.Paths {
		sizes[string(path)] = p.ask.Expect[i]
	}
	for i, path := range in.Paths {
		if size, ok := sizes[string(path)]; !ok || size != in.Expect[i] {
			return false
		}
	}
	return true
}

func same(a, b mediaAsk) bool {
	return slices.Equal(a.Expect, b.Expect) && slices.EqualFunc(a.Paths, b.Paths, slices.Equal)
}

// first counts the leading files that are in place.
func (o *Orders) first(ctx context.Context, in mediaAsk) (int, error) {
	sizes, err := o.node.Sizes(ctx, asPaths(in.Paths))
	if err != nil {
		return 0, err
	}
	for i, size := range sizes {
		if size < 0 || in.Expect[i] >= 0 && size != in.Expect[i] {
			return i, nil
		}
	}
	return len(sizes), nil
}

// stop ends the fetch under way.
func (o *Orders) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pull != nil {
		o.pull.cancel()
		<-o.pull.ended
	}
}
