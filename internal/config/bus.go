package config

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Bus configures how the processes of a station speak to each other.
type Bus struct {
	URL    string `koanf:"url"`
	Listen string `koanf:"listen"`
	// Control is where an edge finds the control plane's HTTP, host:port.
	Control string `koanf:"control"`
}

func (b Bus) validate() (wrong []error) {
	for part := range strings.SplitSeq(b.URL, ",") {
		u, err := url.Parse(part)
		if b.URL != "" && (err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Host == "") {
			wrong = append(wrong, fmt.Errorf("bus.url: %q must be nats://host:port", part))
		}
	}
	if net.ParseIP(b.Listen) == nil {
		wrong = append(wrong, fmt.Errorf("bus.listen: %q is not an IP address: use 127.0.0.1, or 0.0.0.0 when other machines join", b.Listen))
	}
	if _, _, err := net.SplitHostPort(b.Control); b.Control != "" && err != nil {
		wrong = append(wrong, fmt.Errorf("bus.control: %q must be host:port", b.Control))
	}
	return wrong
}

// BusURL is the address of the bus for this process.
func (c *Config) BusURL() string {
	if c.Bus.URL != "" {
		return c.Bus.URL
	}
	return "nats://" + Local(c.Ports.NATS)
}

// BusListen is where the bus inside the control plane listens, host and port.
func (c *Config) BusListen() (string, int) { return c.Bus.Listen, c.Ports.NATS }

// BusToken is the token of the embedded bus. It is derived from the SYNC_TOKEN.
func (c *Config) BusToken() string {
	h := hmac.New(sha256.New, []byte(c.SyncToken))
	h.Write([]byte("athir bus"))
	return hex.EncodeToString(h.Sum(nil))
}

// ControlAddress is where the control plane answers HTTP, host:port.
func (c *Config) ControlAddress() string {
	if c.Bus.Control != "" {
		return c.Bus.Control
	}
	return net.JoinHostPort(Loopback, strconv.Itoa(c.Ports.Control))
}

// Foreign reports whether the URL holds credentials of its own: no token then.
func (b Bus) Foreign() bool { return strings.Contains(b.URL, "@") }
