package logfile_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/kit/logfile"
)

// A disk that was full leaves a broken line behind, not two lines glued
// together. It is mounted by a child in namespaces of its own, so that it needs
// no root and is gone with the child.
func TestAfterAFullDiskLinesAreWholeAgain(t *testing.T) {
	out, err := inOwnMounts(t, syscall.CLONE_NEWUSER)
	if errors.Is(err, syscall.EPERM) && os.Getuid() == 0 {
		out, err = inOwnMounts(t, 0)
	}
	if err != nil {
		t.Fatalf("the child, which needs user and mount namespaces: %v: %s", err, out)
	}
}

func inOwnMounts(t *testing.T, user uintptr) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "LOGFILE_TEST_FULL_DISK="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | user, Pdeathsig: syscall.SIGKILL}
	if user != 0 {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	return cmd.CombinedOutput()
}

func onAFullDisk(dir string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		return fmt.Errorf("mount: %w", err)
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
