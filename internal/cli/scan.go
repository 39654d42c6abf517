package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/vbauerster/mpb/v8/decor"

	"github.com/athir-radio/athir/internal/app"
	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/media"
)

type scanCmd struct {
	dataFlags
	JSON bool `name:"json" help:"Print the outcome as one JSON line, without progress."`
}

// scanReport is the outcome for scripts.
type scanReport struct {
	Files       int                 `json:"files"`
	Added       int                 `json:"added"`
	Updated     int                 `json:"updated"`
	Removed     int                 `json:"removed"`
	Tracks      int                 `json:"tracks"`
	Refused     []map[string]string `json:"quarantined"`
	Problems    []string            `json:"problems,omitempty"`
	Seconds     float64             `json:"seconds"`
	FilesPerSec float64             `json:"files_per_second"`
}

// Run scans and returns when registry and folder agree. A station that runs
// on the same data directory takes the outcome over within seconds.
func (c scanCmd) Run(g globals) error {
	if err := asOwner(c.Data, "scan", os.Geteuid()); err != nil {
		return err
	}
	cfg, log, _, err := c.load(g, "scan")
	if err != nil {
		return err
	}
	if err := app.ReadableMedia(cfg); err != nil { // before the database is there, which says that the station is not new
		return err
	}
	db, err := store.Open(g.ctx, cfg.Database())
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // what was registered is on disk
	if err := onbackup.CopyFirst(g.ctx, cfg, log, g.version, db); err != nil {
		return err
	}
	lib, err := media.Open(g.ctx, db, media.Options{Root: cfg.MediaDir(), Log: log})
	if err != nil {
		return err
	}
	show, end := scanBar(g, c.JSON)
	report, err := lib.Scan(g.ctx, show)
	end(true)
	if err != nil {
		return err
	}
	return printScan(g.out, c.JSON, report, lib.Snapshot())
}

// scanBar draws how far a scan is.
func scanBar(g globals, asJSON bool) (show func(media.Progress), end func(done bool)) {
	count := func(p media.Progress) string { return fmt.Sprintf("scan %d / %d files", p.Done, max(p.Total, p.Seen)) }
	b := g.bar(asJSON, count(media.Progress{}), decor.Percentage(), decor.OnComplete(decor.AverageETA(decor.ET_STYLE_MMSS, decor.WCSyncSpace), " done"))
	return func(p media.Progress) { b.show(int64(p.Done), int64(max(p.Total, p.Seen)), count(p), "") }, b.end
}

func printScan(out io.Writer, asJSON bool, r media.Report, snap *media.Snapshot) error {
	rep := scanReport{
		Files: r.Seen, Added: r.Added, Updated: r.Updated, Removed: r.Removed, Tracks: len(snap.Tracks),
		Problems: r.Problems, Seconds: r.Took.Seconds(), Refused: []map[string]string{},
	}
	if r.Took > 0 {
		rep.FilesPerSec = float64(r.Seen) / r.Took.Seconds()
	}
	for _, q := range snap.Quarantined {
		rep.Refused = append(rep.Refused, map[string]string{"path": q.Path, "reason": q.Reason})
	}
	if asJSON {
		return jsonLine(out, rep)
	}
	for _, q := range snap.Quarantined {
		_, _ = fmt.Fprintf(out, "quarantined  %q: %s\n", q.Path, q.Reason)
	}
	for _, p := range r.Problems {
		_, _ = fmt.Fprintln(out, "problem     ", p)
	}
	_, err := fmt.Fprintf(out, "%d files in %.1f s (%.0f a second): %d added, %d updated, %d removed; %d tracks can air, %d quarantined\n",
		rep.Files, rep.Seconds, rep.FilesPerSec, rep.Added, rep.Updated, rep.Removed, rep.Tracks, len(snap.Quarantined))
	return err
}
