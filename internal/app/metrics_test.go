package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/app/onlibrary"
	"github.com/athir-radio/athir/internal/app/onnode"
	"github.com/athir-radio/athir/internal/app/onrequest"
	"github.com/athir-radio/athir/internal/app/onsocial"
	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
	deadair "github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/socket"
	"github.com/athir-radio/athir/internal/web/streams"
)

const deploy = "../../deploy/"

// watched is a guard that has heard everything.
type watched struct{}

func (watched) Status() deadair.Standing { return deadair.Standing{State: "watching"} }
func (watched) Totals() deadair.Totals   { return deadair.Totals{} }
func (watched) History(context.Context, int) ([]deadair.Alarm, error) {
	return nil, nil
}

// printed are the lines of /metrics of a station that has one of everything.
func printed(t *testing.T) string {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	cfg := &config.Config{DataDir: t.TempDir(), Name: "أثير"}
	db, err := store.Open(t.Context(), filepath.Join(cfg.DataDir, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's own
	cfg.Media = cfg.DataDir
	view := func() *scheduler.View { return &scheduler.View{} }
	said, err := openFeedback(t.Context(), cfg, log, db, view, func(string, any) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := said.Reactions.React(t.Context(), feedback.Client{}, feedback.ReactionIn{Emoji: "🔥", Delta: 7}); err != nil {
		t.Fatal(err)
	}
	hooks, err := openWebhooks(t.Context(), cfg, log, db, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hooks.Add(t.Context(), webhooks.Order{URL: "https://example.org/hook", Events: []string{"*"}}); err != nil {
		t.Fatal(err)
	}
	push, err := webpush.Open(t.Context(), webpush.Options{Log: log, DB: db, Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := requests.Open(t.Context(), requests.Options{Log: log, DB: db, Now: time.Now, Air: func() requests.Air { return requests.Air{} }})
	if err != nil {
		t.Fatal(err)
	}
	posts, err := social.Open(t.Context(), social.Options{Log: log, DB: db, Now: time.Now, Dir: cfg.SocialDir(), Media: cfg.PostsRoot(), Air: besiegedAir{}})
	if err != nil {
		t.Fatal(err)
	}
	staff, err := people.Open(t.Context(), people.Options{Log: log, DB: db, Cost: people.Cost{Passes: 1, Memory: 1 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	shelf := besiegedShelf(t, log, db, &media.Snapshot{}, cfg.MediaDir(), nil, nil)
	fan := streams.New(streamOptions(cfg, log, onnode.NewHolder(cfg, log), nil), streams.Main(streamOptions(cfg, log, onnode.NewHolder(cfg, log), nil), nil), nil)
	surface := api.New(api.Options{
		People: staff, Shelf: shelf,
		Log: log, Version: "test", Zone: time.UTC, Air: view, Library: func() *media.Snapshot { return &media.Snapshot{} },
		Mastering: func() api.Mastering { return api.Mastering{} }, Stream: fan,
		Node: func(context.Context) (api.Node, error) {
			return api.Node{Programs: []api.Process{{Name: "icecast"}}, Versions: map[string]string{"control": "test"}}, nil
		},
		Count: func() telemetry.Count {
			return telemetry.Count{Source: "athir", Parts: telemetry.Parts{HLS: 1, Stream: 2, Icecast: 3, Total: 6}, Crowd: census.Crowd{Countries: map[string]int{"EG": 6}}}
		},
		Votes: said.Votes, Reactions: said.Reactions, Vibes: said.Vibes, DeadAir: watched{},
		Metrics: slices.Concat(metrics(cfg, db, func() socket.Stats { return socket.Stats{} }, push, hooks, doors.NewBound(cfg, slog.New(slog.DiscardHandler))), onrequest.Metrics(asked), (&onbackup.Keeper{Config: cfg}).Metrics(), spared(t, cfg, log).Metrics()),
		Groups:  []api.Group{onsocial.Metrics(posts, func() resume.Stats { return resume.Stats{} }), onlibrary.Metrics(shelf.Intake, func() resume.Stats { return resume.Stats{} }), onlibrary.ListMetrics(shelf.Lists)},
		Live: &api.Live{Figures: api.LiveFigures{
			Status: func() takeover.Status { return takeover.Status{} },
			Phones: func() takeover.PhoneFigures {
				return takeover.PhoneFigures{Heard: &live.Session{}, Relay: &live.RelayReport{}}
			},
			Streams: func() (int, int) { return 0, 0 },
		}},
		Pages: http.NotFoundHandler(), HLS: http.NotFoundHandler(), HLSPrefix: "/hls/",
	}).Handler()
	w := httptest.NewRecorder()
	surface.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("/metrics: %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// spared is a control plane's view of two nodes that have not come yet.
func spared(t *testing.T, cfg *config.Config, log *slog.Logger) *onnode.Holder {
	t.Helper()
	two := *cfg
	two.Node = config.Node{Remote: true, Host: "a.example", Spare: "b.example", Cache: t.TempDir()}
	holder := onnode.NewHolder(&two, log)
	holder.Open(t.Context(), nil, nil)
	return holder
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// promtool runs Debian's own; a missing one fails the test.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestAlertsComeWhenTheyShouldAndNameWhatMetricsPrints(t *testing.T) {
	promtool(t, "check", "config", deploy+"prometheus/prometheus.yml") // and its rules
	promtool(t, "test", "rules", deploy+"prometheus/athir.rules.test.yml")

	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}
	text := read(t, deploy+"prometheus/athir.rules.yml")
	if err := yaml.Unmarshal([]byte(text), &rules); err != nil {
		t.Fatal(err)
	}
	names, tested := metricNames(printed(t)), read(t, deploy+"prometheus/athir.rules.test.yml")
	alerts := 0
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			alerts++
			if r.Labels["severity"] != "page" && r.Labels["severity"] != "ticket" || r.Annotations["summary"] == "" {
				t.Errorf("%s: severity %q, summary %q", r.Alert, r.Labels["severity"], r.Annotations["summary"])
			}
			known(t, r.Alert, r.Expr, names)
		}
	}
	if alerts < 20 || strings.Count(tested, "alertname:") < 9 {
		t.Errorf("%d alerts, %d are tested", alerts, strings.Count(tested, "alertname:"))
	}
}

// Every panel has a unit, and every query of the dashboard is PromQL over what
// /metrics prints.
func TestDashboardNamesWhatMetricsPrints(t *testing.T) {
	var dash struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr string }
			FieldConfig struct{ Defaults struct{ Unit string } }
			GridPos     struct{ X, Y, W, H int }
			ID          int
		}
		Annotations struct{ List []struct{ Expr string } }
		UID         string
	}
	if err := json.Unmarshal([]byte(read(t, deploy+"grafana/athir.json")), &dash); err != nil {
		t.Fatal(err)
	}
	names := metricNames(printed(t))
	var queries []string
	for _, p := range dash.Panels {
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 || p.FieldConfig.Defaults.Unit == "" {
			t.Errorf("panel %q: %d queries, unit %q", p.Title, len(p.Targets), p.FieldConfig.Defaults.Unit)
		}
		for _, q := range p.Targets {
			known(t, p.Title, q.Expr, names)
			queries = append(queries, q.Expr)
		}
	}
	for _, a := range dash.Annotations.List {
		known(t, "annotation", a.Expr, names)
		queries = append(queries, a.Expr)
	}
	if len(queries) < 30 {
		t.Errorf("only %d queries", len(queries))
	}
	for i, a := range dash.Panels {
		for _, b := range dash.Panels[i+1:] {
			if a.ID == b.ID || a.GridPos.X < b.GridPos.X+b.GridPos.W && b.GridPos.X < a.GridPos.X+a.GridPos.W &&
				a.GridPos.Y < b.GridPos.Y+b.GridPos.H && b.GridPos.Y < a.GridPos.Y+a.GridPos.H {
				t.Errorf("panels %q and %q lie upon each other, or share an id", a.Title, b.Title)
			}
		}
	}
	// Prometheus itself reads them, as rules with Grafana's variables filled in.
	fill := strings.NewReplacer("$__rate_interval", "1m", "$job", "athir", "$instance", ".*")
	var file strings.Builder
	file.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	for i, q := range queries {
		fmt.Fprintf(&file, "      - {record: 'q%d', expr: '%s'}\n", i, strings.ReplaceAll(fill.Replace(q), "'", "''"))
	}
	path := filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", "--lint=none", path)
}

func TestManualListsEveryMetric(t *testing.T) {
	names := metricNames(printed(t))
	manual := map[string]bool{}
	for _, name := range regexp.MustCompile("(?m)^\\| `(athir_[a-z_]+)`").FindAllStringSubmatch(read(t, "../../docs/metrics.md"), -1) {
		manual[name[1]] = true
		if !names[name[1]] {
			t.Errorf("docs/metrics.md has %s, which /metrics does not print", name[1])
		}
	}
	for name := range names {
		if strings.HasPrefix(name, "athir_") && !manual[name] {
			t.Errorf("docs/metrics.md lacks %s", name)
		}
	}
}

// metricNames are the names that a text of /metrics has values of.
func metricNames(text string) map[string]bool {
	out := map[string]bool{"up": true} // Prometheus's own
	for line := range strings.Lines(text) {
		if name := regexp.MustCompile(`^[a-z_:]+`).FindString(line); name != "" {
			out[name] = true
		}
	}
	return out
}

// known holds the metrics of an expression against those there are.
func known(t *testing.T, where, expr string, names map[string]bool) {
	t.Helper()
	used := regexp.MustCompile(`\b(?:(?:athir|go|process)_[a-z_]+|up)\b`).FindAllString(expr, -1)
	if len(used) == 0 {
		t.Errorf("%s: %s names no metric of ours", where, expr)
	}
	for _, name := range used {
		if !names[name] {
			t.Errorf("%s: /metrics has no %s; it has %v", where, name, slices.Sorted(maps.Keys(names)))
		}
	}
}

// An alert that nobody can end teaches operators to look away.
func TestAWebhookThatIsDisabledByOrderIsNotFailing(t *testing.T) {
	since := time.UnixMilli(1_700_000_000_000)
	for _, c := range []struct {
		what string
		hook webhooks.Hook
		want float64
	}{
		{"all arrives", webhooks.Hook{Enabled: true}, 0},
		{"nothing arrives", webhooks.Hook{Enabled: true, FailingSince: since.UnixMilli()}, 7200},
		{"given up after days", webhooks.Hook{FailingSince: since.UnixMilli(), Note: "nothing has arrived"}, 7200},
		{"disabled by order meanwhile", webhooks.Hook{FailingSince: since.UnixMilli()}, 0},
	} {
		if got := failing(c.hook, since.Add(2*time.Hour)); got != c.want {
			t.Errorf("%s: %g s, want %g", c.what, got, c.want)
		}
	}
}
