package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/athir-radio/athir/internal/alarm/bell"
	"github.com/athir-radio/athir/internal/app/onalarm"
	"github.com/athir-radio/athir/internal/config"
)

type alarmCmd struct {
	Test alarmTestCmd `cmd:"" help:"Send a test message to every receiver of the settings, and say what came of each."`
}

type alarmTestCmd struct {
	Data string `help:"Data directory of the station, which need not run." default:"data" placeholder:"DIR" env:"ATHIR_DATA"`
	JSON bool   `name:"json" help:"Print the results as one JSON object."`
}

// errUntold is the end of a test in which a receiver did not take its message.
var errUntold = errors.New("not every receiver took the test")

// Run sends the tests from this process: the station need not run.
func (c alarmTestCmd) Run(g globals) error {
	if _, err := os.Stat(filepath.Join(c.Data, config.FileName)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--data: no station in %s: name its data directory", c.Data)
	}
	cfg, _, err := config.Load(config.Source{DataDir: c.Data, Env: os.Environ()})
	if err != nil {
		return err
	}
	return printTests(g.out, c.JSON, onalarm.Test(g.ctx, cfg, terminalLog(slog.LevelWarn), g.version))
}

func printTests(out io.Writer, asJSON bool, results []bell.Result) error {
	failed := false
	for _, r := range results {
		failed = failed || !r.Sent
	}
	err := error(nil)
	switch {
	case asJSON:
		err = jsonLine(out, map[string]any{"results": append([]bell.Result{}, results...)})
	case len(results) == 0:
		return errors.New("alarms: no receiver is set up: add email, telegram or discord to the settings, see docs/alarms.md")
	default:
		err = table(out, 0, func(w io.Writer) {
			for _, r := range results {
				what := "sent"
				if !r.Sent {
					what = "FAILED\t" + r.Error
				}
				_, _ = fmt.Fprintf(w, "%s\t%s\n", r.Receiver, what)
				if r.Remedy != "" {
					_, _ = fmt.Fprintf(w, "\t\t→ %s\n", r.Remedy)
				}
			}
		})
	}
	if err == nil && failed {
		err = errUntold
	}
	return err
}
