package bus_test

import (
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/bus"
)

// Fails where the answer repeats the password of an address that is wrong.
func TestAProbeNamesNoPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"nats://control:secret-word@[nats.example:4222", "nats://control:secret-w/ord@nats.example:4222", "nats://127.0.0.1:1,nats://control:%zzsecret-word@nats.example:4222",
		"nats://control:secret-word@127.0.0.1:1",
	} {
		if err := bus.Probe(t.Context(), bus.Options{URL: address}); err == nil || strings.Contains(err.Error(), "secret-") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
