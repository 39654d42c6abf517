// Package census counts who is there by kind of device and by country. It classifies a request
// once and keeps only the two classes: no address, no User-Agent and no id, in memory or in a
// log. Both sets of classes are fixed, so that nobody makes a count grow by what they send.
//
// It does not tell people apart, and decides nothing.
package census

import (
	"maps"
	"net/http"
	"slices"

	"github.com/athir-radio/athir/internal/kit/client"
)

// Who is what is kept of one listener. The zero value is an unknown device in an unknown
// country.
type Who struct {
	Device  Device
	Country Country
}

// Who classifies the sender of a request. Whose address it is goes by client.Address, which
// believes proxies of this machine alone. A nil Atlas knows no country.
func (a *Atlas) Who(r *http.Request) Who {
	return Who{DeviceOf(r.UserAgent()), a.Country(client.Address(r))}
}

// Count is how many there are of each kind.
type Count map[Who]int

// Crowd is a Count by device and by country, as it is told and stored. Names are those of
// Devices and of Countries.
type Crowd struct {
	Devices   map[string]int `json:"devices,omitempty"`
	Countries map[string]int `json:"countries,omitempty"`
}

// Crowd sums a count up.
func (c Count) Crowd() Crowd {
	var out Crowd
	for who, n := range c {
		out.Add(who, n)
	}
	return out
}

// Add counts n more of a kind.
func (c *Crowd) Add(who Who, n int) {
	if n > 0 {
		c.add(who.Device.String(), who.Country.String(), n)
	}
}

func (c *Crowd) add(device, country string, n int) {
	if c.Devices == nil {
		c.Devices, c.Countries = map[string]int{}, map[string]int{}
	}
	c.Devices[device] += n
	c.Countries[country] += n
}

// Join adds another crowd.
func (c *Crowd) Join(other Crowd) {
	for name, n := range other.Devices {
		if c.Devices == nil {
			c.Devices = map[string]int{}
		}
		c.Devices[name] += n
	}
	for code, n := range other.Countries {
		if c.Countries == nil {
			c.Countries = map[string]int{}
		}
		c.Countries[code] += n
	}
}

// Fit returns what of a crowd that a stranger tells may be counted where there are n
// listeners: n by device and n by country, under names of the two sets alone. What is too much
// is left out, and what is missing is unknown.
func (c Crowd) Fit(n int) Crowd {
	if n <= 0 {
		return Crowd{}
	}
	return Crowd{
		Devices:   fit(c.Devices, n, func(name string) string { d, _ := DeviceNamed(name); return d.String() }, Other.String()),
		Countries: fit(c.Countries, n, func(code string) string { return CountryNamed(code).String() }, Country{}.String()),
	}
}

func fit(told map[string]int, n int, known func(string) string, unknown string) map[string]int {
	out, left := map[string]int{}, n
	for _, name := range slices.Sorted(maps.Keys(told)) {
		if is := known(name); is == name && name != unknown {
			if take := min(max(told[name], 0), left); take > 0 {
				out[name] = take
				left -= take
			}
		}
	}
	if left > 0 {
		out[unknown] = left
	}
	return out
}
