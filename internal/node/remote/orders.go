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
// included: with the fence by which it has the station, as the spare, or as nodes of the
// version before.
func NodeServes() []string {
	return []string{
		delivery.SubjectPlaylist, delivery.SubjectMedia, subjectEngine, subjectPrograms, subjectReport, subjectClock,
		subjectInner, subjectInnerOrder, subjectInnerNews,
		everyOrder + "fence.>", everyOrder + "spare.>",
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
	to  func(subject string) string
	// here turns a path on the node into one on this machine.
	here func(path string) string
}

// Status is playout.Client.Status, with paths of this machine.
func (e *Engine) Status(ctx context.Context) (playout.Status, error) {
	got, err := bus.Call[engineAnswer](ctx, e.bus, e.to(subjectEngine), orderWait, engineAsk{Do: doStatus})
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
	_, err := bus.Call[engineAnswer](ctx, e.bus, e.to(subjectEngine), orderWait, ask)
	return err
}

// Programs is the node's supervisor, reached over the bus.
type Programs struct {
	bus *bus.Bus
	to  func(subject string) string
}

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
	got, err := bus.Call[json.RawMessage](ctx, p.bus, p.to(subjectReport), 2*time.Second, struct{}{})
	if err == nil {
		err = json.Unmarshal(got, into)
	}
	if err != nil {
		return fmt.Errorf("query the node: %w", err)
	}
	return nil
}

func (p *Programs) do(ctx context.Context, ask programsAsk) ([]supervise.Status, error) {
	got, err := bus.Call[[]supervise.Status](ctx, p.bus, p.to(subjectPrograms), 2*time.Second, ask)
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
	// ID tells this node from every other one, Name shows it to people. Host is which of the
	// addresses in the control plane's settings it has; empty: the first.
	ID, Name, Host string
	// See returns nil where the streaming server of the node at a host answers.
	See func(ctx context.Context, host string) error
	// Next is the number that the relay gives its next segment; may be nil.
	Next func() int
	// Staged is told each change of what this node is to the station, before it takes any
	// order in that stage; may be nil.
	Staged func(ctx context.Context, s Stage)
	// Enter has the engine go on with the head of its list: this node was the spare, and
	// what it played is not what was heard. May be nil.
	Enter func(ctx context.Context) error

	terms terms // of the lease; the usual when zero
}

// Run carries out what the control plane orders, while this node has the station or stands
// by, until ctx ends.
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
	lease := &tenant{log: o.Log, bus: o.Line, me: leaseAsk{ID: o.ID, Name: o.Name, Host: o.Host, Fences: true}, terms: o.terms, next: o.Next}
	var looking sync.WaitGroup
	defer looking.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.See != nil {
		lease.look = &lookout{see: o.See}
		looking.Go(func() { lease.look.run(ctx) })
	}
	return lease.run(ctx, func(ctx context.Context, was, now Stage) error {
		if o.Staged != nil {
			o.Staged(ctx, now)
		}
		g, ctx := errgroup.WithContext(ctx)
		if was.Spare && now.OnAir && o.Enter != nil {
			g.Go(func() error {
				if err := o.Enter(ctx); err != nil && ctx.Err() == nil {
					o.Log.Warn("the engine did not go on with what comes next, and plays on", "err", err)
				}
				return nil
			})
		}
		g.Go(func() error { return o.obey(ctx, store, now) })
		return g.Wait()
	})
}

// obey carries out orders in a stage until ctx ends. The spare takes those alone by which
// its copy is kept, and says how it fares.
func (o Orders) obey(ctx context.Context, store *depot.Depot, s Stage) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return delivery.NewOrders(store, o.Log).Run(ctx, o.Line, s.subject) })
	serve := func(subject string, fn func(context.Context, []byte) []byte) {
		g.Go(func() error { return o.Line.Serve(ctx, s.subject(subject), ordersAtOnce, fn) })
	}
	serve(subjectEngine, bus.Answering(func(ctx context.Context, in engineAsk) (engineAnswer, error) {
		if s.Spare && in.Do != doStatus && in.Do != doRewatch {
			return engineAnswer{}, fmt.Errorf("engine: this node is the spare: %w", station.ErrConflict)
		}
		return obeyEngine(ctx, o.Engine, in)
	}))
	serve(subjectPrograms, bus.Answering(func(_ context.Context, in programsAsk) ([]supervise.Status, error) {
		if s.Spare && in.Do != doStatus {
			return nil, fmt.Errorf("programs: this node is the spare: %w", station.ErrConflict)
		}
		return obeyPrograms(o.Programs, in)
	}))
	serve(subjectReport, bus.Answering(func(context.Context, struct{}) (any, error) { return o.Report(), nil }))
	if !s.Spare {
		g.Go(func() error { return serveInner(ctx, o.Line, o.Inner, s.subject) })
	}
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
