package config

import (
	"fmt"

	"github.com/jub0bs/cors"
)

// Limits are requests a second of one address; 0 is no limit.
type Limits struct {
	Reading   float64 `koanf:"reading"`
	Writing   float64 `koanf:"writing"`
	Operating float64 `koanf:"operating"`
	Heavy     float64 `koanf:"heavy"`
}

func (l Limits) validate() (wrong []error) {
	for name, n := range map[string]float64{"reading": l.Reading, "writing": l.Writing, "operating": l.Operating, "heavy": l.Heavy} {
		if !(n == 0 || n >= 0.001 && n <= 1_000_000) { // NaN is neither
			wrong = append(wrong, fmt.Errorf("limits.%s: must be 0.001 to 1000000 requests a second, or 0 for no limit", name))
		}
	}
	return wrong
}

// validateOrigins asks who will read them: an origin is written in one way only.
func validateOrigins(origins []string) (wrong []error) {
	for _, origin := range origins {
		if _, err := cors.NewMiddleware(cors.Config{Origins: []string{origin}}); err != nil {
			wrong = append(wrong, fmt.Errorf("cors_origins: %q is not an origin: write it as https://radio.example, without a path", origin))
		}
	}
	return wrong
}
