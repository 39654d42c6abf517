// Package schedulertest holds the plainest surroundings of a scheduler, for
// tests whose subject is another: a library that never changes and a node that
// takes every list.
package schedulertest

import (
	"context"
	"slices"

	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/station"
)

// Node implements scheduler.Delivery: every list is pushed whole, none is in place.
type Node struct{}

// Push keeps every item.
func (Node) Push(_ context.Context, items []playlist.Item) (int, error) { return len(items), nil }

// InPlace finds no list.
func (Node) InPlace(context.Context) ([]playlist.Item, error) { return nil, nil }

// Library implements scheduler.Library with tracks that never change.
type Library []station.Track

// Tracks returns all of them; no scan is under way.
func (l Library) Tracks() ([]station.Track, bool) { return l, false }

// Subscribe never tells of a change.
func (l Library) Subscribe() (<-chan struct{}, func()) { return nil, func() {} }

// Find returns the track of a path.
func (l Library) Find(path string) (station.Track, bool) {
	i := slices.IndexFunc(l, func(t station.Track) bool { return t.Path == path })
	if i < 0 {
		return station.Track{}, false
	}
	return l[i], true
}
