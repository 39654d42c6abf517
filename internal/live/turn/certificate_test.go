package turn

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// pemFiles writes a certificate for a name into a folder.
func pemFiles(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// A renewed certificate is used, and one that is half written does not take the old away.
func TestACertificateIsReadAnewWhenItsFilesChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := pemFiles(t, dir, "old.example")
	log, lines := testkit.Log(t)
	c, err := newCertificate(cert, key, log)
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
	pemFiles(t, dir, "new.example")
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
	if _, err := newCertificate(cert, key, log); err == nil {
		t.Error("a server starts without its certificate")
	}
}
