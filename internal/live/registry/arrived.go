package registry

import (
	"context"

	"github.com/athir-radio/athir/internal/live"
)

// Arrived registers audio that has begun to come to the station by itself: RegisterPipe
// for a phone, RegisterFeed for everything else. Errors: as of Register.
func (r *Registry) Arrived(ctx context.Context, a live.Arrival) (live.Stream, error) {
	f := Fields{URL: a.URL, Title: a.Title, Creator: a.Creator}
	if a.Protocol == live.WHIP {
		f.Ingest = "webrtc"
		return r.RegisterPipe(ctx, f)
	}
	return r.RegisterFeed(ctx, f)
}
