package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
)

// A disk of 128 KiB, full: creating the file says so and leaves nothing behind;
// a file that exists is pushed to as if nothing were wrong. Then read-only.
//
// The disk is mounted by a child in namespaces of its own, so that it needs no
// root and is gone with the child.
func TestFullAndReadOnlyDisk(t *testing.T) {
	out, err := inOwnMounts(t, syscall.CLONE_NEWUSER)
	if errors.Is(err, syscall.EPERM) && os.Getuid() == 0 {
		out, err = inOwnMounts(t, 0)
	}
	t.Logf("%s", out)
	if err != nil || !bytes.HasSuffix(out, []byte("\nall right\n")) {
		t.Fatalf("the child, which needs user and mount namespaces: %v", err)
	}
}

func inOwnMounts(t *testing.T, user uintptr) ([]byte, error) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "DELIVERY_TEST_FULL_DISK="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | user, Pdeathsig: syscall.SIGKILL}
	if user != 0 {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	} else {
		cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS // and private, as Go makes it
	}
	return cmd.CombinedOutput()
}

func fullDisk(dir string) {
	if err := fullDiskStory(context.Background(), dir); err != nil {
		fmt.Println("FAIL:", err)
		os.Exit(1)
	}
	fmt.Println("all right")
}

func fullDiskStory(ctx context.Context, dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128k"); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	path := filepath.Join(dir, "main.m3u")
	local := delivery.NewLocal(path, quiet())

	unfill, err := fill(dir)
	if err != nil {
		return err
	}
	err = local.Prepare(ctx)
	fmt.Println(err)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "free some space") {
		return fmt.Errorf("prepare on a full disk: %w", err)
	}
	if left, _ := filepath.Glob(dir + "/main*"); len(left) > 0 {
		return fmt.Errorf("prepare left %q", left)
	}

	unfill()
	if err := local.Prepare(ctx); err != nil {
		return err
	}
	if _, err := fill(dir); err != nil {
		return err
	}
	var last []byte
	for n := range 20 {
		last, _, err = playlist.Encode(numbered(path, int64(n)))
		if err = errors.Join(err, local.Write(ctx, last)); err != nil {
			return fmt.Errorf("push %d on a full disk: %w", n, err)
		}
	}

	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("remount: %w", err)
	}
	other, _, _ := playlist.Encode(numbered(path, 99))
	err = local.Write(ctx, other)
	fmt.Println(err)
	if !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "writable") {
		return fmt.Errorf("push to a read-only disk: %w", err)
	}
	if got, err := local.Current(ctx); err != nil || !bytes.Equal(got, last) {
		return fmt.Errorf("the last list is gone: %w", err)
	}
	return nil
}

// fill takes the disk's last byte and returns how to give it back.
func fill(dir string) (unfill func(), err error) {
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		return nil, err
	}
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return func() { _ = os.Remove(f.Name()) }, f.Close()
}
