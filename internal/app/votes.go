package app

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

func openVotes(ctx context.Context, log *slog.Logger, db *store.DB, view func() *scheduler.View) (*feedback.Votes, error) {
	return feedback.Open(ctx, feedback.Options{
		Log: log, DB: db, Now: time.Now, Air: func() feedback.Air { return airOf(view()) },
	})
}

// airOf shows the air as the votes want it. A marker's engine and number name
// an airing whatever the clocks say.
func airOf(v *scheduler.View) feedback.Air {
	var out feedback.Air
	for _, a := range append([]scheduler.OnAir{v.OnAir}, v.Past...) {
		if !a.StartedAt.IsZero() {
			out.Heard = append(out.Heard, feedback.Airing{ID: a.Engine + "/" + strconv.FormatUint(a.Seq, 10), Path: a.Track.Path})
		}
	}
	for _, e := range v.Left() {
		out.Queue = append(out.Queue, e.Track.Path)
	}
	return out
}

// settled is a track marker after which the votes of what is heard are cleared.
func settled(take func(context.Context, scheduler.Marker) (string, error), votes *feedback.Votes) func(context.Context, scheduler.Marker) (string, error) {
	return func(ctx context.Context, m scheduler.Marker) (string, error) {
		outcome, err := take(ctx, m)
		if err == nil {
			_ = votes.Settle(ctx) // logged; it is done with the next one
		}
		return outcome, err
	}
}
