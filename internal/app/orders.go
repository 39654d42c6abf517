package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/node/depot"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/station"
)

// The orders to a node on another machine, beside those of package delivery.
const (
	subjectEngine   = "athir.node.engine"
	subjectPrograms = "athir.node.programs"
	subjectClock    = "athir.node.clock"
)

const (
	ordersAtOnce = 8
	orderWait    = 6 * time.Second // the engine's own bound is 5 s
)

const (
	doStatus     = "status"
	doSkip       = "skip"
	doSkipFrom   = "skipFrom"
	doDrop       = "drop"
	doReload     = "reload"
	doDisconnect = "disconnect"
	doEmergency  = "emergency"
	doRestart    = "restart"
	doKill       = "kill"
)

type engineAsk struct {
	Do      string `json:"do"`
	On      bool   `json:"on,omitempty"`
	Entered int    `json:"entered,omitempty"` // of skipFrom
}

// engineAnswer carries paths as bytes: they need not be text.
type engineAnswer struct {
	Status   playout.Status  `json:"status"`
	Prepared [][]byte        `json:"prepared,omitempty"`
	Last     *playout.Marker `json:"last,omitempty"`
	LastFile []byte          `json:"lastFile,omitempty"`
}

type programsAsk struct {
	Do   string `json:"do"`
	Name string `json:"name,omitempty"`
}

type clockAnswer struct {
	Now time.Time `json:"now"`
}

// engineOverBus is the playout engine at the other end of the bus. An order that
// nobody answers is station.ErrUnavailable, and may have been carried out: none
// is sent twice.
type engineOverBus struct {
	bus *bus.Bus
	// here turns a path of the node into ours.
	here func(path string) string
}

func (e *engineOverBus) Status(ctx context.Context) (playout.Status, error) {
	got, err := bus.Call[engineAnswer](ctx, e.bus, subjectEngine, orderWait, engineAsk{Do: doStatus})
	if err != nil {
		return playout.Status{}, fmt.Errorf("playout engine: %w", err)
	}
	st := got.Status
	st.Prepared = nil
	for _, p := range got.Prepared {
		st.Prepared = append(st.Prepared, e.here(string(p)))
	}
	if st.Last = got.Last; st.Last != nil {
		st.Last.File = ""
		if len(got.LastFile) > 0 {
			st.Last.File = e.here(string(got.LastFile))
		}
	}
	return st, nil
}

func (e *engineOverBus) Skip(ctx context.Context) error { return e.do(ctx, engineAsk{Do: doSkip}) }
func (e *engineOverBus) SkipFrom(ctx context.Context, entered int) error {
	return e.do(ctx, engineAsk{Do: doSkipFrom, Entered: entered})
}
func (e *engineOverBus) DropPrefetched(ctx context.Context) error {
	return e.do(ctx, engineAsk{Do: doDrop})
}
func (e *engineOverBus) Reload(ctx context.Context) error { return e.do(ctx, engineAsk{Do: doReload}) }
func (e *engineOverBus) DisconnectLive(ctx context.Context) error {
	return e.do(ctx, engineAsk{Do: doDisconnect})
}
func (e *engineOverBus) Emergency(ctx context.Context, on bool) error {
	return e.do(ctx, engineAsk{Do: doEmergency, On: on})
}

func (e *engineOverBus) do(ctx context.Context, ask engineAsk) error {
	_, err := bus.Call[engineAnswer](ctx, e.bus, subjectEngine, orderWait, ask)
	return err
}

// programsOverBus is the supervisor at the other end of the bus.
type programsOverBus struct{ bus *bus.Bus }

func (p *programsOverBus) Programs(ctx context.Context) ([]supervise.Status, error) {
	return p.do(ctx, programsAsk{Do: doStatus})
}

func (p *programsOverBus) Restart(ctx context.Context, name string) error {
	_, err := p.do(ctx, programsAsk{doRestart, name})
	return err
}

