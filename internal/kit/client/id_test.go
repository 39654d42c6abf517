package client_test

import (
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/client"
)

func TestPlainIDIsWhatABrowserMakesUpAndNothingElse(t *testing.T) {
	for id, want := range map[string]bool{
		"abcdefgh": true, "A-Z_0-9z": true, "0b0e8f0e-1c53-4d39-9d75-0123456789ab": true, strings.Repeat("x", 64): true,
		"": false, "seven77": false, strings.Repeat("x", 65): false, "with space": false, "abcdefgh\n": false, "أبجدهوزح": false, "abcdefg/": false, "abcdefg\x00": false, "<script>": false,
	} {
		if client.PlainID(id) != want {
			t.Errorf("%q: %t", id, !want)
		}
	}
}
