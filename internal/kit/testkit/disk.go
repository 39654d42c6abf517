package testkit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
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
	// Root needs no namespace of users, in which the users of other programs are missing.
	out, err := []byte(nil), error(syscall.EPERM)
	if os.Getuid() == 0 {
		out, err = inOwnMounts(t, env, 0)
	}
	if errors.Is(err, syscall.EPERM) {
		out, err = inOwnMounts(t, env, syscall.CLONE_NEWUSER)
	}
	t.Logf("%s", out)
	if err != nil || !bytes.HasSuffix(out, []byte("\nall right\n")) {
		t.Fatalf("the child, which needs user and mount namespaces: %v", err)
	}
}

func inOwnMounts(t testing.TB, env string, user uintptr) ([]byte, error) {
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		return nil, err
	}
	defer said.Close() //nolint:errcheck // a test's
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | user, Pdeathsig: syscall.SIGKILL}
	if user != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	} else {
		attr.Unshareflags = syscall.CLONE_NEWNS // and private, as Go makes it
	}
	child, err := os.StartProcess(os.Args[0], os.Args[:1], &os.ProcAttr{
		Env: append(os.Environ(), env+"="+t.TempDir()), Files: []*os.File{nil, said, said}, Sys: attr,
	})
	if err != nil {
		return nil, err
	}
	state, err := child.Wait()
	if err == nil && !state.Success() {
		err = errors.New(state.String())
	}
	out, read := os.ReadFile(said.Name())
	return out, errors.Join(err, read)
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
	if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk", kib)); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return nil
}

// Fill takes a disk's last byte and returns how to give it back. It may be called again for
// what others have given back since.
func Fill(dir string) (unfill func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "filler"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
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
