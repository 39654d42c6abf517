package app

import (
	"context"
	"crypto/rand"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// openFeedback opens votes, reactions and vibe. The mission's reactions data
// file is beside the database.
func openFeedback(
	ctx context.Context, cfg *config.Config, log *slog.Logger, db *store.DB, view func() *scheduler.View, tell func(event string, payload any),
) (*feedback.Feedback, error) {
	return feedback.Open(ctx, feedback.Options{
		Log: log, DB: db, Now: time.Now, Air: func() feedback.Air { return airOf(view()) },
		Tell: tell, DataFile: filepath.Join(cfg.DataDir, "reactions.json"),
	})
}

// newHub makes the events of this start of the station.
func newHub(log *slog.Logger) *events.Hub { return events.NewHub(log, rand.Text()) }

// airOf shows the air as the votes want it.
func airOf(v *scheduler.View) feedback.Air {
	var out feedback.Air
	for _, a := range append([]scheduler.OnAir{v.OnAir}, v.Past...) {
		if !a.StartedAt.IsZero() {
			out.Heard = append(out.Heard, feedback.Airing{ID: a.ID(), Path: a.Track.Path})
		}
	}
	for _, e := range v.Left() {
		out.Queue = append(out.Queue, e.Track.Path)
	}
	return out
}

// settled is a track marker, which comes in the node's time, after which the votes
// of what is heard are cleared.
func settled(
	take func(context.Context, scheduler.Marker) (string, error), when func(time.Time) time.Time, votes *feedback.Votes,
) func(context.Context, scheduler.Marker) (string, error) {
	return func(ctx context.Context, m scheduler.Marker) (string, error) {
		if m.At.UnixMilli() != 0 { // a boot has none
			m.At = when(m.At)
		}
		outcome, err := take(ctx, m)
		if err == nil {
			_ = votes.Settle(ctx) // logged; it is done with the next one
		}
		return outcome, err
	}
}
