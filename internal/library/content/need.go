package content

import (
	"context"

	"github.com/athir-radio/athir/internal/station"
)

// Registry is the registry of the media folder. Paths are relative to it, with
// forward slashes.
type Registry interface {
	// Tracks returns everything playable. The slice is shared: it is not changed.
	Tracks() []station.Track
	// Broken returns files of the media folder that cannot be played, and why.
	Broken() map[string]string
	// Refused returns tracks that can be read and still do not air, because they
	// cannot be brought to the station's loudness, and why.
	Refused() map[string]string
	// Scan returns once files added or removed before the call are registered
	// and the planners have been told. Scans run one after another: none brings
	// back what an earlier one removed. With paths only those are looked at, at once: whole
	// files, or ones that are gone.
	Scan(ctx context.Context, paths ...string) error
}

// OnAir is what is on air and planned.
type OnAir interface {
	// Protected returns the paths that may be opened at any moment: now playing,
	// prepared by the engine or about to be from a list it still holds, queued,
	// the last played and the next 40 of the rotation. After an error nothing
	// is moved.
	Protected(ctx context.Context) ([]string, error)
	// Holding returns those of paths that the rotation holds. It answers once
	// every build that began before the call is committed or dropped: one under
	// way may still have seen decks in which the paths were shown.
	Holding(ctx context.Context, paths []string) ([]string, error)
	// Rebuild plans and pushes a new rotation, however fresh the old one is, and
	// returns once it is committed.
	Rebuild(ctx context.Context) error
	// Plays returns how often each path was heard, as far as that is remembered.
	Plays(ctx context.Context) (map[string]int, error)
}

// Prints knows which recordings the library has.
type Prints interface {
	// Find returns the paths of tracks that are the same recording as a file,
	// the likest first. A file without features worth comparing has none.
	Find(ctx context.Context, file string) ([]string, error)
	// SameName returns the paths of tracks whose tags name the same song.
	SameName(artist, title string) []string
	// Add remembers a file that was placed at a path.
	Add(ctx context.Context, path, file, artist, title string) error
}

// Imaging makes the station's sweepers, voice drops, IDs and stingers.
type Imaging interface {
	// Old returns the paths of what it has made so far.
	Old(ctx context.Context) ([]string, error)
	// Make makes a new set beside the old one. It returns how many files, and which
	// others could not be made; an error says that the old set must stay. It calls hold
	// between two files: making them may wait.
	Make(ctx context.Context, hold func(context.Context) error, progress func(done, total int, detail string)) (made int, failed []error, err error)
}

// Catalog lists the search terms of each category.
type Catalog interface {
	Singers() map[station.Category][]string
	Queries() map[station.Category][]string
}
