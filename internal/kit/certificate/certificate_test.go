package certificate

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A renewed certificate is used, and one that is half written does not take the old away.
func TestACertificateIsReadAnewWhenItsFilesChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := testkit.Certificate(t, dir, "old.example")
	log, lines := testkit.Log(t)
	c, err := Open(cert, key, log)
	if err != nil {
		t.Fatal(err)
	}
	subject := func() string { return c.current().Leaf.Subject.CommonName }
	age := func(seconds int64) { // two writes within the clock of a file system differ as well
		if err := os.Chtimes(cert, time.Unix(seconds, 0), time.Unix(seconds, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if got := subject(); got != "old.example" {
		t.Errorf("at first %s", got)
	}
	if err := os.WriteFile(cert, []byte("-----BEGIN"), 0o600); err != nil {
		t.Fatal(err)
	}
	age(1)
	for range 3 {
		if got := subject(); got != "old.example" {
			t.Errorf("while it is written %s", got)
		}
	}
	if lines.Count("cannot be read") != 1 {
		t.Errorf("the log:\n%s", lines)
	}
	testkit.Certificate(t, dir, "new.example")
	age(2)
	if got := subject(); got != "new.example" {
		t.Errorf("once renewed %s", got)
	}
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	if got := subject(); got != "new.example" {
		t.Errorf("once gone %s", got)
	}
	if err := os.WriteFile(cert, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(cert, key, log); err == nil || !strings.Contains(err.Error(), cert) || !strings.Contains(err.Error(), key) {
		t.Errorf("a server starts without its certificate, or does not name it: %v", err)
	}
}
