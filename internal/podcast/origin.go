package podcast

import (
	"context"
	"time"
)

// Raw is something that an episode can be made of, as its origin tells.
type Raw struct {
	Source   Source
	Stream   string // of a broadcast: the stream's id
	Type     string // of a post
	Title    string
	Summary  string
	Artist   string
	Creator  string
	Began    time.Time // when it was on the air or was made
	From     time.Time // listeners may hear it from then on; zero: at once
	Duration time.Duration
	Chapters []Chapter
	Text     string
	// Listeners is how many heard it live, on average; below 0: nobody counted.
	Listeners float64
	Cover     string // id of a picture in the library's covers; empty: the show's
}

// Origin is where episodes of one kind come from.
type Origin interface {
	// Offers lists what can become an episode now, the newest first. Error: station.ErrUnavailable.
	Offers(ctx context.Context) ([]Raw, error)
	// Find has one of them. Errors: station.ErrNotFound, station.ErrUnavailable.
	Find(ctx context.Context, key string) (Raw, error)
	// Fetch writes the sound of one into a file that is not there yet. Errors:
	// station.ErrNotFound, station.ErrUnavailable.
	Fetch(ctx context.Context, key, to string) error
	// Standing is whether what an episode was made of may be heard. Error: it cannot be said now.
	Standing(ctx context.Context, key string) (Standing, error)
}

// Standing is whether what an episode was made of may be heard.
type Standing string

// The standings.
const (
	Free      Standing = "free"
	Withheld  Standing = "withheld"  // not now: somebody looks at it once more
	Withdrawn Standing = "withdrawn" // no longer: its sender took it back, or it was rejected
)

// Finished is a sound as listeners get it.
type Finished struct {
	Bytes    int64
	Duration time.Duration
}

// Finisher makes the sound of an episode: an MP3 at the station's loudness, with titles, picture
// and chapters in its tags.
type Finisher interface {
	// Finish reads one file and writes another, which is not there yet. cover is a JPEG; may be
	// empty. Error: station.ErrInvalid where the sound itself is the reason.
	Finish(ctx context.Context, from, to string, tags Tags) (Finished, error)
}

// Tags are what the file of an episode says of itself.
type Tags struct {
	Title, Show, Artist, Language string
	Number                        int
	Date                          time.Time
	Cover                         string // path of a JPEG; empty: none
	Chapters                      []Chapter
	Duration                      time.Duration // expected; the last chapter ends with it
}
