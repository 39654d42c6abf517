package port_test

import (
	"errors"
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestBusyPortNamesItsHolder(t *testing.T) {
	// One that nobody else is given once it is closed.
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(testkit.Port(t))))
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	var busy *port.BusyError
	if err := port.Check(addr); !errors.As(err, &busy) || busy.PID != os.Getpid() || busy.Holder == "" {
		t.Errorf("got %v, want this process, %d", err, os.Getpid())
	}
	number := l.Addr().(*net.TCPAddr).Port
	if !port.Listening(number) {
		t.Error("a listener is not seen")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if port.Listening(number) {
		t.Error("a listener is seen after its end")
	}
	if err := port.Check(addr); err != nil {
		t.Errorf("free port: %v", err)
	}
}

func TestFreePortsAreOutOfTheWayOfConnections(t *testing.T) {
	const tries = 20
	taken := 0
	for range tries {
		addr, err := port.Free("127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		_, number, _ := net.SplitHostPort(addr)
		n, err := strconv.Atoi(number)
		if err != nil || n < 28_000 || n >= 32_768 {
			t.Errorf("got %s", addr)
		}
		if port.Check(addr) != nil { // by a program of another test, meanwhile
			taken++
		}
	}
	if taken > tries/2 {
		t.Errorf("%d of %d are taken", taken, tries)
	}
}
