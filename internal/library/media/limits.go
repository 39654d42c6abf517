package media

import (
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// lowestRate is half of telephone audio's. A header with less is not of a recording:
	// at 1 Hz, 100 kB "last" a day.
	lowestRate  = 4000
	highestRate = 768000 // Hz, of the finest converters
	// briefest is what mastering needs at least.
	briefest = 100 * time.Millisecond
)

// longestOf is how long a file of a category may be. These are limits of what is
// plausible in the operator's own folder, and wide: a concert fits among the songs, a
// set of hours among the mixes. What is fetched is held to narrower ones (content).
func longestOf(category station.Category) time.Duration {
	switch category {
	case station.Mashups:
		return 6 * time.Hour
	case station.News:
		return 2 * time.Hour
	case station.Ads, station.Shorts:
		return 10 * time.Minute
	case station.Jingles, station.Sweepers, station.SFX:
		return 5 * time.Minute
	}
	return 3 * time.Hour
}

// longestAny is more than any category allows: no more of a file is decoded to learn
// its length.
const longestAny = 6*time.Hour + time.Minute

// fitsIn refuses a file whose rate or length is out of place in its category.
func fitsIn(category station.Category, info *audiofile.Info) error {
	longest := longestOf(category)
	switch rate := info.SampleRate; {
	case rate != 0 && (rate < lowestRate || rate > highestRate):
		return &refusal{reason: fmt.Sprintf("its sample rate is %d Hz: %d to %d can be played", rate, lowestRate, highestRate), kind: OddRate}
	case info.Duration < briefest:
		return &refusal{reason: fmt.Sprintf("it is too short: %s; at least %s are needed", info.Duration.Round(time.Millisecond), briefest), kind: TooShort}
	case info.Duration > longest:
		return &refusal{reason: fmt.Sprintf("it lasts %s: a file of %s lasts %s at most", info.Duration.Round(time.Second), category, span(longest)), kind: TooLong}
	}
	return nil
}

// span is a round length for people.
func span(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d min", d/time.Minute)
}
