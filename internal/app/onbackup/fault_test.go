package onbackup_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/lock"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// damage leaves a station whose database cannot be read, and a backup of before.
func damage(t *testing.T) (*config.Config, string, *onbackup.Fault) {
	t.Helper()
	cfg := station(t)
	cfg.Bind, cfg.Ports.Control = config.Loopback, testkit.Port(t)
	r, err := onbackup.Make(t.Context(), onbackup.Options{Config: cfg, Why: onbackup.Scheduled})
	must(t, err)
	write(t, cfg.Database(), strings.Repeat("not a database ", 1000))
	_, err = store.Open(t.Context(), cfg.Database())
	f, ok := onbackup.FaultOf(cfg, err)
	if !ok {
		t.Fatalf("%v is no reason to wait", err)
	}
	return cfg, r.File, f
}

func ask(t *testing.T, url string, header ...string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	must(t, err)
	defer res.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return res.StatusCode, string(body), res.Header
}

// The control plane stays up and says what is wrong, once in the log; a restore beside the
// running node is seen, and it goes on.
func TestADamagedDatabaseIsSaidUntilItIsRestored(t *testing.T) {
	cfg, file, f := damage(t)
	node, err := lock.Acquire(cfg.NodeDir(), "node")
	must(t, err)
	defer node.Release()
	log, lines := testkit.Log(t)
	ended := make(chan error, 1)
	go func() { ended <- f.Wait(t.Context(), log, doors.NewBound(cfg, log), nil) }()
	base := "http://" + config.Local(cfg.Ports.Control)
	testkit.EventuallyNil(t, "the port", func() error {
		res, err := http.Get(base + "/ping") //nolint:noctx // a test's
		if err == nil {
			err = res.Body.Close()
		}
		return err
	})
	if code, body, _ := ask(t, base+"/ping"); code != http.StatusOK || len(body) != 13 {
		t.Errorf("/ping: %d %q", code, body)
	}
	code, body, header := ask(t, base+"/healthz")
	if code != http.StatusServiceUnavailable || header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, "athir.db is damaged") || strings.Contains(body, cfg.DataDir) {
		t.Errorf("/healthz: %d %s", code, body)
	}
	command := "athir restore --control --data " + cfg.DataDir + " " + file
	code, body, header = ask(t, base+"/", "Accept", "text/html")
	for _, want := range []string{"athir.db تالف", "athir.db is damaged", command, `dir="rtl"`} {
		if code != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || !strings.Contains(body, want) {
			t.Errorf("the page: %d, lacks %q: %s", code, want, body)
		}
	}
	if _, body, _ := ask(t, base+"/", "Accept", "text/html", "X-Forwarded-For", "203.0.113.7"); strings.Contains(body, cfg.DataDir) || !strings.Contains(body, "DIR/"+filepath.Base(file)) {
		t.Errorf("what others are shown: %s", body)
	}

	_, err = restore(t, file, cfg.DataDir, func(r *onbackup.Restoring) { r.Control = true })
	must(t, err)
	if err := testkit.Receive(t, "the end of the wait", ended); !errors.Is(err, onbackup.ErrMended) {
		t.Error(err)
	}
	if got := said(t, cfg.DataDir); len(got) != 1 {
		t.Errorf("the database says %v", got)
	}
	if n := lines.Count("level=ERROR"); n != 1 || lines.Count("level=ERROR", command) != 1 {
		t.Errorf("%d errors in the log:\n%s", n, lines)
	}
}

// While somebody restores, and where nothing but a reader was there, it goes on waiting.
func TestTheWaitEndsWithTheProgramAndForNothingElse(t *testing.T) {
	cfg, _, f := damage(t)
	log, _ := testkit.Log(t)
	held, err := lock.Acquire(cfg.NodeDir(), "control")
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Wait(ctx, log, doors.NewBound(cfg, log), nil) }()
	write(t, cfg.Database()+"-wal", "")
	write(t, cfg.Database(), "half of the new one")
	testkit.EventuallyNil(t, "the port", func() error {
		res, err := http.Get("http://" + config.Local(cfg.Ports.Control) + "/ping") //nolint:noctx // a test's
		if err == nil {
			err = res.Body.Close()
		}
		return err
	})
	stop()
	if err := testkit.Receive(t, "the end of the wait", ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	held.Release()
}

func TestOnlyADatabaseThatNobodyCanReadIsWaitedFor(t *testing.T) {
	cfg := station(t)
	for _, err := range []error{nil, store.ErrBusy, store.ErrDiskFull, store.ErrUnwritable, errors.New("other")} {
		if _, waits := onbackup.FaultOf(cfg, err); waits {
			t.Errorf("waits for %v", err)
		}
	}
	f, waits := onbackup.FaultOf(cfg, store.ErrNewer)
	if !waits {
		t.Fatal("a newer database is opened again and again")
	}
	w := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	req.Header.Set("Accept", "text/html")
	f.Handler().ServeHTTP(w, req)
	if body := w.Body.String(); !strings.Contains(body, "written by a newer version") || !strings.Contains(body, "إصدارٌ أحدث") || strings.Contains(body, "restore") && strings.Contains(body, "<pre>athir") {
		t.Errorf("%s", body)
	}
}

// A configuration that cannot be read is never written over, and the last good one holds.
func TestADamagedConfigurationIsPutAside(t *testing.T) {
	cfg := station(t)
	log, lines := testkit.Log(t)
	write(t, cfg.StationFile(), `{"MOOD":"romantic"}`)
	first, err := onbackup.OpenConfiguration(cfg, log)
	must(t, err)
	if lines.Count("level=ERROR") != 0 {
		t.Error(lines)
	}
	for name, c := range map[string]struct{ text, mood string }{
		"half of it": {`{"MOOD":"ro`, first.Current().Mood}, "empty": {"", first.Current().Mood}, "a wrong field": {`{"MOOD":7}`, first.Current().Mood},
	} {
		write(t, cfg.StationFile(), c.text)
		owner, err := onbackup.OpenConfiguration(cfg, log)
		must(t, err)
		if owner.Current().Mood != c.mood {
			t.Errorf("%s: the mood is %q, want %q", name, owner.Current().Mood, c.mood)
		}
	}
	aside, _ := filepath.Glob(cfg.StationFile() + ".damaged-*")
	if len(aside) != 3 || lines.Count("level=ERROR", "put aside", "that of the last start") != 3 {
		t.Errorf("put aside: %v\n%s", aside, lines)
	}
	must(t, os.Remove(cfg.StationFile()+".last"))
	write(t, cfg.StationFile(), "{")
	if _, err := onbackup.OpenConfiguration(cfg, log); err != nil || lines.Count("the defaults") != 1 {
		t.Errorf("%v\n%s", err, lines)
	}
}

func TestSettingsThatAreNoYAMLAreFoundInABackup(t *testing.T) {
	cfg := station(t)
	if hint := onbackup.SettingsHint(cfg.DataDir); hint != "" {
		t.Errorf("without a backup: %q", hint)
	}
	r, err := onbackup.Make(t.Context(), onbackup.Options{Config: cfg})
	must(t, err)
	if hint := onbackup.SettingsHint(cfg.DataDir); !strings.Contains(hint, r.File) {
		t.Errorf("%q", hint)
	}
}
