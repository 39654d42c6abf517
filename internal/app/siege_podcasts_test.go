package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// besiegedShow is the slug of a show with episodes.
const besiegedShow = "talk"

// besiegedPodcasts are real, made of broadcasts of a few bytes; ids are those of some episodes.
func besiegedPodcasts(t *testing.T, log *slog.Logger, db *store.DB, dir string) (surface *api.Podcasts, run func(context.Context) error, ids []string) {
	t.Helper()
	origin := oldBroadcasts{}
	all, err := podcast.Open(t.Context(), podcast.Options{
		Log: log, DB: db, Dir: dir, Finish: unchangedSound{}, Station: func() string { return "أثير" }, MostBytes: 1 << 20,
		Origins: map[podcast.Kind]podcast.Origin{podcast.Live: origin, podcast.Bulletins: origin, podcast.Posts: origin, podcast.Library: origin},
	})
	must(t, err)
	_, err = all.Create(t.Context(), podcast.Own{
		Slug: besiegedShow, On: true, Title: "حديث", Language: "ar", Categories: []string{"Music"}, From: podcast.From{Kind: podcast.Live},
	}, "http://127.0.0.1/podcasts/talk/feed.xml")
	must(t, err)
	for i := range 3 {
		e, err := all.Add(t.Context(), besiegedShow, podcast.Source{Kind: podcast.Live, Key: broadcastKey(i)})
		must(t, err)
		ids = append(ids, e.ID)
	}
	return &api.Podcasts{Shows: all, Live: func(slug string) bool { return slug == besiegedShow }}, all.Run, ids
}

func broadcastKey(i int) string { return fmt.Sprintf("20260601-%06d-sara.mp3", i) }

// oldBroadcasts are ten that were recorded.
type oldBroadcasts struct{}

func (oldBroadcasts) Offers(context.Context) (out []podcast.Raw, err error) {
	for i := range 10 {
		out = append(out, podcast.Raw{
			Source: podcast.Source{Kind: podcast.Live, Key: broadcastKey(i)}, Title: fmt.Sprintf("سهرة %d", i), Creator: "سارة",
			Began: time.UnixMilli(1_780_000_000_000 - int64(i)*86_400_000), Duration: time.Minute, Listeners: -1,
		})
	}
	return out, nil
}

func (o oldBroadcasts) Find(ctx context.Context, key string) (podcast.Raw, error) {
	all, _ := o.Offers(ctx)
	for _, raw := range all {
		if raw.Source.Key == key {
			return raw, nil
		}
	}
	return podcast.Raw{}, fmt.Errorf("this broadcast: %w", station.ErrNotFound)
}

func (oldBroadcasts) Fetch(_ context.Context, key, to string) error {
	return os.WriteFile(to, []byte("ID3 "+key), 0o600)
}

func (oldBroadcasts) Standing(context.Context, string) (podcast.Standing, error) {
	return podcast.Free, nil
}

// unchangedSound is finished as it is.
type unchangedSound struct{}

func (unchangedSound) Finish(_ context.Context, from, to string, _ podcast.Tags) (podcast.Finished, error) {
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	return podcast.Finished{Bytes: int64(len(data)), Duration: time.Minute}, err
}
