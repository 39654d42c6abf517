package testkit

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/port"
)

// The range lies below that of port.Free, from which the programs under test pick.
const (
	portFrom  = 10_000
	portTo    = 28_000
	portTries = 1000
)

// Port returns a loopback port that nobody holds, that no outgoing connection will be
// given, and that no other test gets before this process ends: between the choice and the
// first listening, or between two, another test's program would take it. For what can
// listen on port 0, use that.
func Port(t testing.TB) int {
	t.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("athir-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for range portTries {
		n := portFrom + rand.IntN(portTo-portFrom) //nolint:gosec // no secret
		name := strconv.Itoa(n)
		if reserve(t, filepath.Join(dir, name)) && port.Check(net.JoinHostPort("127.0.0.1", name)) == nil {
			return n
		}
	}
	t.Fatalf("no free port in %d tries", portTries)
	return 0
}

// reserve locks a file until the process ends; another that has it locked has the port.
func reserve(t testing.TB, path string) bool {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		_ = unix.Close(fd)
		return false
	}
	return true
}
