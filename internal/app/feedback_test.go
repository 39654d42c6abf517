package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// A marker of a remote engine comes in our time; a boot keeps having none.
func TestMarkersOfARemoteEngineComeInOurTime(t *testing.T) {
	dir := t.TempDir()
	db, err := store.Open(t.Context(), filepath.Join(dir, "athir.db"))
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	said, err := openFeedback(t.Context(), &config.Config{DataDir: dir}, slog.New(slog.DiscardHandler), db,
		func() *scheduler.View { return &scheduler.View{} }, func(string, any) {})
	must(t, err)
	at, ahead := time.UnixMilli(1_700_000_000_000), 90*time.Second
	var got []time.Time
	take := settled(func(_ context.Context, m scheduler.Marker) (string, error) {
		got = append(got, m.At)
		return "", nil
	}, func(there time.Time) time.Time { return there.Add(-ahead) }, said.Votes)
	_, _ = take(t.Context(), scheduler.Marker{At: at.Add(ahead)})
	_, _ = take(t.Context(), scheduler.Marker{Kind: scheduler.Boot, At: time.UnixMilli(0)})
	if want := []time.Time{at, time.UnixMilli(0)}; !slices.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("came at %v, want %v", got, want)
	}
}
