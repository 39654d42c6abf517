package icecast

import (
	"context"
	"net/http"
)

// TrimBy is Trim that tells addresses of this machine apart: all but 127.0.0.1 are others'.
func TrimBy(ctx context.Context, web *http.Client, o Options, perAddress int) (int, error) {
	return trim(ctx, web, o, perAddress, func(l Listener) string {
		if l.Address == "127.0.0.1" {
			return ""
		}
		return l.Address
	})
}
