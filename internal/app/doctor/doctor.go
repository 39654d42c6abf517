// Package doctor looks at a station and its machine, running or stopped, and says what is
// wrong and what to do about it. Each check probes, and a function without side effects
// judges what was seen.
//
// It changes nothing: it reads the settings without making any, opens the database for
// reading, and asks the station as a listener does. It needs no key.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/lock"
)

// Verdict is how a check ended.
type Verdict string

// The verdicts. Warning is what works, and may not for long or not for everybody.
const (
	OK      Verdict = "ok"
	Warning Verdict = "warning"
	Wrong   Verdict = "wrong"
	Skipped Verdict = "skipped"
)

// Result is what one check found.
type Result struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Seen    string  `json:"seen"`             // of a skipped one: why
	Remedy  string  `json:"remedy,omitempty"` // of a warning or what is wrong
	TookMS  int64   `json:"tookMs"`
}

func well(format string, args ...any) Result {
	return Result{Verdict: OK, Seen: fmt.Sprintf(format, args...)}
}
func skipped(format string, args ...any) Result {
	return Result{Verdict: Skipped, Seen: fmt.Sprintf(format, args...)}
}
func warning(remedy, format string, args ...any) Result {
	return Result{Verdict: Warning, Seen: fmt.Sprintf(format, args...), Remedy: remedy}
}
func wrong(remedy, format string, args ...any) Result {
	return Result{Verdict: Wrong, Seen: fmt.Sprintf(format, args...), Remedy: remedy}
}

// Options of Run.
type Options struct {
	// Config is as far as the settings can be read; nil: they cannot be.
	Config *config.Config
	// Settings is what is wrong with them, by line.
	Settings error
	Ports    []Port // that the station listens on, by the names of their settings
	// NewestBackup is when the newest of the station's backups was made that was verified;
	// zero: there is none. It is needed with a Config.
	NewestBackup func() (time.Time, error)
	// Reach is how far the continuous copy reaches, and how much later the newest commit is.
	// It is needed with a folder for one.
	Reach func() (until time.Time, behind time.Duration, err error)
	// See returns nil where the streaming server of the node at a host answers.
	See     func(ctx context.Context, host string) error
	Offline bool // ask for nothing beyond this machine
}

// Port is one TCP port of the station.
type Port struct {
	Name   string
	Number int
	Role   string // the lock of the role that opens it: control or node
}

// check is one question, with its own time.
type check struct {
	name   string
	within time.Duration
	run    func(ctx context.Context) Result
}

// usual is the time of a check that has no reason to take longer.
const usual = 5 * time.Second

// patient is a check that a busy machine takes longer for.
const patient = 15 * time.Second

// alive is the station on this data directory: the processes that hold its locks; 0: none.
type alive struct{ control, node int }

func (a alive) running() bool { return a.control != 0 || a.node != 0 }

func (a alive) of(role string) int {
	if role == "control" {
		return a.control
	}
	return a.node
}

// processes finds the processes of the station.
func processes(cfg *config.Config) (a alive) {
	a.control, _ = lock.Holder(cfg.NodeDir(), "control")
	a.node, _ = lock.Holder(cfg.NodeDir(), "node")
	return a
}

// notRunning is why a check of a running station is left out.
const notRunning = "the station does not run"

// Run makes all checks side by side and returns their results in a fixed order.
func Run(ctx context.Context, o Options) []Result {
	checks := []check{{"settings", usual, func(context.Context) Result { return judgeSettings(o.Config, o.Settings) }}}
	var now alive
	if o.Config != nil {
		now = processes(o.Config)
		checks = append(checks, o.portChecks(now)...)
	}
	if o.Config != nil {
		checks = append(checks, o.restartCheck(now), check{"keys", usual, func(context.Context) Result { return judgeKeys(o.Config, time.Now()) }})
	}
	checks = append(checks, programChecks(o.Config)...)
	checks = append(checks, o.machineChecks(now)...)
	if o.Config != nil {
		checks = append(checks, o.networkChecks(now)...)
		checks = append(checks, o.spareChecks(now)...)
		checks = append(checks, o.doorChecks(now)...)
		checks = append(checks, o.dataChecks(now)...)
	}
	return all(ctx, checks)
}

func all(ctx context.Context, checks []check) []Result {
	out := make([]Result, len(checks))
	var wg sync.WaitGroup
	for i, c := range checks {
		wg.Go(func() {
			began := time.Now()
			ctx, cancel := context.WithTimeout(ctx, c.within)
			defer cancel()
			r := c.run(ctx)
			r.Name, r.TookMS = c.name, time.Since(began).Milliseconds()
			out[i] = r
		})
	}
	wg.Wait()
	return out
}

// Count returns how many results have a verdict.
func Count(results []Result, v Verdict) (n int) {
	for _, r := range results {
		if r.Verdict == v {
			n++
		}
	}
	return n
}

// judgeSettings says what is wrong with the settings: unknown names too, which are refused.
func judgeSettings(cfg *config.Config, err error) Result {
	const remedy = "correct athir.yaml; athir.example.yaml has every setting"
	switch {
	case err != nil:
		return wrong(remedy, "%s", oneLine(err.Error()))
	case len(cfg.Warnings) > 0:
		return warning("", "%s", oneLine(errors.Join(errorsOf(cfg.Warnings)...).Error()))
	}
	return well("%s", cfg.File())
}

func errorsOf(texts []string) (out []error) {
	for _, t := range texts {
		out = append(out, errors.New(t))
	}
	return out
}
