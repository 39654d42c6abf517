package reexec_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/kit/reexec"
)

// A server that begins anew at its address, in the same program, finds its socket as it left
// it: who connected in between is not refused, and waits for the second.
func TestAnAddressIsListenedToASecondTime(t *testing.T) {
	_, h, err := reexec.Inherit(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	first, err := h.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := first.Addr().String()
	_ = first.Close()
	client, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() //nolint:errcheck // nothing is sent
	second, err := h.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close() //nolint:errcheck // as above
	served, err := second.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close() //nolint:errcheck // as above
	if served.RemoteAddr().String() != client.LocalAddr().String() {
		t.Errorf("%s was accepted, not the client", served.RemoteAddr())
	}
}

// Fails where a socket can be connected to by others of the machine for a moment, until its
// mode is changed: who is quick is in, and may order the process to go on as another program.
func TestASocketIsItsOwnersAloneFromTheBeginning(t *testing.T) {
	_, h, err := reexec.Inherit(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]*reexec.Handover{"with": h, "without": nil} {
		path := filepath.Join(t.TempDir(), name)
		l, err := h.Listen(t.Context(), "unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() //nolint:errcheck // nobody came
		if info, err := os.Stat(path); err != nil || info.Mode() != os.ModeSocket|0o600 {
			t.Errorf("%s a handover: %v, %v", name, info.Mode(), err)
		}
	}
}
