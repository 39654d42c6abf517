package rotation

import (
	"slices"
	"strings"
	"testing"
)

// Every limit is taken, and what lies just beyond it is refused.
func TestLimitsAreExact(t *testing.T) {
	offset := func(o Offset) *Offset { return &o }
	clock := func(change func(*HourClock)) func(*Config) {
		return func(c *Config) {
			c.Clocks = []HourClock{{Name: "a", Hour: []Position{{Category: "music"}}}}
			change(&c.Clocks[0])
		}
	}
	hour := func(positions ...Position) func(*Config) { return clock(func(c *HourClock) { c.Hour = positions }) }
	many := func(n int) []Position { return slices.Repeat([]Position{{Category: "music"}}, n) }
	for name, tc := range map[string]struct{ within, beyond func(*Config) }{
		"BUFFER_MAX":        {func(c *Config) { c.Rotation.BufferMax = 1000 }, func(c *Config) { c.Rotation.BufferMax = 1001 }},
		"BUFFER_MAX low":    {func(c *Config) { c.Rotation.BufferMax = 1 }, func(c *Config) { c.Rotation.BufferMax = 0 }},
		"REFRESH_FRACTION":  {func(c *Config) { c.Rotation.RefreshFraction = 1 }, func(c *Config) { c.Rotation.RefreshFraction = 1.001 }},
		"REFRESH low":       {func(c *Config) { c.Rotation.RefreshFraction = 0.001 }, func(c *Config) { c.Rotation.RefreshFraction = 0 }},
		"a gap":             {func(c *Config) { c.Rotation.TitleGap = 72 * 3_600_000 }, func(c *Config) { c.Rotation.TitleGap = 72*3_600_000 + 1 }},
		"a gap low":         {func(c *Config) { c.Rotation.TitleGap = 0 }, func(c *Config) { c.Rotation.TitleGap = -1 }},
		"MAX_PLAYS_DAY":     {func(c *Config) { c.Rotation.MaxPlaysDay = 1000 }, func(c *Config) { c.Rotation.MaxPlaysDay = 1001 }},
		"MAX_PLAYS_DAY low": {func(c *Config) { c.Rotation.MaxPlaysDay = 0 }, func(c *Config) { c.Rotation.MaxPlaysDay = -1 }},
		"POST_EVERY":        {func(c *Config) { c.Rotation.PostEvery = 120 }, func(c *Config) { c.Rotation.PostEvery = 121 }},
		"POST_EVERY low":    {func(c *Config) { c.Rotation.PostEvery = 3 }, func(c *Config) { c.Rotation.PostEvery = 2 }},
		"POST_EVERY off":    {func(c *Config) { c.Rotation.PostEvery = 0 }, func(c *Config) { c.Rotation.PostEvery = -1 }},
		"REQUEST_EVERY":     {func(c *Config) { c.Rotation.RequestEvery = 120 }, func(c *Config) { c.Rotation.RequestEvery = 121 }},
		"REQUEST_EVERY low": {func(c *Config) { c.Rotation.RequestEvery = 3 }, func(c *Config) { c.Rotation.RequestEvery = 1 }},
		"REQUEST_EVERY off": {func(c *Config) { c.Rotation.RequestEvery = 0 }, func(c *Config) { c.Rotation.RequestEvery = -1 }},
		"slots":             {func(c *Config) { c.Rotation.SigJingleMinSlots, c.Rotation.SigJingleMaxSlots = 1, 1 }, func(c *Config) { c.Rotation.SigJingleMinSlots, c.Rotation.SigJingleMaxSlots = 0, 0 }},
		"MASHUP_CHANCE":     {func(c *Config) { c.MashupChance = 1 }, func(c *Config) { c.MashupChance = 1.001 }},
		"AD_EVERY":          {func(c *Config) { c.AdEvery = 0 }, func(c *Config) { c.AdEvery = -1 }},
		"clock name":        {clock(func(c *HourClock) { c.Name = strings.Repeat("n", 60) }), clock(func(c *HourClock) { c.Name = strings.Repeat("n", 61) })},
		"clock start":       {clock(func(c *HourClock) { c.Start = 24*60 - 1 }), clock(func(c *HourClock) { c.Start = 24 * 60 })},
		"clock end":         {clock(func(c *HourClock) { c.End = 24 * 60 }), clock(func(c *HourClock) { c.End = 24*60 + 1 })},
		"clock day":         {clock(func(c *HourClock) { c.Days = []Weekday{0, 6} }), clock(func(c *HourClock) { c.Days = []Weekday{7} })},
		"count":             {hour(Position{Category: "music", Count: 60}), hour(Position{Category: "music", Count: 61})},
		"count low":         {hour(Position{Category: "music", Count: 0}), hour(Position{Category: "music", Count: -1})},
		"tolerance":         {hour(Position{Category: "news", At: offset(0), Tolerance: 600}), hour(Position{Category: "news", At: offset(0), Tolerance: 601})},
		"timed count":       {hour(Position{Category: "news", At: offset(0), Count: 1}), hour(Position{Category: "news", At: offset(0), Count: 2})},
		"order of events": {
			hour(Position{Category: "news", At: offset(9)}, Position{Category: "ads", At: offset(10)}), hour(Position{Category: "news", At: offset(10)}, Position{Category: "ads", At: offset(10)}),
		},
		"positions": {hour(many(500)...), hour(many(501)...)},
	} {
		within, beyond := DefaultConfig(), DefaultConfig()
		tc.within(&within)
		tc.beyond(&beyond)
		if err := within.Validate(); err != nil {
			t.Errorf("%s: the limit itself is refused: %v", name, err)
		}
		if err := beyond.Validate(); err == nil {
			t.Errorf("%s: what lies beyond the limit is taken", name)
		}
	}
}
