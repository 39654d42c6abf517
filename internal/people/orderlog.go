package people

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
)

const (
	// waitForLog bounds how long an order waits for its line.
	waitForLog = 2 * time.Second
	// mostLines is how many lines may wait for a disk that hangs.
	mostLines = 2000
)

var errTooMany = errors.New("too many lines wait for the disk")

// orderLog writes lines of the log of orders: all that wait, in one transaction, so that many
// orders on a slow disk cost no more than few. A line that nobody waits for any more is still
// written.
type orderLog struct {
	db    *store.DB
	log   *slog.Logger
	grown func(user string) // called where a user may have too many lines

	mu      sync.Mutex
	waiting []*line
	writing chan struct{} // closed when the writer has ended; nil while there is none
}

// line is one order on its way to the disk. Its fields are the log's, under mu.
type line struct {
	order   Order    // its number is 0 until it is on disk
	written *written // nil while it does not wait
}

// written is one writing of a line.
type written struct {
	done chan struct{}
	err  error
}

// taken is a line that is being written, with what it said when it was taken.
type taken struct {
	line    *line
	says    Order
	written *written
}

// put sets what a line is to say and waits until that is on disk, or for waitForLog.
func (g *orderLog) put(l *line, set func(*Order)) error {
	w, err := g.enqueue(l, set)
	if err != nil {
		return err
	}
	patience := time.NewTimer(waitForLog)
	defer patience.Stop()
	select {
	case <-w.done:
		return w.err
	case <-patience.C:
		return context.DeadlineExceeded
	}
}

func (g *orderLog) enqueue(l *line, set func(*Order)) (*written, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	set(&l.order)
	if l.written != nil { // it waits still, and will say the newest
		return l.written, nil
	}
	if len(g.waiting) >= mostLines {
		return nil, errTooMany
	}
	l.written = &written{done: make(chan struct{})}
	g.waiting = append(g.waiting, l)
	if g.writing == nil {
		g.writing = make(chan struct{})
		go g.write(g.writing)
	}
	return l.written, nil
}

// write writes until nothing waits.
func (g *orderLog) write(ended chan struct{}) {
	defer close(ended)
	for batch := g.next(); len(batch) > 0; batch = g.next() {
		err := g.commit(batch)
		for _, t := range batch {
			if err == nil {
				g.number(t)
			} else if t.says.Status != 0 { // else it is tried again with its outcome
				g.lost(t.says, err)
			}
			t.written.err = err
			close(t.written.done)
		}
	}
}

// next takes all lines that wait; none, and the writer has ended.
func (g *orderLog) next() (batch []taken) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.waiting {
		batch = append(batch, taken{l, l.order, l.written})
		l.written = nil
	}
	if g.waiting = nil; len(batch) == 0 {
		g.writing = nil
	}
	return batch
}

// number gives a line the number that it has on disk.
func (g *orderLog) number(t taken) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t.line.order.N = t.says.N
}

// commit puts lines on disk, and sets the numbers of new ones.
func (g *orderLog) commit(batch []taken) error {
	// Each is as long as the disk takes: what waits behind it is bounded.
	ctx := context.Background()
	grown := map[string]bool{}
	err := g.db.Write(ctx, func(tx *sql.Tx) error {
		for i := range batch {
			o := &batch[i].says
			if o.N != 0 {
				if _, err := tx.ExecContext(ctx, `UPDATE people_orders SET status = ?, detail = ? WHERE n = ?`, o.Status, o.Detail, o.N); err != nil {
					return err
				}
				continue
			}
			out, err := tx.ExecContext(ctx, `INSERT INTO people_orders (at, user, name, way, order_, target, detail, address, status)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, o.At, o.User, o.Name, string(o.Way), o.Order, o.Target, o.Detail, o.Address, o.Status)
			if err != nil {
				return err
			}
			if o.N, err = out.LastInsertId(); err != nil {
				return err
			}
			if o.N%prunedEvery == 0 {
				grown[o.User] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for user := range grown {
		g.grown(user)
	}
	return nil
}

// lost says what the log does not have.
func (g *orderLog) lost(o Order, err error) {
	g.log.Error("cannot write the log of orders", "order", o.Order, "by", o.Who(), "status", o.Status, "err", err)
}

// settle waits until nothing waits any more, at most as long as ctx.
func (g *orderLog) settle(ctx context.Context) {
	for {
		g.mu.Lock()
		writing := g.writing
		g.mu.Unlock()
		if writing == nil {
			return
		}
		select {
		case <-writing:
		case <-ctx.Done():
			return
		}
	}
}
