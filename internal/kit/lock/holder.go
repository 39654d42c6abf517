package lock

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Holder returns the process that holds the named lock of a directory; false: nobody does. It
// asks the kernel and takes no lock itself, so it keeps nobody off.
func Holder(dir, name string) (pid int, held bool) {
	path := filepath.Join(dir, name+".lock")
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	inode := info.Sys().(*syscall.Stat_t).Ino
	text, _ := os.ReadFile(path) //nolint:gosec // the operator's own directory
	written, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	f, err := os.Open("/proc/locks")
	if err != nil {
		return 0, false
	}
	defer f.Close() //nolint:errcheck // only read
	return holder(bufio.NewScanner(f), inode, written)
}

// holder looks through /proc/locks ("1: FLOCK ADVISORY WRITE 4711 fd:01:131 0 EOF"). Devices
// are not compared, as some file systems have others there: the process that the file names
// must be the one that holds it. One beyond this namespace is 0 there, and then believed.
func holder(lines *bufio.Scanner, inode uint64, written int) (pid int, held bool) {
	suffix := fmt.Sprintf(":%d", inode)
	for lines.Scan() {
		c := strings.Fields(lines.Text())
		if len(c) < 6 || c[1] != "FLOCK" || !strings.HasSuffix(c[5], suffix) {
			continue
		}
		if pid, err := strconv.Atoi(c[4]); err == nil && (pid == written || pid <= 0) {
			return written, true
		}
	}
	return 0, false
}
