// Package porttest hands ports to tests that must name one to a program.
package porttest

import (
	"net"
	"strconv"
	"testing"

	"github.com/athir-radio/athir/internal/kit/port"
)

// Free returns a loopback port that nobody holds, and that no connection
// will be given: see port.Free.
func Free(t testing.TB) int {
	t.Helper()
	addr, err := port.Free("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	_, number, _ := net.SplitHostPort(addr)
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
