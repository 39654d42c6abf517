package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/node/depot"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/station"
)

// The orders to a node on another machine, besides those of package delivery.
const (
	subjectEngine   = "athir.node.engine"
	subjectPrograms = "athir.node.programs"
	subjectReport   = "athir.node.report"
	subjectClock    = "athir.node.clock"
)

// NodeServes lists the subjects on which a node takes orders, those of package delivery
// included.
func NodeServes() []string {
	return []string{
		delivery.SubjectPlaylist, delivery.SubjectMedia, subjectEngine, subjectPrograms, subjectReport, subjectClock,
		subjectInner, subjectInnerOrder, subjectInnerNews,
	}
}

// NodeAsks lists the subjects on which a node asks the control plane.
func NodeAsks() []string { return []string{subjectLease} }

const (
	ordersAtOnce = 8
	orderWait    = 6 * time.Second // playout bounds a command to 5 s
)

const (
	doStatus     = "status"
	doSkip       = "skip"
	doSkipFrom   = "skipFrom"
	doDrop       = "drop"
	doReload     = "reload"
	doRewatch    = "rewatch"
	doDisconnect = "disconnect"
	doEmergency  = "emergency"
	doRestart    = "restart"
)

type engineAsk struct {
	Do      string `json:"do"`
	On      bool   `json:"on,omitempty"`
	Entered int    `json:"entered,omitempty"` // argument of skipFrom
}

