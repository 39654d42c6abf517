// Package npm installs the Node packages a test needs, exactly as its lock file
// has them, and only when they are missing.
package npm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Install makes dir/node_modules what dir/package-lock.json says. Tests of
// several packages may call it at the same time.
func Install(ctx context.Context, dir string) error {
	lock, err := os.OpenFile(filepath.Join(dir, "package-lock.json"), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	// The stamp lies inside node_modules, so it vanishes with it.
	stamp := filepath.Join(dir, "node_modules", ".athir-installed")
	wanted, err := lock.Stat()
	if err != nil {
		return err
	}
	if have, err := os.Stat(stamp); err == nil && !have.ModTime().Before(wanted.ModTime()) {
		return nil
	}
	command := exec.CommandContext(ctx, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w\n%s", dir, err, out)
	}
	return os.WriteFile(stamp, nil, 0o644)
}
