package content

import (
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Request is what a refresh brings in (mission: POST /api/content/refresh).
type Request struct {
	Songs   int  `json:"songs"`   // over the categories, by Options.Shares
	Ads     int  `json:"ads"`     //
	Restore bool `json:"restore"` // bring back from the archive what categories lack
}

// DefaultRequest is the mission's: 20 songs, 16 ads, nothing restored.
func DefaultRequest() Request { return Request{Songs: 20, Ads: 16} }

// most bounds what one request can ask for.
const most = 500

func (r Request) check() error {
	for name, n := range map[string]int{"songs": r.Songs, "ads": r.Ads} {
		if n < 0 || n > most {
			return fmt.Errorf("%s: %w: must be 0 to %d", name, station.ErrInvalid, most)
		}
	}
	return nil
}

// Result is what a refresh or a fetch did. Times are epoch milliseconds.
type Result struct {
	Run        int64                       `json:"run"`
	Trigger    string                      `json:"trigger"` // manual, schedule or fetch
	Request    Request                     `json:"request"`
	StartedAt  int64                       `json:"startedAt"`
	TookMs     int64                       `json:"tookMs"`
	Categories map[station.Category]*Count `json:"categories"`
	Imaging    int                         `json:"imaging"` // files made
	Restored   *Restored                   `json:"restored,omitempty"`
	// Purged: files have left their decks for the archive.
	Purged bool `json:"purged"`
	// Rebuilt: the rotation was built anew for it.
	Rebuilt bool `json:"rebuilt"`
	// Expired archived files were deleted for good.
	Expired   int       `json:"expired"`
	Problems  []Problem `json:"problems"`
	Cancelled bool      `json:"cancelled"`
}

// Count is what happened in one category, in files.
type Count struct {
	Wanted   int            `json:"wanted"`
	Found    int            `json:"found"`              // candidates nobody knew
	Fetched  int            `json:"fetched"`            // brought here
	Added    int            `json:"added"`              // placed in the deck
	Refused  int            `json:"refused"`            // for good
	Refusals map[string]int `json:"refusals,omitempty"` // by reason code
	Failed   int            `json:"failed"`             // tried again another time
	Archived int            `json:"archived"`
	Kept     int            `json:"kept"` // should be archived, but are on air or about to be
	Restored int            `json:"restored"`
	Tracks   int            `json:"tracks"` // in the deck afterwards
}

// Problem is something that went wrong without ending the run.
type Problem struct {
	Step Step   `json:"step"`
	Text string `json:"text"`
}

func (r *Result) count(category station.Category) *Count {
	if r.Categories[category] == nil {
		r.Categories[category] = &Count{}
	}
	return r.Categories[category]
}

func (n *Count) refuse(code string) {
	n.Refused++
	if n.Refusals == nil {
		n.Refusals = map[string]int{}
	}
	n.Refusals[code]++
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
