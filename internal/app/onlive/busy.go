package onlive

import (
	"fmt"

	"github.com/athir-radio/athir/internal/live/desk"
	"github.com/athir-radio/athir/internal/live/whip"
)

// sourcesConnected says why the desk may not be replaced: whoever is live would be cut off.
func sourcesConnected(d *desk.Desk) func() string {
	return func() string {
		if n := d.Connected(); n > 0 {
			return fmt.Sprintf("%d live sources are connected or on the air", n)
		}
		return ""
	}
}

// phonesConnected says why the server of phones may not be replaced.
func phonesConnected(s *whip.Server) func() string {
	return func() string {
		if n := s.Connected(); n > 0 {
			return fmt.Sprintf("%d phones are connected", n)
		}
		return ""
	}
}
