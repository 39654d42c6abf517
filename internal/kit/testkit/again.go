package testkit

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Again is the program of this test by another name in a folder.
func Again(t testing.TB, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	self, err := os.Executable()
	if err == nil {
		err = os.Link(self, path)
	}
	if err != nil { // on another disk
		text, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			t.Fatal(err)
		}
		Executable(t, path, text)
	}
	return path
}

// Output is the lines that a program prints, until it has ended: then ended has received how. kill
// ends it with the test.
func Output(t testing.TB, out io.ReadCloser, wait, kill func() error) (lines <-chan string, ended <-chan error) {
	t.Helper()
	said, how := make(chan string, 1000), make(chan error, 1)
	go func() {
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			said <- scanner.Text()
		}
		_ = out.Close()
		how <- wait()
		close(said)
		close(how)
	}()
	t.Cleanup(func() {
		_ = kill()
		for range said {
		}
	})
	return said, how
}
