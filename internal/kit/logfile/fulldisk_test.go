package logfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/logfile"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// A disk that was full leaves a broken line behind, not two lines glued
// together. It is mounted by a child in namespaces of its own, so that it needs
// no root and is gone with the child.
func TestAfterAFullDiskLinesAreWholeAgain(t *testing.T) {
	testkit.InOwnMounts(t, "LOGFILE_TEST_FULL_DISK")
}

func onAFullDisk(dir string) error {
	if err := testkit.SmallDisk(dir, 64); err != nil {
		return err
	}
	path, ballast := filepath.Join(dir, "server.log"), filepath.Join(dir, "ballast")
	f, err := logfile.Open(logfile.Options{Path: path})
	if err != nil {
		return err
	}
	if err := os.WriteFile(ballast, make([]byte, 32<<10), 0o600); err != nil {
		return err
	}
	failed := false
	for range 100 {
		for _, line := range []string{strings.Repeat("x", 1000) + "\n", "short\n"} {
			_, err := f.Write([]byte(line))
			failed = failed || err != nil
		}
	}
	if !failed {
		return errors.New("the disk was never full")
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	if _, err := f.Write([]byte("whole again\n")); err != nil {
		return err
	}
	lines, err := logfile.Tail(path, 1)
	if err != nil || len(lines) != 1 || lines[0] != "whole again" {
		return errors.Join(err, fmt.Errorf("the newest line: %.60q", lines))
	}
	return nil
}
