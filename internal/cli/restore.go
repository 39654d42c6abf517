package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/athir-radio/athir/internal/app/onbackup"
)

type restoreCmd struct {
	File       string `arg:"" name:"file" optional:"" help:"A backup; - reads it from standard input."`
	Continuous string `help:"Folder of a continuous copy (backup.continuous), in place of a backup." placeholder:"DIR"`
	Data       string `help:"Data directory of the station, which must not run; made if missing." default:"data" placeholder:"DIR" env:"ATHIR_DATA"`
	Control    bool   `help:"While the station is on the air without its control plane, whose database is damaged: put back only what that uses. It then starts by itself."`
	DryRun     bool   `help:"Verify the backup and say what would be replaced, and change nothing."`
	Yes        bool   `help:"Do not ask."`
	JSON       bool   `name:"json" help:"Print the outcome as one JSON line, without progress."`
}

// Help says what a restore does.
func (restoreCmd) Help() string {
	return `Reads and verifies the whole backup before anything is touched. What was there is
moved into before-restore-TIME in the data directory; to undo a restore, stop the
station and move it back. A restore that was cut short is finished by the next start.

With --continuous it restores what a continuous copy has: it says until when that reaches,
and what of it cannot be used.

Backups are in the folder that backup.to of the settings names, DIR/backups as a rule:
'ls -t DIR/backups'. See docs/backup.md.`
}

// mostLeft is how much of what cannot be used is printed.
const mostLeft = 20

// errNotAsked ends a restore that nobody confirmed.
var errNotAsked = errors.New("nobody can be asked whether to go on: add --yes, or --dry-run to see what it would do")

// words are the command again, but for --data, for who has to give it as another user.
func (c restoreCmd) words() string {
	words := []string{"restore"}
	if c.File != "" {
		words = append(words, c.File)
	}
	if c.Continuous != "" {
		words = append(words, "--continuous", c.Continuous)
	}
	if c.Control {
		words = append(words, "--control")
	}
	return strings.Join(words, " ")
}

// Run restores a backup, or a continuous copy.
func (c restoreCmd) Run(g globals) error {
	data, err := filepath.Abs(c.Data)
	if err != nil {
		return err
	}
	switch {
	case c.File == "" && c.Continuous == "":
		return errors.New("name a backup, or the folder of a continuous copy with --continuous DIR")
	case c.File != "" && c.Continuous != "":
		return fmt.Errorf("a backup and --continuous: choose one of %s and %s", c.File, c.Continuous)
	}
	if err := asOwner(c.Data, c.words(), os.Geteuid()); err != nil {
		return err
	}
	if !c.DryRun && !c.Yes && (c.File == "-" || !isatty.IsTerminal(os.Stdin.Fd())) {
		return errNotAsked
	}
	from := os.Stdin
	var size int64
	if c.File != "-" && c.File != "" {
		if from, err = os.Open(c.File); err != nil {
			return err
		}
		defer from.Close() //nolint:errcheck // only read
		if info, err := from.Stat(); err == nil {
			size = info.Size()
		}
	}
	text := func(read int64) string { return "read " + mebibytes(read) }
	b := g.bar(c.JSON, text(0), decor.Percentage())
	ended := false
	end := func(done bool) {
		if !ended {
			b.end(done)
		}
		ended = true
	}
	read := &reading{from: bufio.NewReaderSize(from, 1<<20)}
	plan, err := onbackup.Restore(g.ctx, onbackup.Restoring{
		Data: data, Env: os.Environ(), From: read, Copy: c.Continuous, Control: c.Control, DryRun: c.DryRun,
		Show: func(p onbackup.Progress) {
			if c.Continuous != "" {
				read.n = p.Done // of a size that nobody knows
			}
			b.show(read.n, max(size, read.n), text(read.n), "")
		},
		Confirm: func(p onbackup.Plan) error {
			end(true)
			if c.JSON {
				return nil
			}
			printRestore(g.out, p)
			return c.confirm(g.out)
		},
	})
	end(false)
	if err != nil {
		return err
	}
	if c.JSON {
		return jsonLine(g.out, plan)
	}
	if plan.Done {
		_, err = fmt.Fprintln(g.out, restored(plan))
	}
	return err
}

// restored says where what was replaced is, if anything was.
func restored(p onbackup.Plan) string {
	if !replaces(p) {
		return "restored; nothing was there before"
	}
	return "restored; what was there is in " + p.Undo
}

// replaces reports whether anything gives way to the backup.
func replaces(p onbackup.Plan) bool {
	return slices.ContainsFunc(p.Rows, func(r onbackup.Row) bool { return r.Action == onbackup.Replaced && r.There != nil })
}

// confirm asks on the terminal, unless that was said before.
func (c restoreCmd) confirm(out io.Writer) error {
	if c.DryRun || c.Yes {
		return nil
	}
	_, _ = fmt.Fprint(out, "Go on? [y/N] ")
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes", "نعم":
		return nil
	}
	return errors.New("not confirmed, nothing was changed")
}

func printRestore(out io.Writer, p onbackup.Plan) {
	what := "backup of %s, made %s (%s ago)\n\n"
	if p.Continuous {
		what = "continuous copy of %s, until %s (%s ago)\n\n"
	}
	_, _ = fmt.Fprintf(out, what, p.Station, p.Made.Format(time.DateTime+" MST"), age(p.Made))
	for i, left := range p.Left {
		if i == mostLeft {
			_, _ = fmt.Fprintf(out, "and %d more (--json names all)\n", len(p.Left)-i)
			break
		}
		_, _ = fmt.Fprintf(out, "cannot be used: %s\n", left)
	}
	if len(p.Left) > 0 {
		_, _ = fmt.Fprintln(out)
	}
	extent := func(e *onbackup.Extent) string {
		if e == nil {
			return "—\t"
		}
		return fmt.Sprintf("%d of %s\t%s ago", e.Files, mebibytes(e.Bytes), age(e.Last))
	}
	_ = table(out, 0, func(w io.Writer) {
		_, _ = fmt.Fprintln(w, "WHAT\tTHERE\tCHANGED\tIN THE BACKUP\tCHANGED\t")
		for _, r := range p.Rows {
			action := string(r.Action)
			if r.Action == onbackup.Replaced && r.There == nil {
				action = "new"
			}
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.What, extent(r.There), extent(r.Backup), action)
		}
	})
	if !replaces(p) {
		_, _ = fmt.Fprintf(out, "\nNothing in %s is replaced.\n", p.Data)
		return
	}
	_, _ = fmt.Fprintf(out, "\nWhat is replaced in %s is kept in %s.\n", p.Data, p.Undo)
}

// age is how long ago something was, in one unit.
func age(t time.Time) string {
	d := max(0, time.Since(t))
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}

// reading counts what was read.
type reading struct {
	from io.Reader
	n    int64
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.n += int64(n)
	return n, err
}
