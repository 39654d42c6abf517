// Package jobs runs long work that can be watched, waited for and cancelled. A
// job belongs to a lane; the jobs of one lane run one after another. Results
// survive restarts, and a job that a restart cut short is marked Interrupted.
//
// It does not know what the work is, and starts none by itself.
package jobs

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the slice's tables, for those that look before anything is migrated.
func Schema() store.Schema { return store.SchemaOf("jobs", migrations) }

// State is where a job stands.
type State string

// The states; the last four are final.
const (
	Queued      State = "queued"
	Running     State = "running"
	Done        State = "done"
	Failed      State = "failed"
	Cancelled   State = "cancelled"
	Interrupted State = "interrupted" // by the end of the program
)

// Final reports that nothing more will happen.
func (s State) Final() bool { return s != Queued && s != Running }

// Line is one line of a job's log.
type Line struct {
	At   int64  `json:"at"` // epoch milliseconds
	Text string `json:"text"`
}

// Progress is how far a job is with its step.
type Progress struct {
	Step   string `json:"step"`   // what it is at, a word
	Detail string `json:"detail"` // for people: a file's name
	Done   int    `json:"done"`
	Total  int    `json:"total"` // 0 while unknown
}

// Job is a job at one moment. Times are epoch milliseconds, 0 for not yet.
type Job struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Lane     string          `json:"lane"`
	State    State           `json:"state"`
	Queued   int64           `json:"queuedAt"`
	Started  int64           `json:"startedAt"`
	Ended    int64           `json:"endedAt"`
	Progress Progress        `json:"progress"`
	Log      []Line          `json:"log"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// Work is what a job does. Its result must be fit for JSON; it is kept beside
// an error too. It returns soon after ctx ends.
type Work func(ctx context.Context, t *Task) (result any, err error)

// Options of a Board. DB and Log are required.
type Options struct {
	DB   *store.DB
	Log  *slog.Logger
	Now  func() time.Time
	Keep int // final jobs that are kept; 200
	Wait int // jobs that may wait in a lane; 4
}

// logKept bounds the log of a job: its first lines and its last are the ones
// that explain it.
const logKept = 400

// Board holds the jobs. Make one with Open.
type Board struct {
	opt   Options
	stop  context.Context //nolint:containedctx // the life of the board: work outlives requests
	end   context.CancelFunc
	going sync.WaitGroup

	mu     sync.Mutex
	jobs   map[string]*entry
	order  []string            // oldest first
	lanes  map[string][]*entry // the first runs
	closed bool
}

type entry struct {
	job    Job
	work   Work
	cancel context.CancelFunc // of the running work
	asked  bool               // Cancel was called
	err    error              // what the work returned, as it was
	kept   chan struct{}      // closed once its end is on disk
}

// Open reads what is known of earlier jobs. Those that were not final ended
// with the program that ran them.
func Open(ctx context.Context, opt Options) (*Board, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Keep == 0 {
		opt.Keep = 200
	}
	if opt.Wait == 0 {
		opt.Wait = 4
	}
	if err := opt.DB.Upgrade(ctx, Schema()); err != nil {
		return nil, err
	}
	b := &Board{opt: opt, jobs: map[string]*entry{}, lanes: map[string][]*entry{}}
	b.stop, b.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := b.load(ctx); err != nil {
		return nil, fmt.Errorf("read jobs: %w", err)
	}
	return b, nil
}

// Run waits for ctx to end, cancels all work and returns once none is left.
func (b *Board) Run(ctx context.Context) error {
	<-ctx.Done()
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.end()
	b.going.Wait()
	return nil
}

// Start puts work into a lane, and begins it if the lane is free. Errors wrap
// station.ErrConflict when the lane is full, station.ErrUnavailable when the
// program ends, store.ErrDiskFull where not even its record can be kept.
func (b *Board) Start(lane, kind string, work Work) (Job, error) {
	if err := b.admits(lane); err != nil {
		return Job{}, err
	}
	j := Job{ID: newID(), Kind: kind, Lane: lane, State: Queued, Queued: b.now(), Log: []Line{}}
	// A client that has its id can ask for it after a crash.
	if err := b.write(j); errors.Is(err, store.ErrDiskFull) {
		return Job{}, fmt.Errorf("record the job %s: %w", kind, err)
	} else if err != nil {
		b.opt.Log.Error("cannot record job", "kind", kind, "id", j.ID, "err", err)
	}
	shown, err := b.enqueue(j, work)
	if err != nil { // others were quicker
		b.keep(j, j.ID)
	}
	return shown, err
}

// admits returns why a lane takes no more.
func (b *Board) admits(lane string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refusal(lane)
}

// refusal is admits for a caller that holds the lock.
func (b *Board) refusal(lane string) error {
	queue := b.lanes[lane]
	switch {
	case b.closed:
		return fmt.Errorf("the station is stopping: %w", station.ErrUnavailable)
	case len(queue) > b.opt.Wait:
		return fmt.Errorf("the queue is full: %d jobs wait behind %s (%s): %w", len(queue)-1, queue[0].job.Kind, queue[0].job.ID, station.ErrConflict)
	}
	return nil
}

func (b *Board) enqueue(j Job, work Work) (Job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.refusal(j.Lane); err != nil {
		return Job{}, err
	}
	e := &entry{job: j, work: work, kept: make(chan struct{})}
	queue := b.lanes[j.Lane]
	b.jobs[j.ID] = e
	b.order = append(b.order, j.ID)
	b.lanes[j.Lane] = append(queue, e)
	if len(queue) == 0 {
		b.begin(e)
	}
	return e.shown(), nil
}

// begin runs the first of a lane; the caller holds the lock.
func (b *Board) begin(e *entry) {
	ctx, cancel := context.WithCancel(b.stop)
	e.cancel = cancel
	e.job.State, e.job.Started = Running, b.now()
	record := e.shown()
	b.going.Go(func() {
		defer cancel()
		b.keep(record) // a crash from here on leaves a trace
		result, err := perform(ctx, e.work, &Task{b, e})
		b.finish(e, result, err)
	})
}

// perform turns a panic of the work into its error: the station goes on.
func perform(ctx context.Context, work Work, t *Task) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.board.opt.Log.Error("job panicked", "kind", t.entry.job.Kind, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the program has a fault: %v", p)
		}
	}()
	return work(ctx, t)
}

func (b *Board) finish(e *entry, result any, err error) {
	data, encodeErr := json.Marshal(result)
	if result == nil || encodeErr != nil {
		data = nil
	}
	b.mu.Lock()
	state := Done
	switch {
	case err == nil && encodeErr == nil:
	case e.asked:
		state = Cancelled
	case b.stop.Err() != nil:
		state = Interrupted
	default:
		state = Failed
	}
	if err == nil {
		err = encodeErr
	}
	e.close(state, b.now(), data, err)
	record := e.shown()
	b.next(e)
	dropped := b.trim()
	b.mu.Unlock()

	level := slog.LevelInfo
	if state == Failed {
		level = slog.LevelError
	}
	attrs := []any{"kind", record.Kind, "id", record.ID, "state", string(state), "took", time.Duration(record.Ended-record.Started) * time.Millisecond}
	if err != nil {
		attrs = append(attrs, "err", err)
	}
	b.opt.Log.Log(context.Background(), level, "job ended", attrs...)
	b.keep(record, dropped...)
	close(e.kept)
}

// next takes an entry out of its lane and lets the following one begin; the
// caller holds the lock.
func (b *Board) next(e *entry) {
	queue := b.lanes[e.job.Lane]
	for i := range queue {
		if queue[i] == e {
			queue = append(queue[:i:i], queue[i+1:]...)
			break
		}
	}
	if len(queue) == 0 {
		delete(b.lanes, e.job.Lane)
		return
	}
	b.lanes[e.job.Lane] = queue
	if queue[0].job.State != Queued {
		return
	}
	if b.closed {
		queue[0].close(Interrupted, b.now(), nil, errors.New("the station was stopped"))
		close(queue[0].kept)
		b.next(queue[0])
		return
	}
	b.begin(queue[0])
}

// trim forgets the oldest final jobs; the caller holds the lock.
func (b *Board) trim() (dropped []string) {
	excess := len(b.order) - b.opt.Keep
	kept := b.order[:0]
	for _, id := range b.order {
		if excess > 0 && b.jobs[id].job.State.Final() {
			delete(b.jobs, id)
			dropped = append(dropped, id)
			excess--
			continue
		}
		kept = append(kept, id)
	}
	b.order = kept
	return dropped
}

func (e *entry) close(state State, now int64, result json.RawMessage, err error) {
	e.job.State, e.job.Ended, e.job.Result, e.err = state, now, result, err
	if err != nil {
		e.job.Error = station.Reason(err)
	}
	e.work, e.cancel = nil, nil
}

// shown is a copy for callers.
func (e *entry) shown() Job {
	j := e.job
	j.Log = append([]Line{}, j.Log...)
	return j
}

func (b *Board) now() int64 { return b.opt.Now().UnixMilli() }

func newID() string {
	var raw [6]byte
	_, _ = rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}
