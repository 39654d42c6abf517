package app

import (
	"context"
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/station"
)

type anyNode struct{}

func (anyNode) Push(_ context.Context, items []playlist.Item) (int, error) { return len(items), nil }
func (anyNode) InPlace(context.Context) ([]playlist.Item, error)           { return nil, nil }

// fixed is a library that never changes.
type fixed []station.Track

func (f fixed) Tracks() ([]station.Track, bool)      { return f, false }
func (f fixed) Subscribe() (<-chan struct{}, func()) { return nil, func() {} }

func (f fixed) Find(path string) (station.Track, bool) {
	i := slices.IndexFunc(f, func(t station.Track) bool { return t.Path == path })
	if i < 0 {
		return station.Track{}, false
	}
	return f[i], true
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
