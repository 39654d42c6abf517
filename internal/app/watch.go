package app

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/output"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/guard"
)

// How the node judges what it sends out. It hears it beside the streaming server, and acts
// on its own programs; the control plane's guard acts on the programme.

const (
	// flowsFor is how old the last audio may be for the flow to go on.
	flowsFor = 3 * time.Second
	// engineDry is how long an engine may answer while its audio does not reach the streaming
	// server: it connects again within three seconds. serverDry is the same of a streaming
	// server that has a source: longer, because the engine may be to blame.
	engineDry = 12 * time.Second
	serverDry = 30 * time.Second
	// sourcePatience bounds the question whether the server has a source.
	sourcePatience = time.Second
	// leastFree is how much of a disk must be free for a program to write what it needs.
	leastFree = 1 << 20
)

// watch listens to the output and measures the machine until ctx ends.
func (n *node) watch(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return n.gauge.Run(ctx) })
	if n.ear != nil {
		g.Go(func() error { return n.ear.Run(ctx) })
	}
	g.Go(func() error {
		n.trim(ctx)
		return nil
	})
	return g.Wait()
}

// trimEvery is how often it is looked whether the streaming server is nearly full.
const trimEvery = 5 * time.Second

// trim bounds the streaming server's listeners of one address, once places are scarce.
func (n *node) trim(ctx context.Context) {
	clock := time.NewTicker(trimEvery)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
		}
		within, cancel := context.WithTimeout(ctx, trimEvery)
		ended, err := icecast.Trim(within, n.http, icecastOptions(n.cfg), n.cfg.Stream.MaxPerAddress)
		cancel()
		if ended > 0 {
			n.log.Warn("streaming server is nearly full: ended connections of addresses that have many", "ended", ended, "setting", "stream.max_per_address")
		}
		if err != nil && ctx.Err() == nil {
			n.log.Debug("cannot look at the streaming server's listeners", "err", err)
		}
	}
}

// nodeReport is what a broadcast node tells of itself: what it hears of its own output, how
// its programs are, and what the machine lacks.
type nodeReport struct {
	// Heard is nil where nothing listens: the guard is switched off.
	Heard    *output.Hearing    `json:"heard,omitempty"`
	Programs []supervise.Status `json:"programs"`
	// Short is what the machine is short of, in words; empty: of nothing.
	Short string `json:"short,omitempty"`
	// DiskFull names the folder whose disk is full; empty: none.
	DiskFull string `json:"diskFull,omitempty"`
}

func (n *node) report(programs *supervise.Supervisor) nodeReport {
	r := nodeReport{Programs: programs.Programs(), Short: n.gauge.Read().Short(), DiskFull: n.diskFull()}
	if n.ear != nil {
		heard := n.ear.Hearing()
		r.Heard = &heard
	}
	return r
}

// errDeaf refuses the report of a node that does not listen.
var errDeaf = errors.New("the node does not listen to its own output: set guard.enabled on it, too")

// forGuard is the report as the guard has it.
func (r nodeReport) forGuard() (guard.Report, error) {
	if r.Heard == nil {
		return guard.Report{}, errDeaf
	}
	h := r.Heard
	out := guard.Report{
		Verdict: h.Verdict, Arrived: h.Arrived, Decoded: h.Decoded, Standby: h.Standby, Cuts: h.Cuts, Full: h.Full, Cause: h.Cause,
		Short: r.Short, DiskFull: r.DiskFull != "", Kills: map[guard.Step]int{},
	}
	for _, p := range r.Programs {
		switch p.Name {
		case playout.Program:
			out.Kills[guard.RestartEngine] = p.Kills
		case icecast.Program:
			out.Kills[guard.RestartServer] = p.Kills
		default:
			continue
		}
		if p.Condition == supervise.Starved {
			out.Short = p.Why
		}
	}
	return out, nil
}

// lacking returns what the programs of a node lack, in words; empty: nothing.
func (r nodeReport) lacking() string {
	for _, p := range r.Programs {
		if p.Condition == supervise.Starved {
			return p.Name + ": " + p.Why
		}
	}
	return r.Short
}

// around is what the watchdogs know of this machine.
func (n *node) around() supervise.Around {
	return supervise.Around{
		Short: func() string { return n.gauge.Read().Short() },
		Hold: func() string {
			if dir := n.diskFull(); dir != "" {
				return "the disk that holds " + dir + " is full: free some space on it"
			}
			return ""
		},
	}
}

// diskFull returns the data directory if its disk is full.
func (n *node) diskFull() string {
	if free, size, err := file.Space(n.cfg.NodeDir()); err == nil && size > 0 && free < leastFree {
		return n.cfg.DataDir
	}
	return ""
}

// engineFlow says whether the engine's audio comes out of the streaming server.
func (n *node) engineFlow() supervise.Flow {
	if n.ear == nil {
		return supervise.FlowUnknown
	}
	h := n.ear.Hearing()
	switch {
	case h.Full:
		return supervise.FlowUnknown
	case h.Standby == 0 && h.Arrived >= 0 && h.Arrived < flowsFor:
		return supervise.Flowing
	}
	ctx, cancel := context.WithTimeout(context.Background(), sourcePatience)
	defer cancel()
	if err := icecast.Ready(ctx, n.http, icecastOptions(n.cfg)); err != nil {
		return supervise.FlowUnknown // the server may be to blame
	}
	return supervise.Dry
}

// serverFlow says whether audio comes out of the streaming server that has a source.
func (n *node) serverFlow() supervise.Flow {
	if n.ear == nil {
		return supervise.FlowUnknown
	}
	h := n.ear.Hearing()
	switch {
	case h.Full:
		return supervise.FlowUnknown
	case h.Arrived >= 0 && h.Arrived < flowsFor:
		return supervise.Flowing
	}
	ctx, cancel := context.WithTimeout(context.Background(), sourcePatience)
	defer cancel()
	if err := icecast.OnAir(ctx, n.http, icecastOptions(n.cfg)); err != nil {
		return supervise.FlowUnknown
	}
	return supervise.Dry
}

// serverAnswers probes the streaming server.
func (n *node) serverAnswers(ctx context.Context, o icecast.Options) error {
	err := icecast.Ready(ctx, n.http, o)
	if errors.Is(err, icecast.ErrFull) {
		return supervise.ErrFull
	}
	return err
}
