package apply_test

import (
	"os"
	"testing"
)

// tear leaves half a line at the end of a file.
func tear(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text[:len(text)-7], 0o600); err != nil {
		t.Fatal(err)
	}
}
