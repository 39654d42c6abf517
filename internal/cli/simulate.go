package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/athir-radio/athir/internal/onair/simulate"
)

type simulateCmd struct {
	Days     int                        `help:"Days of air." default:"30"`
	Library  string                     `help:"Folder of music, or synthetic:N for an invented library of N tracks." placeholder:"DIR|synthetic:N"`
	Data     string                     `help:"Data directory of a station: its registry, configuration and time zone." placeholder:"DIR"`
	Config   string                     `help:"Station configuration, as in DIR/station.json, instead of the defaults or the station's." placeholder:"FILE"`
	Seed     uint64                     `help:"First seed; the same seed gives the same days." default:"1"`
	Seeds    int                        `help:"So many seeds, from --seed on." default:"1"`
	From     string                     `help:"First day; the clocks of Cairo change in the weeks after this one." default:"2026-04-06" placeholder:"YYYY-MM-DD"`
	Zone     string                     `help:"Time zone; with --data the station's." placeholder:"NAME"`
	Trouble  map[simulate.Event]float64 `help:"What happens to the station, times a day: skip, play, live, restart, boot, purge, return." placeholder:"EVENT=N;…"`
	Posts    int                        `help:"So many posts of listeners, approved at any time of the days, in the order in which the station ranks them."`
	Requests float64                    `help:"So many songs that listeners ask for, a day."`
	Explain  explain                    `help:"Tell why each entry was chosen; =N for the first N only."`
	JSON     bool                       `name:"json" help:"Print one JSON object for each run, one line each."`
	Airlog   string                     `help:"Write what aired in the first run, tab-separated." placeholder:"FILE"`
}

// explain is a flag that may carry a number of entries; 0 is all of them.
type explain struct {
	on bool
	n  int
}

// IsBool lets the flag stand alone.
func (explain) IsBool() bool { return true }

// Decode reads nothing, or =N.
func (e *explain) Decode(ctx *kong.DecodeContext) error {
	e.on = true
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	text := fmt.Sprint(ctx.Scan.Pop().Value)
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return fmt.Errorf("%q: must be a number of entries, as in --explain=50", text)
	}
	e.n = n
	return nil
}

// mostDays bounds a run: its whole log is kept in memory.
const mostDays = 3660

// mostPosts bounds invented posts: each rebuild ranks them all.
const mostPosts = 100_000

// Validate names the flag that is wrong, and the remedy.
func (c *simulateCmd) Validate() error {
	switch {
	case c.Library == "" && c.Data == "":
		return errors.New("name a music folder (--library DIR), an invented library (--library synthetic:300) or a station (--data DIR)")
	case c.Days < 1 || c.Days > mostDays:
		return fmt.Errorf("--days=%d: must be 1 to %d", c.Days, mostDays)
	case c.Seeds < 1:
		return fmt.Errorf("--seeds=%d: must be at least 1", c.Seeds)
	case c.Posts < 0 || c.Posts > mostPosts:
		return fmt.Errorf("--posts=%d: must be 0 to %d", c.Posts, mostPosts)
	case !(c.Requests >= 0 && c.Requests <= 1000):
		return fmt.Errorf("--requests=%g: must be 0 to 1000 a day", c.Requests)
	case c.Explain.on && c.JSON:
		return errors.New("--explain: prints text, remove --json (or use --airlog for a log that scripts read)")
	}
	for e, n := range c.Trouble {
		if !e.Known() || !(n >= 0 && n <= 1000) {
			return fmt.Errorf("--trouble=%s=%g: must be skip, play, live, restart, boot, purge, return or late, 0 to 1000 times a day", e, n)
		}
	}
	return nil
}

// Run airs the days and prints what the judge says of them.
func (c simulateCmd) Run(g globals) error {
	airlog, err := create("airlog", c.Airlog)
	if err != nil {
		return err
	}
	defer airlog.discard()
	src, err := c.source(g)
	if err != nil {
		return err
	}
	reports, err := c.airAll(g, src)
	if err != nil {
		return err
	}
	if err := c.print(g.out, reports); err != nil {
		return err
	}
	return airlog.write(func(w io.Writer) error {
		return simulate.WriteAirLog(w, src.rules, reports[0].Result.Log)
	})
}

func (c simulateCmd) print(out io.Writer, reports []simulate.Report) error {
	switch {
	case c.JSON:
		for _, r := range reports {
			if err := jsonLine(out, r); err != nil {
				return err
			}
		}
		return nil
	case c.Explain.on:
		return simulate.WriteExplained(out, reports[0], c.Explain.n)
	case len(reports) == 1:
		return simulate.WriteTable(out, reports[0])
	}
	return simulate.WriteLines(out, reports)
}
