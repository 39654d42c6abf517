package config

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
)

// Live configures who may break in live, and how they reach the station.
type Live struct {
	Address   string   `koanf:"address"`
	TLSCert   string   `koanf:"tls_cert"`
	TLSKey    string   `koanf:"tls_key"`
	PublicIPs []string `koanf:"public_ips"`
	STUN      []string `koanf:"stun"`
	TURN      bool     `koanf:"turn"`
	// TURNServers are the operator's own; they take the place of the one inside.
	TURNServers         []string `koanf:"turn_servers"`
	Networks            []string `koanf:"networks"`
	Sessions            int      `koanf:"sessions"`
	Record              bool     `koanf:"record"`
	RecordingsDays      float64  `koanf:"recordings_days"`
	RecordingsGigabytes float64  `koanf:"recordings_gigabytes"`
}

func (l Live) validate() (wrong []error) {
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	check(l.Address == "" || (strings.HasPrefix(l.Address, "http://") || strings.HasPrefix(l.Address, "https://")) && oneLine(l.Address) && !strings.HasSuffix(l.Address, "/"),
		"live.address: must be https://HOST or https://HOST:PORT, without a path, or empty")
	check((l.TLSCert == "") == (l.TLSKey == ""), "live.tls_cert: needs live.tls_key, and live.tls_key needs live.tls_cert")
	for name, path := range map[string]string{"tls_cert": l.TLSCert, "tls_key": l.TLSKey} {
		check(path == "" || filepath.IsAbs(path), "live.%s: must be the absolute path of a PEM file", name)
	}
	for _, text := range l.PublicIPs {
		a, err := netip.ParseAddr(strings.TrimSpace(text))
		check(err == nil && !a.IsUnspecified(), "live.public_ips: %q must be an address, as in 203.0.113.7", text)
	}
	for _, text := range l.STUN {
		check(strings.HasPrefix(text, "stun:") && oneLine(text), "live.stun: %q must be stun:HOST:PORT", text)
	}
	for _, text := range l.TURNServers {
		check((strings.HasPrefix(text, "turn:") || strings.HasPrefix(text, "turns:")) && oneLine(text), "live.turn_servers: %q must be turn:HOST:PORT or turns:HOST:PORT", text)
	}
	if _, err := l.NetworkList(); err != nil {
		wrong = append(wrong, err)
	}
	check(l.Sessions >= 1 && l.Sessions <= 200, "live.sessions: must be 1 to 200")
	check(l.RecordingsDays >= 0, "live.recordings_days: must not be negative")
	check(l.RecordingsGigabytes > 0, "live.recordings_gigabytes: must be more than 0: recordings are bounded, and live.record: false switches them off")
	return wrong
}

// NetworkList reads the networks; the error names the first that is wrong.
func (l Live) NetworkList() ([]netip.Prefix, error) {
	return networkList("live.networks", l.Networks)
}

// RecordingsDir holds the recordings of live broadcasts, on the node.
func (c *Config) RecordingsDir() string { return filepath.Join(c.DataDir, "recordings") }

// PodcastsDir holds the sounds of episodes.
func (c *Config) PodcastsDir() string { return filepath.Join(c.DataDir, "podcasts") }

// PipeDir holds the FIFOs of live audio, on the node.
func (c *Config) PipeDir() string { return filepath.Join(c.NodeDir(), "live") }

// WHIPPipe is the FIFO that the WHIP server writes and the live desk reads.
func (c *Config) WHIPPipe() string { return filepath.Join(c.PipeDir(), "whip.pcm") }

// BedDir holds the bed of a show on a node that shares no disk with the control plane.
func (c *Config) BedDir() string { return filepath.Join(c.NodeDir(), "bed") }

// RecordingsBytes is what recordings may take.
func (l Live) RecordingsBytes() int64 { return int64(l.RecordingsGigabytes * (1 << 30)) }
