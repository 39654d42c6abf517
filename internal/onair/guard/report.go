package guard

import (
	"context"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/sound/deadair"
)

// Report is what the broadcast node hears of its own output and knows of itself. It holds
// how long ago something was, because its clock may be another.
type Report struct {
	deadair.Verdict
	// Arrived is how long ago audio last came out of the streaming server, and Decoded how
	// long ago some of it was last decoded; negative: never.
	Arrived, Decoded time.Duration
	// Standby is for how long only the server's standby audio has come; 0: it does not.
	// Cuts is how often that began.
	Standby time.Duration
	Cuts    int
	// Full: the server has no place for the ear.
	Full bool
	// Cause is why nothing comes.
	Cause string
	// Short is what the programs behind the sound lack, in words; empty: nothing.
	Short string
	// DiskFull: the node cannot write.
	DiskFull bool
	// Kills counts how often the node killed a program that did not work any more.
	Kills map[Step]int
}

// pollEvery is how often the node is asked, and pollWithin bounds a question.
const (
	pollEvery  = 250 * time.Millisecond
	pollWithin = 2 * time.Second
)

// hearing is a Report with the times of this machine's clock.
type hearing struct {
	Report
	told             time.Time // when the report came; zero: none yet
	arrived, decoded time.Time // zero: never
	standby          time.Time // zero: it does not come
	failure          string    // why the node does not answer
}

// reports keeps the node's last report.
type reports struct {
	mu   sync.Mutex
	last hearing
}

func (r *reports) hearing() hearing {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

func (r *reports) take(now time.Time, told Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := func(ago time.Duration) time.Time {
		if ago < 0 {
			return time.Time{}
		}
		return now.Add(-ago)
	}
	r.last = hearing{Report: told, told: now, arrived: at(told.Arrived), decoded: at(told.Decoded)}
	if told.Standby > 0 {
		r.last.standby = at(told.Standby)
	}
}

func (r *reports) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.failure = err.Error()
}

// poll asks the node until ctx ends.
func (g *Guard) poll(ctx context.Context) {
	clock := time.NewTicker(pollEvery)
	defer clock.Stop()
	for {
		asked := time.Now() // the ages are of then, or a little later
		ask, cancel := context.WithTimeout(ctx, pollWithin)
		told, err := g.opt.Node(ask)
		cancel()
		if err == nil {
			g.reports.take(asked, told)
		} else if ctx.Err() == nil {
			g.reports.fail(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
		}
	}
}
