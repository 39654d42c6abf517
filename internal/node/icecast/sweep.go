package icecast

import (
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// openRoot holds the configurations of stations whose own directory the
// server's user cannot enter.
const openRoot = "/run"

// abandoned is how old a configuration that no server runs on must be before it
// is removed: another station may have written it and be about to start.
const abandoned = time.Minute

var openName = regexp.MustCompile(`^athir-[0-9a-f]{12}$`)

// sweep removes the configurations below root, which hold passwords, of stations
// that no longer run. A station that is only stopped writes its own at its start.
func sweep(root string, now time.Time) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return
	}
	for _, entry := range entries {
		dir := filepath.Join(root, entry.Name())
		if !openName.MatchString(entry.Name()) || !ours(dir) {
			continue
		}
		file := filepath.Join(dir, configName)
		written := dir
		if _, err := os.Lstat(file); err == nil {
			written = file
		}
		info, err := os.Lstat(written)
		if err != nil || now.Sub(info.ModTime()) < abandoned || len(proc.Find(program, file)) > 0 {
			continue
		}
		_ = os.Remove(file)
		_ = os.Remove(file + ".new")
		_ = os.Remove(dir) // unless somebody keeps more in it
	}
}

// ours reports a real directory of this process's user.
func ours(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Geteuid()
}
