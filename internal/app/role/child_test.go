package role_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/reexec"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// childDir is the variable that has this test's program run as the process under test, with
// a data directory.
const childDir = "ROLE_TEST_DIR"

func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	switch {
	case dir == "":
		testkit.Main(m)
	case len(os.Args) > 1 && os.Args[1] == "version":
		os.Exit(version(dir))
	default:
		os.Exit(child(dir))
	}
}

func name() string {
	path, _ := os.Readlink("/proc/self/exe")
	return filepath.Base(path)
}

// version is 'athir version', answered as the executable's name says.
func version(dir string) int {
	settings := strings.Contains(strings.Join(os.Args, " "), "--settings "+dir)
	switch name := name(); {
	case name == "json":
		fmt.Println(`{"name": "another"}`)
	case name == "picky" && settings:
		fmt.Fprintln(os.Stderr, "athir.yaml: ports.control is unknown")
		return 1
	case name == "far":
		fmt.Printf(`{"version": "far", "step": %d}`, reexec.Step+2)
	default:
		if name == "slow" { // until the test closes the gate
			_, _ = os.ReadFile(filepath.Join(dir, "gate"))
		}
		fmt.Printf(`{"version": %q, "step": %d}`, name, reexec.Step)
	}
	return 0
}

// child runs a role as cmd/athir does. "sick" is never well.
func child(dir string) int {
	asked, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Println("begun", name())
	ctx, h, err := reexec.Inherit(asked, name())
	cfg := &config.Config{DataDir: dir}
	if _, none := os.Stat(cfg.File()); err == nil && none == nil {
		if cfg, _, err = config.Load(config.Source{DataDir: dir}); err == nil {
			err = role.Resume(cfg, h)
			fmt.Println("settings", cfg.Icecast.MaxClients, cfg.Limits.Reading)
		}
	}
	if err == nil {
		r := role.Role{Name: "player", Version: name(), Config: cfg, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Handover: h}
		err = r.Run(ctx, role.Work{
			Run: func(ctx context.Context) error { <-ctx.Done(); return nil },
			Well: func(context.Context) error {
				if name() == "sick" {
					return errors.New("it coughs")
				}
				return nil
			},
			Busy: func() string {
				why, _ := os.ReadFile(filepath.Join(dir, "busy"))
				return string(why)
			},
			SettleWithin: time.Millisecond,
		})
	}
	switch {
	case asked.Err() != nil:
	case h.CanGoBack():
		fmt.Println("back", err)
		err = h.Back(os.Args)
	case err == nil && h.Leaving():
		err = h.Exec(os.Args)
	}
	if err != nil {
		fmt.Println("failed", err)
		return 1
	}
	return 0
}
