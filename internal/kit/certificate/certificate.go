// Package certificate keeps the TLS certificate of a server current: a pair of files is read
// anew when they have changed, because certificates are renewed while servers run.
package certificate

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// RenewAhead is how long before its end a certificate should be renewed: those that are
// renewed by themselves have a month.
const RenewAhead = 14 * 24 * time.Hour

// Certificate is a pair of files. Where new ones cannot be read, or do not belong together
// yet, the old one stays.
type Certificate struct {
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

// Open reads the pair; the error names the files.
func Open(cert, key string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, log: log}
	c.state = c.look()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read certificate %s and its key %s: %w", cert, key, err)
	}
	c.loaded = &pair
	return c, nil
}

// Config is the TLS configuration of a server with it.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil }}
}

func (c *Certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := c.look()
	if state == c.state {
		return c.loaded
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	c.state = state // what cannot be read is not read again until it changes
	if err != nil {
		c.log.Warn("the old certificate stays, the new one cannot be read", "cert", c.cert, "key", c.key, "err", err)
		return c.loaded
	}
	c.log.Info("new certificate", "cert", c.cert)
	c.loaded = &pair
	return c.loaded
}

func (c *Certificate) look() (state [2]fileState) {
	for i, name := range []string{c.cert, c.key} {
		if info, err := os.Stat(name); err == nil {
			state[i] = fileState{info.Size(), info.ModTime()}
		}
	}
	return state
}
