package onsocial

import (
	"net/http"
	"time"
)

// OnFrontWithin is OnFront with more time than a busy machine takes.
func OnFrontWithin(station string, within time.Duration) func(built, control http.Handler) http.Handler {
	return onFront(station, within)
}
