package app

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/app/onnode"
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
	engineDry      = 12 * time.Second
	serverDry      = 30 * time.Second
	sourcePatience = time.Second // of the question whether the server has a source
)

// watch listens to the output and measures the machine until ctx ends.
func (n *node) watch(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return n.gauge.Run(ctx) })
	g.Go(func() error { return n.versions.Run(ctx, n.sockets) })
	if n.ear != nil {
		g.Go(func() error { return n.ear.Run(ctx) })
	}
	ice := icecastOptions(n.cfg)
	g.Go(func() error { return icecast.KeepPlaces(ctx, n.log, n.http, ice, n.cfg.Stream.MaxPerAddress) })
	return g.Wait()
}

// nodeReport is what a broadcast node tells of itself: what it hears of its own output, how
// its programs are, and what the machine lacks.
type nodeReport struct {
	// Heard is nil where nothing listens: the guard is switched off.
	Heard    *output.Hearing    `json:"heard,omitempty"`
	Programs []supervise.Status `json:"programs"`
	// Versions are those of Athir's own processes, by role.
	Versions map[string]string `json:"versions,omitempty"`
	Restart  []string          `json:"restart,omitempty"` // settings that wait for one
	// Short is what the machine is short of, in words; empty: of nothing.
	Short string `json:"short,omitempty"`
	// DiskFull names the folder whose disk is full; empty: none.
	DiskFull string       `json:"diskFull,omitempty"`
	Part     *onnode.Part `json:"part,omitempty"`
}

func (n *node) report(programs *supervise.Supervisor) nodeReport {
	r := nodeReport{Programs: programs.Programs(), Versions: n.versions.Known(), Restart: n.versions.Pending(), Short: n.gauge.Read().Short(), DiskFull: n.diskFull(), Part: n.part.Load()}
	if n.ear != nil {
		heard := n.ear.Hearing()
		r.Heard = &heard
	}
	return r
}

// forGuard is the report as the guard has it.
func (r nodeReport) forGuard() (guard.Report, error) {
	if r.Heard == nil {
		return guard.Report{}, errors.New("the node does not listen to its own output: set guard.enabled on it, too")
	}
	h, kills := r.Heard, map[guard.Step]int{}
	for _, p := range r.Programs {
		switch p.Name {
		case playout.Program:
			kills[guard.RestartEngine] = p.Kills
		case icecast.Program:
			kills[guard.RestartServer] = p.Kills
		}
	}
	return guard.Report{
		Verdict: h.Verdict, Arrived: h.Arrived, Decoded: h.Decoded, Standby: h.Standby, Cuts: h.Cuts, Full: h.Full, Cause: h.Cause,
		Short: r.lacking(), DiskFull: r.DiskFull != "", Kills: kills,
	}, nil
}

// lacking returns what the programs behind the sound lack, in words; empty: nothing.
func (r nodeReport) lacking() string {
	for _, p := range r.Programs {
		if p.Condition == supervise.Starved && (p.Name == playout.Program || p.Name == icecast.Program) {
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
			switch dir := n.diskFull(); {
			case !n.cfg.Guard.Kills:
				return "guard.kills is false"
			case dir != "":
				return "the disk that holds " + dir + " is full: free some space on it"
			}
			return ""
		},
	}
}

// diskFull returns the data directory if its disk is full.
func (n *node) diskFull() string {
	if file.OutOfRoom(n.cfg.NodeDir()) {
		return n.cfg.DataDir
	}
	return ""
}

// flow returns what says whether audio comes out of the streaming server: the station's
// own for the engine, any for the server. Where none comes, ask tells whether that is to
// blame on it: an error means that another is.
func (n *node) flow(own bool, ask func(context.Context, *http.Client, icecast.Options) error) func() supervise.Flow {
	if n.ear == nil {
		return nil
	}
	return func() supervise.Flow {
		h := n.ear.Hearing()
		switch {
		case h.Full:
			return supervise.FlowUnknown
		case h.Arrived >= 0 && h.Arrived < flowsFor && (!own || h.Standby == 0):
			return supervise.Flowing
		}
		ctx, cancel := context.WithTimeout(context.Background(), sourcePatience)
		defer cancel()
		if ask(ctx, n.http, icecastOptions(n.cfg)) == nil {
			return supervise.Dry
		}
		return supervise.FlowUnknown
	}
}
