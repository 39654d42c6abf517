package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"github.com/athir-radio/athir/internal/app"
	"github.com/athir-radio/athir/internal/app/doctor"
	"github.com/athir-radio/athir/internal/config"
)

type doctorCmd struct {
	Data    string `help:"Data directory of the station, running or stopped." default:"data" placeholder:"DIR" env:"ATHIR_DATA"`
	Media   string `help:"Folder of the media library, where the station runs with this flag." placeholder:"DIR"`
	Offline bool   `help:"Ask for nothing beyond this machine: no time server, no name, no public address."`
	JSON    bool   `name:"json" help:"Print the results as one JSON object."`
}

// Help says what the command does.
func (doctorCmd) Help() string {
	return `Looks at the settings, the ports, the programs, the machine, the network, every door
of the station, its database, its playlist and its backups, and says what is wrong
and what to do. It changes nothing and needs no key; run it as the station's user.

It ends with 0 if all is well, warnings included, with 1 if something is wrong, and
with 2 if it could not look.`
}

// exitError ends the program with a code of its own.
type exitError struct {
	error
	code int
}

// ExitCode is what the program ends with.
func (e exitError) ExitCode() int { return e.code }

func (e exitError) Unwrap() error { return e.error }

// Run looks, and prints what it found.
func (c doctorCmd) Run(g globals) error {
	if err := asOwner(c.Data, "doctor", os.Geteuid()); err != nil {
		return exitError{err, 2}
	}
	flags, err := mediaFlag(c.Media)
	if err != nil {
		return exitError{err, 2}
	}
	cfg, wrong := config.Look(config.Source{DataDir: c.Data, Controls: true, Flags: flags, Env: os.Environ()})
	if errors.Is(wrong, config.ErrNoStation) {
		return exitError{wrong, 2}
	}
	if cfg != nil {
		// The programs that are tried must not find the keys in their environment.
		if err := hideEnv(cfg.Env); err != nil {
			return exitError{err, 2}
		}
	}
	results := app.Doctor(g.ctx, cfg, wrong, c.Offline)
	if err := g.ctx.Err(); err != nil {
		return exitError{err, 2}
	}
	if err := printResults(g.out, c.JSON, results); err != nil {
		return exitError{err, 2}
	}
	if n := doctor.Count(results, doctor.Wrong); n > 0 {
		return exitError{fmt.Errorf("%d of %d checks found something wrong", n, len(results)), 1}
	}
	return nil
}

// doctorReport is the outcome for scripts.
type doctorReport struct {
	OK     bool            `json:"ok"` // nothing is wrong; there may be warnings
	Checks []doctor.Result `json:"checks"`
}

func printResults(out io.Writer, asJSON bool, results []doctor.Result) error {
	if asJSON {
		return jsonLine(out, doctorReport{doctor.Count(results, doctor.Wrong) == 0, results})
	}
	file, isFile := out.(*os.File)
	colours := isFile && isatty.IsTerminal(file.Fd()) && os.Getenv("NO_COLOR") == ""
	width := 0
	for _, r := range results {
		width = max(width, len(r.Name))
	}
	for _, r := range results {
		verdict := fmt.Sprintf("%-7s", r.Verdict)
		if code := colour(r.Verdict); colours && code != "" {
			verdict = "\x1b[" + code + "m" + verdict + "\x1b[0m"
		}
		if _, err := fmt.Fprintf(out, "%s  %-*s  %s\n", verdict, width, r.Name, r.Seen); err != nil {
			return err
		}
		if r.Remedy != "" {
			if _, err := fmt.Fprintf(out, "%*s→ %s\n", 7+2+width+2, "", r.Remedy); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(out, "\n%d well, %d warnings%s, %d wrong%s, %d skipped\n", doctor.Count(results, doctor.OK),
		doctor.Count(results, doctor.Warning), named(results, doctor.Warning),
		doctor.Count(results, doctor.Wrong), named(results, doctor.Wrong), doctor.Count(results, doctor.Skipped))
	return err
}

// named are the checks of a verdict, in brackets: the list above is longer than a screen,
// and they may have left it.
func named(results []doctor.Result, v doctor.Verdict) string {
	var names []string
	for _, r := range results {
		if r.Verdict == v {
			names = append(names, r.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// colour is the one of a verdict, as terminals number them.
func colour(v doctor.Verdict) string {
	switch v {
	case doctor.OK:
		return "32"
	case doctor.Warning:
		return "33"
	case doctor.Wrong:
		return "1;31"
	case doctor.Skipped:
		return "2"
	}
	return ""
}
