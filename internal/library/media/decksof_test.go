package media

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Listeners' posts are in the library and in no deck: they air by the overlay alone.
func TestDecksLeaveListenersPostsOut(t *testing.T) {
	decks := DecksOf([]station.Track{
		{Path: "a", Category: station.ArabicHits, Duration: time.Minute}, {Path: "b", Category: station.ArabicHits, Duration: time.Hour, Submitter: "x"},
		{Path: "c", Category: station.Ads, Duration: time.Minute, Submitter: "x"},
	})
	if len(decks) != 1 || decks[station.ArabicHits] != (Deck{1, time.Minute}) {
		t.Errorf("decks %v", decks)
	}
}
