package api_test

import (
	"testing"

	"github.com/athir-radio/athir/internal/web/api"
)

func TestOnlyNamedOriginsConnectToTheEvents(t *testing.T) {
	for _, c := range []struct {
		origins []string
		origin  string
		want    bool
	}{
		{nil, "https://radio.example", false},
		{[]string{"*"}, "https://radio.example", false},
		{[]string{"*"}, "null", false},
		{[]string{"https://radio.example"}, "https://radio.example", true},
		{[]string{"*", "https://radio.example"}, "https://radio.example", true},
		{[]string{"https://radio.example"}, "https://radio.example.evil.example", false},
		{[]string{"https://radio.example"}, "http://radio.example", false},
		{[]string{"https://radio.example"}, "null", false},
		{[]string{"https://*.radio.example"}, "https://www.radio.example", true},
		{[]string{"https://*.radio.example"}, "https://radio.example", false},
	} {
		if got := api.OriginNamed(c.origins)(c.origin); got != c.want {
			t.Errorf("%q with %q: %v", c.origin, c.origins, got)
		}
	}
}
