package client_test

import (
	"errors"
	"testing"

	"github.com/athir-radio/athir/internal/kit/client"
)

// All places, and those of each name, are bounded; what is left is free again, and a refusal
// takes none.
func TestPlaces(t *testing.T) {
	var p client.Places
	enter := func(address, network string, want error) func() {
		t.Helper()
		leave, err := p.Enter(4, client.Share{Name: address, Most: 1}, client.Share{Name: network, Most: 2})
		if !errors.Is(err, want) {
			t.Fatalf("%s of %s: %v, want %v", address, network, err, want)
		}
		return leave
	}
	a := enter("a", "n", nil)
	enter("a", "n", client.ErrNoShare)
	b := enter("b", "n", nil)
	enter("c", "n", client.ErrNoShare)
	enter("", "", nil)
	enter("", "", nil) // this machine
	enter("d", "m", client.ErrNoPlace)
	a()
	enter("b", "n", client.ErrNoShare)
	enter("c", "n", nil)
	b()
	enter("d", "m", nil)
}
