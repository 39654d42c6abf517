package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/config"
)

type backupCmd struct {
	Data       string `help:"Data directory of the station, which may run." default:"data" placeholder:"DIR" env:"ATHIR_DATA"`
	To         string `help:"Folder for the backup, instead of backup.to in the settings; - writes it to standard output." placeholder:"DIR"`
	Mastered   bool   `help:"With the mastered copies, which the station can make again from the media folder."`
	Recordings bool   `help:"With the recordings of live broadcasts, and the sounds of podcast episodes."`
	Archive    bool   `help:"With what has left the media folder."`
	JSON       bool   `name:"json" help:"Print the outcome as one JSON line, without progress."`
}

// Help says what is in a backup.
func (backupCmd) Help() string {
	return `One file with what cannot be made again: the database, the settings with their keys,
the station configuration, attachments of the chat, listeners' posts, headlines. It is
consistent while the station runs, and opened and checked before it gets its name. The
media folder is yours and not in it.

'athir restore FILE' puts it back. See docs/backup.md.`
}

// Run makes one backup.
func (c backupCmd) Run(g globals) error {
	if err := asOwner(c.Data, "backup", os.Geteuid()); err != nil {
		return err
	}
	cfg, err := stationAt(c.Data)
	if err != nil {
		return err
	}
	o := onbackup.Options{
		Config: cfg, Version: g.version, Why: onbackup.ByHand, To: c.To,
		Choice: onbackup.Choice{Mastered: c.Mastered, Recordings: c.Recordings, Archive: c.Archive},
	}
	out := g.out
	if c.To == "-" {
		if out, err = c.stream(&o); err != nil {
			return err
		}
	} else if c.To != "" {
		if o.To, err = filepath.Abs(c.To); err != nil {
			return err
		}
	}
	var show func(onbackup.Progress)
	b := g.bar(c.JSON, inStep("database", onbackup.Progress{}), decor.Percentage())
	show = func(p onbackup.Progress) { b.show(p.Done, p.Total, inStep(p.Step, p), "") }
	o.Show = show
	report, err := onbackup.Make(g.ctx, o)
	b.end(err == nil)
	if err != nil {
		return err
	}
	if c.JSON {
		return jsonLine(out, report)
	}
	return printBackup(out, report)
}

// stream has the backup go to standard output, and what is said of it elsewhere.
func (c backupCmd) stream(o *onbackup.Options) (io.Writer, error) {
	if isatty.IsTerminal(os.Stdout.Fd()) {
		return nil, fmt.Errorf("--to -: standard output is a terminal: send it to a file or a program, as in athir backup --to - | ssh host 'cat > station.tar.zst'")
	}
	o.Out = os.Stdout
	return os.Stderr, nil
}

func inStep(step string, p onbackup.Progress) string {
	return fmt.Sprintf("%-9s%s / %s", step, mebibytes(p.Done), mebibytes(p.Total))
}

func printBackup(out io.Writer, r onbackup.Report) error {
	for _, path := range r.Left {
		_, _ = fmt.Fprintf(out, "left out  %q: no archive can hold its name\n", path)
	}
	if r.Gone > 0 {
		_, _ = fmt.Fprintf(out, "%d files were removed while the backup was made\n", r.Gone)
	}
	where := r.File
	if where == "" {
		where = "standard output"
	}
	_, err := fmt.Fprintf(out, "%s\n%d files of %s in %s, verified, in %s\n", where, r.Files, mebibytes(r.Contents), mebibytes(r.Bytes),
		time.Duration(r.Seconds*float64(time.Second)).Round(10*time.Millisecond))
	return err
}

// mebibytes is a size for people.
func mebibytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// stationAt reads the settings of a station that must be there.
func stationAt(dir string) (*config.Config, error) {
	if _, err := os.Stat(filepath.Join(dir, config.FileName)); err != nil {
		return nil, fmt.Errorf("--data: no station in %s: name its data directory (%w)", dir, err)
	}
	cfg, _, err := config.Load(config.Source{DataDir: dir, Env: os.Environ()})
	return cfg, err
}