func (p *programsOverBus) Kill(ctx context.Context, name string) error {
	_, err := p.do(ctx, programsAsk{doKill, name})
	return err
}

func (p *programsOverBus) do(ctx context.Context, ask programsAsk) ([]supervise.Status, error) {
	got, err := bus.Call[[]supervise.Status](ctx, p.bus, subjectPrograms, 2*time.Second, ask)
	if err != nil {
		err = fmt.Errorf("ask the node: %w", err)
	}
	return got, err
}

// obey takes a remote control plane's orders until ctx ends.
func (b *broadcast) obey(ctx context.Context) error {
	line, err := joinBus(b.cfg, b.log, "node")
	if err != nil {
		return err
	}
	defer line.Close()
	client := playout.Client{Socket: b.node.engineOptions().Socket()}
	store := depot.New(depot.Options{
		Log: b.log, Playlist: b.cfg.Playlist(), Dir: b.cfg.Node.Cache, MaxBytes: b.cfg.Node.CacheBytes(),
		Control: "http://" + b.cfg.ControlAddress(), Token: b.cfg.SyncToken,
		Held: func(ctx context.Context) []string { return heldBy(ctx, client) },
	})
	defer store.Close()
	if err := store.Prepare(ctx); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return delivery.NewOrders(store, b.log).Run(ctx, line) })
	serve := func(subject string, fn func(context.Context, []byte) []byte) {
		g.Go(func() error { return line.Serve(ctx, subject, ordersAtOnce, fn) })
	}
	serve(subjectEngine, bus.Answering(func(ctx context.Context, in engineAsk) (engineAnswer, error) { return obeyEngine(ctx, client, in) }))
	serve(subjectPrograms, bus.Answering(func(_ context.Context, in programsAsk) ([]supervise.Status, error) { return obeyPrograms(b.super, in) }))
	serve(subjectClock, bus.Answering(func(context.Context, struct{}) (clockAnswer, error) { return clockAnswer{time.Now()}, nil }))
	return g.Wait()
}

// heldBy lists what the engine plays and what it has prepared.
func heldBy(ctx context.Context, client playout.Client) []string {
	st, err := client.Status(ctx)
	if err != nil {
		return nil
	}
	if st.Last != nil {
		return append(st.Prepared, st.Last.File)
	}
	return st.Prepared
}

func obeyEngine(ctx context.Context, client player, in engineAsk) (out engineAnswer, err error) {
	switch in.Do {
	case doStatus:
		if out.Status, err = client.Status(ctx); err != nil {
			return out, err
		}
		for _, p := range out.Status.Prepared {
			out.Prepared = append(out.Prepared, []byte(p))
		}
		if out.Last = out.Status.Last; out.Last != nil {
			out.LastFile = []byte(out.Last.File)
		}
		out.Status.Prepared, out.Status.Last = nil, nil
	case doSkip:
		err = client.Skip(ctx)
	case doSkipFrom:
		err = client.SkipFrom(ctx, in.Entered)
	case doDrop:
		err = client.DropPrefetched(ctx)
	case doReload:
		err = client.Reload(ctx)
	case doDisconnect:
		err = client.DisconnectLive(ctx)
	case doEmergency:
		err = client.Emergency(ctx, in.On)
	default:
		err = fmt.Errorf("engine: no such order %q: %w", in.Do, station.ErrInvalid)
	}
	return out, err
}

func obeyPrograms(super *supervise.Supervisor, in programsAsk) (out []supervise.Status, err error) {
	switch in.Do {
	case doStatus:
		return super.Programs(), nil
	case doRestart:
		err = super.Restart(in.Name)
	case doKill:
		err = super.Kill(in.Name)
	default:
		return nil, fmt.Errorf("programs: no such order %q: %w", in.Do, station.ErrInvalid)
	}
	if err != nil {
		err = errors.Join(err, station.ErrNotFound)
	}
	return nil, err
}
