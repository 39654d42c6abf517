package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8/decor"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/sound/mastering"
)

// ledgerFile keeps the records of what was mastered into a folder.
const ledgerFile = ".athir-master.db"

type masterCmd struct {
	Files   []string `arg:"" name:"file" help:"Sound files, or videos for their sound. After -- a name may begin with a dash."`
	Out     string   `short:"o" help:"Folder for the mastered files; made if missing. Killed runs go on there where they were." placeholder:"DIR" required:""`
	JSON    bool     `name:"json" help:"Print one JSON line per file, without progress."`
	Profile string   `help:"Loudness: -14, -16 or -23 LUFS." default:"-14" placeholder:"LUFS"`
	Bitrate int      `help:"Bit rate of the MP3s, kbit/s." default:"192"`
	DryRun  bool     `help:"Measure and plan, and write nothing: loudness and peak are then those of the source."`
	Jobs    int      `help:"Files at a time; 0: one for each core." default:"0"`
	Replace bool     `help:"Write over files of the same name that were not made by this program."`
}

// masterLine is the outcome of one file, for scripts. What is not known is null.
type masterLine struct {
	In     string   `json:"in"`
	Out    *string  `json:"out"`
	LUFS   *float64 `json:"i_lufs"`
	DBTP   *float64 `json:"tp_dbtp"`
	LRA    *float64 `json:"lra_lu"`
	Gain   *float64 `json:"gain_db"`
	Below  *float64 `json:"below_lu"`
	Method *string  `json:"method"`
	Error  *string  `json:"error"`
}

// Run masters the files and fails if any could not be.
func (c masterCmd) Run(g globals) error {
	profile, err := mastering.Named(c.Profile)
	if err != nil {
		return err
	}
	if err := mastering.CheckKbps(c.Bitrate); err != nil {
		return err
	}
	opt := mastering.Options{Kbps: c.Bitrate, Log: slog.New(slog.DiscardHandler)}
	if !c.DryRun {
		if err := os.MkdirAll(c.Out, 0o755); err != nil {
			return err
		}
		db, err := store.Open(g.ctx, filepath.Join(c.Out, ledgerFile))
		if err != nil {
			return err
		}
		defer db.Close() //nolint:errcheck // what was recorded is on disk
		if opt.Ledger, err = mastering.OpenLedger(g.ctx, db); err != nil {
			return err
		}
	}
	count := func(p mastering.Progress) string { return fmt.Sprintf("master %d / %d files", p.Done, p.Files) }
	b := g.bar(c.JSON, count(mastering.Progress{}), decor.Percentage())
	failed := 0
	var lines []mastering.Result // text waits for the bar to end
	err = mastering.New(opt).All(g.ctx, c.jobs(profile), c.Jobs, func(r mastering.Result) {
		if r.Err != nil {
			failed++
		}
		if c.JSON {
			_ = jsonLine(g.out, lineOf(r))
		} else {
			lines = append(lines, r)
		}
	}, func(p mastering.Progress) {
		left := ""
		if p.Left > 0 {
			left = " " + p.Left.Round(time.Second).String() + " left"
		}
		b.show(p.Made, p.Bytes, count(p), left)
	})
	b.end(true)
	if !c.JSON {
		printMastered(g.out, lines)
	}
	if err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d files could not be mastered", failed, len(c.Files))
	}
	return nil
}

// jobs gives each file its name in the output folder: two of one name become
// two files, and the same ones in every run over the same list.
func (c masterCmd) jobs(profile mastering.Profile) []mastering.Job {
	taken := map[string]bool{}
	jobs := make([]mastering.Job, len(c.Files))
	for i, in := range c.Files {
		name := mastering.OutName(in)
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s-%d.mp3", strings.TrimSuffix(mastering.OutName(in), ".mp3"), n)
		}
		taken[strings.ToLower(name)] = true
		jobs[i] = mastering.Job{In: in, Out: filepath.Join(c.Out, name), Profile: profile, Replace: c.Replace, Measure: c.DryRun}
	}
	return jobs
}

func lineOf(r mastering.Result) masterLine {
	line := masterLine{In: r.Job.In}
	if r.Err != nil {
		text := r.Err.Error()
		line.Error = &text
	}
	method := string(r.Record.Method)
	if method == "" { // nothing was decided
		return line
	}
	if r.Err == nil {
		line.Out = &r.Job.Out
	}
	line.Method = &method
	line.LUFS, line.DBTP = rounded(r.Record.Integrated), rounded(r.Record.TruePeak)
	line.Below = rounded(r.Record.Short)
	line.LRA, line.Gain = rounded(r.Record.Range), rounded(r.Record.Gain)
	return line
}

// rounded is a level to a hundredth; JSON has no infinity.
func rounded(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	v = math.Round(v*100) / 100
	return &v
}

func printMastered(out io.Writer, results []mastering.Result) {
	for _, r := range results {
		rec := r.Record
		var refused *mastering.RefusedError
		switch {
		case errors.As(r.Err, &refused):
			_, _ = fmt.Fprintf(out, "refused   %q: %s\n", r.Job.In, refused.Text)
		case r.Err != nil:
			_, _ = fmt.Fprintf(out, "failed    %q: %v\n", r.Job.In, r.Err)
		case r.Job.Measure:
			_, _ = fmt.Fprintf(out, "would     %q: %.1f LUFS, %.1f dBTP; %s gain %+.1f dB\n", r.Job.In, rec.Integrated, rec.TruePeak, rec.Method, rec.Gain)
		default:
			_, _ = fmt.Fprintf(out, "mastered  %q: %.2f LUFS, %.2f dBTP; %s gain %+.1f dB%s\n", r.Job.Out, rec.Integrated, rec.TruePeak, rec.Method, rec.Gain, below(rec))
		}
	}
}

// below says by how much a file stayed under its target, if it did.
func below(rec mastering.Record) string {
	if rec.Short < 0.05 {
		return ""
	}
	return fmt.Sprintf("; %.1f LU below the target: its limiter goes no deeper", rec.Short)
}
