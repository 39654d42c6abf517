package webhooks

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

// delivery is a message under way to its hook.
type delivery struct {
	hook     *hook
	seq      int64
	id       string
	event    string
	body     []byte
	tries    int
	attempts int
}

// round is the state of one Run: which hooks are busy or held.
type round struct {
	going sync.WaitGroup

	mu   sync.Mutex
	busy map[string]bool
	held map[string]int64 // epoch milliseconds until which a receiver wants nothing
}

const (
	// idle is the most between two looks at the queue.
	idle = time.Minute
	// sick is the pause after the database failed.
	sick = 5 * time.Second
)

// Run sends what is due until ctx ends; then it returns when no attempt is left.
func (h *Hooks) Run(ctx context.Context) error {
	r := &round{busy: map[string]bool{}, held: map[string]int64{}}
	defer r.going.Wait()
	r.going.Go(func() { h.take(ctx) })
	for {
		pause, err := h.launch(ctx, r)
		if err != nil && ctx.Err() == nil {
			h.opt.Log.Error("cannot read webhook queue", "err", err)
			pause = sick
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-h.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// take queues the messages of Tell.
func (h *Hooks) take(ctx context.Context) {
	queue := func(m Message) {
		if err := h.Queue(ctx, m); err != nil {
			h.opt.Log.Error("webhook message lost", "event", m.Event, "err", err)
		}
	}
	for {
		select {
		case m := <-h.incoming:
			queue(m)
		case <-ctx.Done():
			for {
				select {
				case m := <-h.incoming:
					queue(m)
				default:
					return
				}
			}
		}
	}
}

// launch starts an attempt for each hook that is idle and has something due, and
// returns how long to wait for the next one.
func (h *Hooks) launch(ctx context.Context, r *round) (time.Duration, error) {
	h.mu.RLock()
	hooks, order := h.hooks, h.order
	h.mu.RUnlock()
	next := h.millis() + idle.Milliseconds()
	for _, id := range order {
		k := hooks[id]
		now := h.millis()
		r.mu.Lock()
		busy, held := r.busy[id], r.held[id]
		r.mu.Unlock()
		if busy || !k.Enabled {
			continue // its end wakes us
		}
		if held > now {
			next = min(next, held)
			continue
		}
		d, due, err := h.due(ctx, k, now)
		if err != nil {
			return 0, err
		}
		if d == nil {
			if due > 0 {
				next = min(next, due)
			}
			continue
		}
		r.mu.Lock()
		r.busy[id] = true
		r.mu.Unlock()
		r.going.Go(func() { h.deliver(ctx, r, d) })
	}
	return time.Duration(max(0, next-h.millis())) * time.Millisecond, nil
}

// due returns the oldest message of a hook that is due, else when the next one is.
func (h *Hooks) due(ctx context.Context, k *hook, now int64) (*delivery, int64, error) {
	d := &delivery{hook: k}
	err := h.opt.DB.Read().QueryRowContext(ctx, `SELECT seq, id, event, body, tries, attempts FROM webhook_deliveries
		WHERE hook = ? AND state = 'waiting' AND due <= ? ORDER BY seq LIMIT 1`, k.ID, now).
		Scan(&d.seq, &d.id, &d.event, &d.body, &d.tries, &d.attempts)
	if err == nil {
		return d, 0, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return nil, 0, err
	}
	var next sql.NullInt64
	err = h.opt.DB.Read().QueryRowContext(ctx, `SELECT min(due) FROM webhook_deliveries WHERE hook = ? AND state = 'waiting'`, k.ID).Scan(&next)
	return nil, next.Int64, err
}

// deliver makes one attempt and notes what came of it.
func (h *Hooks) deliver(ctx context.Context, r *round, d *delivery) {
	a, answer := h.attempt(ctx, d)
	wait := time.Duration(0)
	if ctx.Err() == nil { // else the attempt was cut short by our own end
		wait = h.note(ctx, d, a, answer)
	}
	r.mu.Lock()
	delete(r.busy, d.hook.ID)
	delete(r.held, d.hook.ID)
	if wait > 0 {
		r.held[d.hook.ID] = h.millis() + wait.Milliseconds()
	}
	r.mu.Unlock()
	h.rouse()
}

// note writes down an attempt. It returns how long the hook is to be left alone.
func (h *Hooks) note(ctx context.Context, d *delivery, a Attempt, answer fetch.Answer) time.Duration {
	wait := time.Duration(0)
	if answer.Status == http.StatusTooManyRequests || answer.Status == http.StatusServiceUnavailable {
		wait = min(answer.RetryAfter, longestHold)
	}
	if err := h.record(ctx, d, a, wait); err != nil {
		h.opt.Log.Error("cannot record webhook attempt, it will be repeated", "hook", d.hook.ID, "err", err)
		return max(wait, sick)
	}
	return wait
}

// attempt sends a message once.
func (h *Hooks) attempt(ctx context.Context, d *delivery) (Attempt, fetch.Answer) {
	at := h.millis()
	begin := time.Now()
	answer, err := h.opt.Sender.Send(ctx, fetch.Sending{
		URL: d.hook.URL, Body: d.body, Timeout: h.opt.Timeout,
		Header: http.Header{
			"Content-Type":      {"application/json"},
			"Webhook-Id":        {d.id},
			"Webhook-Timestamp": {strconv.FormatInt(at/1000, 10)},
			"Webhook-Signature": {d.hook.signatures(d.id, at, d.body)},
		},
	})
	a := Attempt{N: d.attempts + 1, At: at, Status: answer.Status, DurationMS: time.Since(begin).Milliseconds()}
	switch {
	case err != nil:
		a.Error = cut(fetch.Secretless(err, d.hook.URL, h.opt.Sender.Check))
	case !a.arrived():
		a.Error = "the receiver answered " + strconv.Itoa(answer.Status) + " " + http.StatusText(answer.Status)
	}
	return a, answer
}

// pause is the time before the next attempt, after tries of them; false when
// there is none. Chance keeps hooks that failed together apart.
func (h *Hooks) pause(tries int) (time.Duration, bool) {
	if tries > len(h.opt.Pauses) {
		return 0, false
	}
	return time.Duration(float64(h.opt.Pauses[tries-1]) * (0.9 + 0.2*rand.Float64())), true
}
