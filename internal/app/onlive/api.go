package onlive

import (
	"context"
	"path/filepath"

	"github.com/athir-radio/athir/internal/kit/filename"
	"github.com/athir-radio/athir/internal/live/publisher"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// liveAccounts adapts the accounts for the API.
type liveAccounts struct{ *publisher.Publishers }

// List implements api.LivePublishers.
func (p liveAccounts) List(ctx context.Context) ([]api.LivePublisher, error) {
	all, err := p.Publishers.List(ctx)
	out := make([]api.LivePublisher, len(all))
	for i, one := range all {
		out[i] = shownPublisher(one)
	}
	return out, err
}

// Add implements api.LivePublishers.
func (p liveAccounts) Add(ctx context.Context, o api.LivePublisher) (api.LivePublisher, error) {
	one, err := p.Publishers.Add(ctx, publisherOf(o))
	return shownPublisher(one), err
}

// Change implements api.LivePublishers.
func (p liveAccounts) Change(ctx context.Context, o api.LivePublisher) (api.LivePublisher, error) {
	one, err := p.Publishers.Change(ctx, publisherOf(o))
	return shownPublisher(one), err
}

// Revoke implements api.LivePublishers.
func (p liveAccounts) Revoke(ctx context.Context, id string) (api.LivePublisher, error) {
	one, err := p.Publishers.Revoke(ctx, id)
	return shownPublisher(one), err
}

// NewSecret implements api.LivePublishers.
func (p liveAccounts) NewSecret(ctx context.Context, id string) (api.LivePublisher, error) {
	one, err := p.Publishers.NewSecret(ctx, id)
	return shownPublisher(one), err
}

func shownPublisher(p publisher.Publisher) api.LivePublisher {
	out := api.LivePublisher{
		ID: p.ID, Name: p.Name, Show: p.Show, From: p.From, Until: p.Until, Grace: p.Grace, Auto: p.Auto,
		Revoked: p.Revoked, CreatedAt: p.CreatedAt, LastLiveAt: p.LastLiveAt, Secret: p.Secret,
	}
	for _, s := range p.Slots {
		out.Slots = append(out.Slots, api.LiveSlot(s))
	}
	return out
}

func publisherOf(p api.LivePublisher) publisher.Publisher {
	out := publisher.Publisher{ID: p.ID, Name: p.Name, Show: p.Show, From: p.From, Until: p.Until, Grace: p.Grace, Auto: p.Auto}
	for _, s := range p.Slots {
		out.Slots = append(out.Slots, publisher.Slot(s))
	}
	return out
}

// liveRecordings adapts the node's recordings for the API.
type liveRecordings struct {
	wire.Recordings
	inbox string
}

// List implements api.LiveRecordings.
func (r liveRecordings) List(ctx context.Context) ([]api.LiveRecording, error) {
	all, err := r.Recordings.List(ctx)
	out := make([]api.LiveRecording, len(all))
	for i, one := range all {
		out[i] = api.LiveRecording{
			Name: one.Name, Stream: one.StreamID, Title: one.Title, Creator: one.Presenter, StartedAt: one.Began,
			DurationMS: one.DurationMS, Bytes: one.Bytes, Running: one.Ended == 0, Problem: one.Problem,
		}
		if one.Listeners != nil {
			out[i].Listeners = &api.LiveListeners{Average: *one.Listeners, Most: one.MostListeners}
		}
	}
	return out, err
}

// Take implements api.LiveRecordings: the inbox reads artist and title from the name.
func (r liveRecordings) Take(ctx context.Context, name string, as station.Category, title, artist string) (string, error) {
	path, err := r.Save(ctx, name, filepath.Join(r.inbox, string(as)), filename.Of(artist, title, name, ".mp3"))
	if err != nil {
		return "", err
	}
	return filepath.Join(string(as), filepath.Base(path)), nil
}
