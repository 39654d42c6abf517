package file

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"syscall"
)

// Place identifies an open file among those of all machines: this file, on this machine
// since it was booted. A copy of the file or of its disk is another place, unlike an id
// that is written into it; one of a machine with its memory is not. It has 32 characters
// at most.
func Place(f *os.File) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var stat syscall.Stat_t
	if err == nil {
		err = syscall.Fstat(int(f.Fd()), &stat)
	}
	if err != nil {
		return rand.Text() // each call is a place of its own
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", boot, stat.Dev, stat.Ino))
	return hex.EncodeToString(sum[:16])
}
