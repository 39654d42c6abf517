package config

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/jub0bs/cors"
)

// Limits are requests a second of one address; 0 is no limit.
type Limits struct {
	Reading   float64 `koanf:"reading"`
	Searching float64 `koanf:"searching"`
	Writing   float64 `koanf:"writing"`
	Operating float64 `koanf:"operating"`
	Heavy     float64 `koanf:"heavy"`
}

func (l Limits) validate() (wrong []error) {
	for name, n := range map[string]float64{"reading": l.Reading, "searching": l.Searching, "writing": l.Writing, "operating": l.Operating, "heavy": l.Heavy} {
		if !(n == 0 || n >= 0.001 && n <= 1_000_000) { // NaN is neither
			wrong = append(wrong, fmt.Errorf("limits.%s: must be 0.001 to 1000000 requests a second, or 0 for no limit", name))
		}
	}
	return wrong
}

// Connections bounds what one address may hold open at one port.
type Connections struct {
	PerAddress int      `koanf:"per_address"` // 0: no limit
	Exempt     []string `koanf:"exempt"`      // networks
}

// ExemptList reads the networks that are not counted; the error names the first
// that is wrong.
func (c Connections) ExemptList() ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range c.Exempt {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("connections.exempt: %q must be a network, as in 192.0.2.7/32", text)
		}
		out = append(out, p)
	}
	return out, nil
}

func (c Connections) validate() (wrong []error) {
	if c.PerAddress != 0 && (c.PerAddress < 50 || c.PerAddress > 1_000_000) {
		wrong = append(wrong, errors.New("connections.per_address: must be 50 to 1000000, or 0 for no limit"))
	}
	if _, err := c.ExemptList(); err != nil {
		wrong = append(wrong, err)
	}
	return wrong
}

// validateOrigins leaves the check to the CORS package that will use them.
func validateOrigins(origins []string) (wrong []error) {
	for _, origin := range origins {
		if _, err := cors.NewMiddleware(cors.Config{Origins: []string{origin}}); err != nil {
			wrong = append(wrong, fmt.Errorf("cors_origins: %q is not an origin: write it as https://radio.example, without a path", origin))
		}
	}
	return wrong
}
