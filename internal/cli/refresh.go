package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/vbauerster/mpb/v8/decor"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/station"
)

type contentCmd struct {
	Refresh refreshCmd `cmd:"" help:"Have the running station refresh its library, with progress."`
}

type refreshCmd struct {
	Data    string `help:"Data directory of the station, which must be running." default:"data" placeholder:"DIR" env:"ATHIR_DATA"`
	Songs   int    `help:"Songs to bring in." default:"20" placeholder:"N"`
	Ads     int    `help:"Ads to bring in." default:"16" placeholder:"N"`
	Restore bool   `help:"Emergency only: bring back from the archive what categories lack."`
	DryRun  bool   `help:"Ask the sources and say what would be fetched and moved, and do nothing."`
	JSON    bool   `name:"json" help:"Print the result as one JSON object, without progress."`
}

// Help says what a refresh is.
func (refreshCmd) Help() string {
	return `Takes in the inbox, brings songs and ads from the sources in the settings, makes
new sweepers, drops, IDs and stingers, and archives what they replace. What is on
air, queued, last played or among the next 40 is not touched.

The station does the work: Ctrl-C ends the refresh, and what is done by then stays.
With --json, the object that POST /api/content/refresh?wait=1 answers; with
--dry-run, that of POST /api/content/plan?wait=1.`
}

// Run starts the refresh and shows it until it ends.
func (c refreshCmd) Run(g globals) error {
	if _, err := os.Stat(filepath.Join(c.Data, config.FileName)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--data: no station in %s: name its data directory", c.Data)
	}
	cfg, _, err := config.Load(config.Source{DataDir: c.Data, Env: os.Environ()})
	if err != nil {
		return err
	}
	desk := &remote{base: "http://" + config.Local(cfg.Ports.Control), key: cfg.StationKey}
	path := "/api/content/refresh"
	if c.DryRun {
		path = "/api/content/plan"
	}
	order, err := json.Marshal(content.Request{Songs: c.Songs, Ads: c.Ads, Restore: c.Restore})
	if err != nil {
		return err
	}
	step := func(p jobs.Progress) string {
		return fmt.Sprintf("%-28s%d / %d", content.Step(p.Step).English(), p.Done, p.Total)
	}
	// A command that is stopped still shows how the job ends.
	watching := globals{ctx: context.WithoutCancel(g.ctx)}
	b := watching.bar(c.JSON, step(jobs.Progress{}), decor.Elapsed(decor.ET_STYLE_MMSS))
	j, err := desk.work(g.ctx, path, order, func(j jobs.Job) {
		b.show(int64(j.Progress.Done), int64(j.Progress.Total), step(j.Progress), "")
	})
	b.end(err == nil && j.State == jobs.Done)
	if err != nil {
		return err
	}
	if c.JSON && len(j.Result) > 0 {
		_, _ = fmt.Fprintf(g.out, "%s\n", j.Result)
	} else if err := c.print(g.out, j.Result); err != nil {
		return err
	}
	if j.State != jobs.Done {
		return fmt.Errorf("the refresh was %s: %s", j.State, j.Error)
	}
	return nil
}

func (c refreshCmd) print(out io.Writer, result json.RawMessage) error {
	if len(result) == 0 {
		return nil
	}
	if c.DryRun {
		var p content.Plan
		if err := json.Unmarshal(result, &p); err != nil {
			return err
		}
		return printPlan(out, p)
	}
	var r content.Result
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	return printRefresh(out, r)
}

func printRefresh(out io.Writer, r content.Result) error {
	err := table(out, tabwriter.AlignRight, func(w io.Writer) {
		_, _ = fmt.Fprintln(w, "category\twanted\tfound\tadded\trefused\tfailed\tarchived\tkept\trestored\ttracks\t")
		for _, name := range station.Categories() {
			if n := r.Categories[name]; n != nil {
				_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", name, n.Wanted, n.Found, n.Added, n.Refused, n.Failed, n.Archived, n.Kept, n.Restored, n.Tracks)
			}
		}
	})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "imaging: %d files made; took %s\n", r.Imaging, (time.Duration(r.TookMs) * time.Millisecond).Round(time.Second))
	return printProblems(out, r.Problems)
}

func printPlan(out io.Writer, p content.Plan) error {
	for _, f := range p.Inbox {
		_, _ = fmt.Fprintf(out, "take in   %q\n", f)
	}
	for _, f := range p.Fetch {
		_, _ = fmt.Fprintf(out, "try       %s: %q by %q, from %s\n", f.Category, f.Title, f.Artist, f.Source)
	}
	for _, m := range p.Archive {
		_, _ = fmt.Fprintf(out, "archive   %q (%s)\n", m.File, m.Reason)
	}
	for _, f := range p.Kept {
		_, _ = fmt.Fprintf(out, "keep      %q: on air or about to be\n", f)
	}
	for _, f := range p.Restore {
		_, _ = fmt.Fprintf(out, "restore   %q\n", f)
	}
	if len(p.Inbox)+len(p.Fetch)+len(p.Archive)+len(p.Restore) == 0 {
		_, _ = fmt.Fprintln(out, "nothing would be fetched or moved")
	}
	return printProblems(out, p.Problems)
}

func printProblems(out io.Writer, problems []content.Problem) error {
	for _, p := range problems {
		if _, err := fmt.Fprintf(out, "problem   %s: %s\n", p.Step.English(), p.Text); err != nil {
			return err
		}
	}
	return nil
}

// remote is the API of the running station.
type remote struct{ base, key string }

// watchEvery is the time between two looks at a job.
const watchEvery = 300 * time.Millisecond

// work starts a job and shows it until it ends. When ctx ends first it cancels the
// job, and returns it as it then ended.
func (r *remote) work(ctx context.Context, path string, order []byte, show func(jobs.Job)) (jobs.Job, error) {
	var j jobs.Job
	if err := r.call(ctx, http.MethodPost, path, order, &j); err != nil {
		return j, err
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	at := "/api/jobs/" + j.ID
	for !j.State.Final() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			err := r.call(last, http.MethodPost, at+"/cancel", nil, &j)
			return j, errors.Join(err, r.call(last, http.MethodGet, at+"?wait=1", nil, &j))
		}
		if err := r.call(ctx, http.MethodGet, at, nil, &j); err != nil && ctx.Err() == nil {
			return j, err
		}
		show(j)
	}
	return j, nil
}

func (r *remote) call(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if r.key != "" {
		req.Header.Set("X-Station-Key", r.key)
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no station answers at %s: start it with athir run: %w", r.base, err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return err
	}
	if !slices.Contains([]int{http.StatusOK, http.StatusCreated, http.StatusAccepted}, resp.StatusCode) {
		var problem struct {
			Detail string `json:"detail"`
			Errors []struct {
				Location string `json:"location"`
				Message  string `json:"message"`
			} `json:"errors"`
		}
		_ = json.Unmarshal(text, &problem)
		for _, e := range problem.Errors {
			problem.Detail += fmt.Sprintf("; %s: %s", strings.TrimPrefix(e.Location, "body."), e.Message)
		}
		return fmt.Errorf("the station refused the request (%d): %s", resp.StatusCode, problem.Detail)
	}
	return json.Unmarshal(text, into)
}
