package onsocial

import (
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/web/pages"
)

// OnFrontWithin is OnFront with another bound on the control plane's answer, for tests on a
// busy machine.
func OnFrontWithin(control http.Handler, station func() string, within time.Duration) func(*http.Request) *pages.Description {
	return onFront(control, station, within)
}