// engineAnswer carries paths as bytes, because they may not be text.
type engineAnswer struct {
	Status   playout.Status  `json:"status"`
	Prepared [][]byte        `json:"prepared,omitempty"`
	Entering []byte          `json:"entering,omitempty"`
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

// Engine is the playout engine at the other end of the bus. An order without an answer
// fails with station.ErrUnavailable but may have been carried out, so none is sent
// twice.
type Engine struct {
	bus *bus.Bus
	// here turns a path on the node into one on this machine.
	here func(path string) string
}

// Status is playout.Client.Status, with paths of this machine.
func (e *Engine) Status(ctx context.Context) (playout.Status, error) {
	got, err := bus.Call[engineAnswer](ctx, e.bus, subjectEngine, orderWait, engineAsk{Do: doStatus})
	if err != nil {
		return playout.Status{}, fmt.Errorf("playout engine: %w", err)
	}
	st := got.Status
	st.Prepared, st.Entering = nil, ""
	if len(got.Entering) > 0 {
		st.Entering = e.here(string(got.Entering))
	}
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

// Skip is playout.Client.Skip.
func (e *Engine) Skip(ctx context.Context) error { return e.do(ctx, engineAsk{Do: doSkip}) }

// SkipFrom is playout.Client.SkipFrom.
func (e *Engine) SkipFrom(ctx context.Context, entered int) error {
	return e.do(ctx, engineAsk{Do: doSkipFrom, Entered: entered})
}

// DropPrefetched is playout.Client.DropPrefetched.
func (e *Engine) DropPrefetched(ctx context.Context) error {
	return e.do(ctx, engineAsk{Do: doDrop})
}

// Reload is playout.Client.Reload.
func (e *Engine) Reload(ctx context.Context) error { return e.do(ctx, engineAsk{Do: doReload}) }

// Rewatch is playout.Client.Rewatch.
func (e *Engine) Rewatch(ctx context.Context) error { return e.do(ctx, engineAsk{Do: doRewatch}) }

// DisconnectLive is playout.Client.DisconnectLive.
func (e *Engine) DisconnectLive(ctx context.Context) error {
	return e.do(ctx, engineAsk{Do: doDisconnect})
}

// Emergency is playout.Client.Emergency.
func (e *Engine) Emergency(ctx context.Context, on bool) error {
	return e.do(ctx, engineAsk{Do: doEmergency, On: on})
}

func (e *Engine) do(ctx context.Context, ask engineAsk) error {
	_, err := bus.Call[engineAnswer](ctx, e.bus, subjectEngine, orderWait, ask)
	return err
}

// Programs is the node's supervisor, reached over the bus.
type Programs struct{ bus *bus.Bus }

// Programs is supervise.Client.Programs.
func (p *Programs) Programs(ctx context.Context) ([]supervise.Status, error) {
	return p.do(ctx, programsAsk{Do: doStatus})
}

// Restart is supervise.Client.Restart.
func (p *Programs) Restart(ctx context.Context, name string) error {
	_, err := p.do(ctx, programsAsk{doRestart, name})
	return err
}

// Report is supervise.Client.Report.
func (p *Programs) Report(ctx context.Context, into any) error {
	got, err := bus.Call[json.RawMessage](ctx, p.bus, subjectReport, 2*time.Second, struct{}{})
	if err == nil {
		err = json.Unmarshal(got, into)
	}
	if err != nil {
		return fmt.Errorf("query the node: %w", err)
	}
	return nil
}

func (p *Programs) do(ctx context.Context, ask programsAsk) ([]supervise.Status, error) {
	got, err := bus.Call[[]supervise.Status](ctx, p.bus, subjectPrograms, 2*time.Second, ask)
	if err != nil {
		err = fmt.Errorf("query the node: %w", err)
	}
	return got, err
}

// Orders carries out, on the node, the orders of a control plane on another machine.
type Orders struct {
	Log      *slog.Logger
	Line     *bus.Bus
	Engine   playout.Engine
	Programs *supervise.Supervisor
	Report   func() any // what the node tells of itself, fit for JSON
	// Inner are the node's own processes that answer HTTP, by name.
	Inner    map[string]http.RoundTripper
	Playlist string // file that the engine watches
	Cache    string // folder for media, the same on both machines
	MaxBytes int64  // of Cache
	Control  string // base address of the control plane's HTTP
	Token    *secret.Secret
	// ID tells this node from every other one, Name shows it to people.
	ID, Name string

	terms terms // of the lease; the usual when zero
}

// Run carries out what the control plane orders, while this node has the station, until
// ctx ends.
func (o Orders) Run(ctx context.Context) error {
	store := depot.New(depot.Options{
		Log: o.Log, Playlist: o.Playlist, Dir: o.Cache, MaxBytes: o.MaxBytes, Control: o.Control, Token: o.Token,
		Held: func(ctx context.Context) []string { return heldBy(ctx, o.Engine) },
	})
	defer store.Close()
	if err := store.Prepare(ctx); err != nil {
		return err
	}
	if o.terms == (terms{}) {
		o.terms = usualTerms()
	}
	lease := &tenant{log: o.Log, bus: o.Line, me: leaseAsk{o.ID, o.Name}, terms: o.terms}
	for {
		until, ok := lease.acquire(ctx)
		if !ok {
			return nil
		}
		held, end := context.WithCancel(ctx)
		var keeping sync.WaitGroup
		keeping.Go(func() {
			defer end()
			lease.keep(held, until)
		})
		err := o.obey(held, store)
		end()
		keeping.Wait()
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// obey carries out orders until ctx ends.
func (o Orders) obey(ctx context.Context, store *depot.Depot) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return delivery.NewOrders(store, o.Log).Run(ctx, o.Line) })
	serve := func(subject string, fn func(context.Context, []byte) []byte) {
		g.Go(func() error { return o.Line.Serve(ctx, subject, ordersAtOnce, fn) })
	}
	serve(subjectEngine, bus.Answering(func(ctx context.Context, in engineAsk) (engineAnswer, error) { return obeyEngine(ctx, o.Engine, in) }))
	serve(subjectPrograms, bus.Answering(func(_ context.Context, in programsAsk) ([]supervise.Status, error) {
		return obeyPrograms(o.Programs, in)
	}))
	serve(subjectReport, bus.Answering(func(context.Context, struct{}) (any, error) { return o.Report(), nil }))
	g.Go(func() error { return serveInner(ctx, o.Line, o.Inner) })
	serve(subjectClock, bus.Answering(func(context.Context, struct{}) (clockAnswer, error) { return clockAnswer{time.Now()}, nil }))
	return g.Wait()
}

// heldBy lists the files that the engine plays or has prepared.
func heldBy(ctx context.Context, client playout.Engine) []string {
	st, err := client.Status(ctx)
	if err != nil {
		return nil
	}
	if st.Last != nil {
		return append(st.Prepared, st.Last.File)
	}
	return st.Prepared
}

func obeyEngine(ctx context.Context, client playout.Engine, in engineAsk) (out engineAnswer, err error) {
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
		out.Entering = []byte(out.Status.Entering)
		out.Status.Prepared, out.Status.Last, out.Status.Entering = nil, nil, ""
	case doSkip:
		err = client.Skip(ctx)
	case doSkipFrom:
		err = client.SkipFrom(ctx, in.Entered)
	case doDrop:
		err = client.DropPrefetched(ctx)
	case doReload:
		err = client.Reload(ctx)
	case doRewatch:
		err = client.Rewatch(ctx)
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
	default:
		return nil, fmt.Errorf("programs: no such order %q: %w", in.Do, station.ErrInvalid)
	}
	if err != nil {
		err = errors.Join(err, station.ErrNotFound)
	}
	return nil, err
}
