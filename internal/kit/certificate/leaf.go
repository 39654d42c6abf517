package certificate

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
)

// Leaf reads the first certificate of a PEM file: the server's own.
func Leaf(path string) (*x509.Certificate, error) {
	text, err := os.ReadFile(path) //nolint:gosec // of the settings
	if err != nil {
		return nil, err
	}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return nil, errors.New(path + " holds no certificate")
		}
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
}
