package cli

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/kit/store"
)

// A continuous copy is restored from the command line: it says until when it reaches and what
// cannot be used, and asks for one source.
func TestAContinuousCopyIsRestored(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	db, err := store.Open(t.Context(), filepath.Join(from, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range onbackup.Schemas() {
		if err := db.Upgrade(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	f := &store.Follower{DB: db, To: to, Every: time.Second, Log: slog.New(slog.DiscardHandler)}
	for range 2 {
		err := f.Step(t.Context())
		if err == nil {
			err = db.Write(t.Context(), func(tx *sql.Tx) error {
				_, err := tx.Exec("CREATE TABLE IF NOT EXISTS said (text TEXT); INSERT INTO said VALUES ('before')")
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	settings := "name: النيل\nstation_key: k\nsync_token: t\nsource_password: long-enough\n"
	for name, text := range map[string]string{"state/athir.yaml~" + strings.Repeat("0", 32): settings, "state/station.json~9f" + strings.Repeat("0", 30): "{"} {
		if err := os.MkdirAll(filepath.Join(to, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "athir.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		var b bytes.Buffer
		err := Main(context.Background(), Process{Version: "test", Args: append([]string{"restore", "--data", data}, args...), Out: &b})
		return b.String(), err
	}
	out, err := run("--continuous", to, "--dry-run")
	if err != nil || !strings.Contains(out, "continuous copy of") || !strings.Contains(out, "until "+f.Status().Until.UTC().Format(time.DateTime)) ||
		strings.Count(out, "cannot be used: ") != 2 || !strings.Contains(out, "athir.yaml~0000") || !strings.Contains(out, "it is damaged") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(data, "athir.db")); err == nil {
		t.Error("a dry run restored it")
	}
	out, err = run("--continuous", to, "--yes", "--json")
	var plan struct {
		Made             time.Time
		Continuous, Done bool
		Left             []string
	}
	if err != nil || json.Unmarshal([]byte(out), &plan) != nil || !plan.Done || !plan.Continuous || len(plan.Left) != 2 || plan.Made.UnixMilli() != f.Status().Until.UnixMilli() {
		t.Errorf("%v\n%s", err, out)
	}
	if versions, err := store.Check(t.Context(), filepath.Join(data, "athir.db")); err != nil || len(versions) != len(onbackup.Schemas()) {
		t.Errorf("the database: %v, %v", versions, err)
	}
	if text, err := os.ReadFile(filepath.Join(data, "athir.yaml")); err != nil || string(text) != settings {
		t.Errorf("the settings that were there: %q, %v", text, err)
	}
	for want, args := range map[string][]string{
		"name a backup":  {"--yes"},
		"choose one of":  {"--yes", "--continuous", to, "a.tar.zst"},
		"add --yes":      {"--continuous", to},
		"mount it, or":   {"--yes", "--continuous", filepath.Join(to, "away")},
		"no continuous ": {"--yes", "--continuous", t.TempDir()},
	} {
		if out, err := run(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// Fails where a restore into an empty folder sends the operator to a folder that is not
// there, or one that replaces something does not say where that is.
func TestARestoreNamesWhatItReplacesAndNothingElse(t *testing.T) {
	is := &onbackup.Extent{Files: 1, Bytes: 1, Last: time.Now()}
	for _, c := range []struct {
		there       *onbackup.Extent
		said, never string
	}{{nil, "  new\n", "before-restore"}, {is, "  replaced\n", "  new\n"}} {
		p := onbackup.Plan{Data: "/d", Undo: "/d/before-restore-1", Rows: []onbackup.Row{
			{What: "database", There: c.there, Backup: is, Action: onbackup.Replaced},
			{What: "recordings", There: is, Action: onbackup.Untouched},
		}}
		var b bytes.Buffer
		printRestore(&b, p)
		b.WriteString(restored(p))
		if out := b.String(); !strings.Contains(out, c.said) || strings.Contains(out, c.never) || (c.there != nil) != strings.Contains(out, p.Undo) {
			t.Errorf("%s", out)
		}
	}
}
