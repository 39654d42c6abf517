package testkit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// InOwnMounts runs this test's program once more, with a folder's name in the environment
// variable env, in namespaces of its own: it may mount a small disk there, needs no root
// for that, and the disk is gone with it. TestMain looks for env and tells the story; its
// last line must be "all right".
func InOwnMounts(t testing.TB, env string) {
	t.Helper()
	out, err := inOwnMounts(t, env, syscall.CLONE_NEWUSER)
	if errors.Is(err, syscall.EPERM) && os.Getuid() == 0 {
		out, err = inOwnMounts(t, env, 0)
	}
	t.Logf("%s", out)
	const end = "\nall right\n"
	if err != nil || len(out) < len(end) || string(out[len(out)-len(end):]) != end {
		t.Fatalf("the child, which needs user and mount namespaces: %v", err)
	}
}

func inOwnMounts(t testing.TB, env string, user uintptr) ([]byte, error) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), env+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | user, Pdeathsig: syscall.SIGKILL}
	if user != 0 {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	} else {
		cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS // and private, as Go makes it
	}
	return cmd.CombinedOutput()
}

// Told tells a story and ends the program: its last line is what InOwnMounts wants.
func Told(story func() error) {
	if err := story(); err != nil {
		fmt.Println("FAIL:", err)
		os.Exit(1)
	}
	fmt.Println("\nall right")
	os.Exit(0)
}

// SmallDisk mounts a disk of so many KiB at a folder.
func SmallDisk(dir string, kib int) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk", kib)); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return nil
}

// Fill takes a disk's last byte and returns how to give it back.
func Fill(dir string) (unfill func(), err error) {
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		return nil, err
	}
	block := make([]byte, 1024)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = os.Remove(f.Name()) }, f.Close()
}
