package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/athir-radio/athir/internal/station"
)

// errCancelled is the error of a job that was cancelled before it began.
var errCancelled = errors.New("cancelled before it began")

// List returns all jobs, newest first, without their logs and results.
func (b *Board) List() []Job {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Job, 0, len(b.order))
	for _, id := range slices.Backward(b.order) {
		j := b.jobs[id].job
		j.Log, j.Result = nil, nil
		out = append(out, j)
	}
	return out
}

// Busy reports that a job of a lane runs.
func (b *Board) Busy(lane string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.lanes[lane]) > 0
}

// Waits reports that a job waits for its turn in a lane.
func (b *Board) Waits(lane string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.lanes[lane]) > 1
}

// Find returns one job. The error wraps station.ErrNotFound.
func (b *Board) Find(id string) (Job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.jobs[id]
	if !ok {
		return Job{}, unknown(id)
	}
	return e.shown(), nil
}

// Wait returns a job once it is final and that is on disk, with the error its
// work returned; and the job as it is when ctx ends before.
func (b *Board) Wait(ctx context.Context, id string) (Job, error) {
	b.mu.Lock()
	e, ok := b.jobs[id]
	b.mu.Unlock()
	if !ok {
		return Job{}, unknown(id)
	}
	select {
	case <-e.kept:
		b.mu.Lock()
		defer b.mu.Unlock()
		return e.shown(), e.err
	case <-ctx.Done():
		b.mu.Lock()
		defer b.mu.Unlock()
		return e.shown(), ctx.Err()
	}
}

// Cancel asks a job to end; it is final once its work has returned. The error
// wraps station.ErrNotFound, or station.ErrConflict when it is final already.
func (b *Board) Cancel(id string) (Job, error) {
	b.mu.Lock()
	e, ok := b.jobs[id]
	if !ok {
		b.mu.Unlock()
		return Job{}, unknown(id)
	}
	switch e.job.State {
	case Running:
		e.asked = true
		e.cancel()
	case Queued:
		e.asked = true
		e.close(Cancelled, b.now(), nil, errCancelled)
		b.next(e)
		record := e.shown()
		b.mu.Unlock()
		b.keep(record)
		close(e.kept)
		return record, nil
	default:
		b.mu.Unlock()
		return Job{}, fmt.Errorf("the job has already ended (%s): %w", e.job.State, station.ErrConflict)
	}
	defer b.mu.Unlock()
	return e.shown(), nil
}

func unknown(id string) error {
	return fmt.Errorf("job %q: %w", id[:min(len(id), 40)], station.ErrNotFound)
}

// Task is a job as its work sees it. Its methods may be called from any
// goroutine of the work.
type Task struct {
	board *Board
	entry *entry
}

// Show says how far the work is.
func (t *Task) Show(p Progress) {
	t.board.mu.Lock()
	defer t.board.mu.Unlock()
	if !t.entry.job.State.Final() {
		t.entry.job.Progress = p
	}
}

// Say adds a line to the job's log. Of a long log the middle is left out.
func (t *Task) Say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	t.board.mu.Lock()
	defer t.board.mu.Unlock()
	if t.entry.job.State.Final() {
		return
	}
	j := &t.entry.job
	j.Log = append(j.Log, Line{t.board.now(), text})
	if len(j.Log) > logKept {
		const half = logKept / 2
		j.Log = slices.Delete(j.Log, half, half+1)
		j.Log[half].Text = "…"
	}
}
