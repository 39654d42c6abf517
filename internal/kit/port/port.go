// Package port reports whether a TCP port is free and, where it is not, which
// process holds it.
package port

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// BusyError means that a port is taken.
type BusyError struct {
	Addr   string
	PID    int    // 0 when the holder could not be seen
	Holder string // its command, as /proc has it
}

func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is taken by a process of another user", e.Addr)
	}
	return fmt.Sprintf("%s is taken by %s (process %d)", e.Addr, e.Holder, e.PID)
}

// Check reports whether addr (host:port) can be listened on. The error is a
// *BusyError when another process holds it.
func Check(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		return l.Close()
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("listen on %s: %w", addr, err)
	}
	busy := &BusyError{Addr: addr}
	_, number, _ := net.SplitHostPort(addr)
	n, _ := strconv.Atoi(number)
	busy.PID, busy.Holder = holder(n)
	return busy
}

// The range Free picks from lies below the one Linux takes the local ports of
// outgoing connections from: a port that is free now is not taken a moment
// later by somebody's connection. Tests pick theirs below it.
const (
	freeFrom  = 28_000
	freeTo    = 32_768
	freeTries = 1000
)

// Free returns an address on host whose port nobody holds at this moment.
func Free(host string) (string, error) {
	for range freeTries {
		addr := net.JoinHostPort(host, strconv.Itoa(freeFrom+rand.IntN(freeTo-freeFrom))) //nolint:gosec // no secret
		if Check(addr) == nil {
			return addr, nil
		}
	}
	return "", fmt.Errorf("find a free port on %s: none in %d tries", host, freeTries)
}

// Listening reports whether somebody listens on a port of this machine. It
// asks the kernel's tables and makes no connection, which some programs do not
// survive while they start.
func Listening(number int) bool {
	inodes := map[string]bool{}
	for _, table := range tables() {
		listening(table, number, inodes)
	}
	return len(inodes) > 0
}

func tables() []string { return []string{"/proc/net/tcp", "/proc/net/tcp6"} }

// holder finds the process that listens on a port, through /proc.
func holder(number int) (pid int, command string) {
	inodes := map[string]bool{}
	for _, table := range tables() {
		listening(table, number, inodes)
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		target, err := os.Readlink(fd)
		if err != nil || !inodes[target] {
			continue
		}
		pid, _ = strconv.Atoi(strings.Split(fd, "/")[2])
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		return pid, strings.TrimSpace(string(name))
	}
	return 0, ""
}

// listening adds the sockets of a /proc/net table that listen on the port.
func listening(table string, number int, inodes map[string]bool) {
	f, err := os.Open(table) //nolint:gosec // one of two constants
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // only read
	const stateListen = "0A"
	suffix := fmt.Sprintf(":%04X", number)
	for s := bufio.NewScanner(f); s.Scan(); {
		if c := strings.Fields(s.Text()); len(c) > 9 && c[3] == stateListen && strings.HasSuffix(c[1], suffix) {
			inodes["socket:["+c[9]+"]"] = true
		}
	}
}
