package onbackup_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

const (
	smallDiskEnv   = "ONBACKUP_TEST_SMALL_DISK"
	fillingDiskEnv = "ONBACKUP_TEST_FILLING_DISK"
	fullTargetEnv  = "ONBACKUP_TEST_FULL_TARGET"
	roleEnv        = "ONBACKUP_TEST_ROLE"
	dataEnv        = "ONBACKUP_TEST_DATA"
	fileEnv        = "ONBACKUP_TEST_FILE"
)

// TestMain doubles as the children that tests kill.
func TestMain(m *testing.M) {
	if dir := os.Getenv(smallDiskEnv); dir != "" {
		testkit.Told(func() error { return onASmallDisk(dir) })
	}
	if dir := os.Getenv(fillingDiskEnv); dir != "" {
		testkit.Told(func() error { return onADiskThatFills(dir) })
	}
	if dir := os.Getenv(fullTargetEnv); dir != "" {
		testkit.Told(func() error { return ontoAFullTarget(dir) })
	}
	data, file := os.Getenv(dataEnv), os.Getenv(fileEnv)
	var err error
	switch os.Getenv(roleEnv) {
	case "backup":
		err = backUp(data, file)
	case "restore":
		err = restoreFrom(data, file)
	case "follow":
		err = followUntilKilled(data, file)
	default:
		testkit.Main(m)
		return
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// backUp says each piece of its work.
func backUp(data, to string) error {
	cfg, _, err := config.Load(config.Source{DataDir: data})
	if err != nil {
		return err
	}
	_, err = onbackup.Make(context.Background(), onbackup.Options{Config: cfg, To: to, Choice: everything(), Hold: func(context.Context) error {
		fmt.Println("piece")
		return nil
	}})
	return err
}

// restoreFrom says when it is about to touch something.
func restoreFrom(data, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	_, err = onbackup.Restore(context.Background(), onbackup.Restoring{Data: data, From: f, Confirm: func(onbackup.Plan) error {
		fmt.Println("confirmed")
		return nil
	}})
	return err
}

// killed runs a child and kills it pause after it has said so many lines. It returns how
// many lines it said.
func killed(t *testing.T, role, data, file string, lines int, pause time.Duration) (said int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+role, dataEnv+"="+data, fileEnv+"="+file)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	for scan := bufio.NewScanner(out); scan.Scan(); {
		if said++; said == lines {
			time.AfterFunc(pause, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait()
	return said
}

// A backup that is killed at any piece of its work leaves nothing that looks like one, and
// the next is whole.
func TestABackupThatIsKilledIsNoBackup(t *testing.T) {
	cfg := station(t)
	to := t.TempDir()
	pieces := killed(t, "backup", cfg.DataDir, to, 1<<30, 0)
	if pieces < 10 {
		t.Fatalf("only %d pieces", pieces)
	}
	for n := 1; n <= pieces; n += max(1, pieces/5) {
		to := t.TempDir()
		killed(t, "backup", cfg.DataDir, to, n, 0)
		left, _ := filepath.Glob(filepath.Join(to, "athir-*"))
		for _, file := range left { // it was quicker than the kill
			data := t.TempDir()
			if _, err := restore(t, file, data); err != nil {
				t.Errorf("killed after %d of %d pieces, and a backup is there that cannot be read: %v", n, pieces, err)
			}
		}
		if len(left) > 0 {
			continue
		}
		r, err := onbackup.Make(t.Context(), onbackup.Options{Config: cfg, To: to})
		if err != nil {
			t.Errorf("after a kill at piece %d: %v", n, err)
		}
		if all, _ := os.ReadDir(to); len(all) != 1 || filepath.Join(to, all[0].Name()) != r.File {
			t.Errorf("after a kill at piece %d: %v", n, all)
		}
	}
}

// A restore that is killed leaves what was there, or what the next start makes whole.
func TestARestoreThatIsKilledLeavesTheOldOrTheNew(t *testing.T) {
	from := station(t)
	file := backup(t, from, everything())
	outcomes := map[string]int{}
	for range 5 {
		cfg := station(t)
		db, err := store.Open(t.Context(), cfg.Database())
		must(t, err)
		must(t, errors.Join(comment(db, "after"), db.Close()))
		write(t, cfg.HeadlinesFile(), "another")
		killed(t, "restore", cfg.DataDir, file, 1, time.Duration(rand.IntN(15000))*time.Microsecond)
		resumed, err := onbackup.Resume(cfg.DataDir)
		must(t, err)
		text, err := os.ReadFile(cfg.HeadlinesFile())
		must(t, err)
		rows := len(said(t, cfg.DataDir))
		switch {
		case rows == 2 && string(text) == "another" && !resumed:
			outcomes["old"]++
		case rows == 1 && string(text) == "خبر\n" && resumed:
			outcomes["resumed"]++
		case rows == 1 && string(text) == "خبر\n":
			outcomes["new"]++
		default:
			t.Errorf("%d rows, %q, resumed %v", rows, text, resumed)
		}
	}
	t.Logf("%v", outcomes)
}
