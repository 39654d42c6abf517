package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
)

// A disk of 128 KiB, full: creating the file says so and leaves nothing behind;
// a file that exists is pushed to as if nothing were wrong. Then read-only.
//
// The disk is mounted by a child in namespaces of its own, so that it needs no
// root and is gone with the child.
func TestFullAndReadOnlyDisk(t *testing.T) {
	testkit.InOwnMounts(t, "DELIVERY_TEST_FULL_DISK")
}

func fullDiskStory(ctx context.Context, dir string) error {
	if err := testkit.SmallDisk(dir, 128); err != nil {
		return err
	}
	path := filepath.Join(dir, "main.m3u")
	local := delivery.NewLocal(path, quiet())

	unfill, err := testkit.Fill(dir)
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
	if _, err := testkit.Fill(dir); err != nil {
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
