package proc

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Politely lowers the priority of the calling goroutine for good, by that of its thread,
// so that its arithmetic does not slow what is on air. The thread ends with the goroutine,
// because it is never unlocked. It is advice: a kernel that refuses it does no harm.
func Politely(nice int) {
	runtime.LockOSThread()
	if now, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil && 20-now < nice { // the raw call answers 20 − nice
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, nice)
	}
}
