package testkit

import (
	"os"
	"syscall"
	"testing"
)

// Executable writes a program that the test will run. Any other test that starts a
// program meanwhile would lend its child, until it executes, the file open for
// writing, and what is so open cannot be run: "text file busy" (golang/go#22315).
// So none starts before it is closed.
func Executable(t testing.TB, path string, content []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, content, 0o755) //nolint:gosec // a program, for any user
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
