package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/jobs"
)

// fakeStation answers as the control plane does: a job that is done at the third
// look, unless it is cancelled.
type fakeStation struct {
	mu        sync.Mutex
	order     string
	looks     int
	cancelled bool
	endless   bool
	atThird   func() // look; nil: nothing
	result    string
}

func (f *fakeStation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Header.Get("X-Station-Key") != "k" {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"detail":"send the station key"}`)
		return
	}
	j := jobs.Job{ID: "1", State: jobs.Running, Progress: jobs.Progress{Step: "songs", Done: f.looks, Total: 3}}
	switch {
	case r.URL.Path == "/api/content/refresh" || r.URL.Path == "/api/content/plan":
		body, _ := io.ReadAll(r.Body)
		f.order = r.URL.Path + " " + string(body)
		w.WriteHeader(http.StatusAccepted)
	case r.URL.Path == "/api/jobs/1/cancel":
		f.cancelled = true
	case r.URL.Path == "/api/jobs/1":
		f.looks++
		if f.looks == 3 && f.atThird != nil {
			f.atThird()
		}
	}
	switch {
	case f.cancelled:
		j.State, j.Error, j.Result = jobs.Cancelled, "context canceled", json.RawMessage(f.result)
	case f.looks >= 3 && !f.endless:
		j.State, j.Result = jobs.Done, json.RawMessage(f.result)
	}
	_ = json.NewEncoder(w).Encode(j)
}

// refresh runs the command against a station.
func (f *fakeStation) refresh(t *testing.T, ctx context.Context, key string, with func(*refreshCmd)) (string, error) { //nolint:revive // the test comes first
	t.Helper()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ATHIR_PORTS_CONTROL", u.Port())
	t.Setenv("STATION_KEY", key)
	c := refreshCmd{Data: dataDir(t), Songs: 5, Ads: 2}
	if with != nil {
		with(&c)
	}
	var out bytes.Buffer
	err = c.Run(globals{ctx: ctx, out: &out})
	return out.String(), err
}

const refreshed = `{"run":1,"categories":{"english":{"wanted":5,"found":6,"added":4,"refused":1,"tracks":30}},"imaging":34,"tookMs":61000,` +
	`"problems":[{"step":"ads","text":"the feed is down"}]}`

func TestContentRefreshTellsWhatWasDone(t *testing.T) {
	f := &fakeStation{result: refreshed}
	out, err := f.refresh(t, t.Context(), "k", nil)
	if err != nil || f.order != `/api/content/refresh {"songs":5,"ads":2,"restore":false}` {
		t.Fatalf("%v, ordered %s", err, f.order)
	}
	for _, want := range []string{"english", "34 files made; took 1m1s", "new ads: the feed is down"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	out, err = (&fakeStation{result: refreshed}).refresh(t, t.Context(), "k", func(c *refreshCmd) { c.JSON = true })
	if err != nil || strings.TrimSpace(out) != refreshed {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestContentRefreshDryRunOrdersAPlan(t *testing.T) {
	f := &fakeStation{result: `{"inbox":["ads/new\u001b.mp3"],"archive":[{"file":"sfx/SFX_ZAP_1.mp3","reason":"replaced"}],"kept":["sfx/SFX_ZAP_2.mp3"]}`}
	out, err := f.refresh(t, t.Context(), "k", func(c *refreshCmd) { c.DryRun = true })
	if err != nil || !strings.HasPrefix(f.order, "/api/content/plan ") {
		t.Fatalf("%v, ordered %s", err, f.order)
	}
	for _, want := range []string{`take in   "ads/new\x1b.mp3"`, `archive   "sfx/SFX_ZAP_1.mp3" (replaced)`, `keep      "sfx/SFX_ZAP_2.mp3"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

// Ctrl-C ends the refresh on the station, and what it did is told.
func TestContentRefreshIsCancelledWithTheCommand(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fakeStation{result: refreshed, endless: true}
	f.atThird = cancel
	out, err := f.refresh(t, ctx, "k", nil)
	if err == nil || !strings.Contains(err.Error(), "cancelled") || !f.cancelled || !strings.Contains(out, "english") {
		t.Errorf("%v, cancelled %v\n%s", err, f.cancelled, out)
	}
}

func TestContentRefreshSaysWhyItCannot(t *testing.T) {
	if _, err := (&fakeStation{}).refresh(t, t.Context(), "wrong", nil); err == nil || !strings.Contains(err.Error(), "send the station key") {
		t.Errorf("a wrong key: %v", err)
	}
	t.Setenv("ATHIR_PORTS_CONTROL", "1")
	for dir, want := range map[string]string{dataDir(t): "start it with athir run", t.TempDir(): "no station in"} {
		c := refreshCmd{Data: dir}
		if err := c.Run(globals{ctx: t.Context(), out: io.Discard}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// dataDir is the data directory of a station that has been started once.
func dataDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, _, err := config.Load(config.Source{DataDir: dir}); err != nil {
		t.Fatal(err)
	}
	return dir
}
