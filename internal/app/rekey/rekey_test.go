package rekey_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/rekey"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// begin writes a station's settings, and returns its data directory.
func begin(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, _, err := config.Load(config.Source{DataDir: dir}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// runs has a role of a station run, as far as its secrets go.
func runs(t *testing.T, dir, name string, w role.Work, env ...string) *config.Config {
	t.Helper()
	cfg, _, err := config.Load(config.Source{DataDir: dir, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	serves(t, dir, name, role.Role{Name: name, Config: cfg, Log: slog.New(slog.DiscardHandler)}.Secrets(w))
	return cfg
}

func serves(t *testing.T, dir, name string, h http.Handler) {
	t.Helper()
	socket := role.Socket(filepath.Join(dir, "node"), name)
	testkit.Background(t, func(ctx context.Context) error { return innerhttp.Serve(ctx, socket, h, nil) })
	testkit.EventuallyNil(t, name+" listens", func() error { _, err := os.Stat(socket); return err })
}

func options(t *testing.T, dir, name string, keep time.Duration, steps *[]string) rekey.Options {
	t.Helper()
	cfg, err := config.Look(config.Source{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return rekey.Options{
		Config: cfg, Sockets: cfg.NodeDir(), New: config.NewSecret{Name: name, Keep: keep, Now: time.Now()},
		Show: func(s rekey.Step) { *steps = append(*steps, s.Role+" "+s.Outcome+" "+s.Detail) },
	}
}

// Every role that runs goes by the new secret and the old when the command ends, those that
// are shown it first.
func TestRolesThatRunTakeTheSecret(t *testing.T) {
	t.Parallel()
	dir := begin(t)
	renewed := 0
	player := runs(t, dir, "player", role.Work{})
	control := runs(t, dir, "control", role.Work{Renew: func(context.Context) error { renewed++; return nil }})
	desk := runs(t, dir, "desk", role.Work{Renew: func(context.Context) error { return errors.New("the engine is away") }})
	old := control.SyncToken
	var steps []string
	res, err := rekey.Run(t.Context(), options(t, dir, config.SyncToken, time.Hour, &steps))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"control took it ", "desk took it the engine is away", "player took it "}; !slices.Equal(steps, want) || renewed != 1 {
		t.Errorf("%q, renewed %d", steps, renewed)
	}
	for _, cfg := range []*config.Config{control, player, desk} {
		if all := cfg.SyncTokens(); len(all) != 2 || all[1] != old || all[0] == old {
			t.Errorf("%q hold", all)
		}
	}
	if left := time.Until(res.Until); left < 50*time.Minute || left > time.Hour+time.Second {
		t.Errorf("valid for %s", left)
	}
	look, err := config.Look(config.Source{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range rekey.States(t.Context(), look, filepath.Join(dir, "node"), time.Now()) {
		if len(s.Behind) > 0 || !s.Set || s.OldUntil.IsZero() != (s.Secret != config.SyncToken) || s.Rotated.IsZero() != (s.Secret != config.SyncToken) {
			t.Errorf("%+v", s)
		}
	}

	// A leaked one ends everywhere at once.
	if _, err := rekey.Run(t.Context(), options(t, dir, config.SyncToken, 0, &steps)); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []*config.Config{control, player, desk} {
		if all := cfg.SyncTokens(); len(all) != 1 || all[0] == old {
			t.Errorf("%q hold", all)
		}
	}
}

// What cannot be done is found out before anything is written.
func TestNothingIsWrittenThatNotAllCanTake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run  func(t *testing.T, dir string)
		edit func(*rekey.Options)
		want string
	}{
		"a variable of a role": {func(t *testing.T, dir string) {
			runs(t, dir, "control", role.Work{})
			runs(t, dir, "desk", role.Work{}, "SYNC_TOKEN=from-outside")
		}, nil, "the running desk has it from the variable SYNC_TOKEN"},
		"a variable of the command": {func(*testing.T, string) {}, func(o *rekey.Options) { o.Config.Env = []string{"ATHIR_SYNC_TOKEN=x"} }, "ATHIR_SYNC_TOKEN"},
		"an older version": {func(t *testing.T, dir string) {
			runs(t, dir, "control", role.Work{})
			serves(t, dir, "whip", http.NotFoundHandler())
		}, nil, "whip: it is a version that takes no secret while it runs: run 'athir upgrade' first"},
		"a TURN server elsewhere": {func(*testing.T, string) {}, func(o *rekey.Options) {
			o.New.Name, o.Config.Live.TURNServers = config.TurnSecret, []string{"turn:turn.example.org"}
		}, "must know the new one before"},
		"another in the file": {func(t *testing.T, dir string) {
			runs(t, dir, "control", role.Work{})
			if _, _, err := config.Rotate(dir, config.NewSecret{Name: config.SyncToken, Value: "written-by-hand", Now: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}, nil, "athir.yaml has another than the running control"},
		"MediaMTX": {func(*testing.T, string) {}, func(o *rekey.Options) {
			o.New.Name, o.Config.HLS.MediaMTX = config.SourcePassword, "/usr/local/bin/mediamtx"
		}, "MediaMTX (hls.mediamtx) reads it once"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := begin(t)
			c.run(t, dir)
			before, err := os.ReadFile(filepath.Join(dir, config.FileName))
			if err != nil {
				t.Fatal(err)
			}
			var steps []string
			o := options(t, dir, config.SyncToken, time.Hour, &steps)
			if c.edit != nil {
				c.edit(&o)
			}
			if _, err := rekey.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if after, err := os.ReadFile(filepath.Join(dir, config.FileName)); err != nil || string(after) != string(before) {
				t.Errorf("the settings have changed: %v", err)
			}
		})
	}
}

// A station that is stopped has its secret replaced, too; also one of which there are only the
// settings, as out of a backup.
func TestAStationThatIsStopped(t *testing.T) {
	t.Parallel()
	dir := begin(t)
	if err := os.Remove(filepath.Join(dir, "node")); err != nil {
		t.Fatal(err)
	}
	var steps []string
	o := options(t, dir, config.StationKey, time.Hour, &steps)
	o.New.Value = "given-by-another-machine"
	for range 2 { // the second time it is in force
		if _, err := rekey.Run(t.Context(), o); err != nil || len(steps) > 0 {
			t.Fatalf("%v, %q", err, steps)
		}
	}
	cfg := runs(t, dir, "control", role.Work{})
	if all := cfg.Secret(config.StationKey).Valid(); len(all) != 2 || all[0] != o.New.Value || all[1] != o.Config.StationKey {
		t.Errorf("%q hold", all)
	}
}
