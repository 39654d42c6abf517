package registry

import (
	"context"
	"slices"

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
	return r.feed(ctx, f, false, a.Publisher)
}

// makeRoom leaves out the address of an account that was live longest ago, where it has too
// many for another.
func (all records) makeRoom(owner string) records {
	n, oldest := 0, -1
	for i, s := range all {
		if s.Owner != owner || owner == "" {
			continue
		}
		if n++; oldest < 0 || max(s.LastLiveAt, s.AddedAt) < max(all[oldest].LastLiveAt, all[oldest].AddedAt) {
			oldest = i
		}
	}
	if n < live.MostOwned {
		return all
	}
	return slices.Delete(all, oldest, oldest+1)
}
