package mastering

import "golang.org/x/sys/unix"

// setNice sets the niceness of the calling thread. It is advice: a kernel that
// refuses it does no harm.
func setNice(nice int) {
	if now, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil && 20-now < nice { // the raw call answers 20 − nice
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, nice)
	}
}
