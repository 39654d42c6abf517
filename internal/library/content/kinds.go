package content

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/athir-radio/athir/internal/station"
)

// Kinds are what can be fetched, in the words of the API.
func Kinds() []string { return []string{"song", "mashup", "ad", "jingle", "sfx", "short"} }

// kind is what a file of a category must be.
type kind struct {
	name              string
	shortest, longest time.Duration
	song              bool // speech is out of place
}

// longestMix is the most any one file of a deck lasts.
const longestMix = 90 * time.Minute

// qualityFloor is the mission's: music under it is not aired.
const qualityFloor = 45 * time.Second

// kindOf returns the limits for a category (mission: Limits; Shorts are shorter
// than a minute).
func kindOf(category station.Category) kind {
	switch category {
	case station.Mashups:
		return kind{"mashup", qualityFloor, longestMix, true}
	case station.Shorts:
		return kind{"short", 3 * time.Second, time.Minute - time.Millisecond, false}
	case station.Ads:
		return kind{"ad", 5 * time.Second, time.Minute, false}
	case station.Jingles:
		return kind{"jingle", 2 * time.Second, 20 * time.Second, false}
	case station.Sweepers:
		return kind{"sweeper", 2 * time.Second, 15 * time.Second, false}
	case station.SFX:
		return kind{"sfx", 200 * time.Millisecond, 5 * time.Second, false}
	case station.News:
		return kind{"news", 5 * time.Second, 15 * time.Minute, false}
	}
	return kind{"song", qualityFloor, 15 * time.Minute, true}
}

// kind is kindOf under the operator's settings.
func (c *Content) kind(category station.Category) kind {
	k := kindOf(category)
	if k.name == "song" {
		k.longest = c.opt.LongestSong
	}
	return k
}

// categoryOfKind is where a kind goes when no category is named.
func categoryOfKind(name string) (station.Category, bool) {
	switch name {
	case "song":
		return station.ArabicHits, true
	case "mashup":
		return station.Mashups, true
	case "ad":
		return station.Ads, true
	case "jingle":
		return station.Jingles, true
	case "sfx":
		return station.SFX, true
	case "short":
		return station.Shorts, true
	}
	return "", false
}

// fetchable are the categories a file from outside may go to: news and social
// are made and kept elsewhere.
func fetchable(category station.Category) bool {
	return category.Valid() && category != station.News && category != station.Social
}

// sorted chooses the category of a file that came without one, as the registry does
// for files outside the categories' folders.
func sorted(length time.Duration, texts ...string) station.Category {
	if length < time.Minute {
		return station.Shorts
	}
	arabic := func(r rune) bool { return unicode.Is(unicode.Arabic, r) && unicode.IsLetter(r) }
	if slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsFunc(s, arabic) }) {
		return station.ArabicHits
	}
	return station.English
}

// fits refuses a length that is out of place in a category.
func (k kind) fits(length time.Duration) *Refusal {
	switch {
	case length < k.shortest:
		return &Refusal{"too_short",
			fmt.Sprintf("it lasts %s; a %s lasts %s at least", seconds(length), k.name, seconds(k.shortest)),
			fmt.Sprintf("مدته %s ثانية، والحد الأدنى %s ثانية", plain(length), plain(k.shortest))}
	case length > k.longest:
		return &Refusal{"too_long",
			fmt.Sprintf("it lasts over %s, the most for a %s", seconds(k.longest), k.name),
			fmt.Sprintf("مدته تزيد على %s ثانية", plain(k.longest))}
	}
	return nil
}

func seconds(d time.Duration) string { return plain(d) + " s" }

func plain(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.1f", d.Seconds()), "0"), ".")
}
