package config

import (
	"fmt"

	"github.com/athir-radio/athir/internal/station"
)

// Requests configures what listeners may ask for.
type Requests struct {
	Enabled      bool     `koanf:"enabled"`
	Categories   []string `koanf:"categories"`
	EveryMinutes float64  `koanf:"every_minutes"`
	PerDay       int      `koanf:"per_day"`
	Waiting      int      `koanf:"waiting"`
	RestMinutes  float64  `koanf:"rest_minutes"`
	ExpireHours  float64  `koanf:"expire_hours"`
}

// CategoryList returns the categories that may be asked for.
func (r Requests) CategoryList() []station.Category {
	out := make([]station.Category, len(r.Categories))
	for i, c := range r.Categories {
		out[i] = station.Category(c)
	}
	return out
}

func (r Requests) validate() (wrong []error) {
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	for _, c := range r.CategoryList() {
		check(c.Music(), "requests.categories: %q is not one of music: use arabic_hits, english, mashups, social", string(c))
	}
	check(len(r.Categories) > 0 || !r.Enabled, "requests.categories: name one, or set requests.enabled: false")
	check(r.EveryMinutes >= 0 && r.EveryMinutes <= 24*60, "requests.every_minutes: must be 0 (no pause) to 1440")
	check(r.PerDay >= 1 && r.PerDay <= 1000, "requests.per_day: must be 1 to 1000")
	check(r.Waiting >= 1 && r.Waiting <= 200, "requests.waiting: must be 1 to 200")
	check(r.RestMinutes >= 0 && r.RestMinutes <= 72*60, "requests.rest_minutes: must be 0 (as the rotation has it) to 4320")
	check(r.ExpireHours >= 0.5 && r.ExpireHours <= 48, "requests.expire_hours: must be 0.5 to 48")
	return wrong
}
