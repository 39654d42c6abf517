package turn

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is a pair of files, read anew when they have changed: certificates are
// renewed while the server runs. Where the new ones cannot be read, or do not belong
// together yet, the old one stays.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex
	state  [2]fileState
	loaded *tls.Certificate
}

type fileState struct {
	size     int64
	modified time.Time
}

func newCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, log: log}
	c.state = c.look()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of TURN over TLS: %w: correct live.tls_cert and live.tls_key, or leave them empty", err)
	}
	c.loaded = &pair
	return c, nil
}

// config is the TLS configuration of a server with it.
func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil }}
}

func (c *certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := c.look()
	if state == c.state {
		return c.loaded
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	c.state = state // what cannot be read is not read again until it changes
	if err != nil {
		c.log.Warn("TURN goes on with the certificate that it had: the new one cannot be read", "cert", c.cert, "key", c.key, "err", err)
		return c.loaded
	}
	c.log.Info("TURN reads a new certificate", "cert", c.cert)
	c.loaded = &pair
	return c.loaded
}

func (c *certificate) look() (state [2]fileState) {
	for i, name := range []string{c.cert, c.key} {
		if info, err := os.Stat(name); err == nil {
			state[i] = fileState{info.Size(), info.ModTime()}
		}
	}
	return state
}
